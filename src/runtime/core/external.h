// Memory and semaphores of other interfaces: cudaImportExternalMemory and cudaImportExternalSemaphore.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/operation.h"
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

// As CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS and CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS have it. `value` is a timeline's.
struct ExternalSemaphoreParameters {
  uint64_t value = 0;
  uint64_t ofOtherKinds[8] = {};
  uint32_t flags = 0;
  uint32_t reserved[17] = {};
};

// Those that a call or a node signals or waits for, one after the other.
struct ExternalSemaphoreUses {
  std::vector<ExternalSemaphore*> handles;  // as the program gave them, to be told back
  std::vector<ExternalSemaphoreParameters> parameters;
  std::vector<std::shared_ptr<vk::ImportedSemaphore>> semaphores;
};
// Finds the semaphores behind the handles. InvalidHandle for what is none, InvalidValue for flags.
Error findSemaphores(ExternalSemaphoreUses& uses);

Error signal(Stream& stream, ExternalSemaphoreUses uses);
Error wait(Stream& stream, ExternalSemaphoreUses uses);
// What the work of a stream of the context becomes. InvalidHandle for semaphores that another device imported.
Error signalOperations(const Context& context, const ExternalSemaphoreUses& uses, std::vector<Operation>& out);
Error waitOperations(const Context& context, const ExternalSemaphoreUses& uses, std::vector<Operation>& out);

}  // namespace mulciber::core
