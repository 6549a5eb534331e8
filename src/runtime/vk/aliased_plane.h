// Planes of texels over memory that buffers reach as well: what samplers need of it, since they take no addresses.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/vk/image.h"

namespace mulciber::vk {

// An image of one plane over the memory from there on, to be sampled, `rowBytes` from row to row. It is made once and
// kept as long as the memory's chunk, which stays as long as somebody holds it. Unsupported where the driver lays such
// planes out in another way, and where the memory is somebody else's.
Status planeOver(Device& device, const Memory& memory, const ImageShape& shape, uint64_t rowBytes,
                 std::shared_ptr<Image>& out);

}  // namespace mulciber::vk
