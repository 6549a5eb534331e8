#include "runtime/core/occupancy.h"

#include <algorithm>

#include "runtime/core/device.h"

namespace mulciber::core {

namespace {

// Registers of a multiprocessor, given to warps in units, each of whose four parts holds warps of its own.
constexpr uint64_t registers = 65536, registerUnit = 256, parts = 4, mostOfThread = 255;

constexpr uint64_t roundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

MultiprocessorLimits multiprocessorLimits(uint32_t computeCapability) {
  constexpr uint32_t KiB = 1024;
  if (computeCapability >= 120) return {24, 100 * KiB, KiB, 128};
  if (computeCapability >= 90) return {32, 228 * KiB, KiB, 128};
  if (computeCapability == 89) return {24, 100 * KiB, KiB, 128};
  if (computeCapability == 87) return {16, 164 * KiB, KiB, 128};
  if (computeCapability > 80) return {16, 100 * KiB, KiB, 128};
  if (computeCapability == 80) return {32, 164 * KiB, KiB, 128};
  return {16, 64 * KiB, 0, 256};
}

uint32_t mostRegisters(uint32_t threads) {
  const uint64_t warpsOfPart = roundUp(threads, 32 * parts) / (32 * parts);
  return static_cast<uint32_t>(std::min(
      mostOfThread, registers / parts / std::max<uint64_t>(warpsOfPart, 1) / registerUnit * registerUnit / 32));
}

uint32_t blocksThatFit(const DeviceShape& shape, const BlockNeeds& needs) {
  if (needs.threads > shape.threadsPerBlock || needs.sharedBytes > shape.sharedPerBlockOptin) return 0;
  const uint64_t warps = roundUp(needs.threads, 32) / 32;
  const uint64_t warpsByRegisters = registers / parts / roundUp(uint64_t(needs.registers) * 32, registerUnit) * parts;
  uint64_t blocks = std::min<uint64_t>(shape.threadsPerMultiprocessor / 32, warpsByRegisters) / warps;
  blocks = std::min<uint64_t>(blocks, shape.blocksPerMultiprocessor);
  const uint64_t shared = roundUp(needs.sharedBytes + shape.sharedReserved, shape.sharedUnit);
  if (shared != 0) blocks = std::min(blocks, shape.sharedPerMultiprocessor / shared);
  return static_cast<uint32_t>(blocks);
}

}  // namespace mulciber::core
