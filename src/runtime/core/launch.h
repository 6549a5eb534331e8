// Launching a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/kernel_services.h"
#include "runtime/vk/commands.h"
#include "runtime/vk/pipeline.h"

namespace mulciber::core {

class Context;
class Function;
class Stream;

struct Launch {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
  bool isCooperative = false;
};

// Arguments come one of two ways, as cuLaunchKernel has it: an array of pointers to each, or all of them packed as the
// kernel lays them out. They are read before the call returns.
struct Arguments {
  void* const* pointers = nullptr;
  const void* packed = nullptr;
  size_t packedBytes = 0;
};

// A launch with everything it needs, checked and gathered: it may be recorded after the call has returned.
struct KernelLaunch {
  static constexpr size_t mostPushBytes =
      256;  // of what a launch carries with it; devices that take more are not asked

  // The function's own.
  const vk::Pipeline* pipeline = nullptr;
  const KernelInfo* kernel = nullptr;
  KernelServices* services = nullptr;
  vk::Memory constants;  // where the kernel has some
  uint32_t groups[3], block[3];
  uint32_t sharedBytes = 0;  // of each block, as CUDA counts it
  uint32_t pushBytes = 0;
  bool isCooperative = false;
  uint64_t scratchBytes = 0;                               // for each block; 0 when it needs none
  uint32_t piece[3];                                       // how many blocks run at once: all where it needs no scratch
  KernelServices::OwnMemory ownMemory;                     // of scratch and of cooperative launches
  std::shared_ptr<const std::vector<uint8_t>> parameters;  // when they go to a buffer
  alignas(8) uint8_t push[mostPushBytes];

  vk::Status record(vk::Commands& commands) const;

  // Whether nothing but what the launch carries with it depends on its grid and its arguments. They may be replaced
  // then by others of the same kernel, laid out as the kernel has them.
  bool canRelaunch() const;
  void relaunch(const uint32_t (&grid)[3], const std::vector<uint8_t>& arguments);
  // Of one grid on any device: launches with scratch run in pieces, and grids may be too wide.
  static constexpr uint32_t mostBlocks = 65535;
  bool isOneDispatch() const { return !ownMemory.memory && groups[0] <= mostBlocks; }

 private:
  vk::Status recordPieces(vk::Commands& commands, uint8_t* push) const;
};

// Whether the kernel may be launched so, as far as that depends on the kernel, its limits and the device alone.
Error check(Function& function, const Launch& launch);
// The arguments as the kernel lays them out: KernelInfo::parameterBytes bytes.
Error gather(const KernelInfo& kernel, const Arguments& arguments, uint8_t* out);

// Checks the launch and gathers what it needs.
Error prepare(Function& function, const Launch& launch, const Arguments& arguments, Context& context,
              KernelLaunch& out);

// Hints by CUlaunchAttributeID.
using LaunchHints = std::map<int, std::array<uint8_t, 64>>;

// What the node of a captured launch keeps besides: what the program calls the kernel, and hints.
struct LaunchNotes {
  const void* handle = nullptr;
  const LaunchHints* hints = nullptr;  // null: none
};

Error launch(Function& function, const Launch& launch, const Arguments& arguments, Stream& stream,
             const LaunchNotes& notes = {});

}  // namespace mulciber::core
