// The contract between a translated kernel and whoever launches it: Mulciber's runtime, or an engine that records
// the dispatch itself. Everything here is plain data, identical on host and device.
#pragma once

#include <cstdint>

namespace mulciber::abi {

// A block of x*y*z threads runs as a one-dimensional workgroup; these specialisation constants say its shape.
enum SpecializationConstant : uint32_t {
  BlockX = 0,
  BlockY = 1,
  BlockZ = 2,
  BlockThreads = 3,        // x * y * z: the workgroup's size
  DynamicSharedBytes = 4,  // as the launch asks for
  StackBytes = 5,          // of each thread for recursive functions and alloca, a multiple of 16
};

// Push constants: this header, then the kernel's parameters as CUDA lays them out. Parameters that do not fit into
// the device's push constants go to a buffer, whose address then stands in place of the parameters. Behind either stand
// the words that KernelInfo::carriedWords has.
struct PushHeader {
  uint64_t launchState;  // address of a LaunchState
  uint64_t moduleData;   // address of the module's .global and .const variables
  uint32_t gridDim[3];   // within CUDA's limits, on which kernels rely: the second and third are below 65,536
  uint32_t firstBlockX;  // where TargetProfile::gridsInPieces: %ctaid.x of the first block dispatched; else 0
};
inline constexpr uint32_t parameterOffset = 32;  // of the first parameter byte, or of the parameters' address
static_assert(sizeof(PushHeader) == parameterOffset);

// The module's constants as a uniform buffer, of which KernelInfo::constantBytes says whether a kernel reads it: the
// first bytes of its data, in the layout of VK_KHR_uniform_buffer_standard_layout.
inline constexpr uint32_t constantSet = 0, constantBinding = 0;

// Device memory that outlives a launch: what kernels use to talk to the host.
struct LaunchState {
  uint64_t errorWord;     // address of an ErrorRecord
  uint64_t printfBuffer;  // address of a PrintfBuffer; 0 when the kernel prints nothing
  uint64_t heap;          // device malloc; 0 when unused
  // Where the scratch of block (0, 0, 0) lies, and the bytes from there to the next block in each direction; 0 when
  // unused. It holds what is more than the device has: the private memory of each thread, then the shared memory.
  uint64_t scratch, scratchStride[3];
  uint64_t gridWorkspace;  // of a cooperative launch, else 0: two uint32, its size and a zero (%envreg1 and 2)
  uint64_t locks;          // `lockCount` uint32, 0 when free: for atomics wider than the device's; 0 when unused
  uint64_t textures;       // the table of textures, and its size (texture_abi.h); 0 when unused
};
inline constexpr uint32_t lockCount = 1024;
inline constexpr uint32_t defaultStackBytes = 4096;

// What a thread's private memory takes in scratch: its own bytes, and its stacks, of a multiple of 32 bytes each.
constexpr uint64_t scratchThreadBytes(uint32_t localBytes, uint32_t stackCount, uint32_t stackBytes) {
  return (uint64_t(localBytes) + 31) / 32 * 32 + uint64_t(stackCount) * stackBytes;
}

enum class KernelError : uint32_t {
  None = 0,
  Trap = 1,
  Assert = 2,
  OutOfStack = 3,
  IllegalAddress = 4,
  Misaligned = 5,
  NoTexture = 6  // `message` is the handle that is no object's
};

// Written once, by the first thread that fails.
struct ErrorRecord {
  uint32_t error;  // KernelError
  uint32_t line;
  uint32_t block[3], thread[3];
  uint64_t message, file, function;  // assert: addresses of strings in device memory
};

// A ring without wrap: kernels add to `used` and write only while they stay inside `capacity`.
struct PrintfBuffer {
  uint32_t capacity;  // bytes of data
  uint32_t used;      // may grow past capacity: then records were dropped
  // Records follow: uint32 bytes (header included, a multiple of 8), uint32 argument bytes,
  // uint64 address of the format string, then the arguments as vprintf got them, then the text of each %s that is no
  // null pointer, with a zero at its end.
};

// Device malloc. `size` bytes, this header included, belong to it; blocks follow from `used` on. Begins on a multiple
// of 16 bytes.
struct Heap {
  uint64_t size;
  uint64_t used;            // sizeof(Heap) at first
  uint64_t freeLists[160];  // by size class, 0 at first
};

// Generic addresses of shared, local and parameter memory carry the space in the top byte; everything else is global.
inline constexpr uint64_t sharedWindow = 0x0100'0000'0000'0000;
inline constexpr uint64_t localWindow = 0x0200'0000'0000'0000;
inline constexpr uint64_t paramWindow = 0x0300'0000'0000'0000;
inline constexpr uint64_t windowMask = 0xFF00'0000'0000'0000;

}  // namespace mulciber::abi
