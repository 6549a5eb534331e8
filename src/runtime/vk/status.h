// How a call of the Vulkan backend ended.
#pragma once

#include "util/try.h"

namespace mulciber::vk {

enum class [[nodiscard]] Status{
    Ok,
    NotReady,     // not yet: a poll or a wait that ran out of time
    OutOfMemory,  // device, host or mapping space
    DeviceLost,   // everything the device held is gone
    Unsupported,  // this device cannot do that
    Ended,        // the process is ending, and the calling thread must leave the driver
    Failed,       // anything else; the log says what
};

}  // namespace mulciber::vk
