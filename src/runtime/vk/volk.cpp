#define VOLK_IMPLEMENTATION
#include "runtime/vk/volk.h"
