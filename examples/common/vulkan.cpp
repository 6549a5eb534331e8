#define VOLK_IMPLEMENTATION
#include "common/vulkan.h"
