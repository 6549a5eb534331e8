#include "runtime/core/launch.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "mulciber/kernel_abi.h"
#include "mulciber/references.h"
#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/function.h"
#include "runtime/core/module.h"
#include "runtime/core/stream.h"
#include "runtime/core/texture_table.h"
#include "runtime/vk/device.h"
#include "runtime/vk/illegal_address.h"
#include "runtime/vk/pipeline.h"
#include "util/environment.h"

namespace mulciber::core {

namespace {

constexpr uint64_t mostScratchBytes = 512u << 20, leastScratchBlocks = 64;

Error checkGrid(const Launch& launch) {
  for (const uint32_t blocks : launch.grid)
    if (blocks == 0) return Error::InvalidValue;
  const bool fits = launch.grid[0] <= INT32_MAX && launch.grid[1] <= 65535 && launch.grid[2] <= 65535;
  return fits ? Error::Success : Error::InvalidValue;
}

Error check(const Launch& launch, const KernelInfo& kernel, Function& function, const DeviceShape& shape) {
  TRY(checkGrid(launch));
  uint64_t threads = 1;
  for (const uint32_t size : launch.block) {
    if (size == 0) return Error::InvalidValue;
    threads *= size;
    if (threads > shape.threadsPerBlock) return Error::InvalidValue;
  }
  if (launch.block[2] > 64) return Error::InvalidValue;
  if (kernel.maxThreads != 0 && threads > kernel.maxThreads) return Error::InvalidValue;
  if (kernel.requiredBlock[0] != 0 && !std::equal(launch.block, launch.block + 3, kernel.requiredBlock))
    return Error::InvalidValue;
  int mostDynamic = 0;
  TRY(function.attribute(8, mostDynamic));
  if (launch.dynamicSharedBytes > static_cast<uint32_t>(mostDynamic))
    return launch.isCooperative ? Error::CooperativeLaunchTooLarge : Error::InvalidValue;
  if (launch.isCooperative) {
    int blocks = 0;
    TRY(function.maxActiveBlocks(static_cast<uint32_t>(threads), launch.dynamicSharedBytes, blocks));
    const uint64_t grid = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    if (grid > uint64_t(shape.multiprocessors) * static_cast<uint64_t>(blocks)) return Error::CooperativeLaunchTooLarge;
  }
  return Error::Success;
}

// The kernel is to be as it is when what the device has too little of lies in scratch, for blocks of whole warps or
// not, and for the textures that there are.
LaunchNeeds needsOf(const Launch& launch, Context& context, const KernelInfo& kernel, uint32_t stackBytes) {
  const TargetProfile& profile = context.vulkan().profile();
  const uint64_t shared = uint64_t(kernel.dynamicSharedOffset) + launch.dynamicSharedBytes;
  const uint64_t local = abi::scratchThreadBytes(kernel.localBytes, kernel.stackCount, stackBytes);
  const uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  return {shared > profile.maxSharedBytes && !kernel.sharedInScratch,
          local > profile.maxLocalBytes && !kernel.localInScratch, threads % 32 != 0 && kernel.usesMatrixUnits,
          kernel.usesTextures && profile.samplesLikeCuda && context.textures().needsFilter()};
}

// Checks the launch. Of one like the kernel's last nothing but the grid is looked at.
Error chooseCode(const Launch& launch, Function& function, Context& context, const LaunchCode*& out) {
  out = launch.isCooperative ? nullptr : function.lastCode(launch.block, launch.dynamicSharedBytes);
  if (out) return checkGrid(launch);
  const KernelInfo* kernel = nullptr;
  TRY(function.info(kernel));
  TRY(check(launch, *kernel, function, context.device().shape()));
  PipelineVariant variant{{launch.block[0], launch.block[1], launch.block[2]}, launch.dynamicSharedBytes};
  if (kernel->stackCount != 0) {
    size_t limit = 0;
    TRY(context.limit(Limit::StackSize, limit));
    variant.stackBytes = static_cast<uint32_t>(std::max<size_t>(limit, abi::defaultStackBytes) + 31) / 32 * 32;
  }
  variant.needs = needsOf(launch, context, *kernel, variant.stackBytes);
  TRY(function.code(variant, out));
  if (out->isSettled()) function.setLastCode(*out);
  return Error::Success;
}

uint64_t scratchBytes(const Launch& launch, const KernelInfo& kernel, uint32_t stackBytes) {
  uint64_t bytes = 0;
  if (kernel.localInScratch)
    bytes = abi::scratchThreadBytes(kernel.localBytes, kernel.stackCount, stackBytes) * launch.block[0] *
            launch.block[1] * launch.block[2];
  if (kernel.sharedInScratch) bytes += kernel.dynamicSharedOffset + launch.dynamicSharedBytes;
  return (bytes + 255) / 256 * 256;
}

// As many blocks at a time as there is scratch for; those of a cooperative launch all have to run at once.
Error prepareOwnMemory(KernelLaunch& launch) {
  std::memcpy(launch.piece, launch.groups, sizeof(launch.piece));
  if (launch.scratchBytes == 0 && !launch.isCooperative) return Error::Success;
  uint64_t most = UINT64_MAX;
  if (!launch.isCooperative) most = std::max(leastScratchBlocks, mostScratchBytes / launch.scratchBytes);
  uint64_t blocksAtATime = 1;
  for (int i = 0; i < 3; ++i) {
    launch.piece[i] = static_cast<uint32_t>(std::min<uint64_t>(launch.groups[i], most / blocksAtATime));
    blocksAtATime *= launch.piece[i];
  }
  return launch.services->ownMemory(blocksAtATime * launch.scratchBytes, launch.isCooperative, launch.ownMemory);
}

// Most are of one of two sizes, which take no call.
void copyArgument(uint8_t* to, const void* from, size_t bytes) {
  if (bytes == 8) std::memcpy(to, from, 8);
  else if (bytes == 4) std::memcpy(to, from, 4);
  else std::memcpy(to, from, bytes);
}

}  // namespace

Error gather(const KernelInfo& kernel, const Arguments& arguments, uint8_t* out) {
  if (arguments.packed) {
    // Behind these the module's references may stand.
    const uint32_t bytes =
        kernel.parameters.empty() ? 0 : kernel.parameters.back().offset + kernel.parameters.back().size;
    if (arguments.packedBytes < bytes) return Error::InvalidValue;
    std::memcpy(out, arguments.packed, bytes);
    return Error::Success;
  }
  if (!arguments.pointers) return kernel.parameters.empty() ? Error::Success : Error::InvalidValue;
  void* const* argument = arguments.pointers;
  for (const Parameter& parameter : std::span(kernel.parameters)) {
    if (!*argument) return Error::InvalidValue;
    copyArgument(out + parameter.offset, *argument++, parameter.size);
  }
  return Error::Success;
}

Error check(Function& function, const Launch& launch) {
  if (!launch.isCooperative && function.lastCode(launch.block, launch.dynamicSharedBytes)) return checkGrid(launch);
  const KernelInfo* kernel = nullptr;
  TRY(function.info(kernel));
  return check(launch, *kernel, function, function.module().context().device().shape());
}

vk::Status KernelLaunch::record(vk::Commands& commands) const {
  if (kernel->constantBytes != 0) commands.useConstants(constants, kernel->constantBytes);
  if (!parameters && !ownMemory.memory) {
    commands.dispatch(*pipeline, push, pushBytes, groups);
    return vk::Status::Ok;
  }
  uint8_t filled[mostPushBytes];
  std::memcpy(filled, push, pushBytes);
  if (parameters) {
    void* host = nullptr;
    uint64_t address = 0;
    TRY(commands.upload(parameters->size(), host, address));
    std::memcpy(host, parameters->data(), parameters->size());
    std::memcpy(filled + abi::parameterOffset, &address, sizeof(address));
  }
  if (ownMemory.memory) return recordPieces(commands, filled);
  commands.dispatch(*pipeline, filled, pushBytes, groups);
  return vk::Status::Ok;
}

bool KernelLaunch::canRelaunch() const { return !parameters && !ownMemory.memory && kernel->stackCount == 0; }

void KernelLaunch::relaunch(const uint32_t (&grid)[3], const std::vector<uint8_t>& arguments) {
  (void)gather(*kernel, {nullptr, arguments.data(), arguments.size()}, push + abi::parameterOffset);
  std::copy_n(grid, 3, groups);
  std::copy_n(grid, 3, piece);
  std::memcpy(push + offsetof(abi::PushHeader, gridDim), grid, sizeof(groups));
}

vk::Status KernelLaunch::recordPieces(vk::Commands& commands, uint8_t* filled) const {
  commands.keep(ownMemory.memory);
  if (isCooperative) TRY(services->prepareGridWorkspace(ownMemory, commands));
  for (uint64_t z = 0; z < groups[2]; z += piece[2])
    for (uint64_t y = 0; y < groups[1]; y += piece[1])
      for (uint64_t x = 0; x < groups[0]; x += piece[0]) {
        KernelServices::Blocks blocks{
            {static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)}, {}, scratchBytes};
        for (int i = 0; i < 3; ++i) blocks.count[i] = std::min(piece[i], groups[i] - blocks.first[i]);
        uint64_t state = 0;
        TRY(services->ownState(blocks, ownMemory, commands, state));
        std::memcpy(filled + offsetof(abi::PushHeader, launchState), &state, sizeof(state));
        if (x + y + z != 0) commands.barrier();  // it takes the memory of those before
        commands.dispatch(*pipeline, filled, pushBytes, blocks.count, blocks.first);
      }
  return vk::Status::Ok;
}

