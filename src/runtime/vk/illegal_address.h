// What happens when a kernel on a CPU device uses an address that it may not. The driver runs kernels in threads of the
// process, so the process would die of the signal without a word. Instead one line names the kernel and the address,
// all CPU devices count as lost, and the thread sleeps for good: there is no way out of a kernel, and the driver waits
// for it. So the process lives on and gets CUDA's error, and no CPU device can be opened in it again.
//
// Other faults go to whatever handled them before. A handler that the program installs later comes first.
#pragma once

#include <atomic>
#include <string_view>

namespace mulciber::vk {

// The flag that an illegal address sets, of a device; forgetIllegalAddresses() before the device goes.
void watchIllegalAddresses(std::atomic<bool>& isLost);
void forgetIllegalAddresses(std::atomic<bool>& isLost);

// A kernel that is about to run: the message names those launched last.
void noteLaunch(std::string_view kernel);

// Whether a kernel used one. From then on the driver's threads must not be waited for.
bool wasAddressIllegal();

}  // namespace mulciber::vk
