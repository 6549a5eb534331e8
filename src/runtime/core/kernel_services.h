// What running kernels may ask of the host: a place to report errors, printf, the heap, locks, and block memory beyond
// what the device has. One LaunchState (kernel_abi.h) for a context; cooperative launches and kernels that need scratch
// get their own.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mulciber/kernel_abi.h"
#include "mulciber/translator.h"
#include "runtime/core/error.h"
#include "runtime/vk/memory.h"
#include "runtime/vk/queue.h"

namespace mulciber::core {

class Context;
class Stream;

class KernelServices {
 public:
  static constexpr size_t defaultPrintfBytes = 8'650'752;  // as CUDA 13 has it on an H200

  static Error create(Context& context, std::unique_ptr<KernelServices>& out);
  ~KernelServices();

  // The LaunchState for a launch of such a kernel.
  Error launchState(const KernelInfo& kernel, uint64_t& address);
  void setTextures(uint64_t table);  // see TextureTable
  // Memory of a launch's own: scratch for the shared memory of its blocks, and what the blocks of a cooperative launch
  // meet at.
  struct OwnMemory {
    std::shared_ptr<const void> memory;  // freed when the last reference goes
    uint64_t scratch = 0, gridWorkspace = 0;
  };
  Error ownMemory(uint64_t scratchBytes, bool isCooperative, OwnMemory& out);
  // Writes what the blocks of a cooperative launch meet at, before each launch.
  vk::Status prepareGridWorkspace(const OwnMemory& memory, vk::Commands& commands) const;
  // The LaunchState for some of the launch's blocks.
  struct Blocks {
    uint32_t first[3], count[3];
    uint64_t scratchBytes;  // of each
  };
  vk::Status ownState(const Blocks& blocks, const OwnMemory& memory, vk::Commands& commands, uint64_t& address) const;
  // Around the launch of a kernel that prints: its place in the queue is known once it may run already.
  void launchesPrinting();
  void launchedPrinting(const vk::Point& point);

  // After a wait: reports what kernels did wrong (printing it, and breaking the context), and prints what they printed
  // if no printing kernel is still running. Gives the context's error, which may be that it was destroyed meanwhile.
  Error afterWait();

  // InvalidValue once a kernel was launched that prints, or has a heap.
  Error setPrintfBytes(size_t bytes);
  Error setHeapBytes(size_t bytes);

 private:
  explicit KernelServices(Context& context) : context_(context) {}
  void set(uint64_t abi::LaunchState::*field, uint64_t value);
  Error allocatePrintf();
  Error allocateFilled(uint64_t bytes, const void* first, uint64_t firstBytes, vk::Memory& memory);
  Error reportError();
  void drainPrintf();
  std::string deviceString(uint64_t address);

  Context& context_;
  vk::Memory launchStateMemory_;
  vk::Memory errorMemory_;
  vk::Memory printf_;
  vk::Memory heap_;
  vk::Memory locks_;
  mutable std::mutex stateMutex_;   // for what is recorded while a queue is locked: nothing is waited for under it
  abi::LaunchState launchState_{};  // as it lies in launchStateMemory_
  volatile abi::ErrorRecord* error_ = nullptr;
  std::mutex mutex_;  // guards the memory above and what is below
  bool reported_ = false;
  std::vector<vk::Point> printing_;  // printing kernels that may still run
  uint32_t launchingPrinting_ = 0;   // threads that give one to a queue now
  bool printed_ = false;
  size_t heapBytes_ = 8u << 20, printfBytes_ = defaultPrintfBytes;
};

}  // namespace mulciber::core