Error prepare(Function& function, const Launch& launch, const Arguments& arguments, Context& context,
              KernelLaunch& out) {
  if (&function.module().context() != &context) return Error::InvalidHandle;
  const LaunchCode* code = nullptr;
  TRY(chooseCode(launch, function, context, code));
  const KernelInfo& kernel = *code->kernel;
  const Module& module = function.module();
  out.pipeline = code->pipeline.get();
  out.kernel = &kernel;
  out.services = &context.services();
  if (kernel.constantBytes != 0) out.constants = module.dataMemory();
  std::memcpy(out.groups, launch.grid, sizeof(out.groups));
  std::memcpy(out.block, launch.block, sizeof(out.block));
  out.sharedBytes = kernel.staticSharedBytes + launch.dynamicSharedBytes;
  out.scratchBytes = scratchBytes(launch, kernel, code->variant.stackBytes);
  out.isCooperative = launch.isCooperative;

  abi::PushHeader header{};
  TRY(context.services().launchState(kernel, header.launchState));
  header.moduleData = module.dataAddress();
  std::memcpy(header.gridDim, launch.grid, sizeof(header.gridDim));
  std::memcpy(out.push, &header, sizeof(header));
  uint8_t* parameters = out.push + abi::parameterOffset;
  uint32_t parameterBytes = kernel.parameterBytes;
  std::shared_ptr<std::vector<uint8_t>> buffer;
  if (kernel.parametersInBuffer) {
    buffer = std::make_shared<std::vector<uint8_t>>(kernel.parameterBytes, uint8_t(0));
    parameters = buffer->data();
    parameterBytes = sizeof(uint64_t);
  } else if (abi::parameterOffset + parameterBytes > sizeof(out.push)) {
    return Error::InvalidImage;
  } else if (parameterBytes != 0) {
    std::memset(parameters, 0, parameterBytes);
  }
  TRY(gather(kernel, arguments, parameters));
  if (const size_t references = module.referenceCount() * referenceBytes; references != 0)
    TRY(module.referenceHandles(parameters + kernel.parameterBytes - references));
  if (buffer) out.parameters = std::move(buffer);
  if (const size_t bytes = kernel.carriedWords.size() * sizeof(uint32_t); bytes != 0) {
    const uint32_t offset = abi::parameterOffset + (parameterBytes + 3) / 4 * 4;
    if (offset + bytes > sizeof(out.push)) return Error::InvalidImage;
    std::memcpy(out.push + offset, kernel.carriedWords.data(), bytes);
    parameterBytes = offset + static_cast<uint32_t>(bytes) - abi::parameterOffset;
  }
  out.pushBytes = (abi::parameterOffset + parameterBytes + 3) / 4 * 4;
  return prepareOwnMemory(out);
}

