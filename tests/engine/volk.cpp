#define VOLK_IMPLEMENTATION
#include "engine/volk.h"
