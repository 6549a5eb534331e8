// Copies between pageable memory and the device, through pieces of host memory that the device can reach.
#pragma once

#include <cstddef>
#include <functional>

#include "runtime/core/error.h"
#include "runtime/core/operation.h"

namespace mulciber::core {

class Stream;

// What one piece of staging memory holds: rows of one slice, without gaps.
struct StagedPiece {
  size_t x, y, z, width, rows;
};

struct HostBox {
  char* first;
  size_t width, height, depth, pitch, slice;
};

// `work` moves one piece between the staging memory and the device. Returns when the host may use its memory again.
using StagedWork = std::function<DeviceWork(const StagedPiece& piece, const vk::Memory& staging)>;
Error copyStaged(Stream& stream, const HostBox& host, bool toDevice, const StagedWork& work);

}  // namespace mulciber::core