namespace {

// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CU_LAUNCH_ATTRIBUTE_PRIORITY
constexpr int programmaticSerializationAttribute = 6, priorityAttribute = 8;

Error captureLaunch(Capture& capture, Function& function, const Launch& launch, const Arguments& arguments,
                    const Stream& stream, const LaunchNotes& notes) {
  if (&function.module().context() != &stream.context()) return Error::InvalidHandle;
  KernelNode node;
  if (const Error error = describe(function, launch, arguments, node); error != Error::Success) {
    capture.invalidate();
    return error;
  }
  node.handle = notes.handle;
  if (notes.hints) node.attributes = *notes.hints;
  if (const int priority = stream.priority(); priority != 0) {
    const auto [kept, isNew] = node.attributes.try_emplace(priorityAttribute);
    if (isNew) std::memcpy(kept->second.data(), &priority, sizeof(priority));
  }
  bool overlaps = false;
  if (notes.hints)
    if (const auto found = notes.hints->find(programmaticSerializationAttribute); found != notes.hints->end())
      overlaps = found->second[0] != 0;
  return capture.add(stream, std::move(node), overlaps ? Overlap::WithKernels : Overlap::Not);
}

}  // namespace

Error launch(Function& function, const Launch& launch, const Arguments& arguments, Stream& stream,
             const LaunchNotes& notes) {
  Context& context = stream.context();
  TRY(context.error());
  if (const CaptureRef capture = stream.capture())
    return captureLaunch(*capture, function, launch, arguments, stream, notes);
  KernelLaunch work;
  TRY(prepare(function, launch, arguments, context, work));
  if (context.vulkan().physical().isCpu()) vk::noteLaunch(function.name());
  TRY(stream.enqueue(work));
  return util::environment().launchBlocking ? stream.finish() : Error::Success;
}

}  // namespace mulciber::core
