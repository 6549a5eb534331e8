// Copies between pageable memory and the device, through pieces of host memory that the device can reach.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

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

struct StagingMemory {
  vk::Memory memory;
  std::shared_ptr<const void> owner;  // frees it
};

enum class StagedEnd : uint8_t {
  HostIsDone,  // returns when the host may use its memory again; the work keeps the staging memory
  AllIsDone,
};

// `work` moves one piece between the staging memory and the device. What goes to the host ends when all is done.
using StagedWork = std::function<DeviceWork(const StagedPiece& piece, const StagingMemory& staging)>;
Error copyStaged(Stream& stream, const HostBox& host, bool toDevice, StagedEnd end, const StagedWork& work);

}  // namespace mulciber::core
