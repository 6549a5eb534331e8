// Memory and semaphores of other interfaces: cudaImportExternalMemory and cudaImportExternalSemaphore.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/core/error.h"
#include "runtime/vk/external.h"

namespace mulciber::core {

struct ArrayDescription;
class Context;
class ExternalMemory;
class ExternalSemaphore;
class MipmappedArray;
class Stream;
using ExternalMemoryRef = std::shared_ptr<ExternalMemory>;
using ExternalSemaphoreRef = std::shared_ptr<ExternalSemaphore>;

enum class ExternalMemoryType : int {  // as CUexternalMemoryHandleType numbers them
  OpaqueFd = 1,
  OpaqueWin32 = 2,
  OpaqueWin32Kmt = 3,
  D3d12Heap = 4,
  D3d12Resource = 5,
  D3d11Resource = 6,
  D3d11ResourceKmt = 7,
  NvSciBuf = 8,
  DmabufFd = 9,
};

enum class ExternalSemaphoreType : int {  // as CUexternalSemaphoreHandleType numbers them
  OpaqueFd = 1,
  OpaqueWin32 = 2,
  OpaqueWin32Kmt = 3,
  D3d12Fence = 4,
  D3d11Fence = 5,
  NvSciSync = 6,
  D3d11KeyedMutex = 7,
  D3d11KeyedMutexKmt = 8,
  TimelineFd = 9,
  TimelineWin32 = 10,
};

// As the program says it. What is taken over closes the descriptor.
struct ExternalMemoryDescription {
  ExternalMemoryType type;
  int descriptor;
  uint64_t size;
  uint32_t flags;
};

struct ExternalSemaphoreDescription {
  ExternalSemaphoreType type;
  int descriptor;
  uint32_t flags;
};

// Each mapping is an import of its own: it has addresses of its own, and lives on when this goes.
class ExternalMemory {
 public:
  ExternalMemory(Context& context, const ExternalMemoryDescription& description);
  ~ExternalMemory();
  ExternalMemory(const ExternalMemory&) = delete;
  ExternalMemory& operator=(const ExternalMemory&) = delete;

  Error mapBuffer(uint64_t offset, uint64_t size, uint32_t flags, uint64_t& address) const;
  Error mapArray(uint64_t offset, const ArrayDescription& description, uint32_t levels, MipmappedArray*& out) const;

 private:
  const std::weak_ptr<Context> context_;
  const vk::ExternalMemory memory_;
};

class ExternalSemaphore {
 public:
  explicit ExternalSemaphore(std::shared_ptr<vk::ImportedSemaphore> semaphore) : semaphore_(std::move(semaphore)) {}
  const std::shared_ptr<vk::ImportedSemaphore>& imported() const { return semaphore_; }

 private:
  const std::shared_ptr<vk::ImportedSemaphore> semaphore_;
};

Error importMemory(Context& context, const ExternalMemoryDescription& description, ExternalMemory*& out);
Error destroyExternalMemory(ExternalMemory* memory);
Error importSemaphore(Context& context, const ExternalSemaphoreDescription& description, ExternalSemaphore*& out);
Error destroyExternalSemaphore(ExternalSemaphore* semaphore);

// One of those that a call waits for or signals. `value` is a timeline's.
struct ExternalSemaphoreUse {
  ExternalSemaphore* semaphore;
  uint64_t value;
  uint32_t flags;
};
Error signal(Stream& stream, std::span<const ExternalSemaphoreUse> uses);
Error wait(Stream& stream, std::span<const ExternalSemaphoreUse> uses);

}  // namespace mulciber::core
