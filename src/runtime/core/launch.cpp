#include "runtime/core/launch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "mulciber/kernel_abi.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/function.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/module.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pipeline.h"
#include "util/environment.h"

namespace mulciber::core {

namespace {

constexpr size_t maxPushBytes = 256;  // of what a launch carries with it; devices that take more are not asked to

Error check(const Launch& launch, const KernelInfo& kernel, Function& function, const DeviceShape& shape) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (launch.grid[i] == 0 || launch.block[i] == 0) return Error::InvalidValue;
    threads *= launch.block[i];
    if (threads > shape.threadsPerBlock) return Error::InvalidValue;
  }
  if (launch.grid[0] > INT32_MAX || launch.grid[1] > 65535 || launch.grid[2] > 65535) return Error::InvalidValue;
  if (launch.block[2] > 64) return Error::InvalidValue;
  if (kernel.maxThreads != 0 && threads > kernel.maxThreads) return Error::LaunchOutOfResources;
  if (kernel.requiredBlock[0] != 0 && !std::equal(launch.block, launch.block + 3, kernel.requiredBlock))
    return Error::InvalidValue;
  int mostDynamic = 0;
  if (const Error error = function.attribute(8, mostDynamic); error != Error::Success) return error;
  if (launch.dynamicSharedBytes > static_cast<uint32_t>(mostDynamic))
    return launch.isCooperative ? Error::CooperativeLaunchTooLarge : Error::InvalidValue;
  if (launch.isCooperative) {
    int blocks = 0;
    if (const Error error = function.maxActiveBlocks(static_cast<uint32_t>(threads), launch.dynamicSharedBytes, blocks);
        error != Error::Success)
      return error;
    const uint64_t grid = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
    if (grid > uint64_t(shape.multiprocessors) * static_cast<uint64_t>(blocks)) return Error::CooperativeLaunchTooLarge;
  }
  return Error::Success;
}

// Everything the work needs, owned: it may be recorded after the call has returned.
struct Dispatch {
  std::shared_ptr<const vk::Pipeline> pipeline;
  const KernelInfo* kernel;
  KernelServices* services;
  uint32_t groups[3];
  uint32_t pushBytes;
  uint64_t scratchBytes = 0;  // for each block
  bool isCooperative;
  std::shared_ptr<std::vector<uint8_t>> parameters;  // when they go to a buffer
  alignas(8) uint8_t push[maxPushBytes];

  vk::Status operator()(vk::Recorder& recorder) {
    if (parameters) {
      void* host = nullptr;
      uint64_t address = 0;
      if (const auto status = recorder.upload(parameters->size(), host, address); status != vk::Status::Ok)
        return status;
      std::memcpy(host, parameters->data(), parameters->size());
      std::memcpy(push + abi::parameterOffset, &address, sizeof(address));
    }
    if (kernel->usesScratch || isCooperative) {
      uint64_t state = 0;
      const uint64_t blocks = uint64_t(groups[0]) * groups[1] * groups[2];
      if (services->ownState(*kernel, scratchBytes, blocks, isCooperative, recorder, state) != Error::Success)
        return vk::Status::OutOfMemory;
      std::memcpy(push + offsetof(abi::PushHeader, launchState), &state, sizeof(state));
    }
    if (kernel->usesPrintf) services->launchedPrinting(recorder.point());
    recorder.dispatch(*pipeline, push, pushBytes, groups);
    return vk::Status::Ok;
  }
};

Error gather(const KernelInfo& kernel, const Arguments& arguments, uint8_t* out) {
  if (arguments.packed) {
    if (arguments.packedBytes < kernel.parameterBytes) return Error::InvalidValue;
    std::memcpy(out, arguments.packed, kernel.parameterBytes);
    return Error::Success;
  }
  if (!arguments.pointers) return kernel.parameters.empty() ? Error::Success : Error::InvalidValue;
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    if (!arguments.pointers[i]) return Error::InvalidValue;
    std::memcpy(out + kernel.parameters[i].offset, arguments.pointers[i], kernel.parameters[i].size);
  }
  return Error::Success;
}

}  // namespace

Error launch(Function& function, const Launch& launch, const Arguments& arguments, Stream& stream) {
  Context& context = stream.context();
  if (const Error error = context.error(); error != Error::Success) return error;
  if (&function.module().context() != &context) return Error::InvalidHandle;
  const KernelInfo* kernel = nullptr;
  if (const Error error = function.info(kernel); error != Error::Success) return error;
  if (const Error error = check(launch, *kernel, function, context.device().shape()); error != Error::Success)
    return error;

  Dispatch dispatch;
  const PipelineVariant variant{{launch.block[0], launch.block[1], launch.block[2]}, launch.dynamicSharedBytes};
  if (const Error error = function.pipeline(variant, dispatch.pipeline); error != Error::Success) return error;
  dispatch.kernel = kernel;
  dispatch.services = &context.services();
  std::copy_n(launch.grid, 3, dispatch.groups);
  if (kernel->usesScratch)
    dispatch.scratchBytes = (kernel->staticSharedBytes + launch.dynamicSharedBytes + 255) / 256 * 256;
  dispatch.isCooperative = launch.isCooperative;

  abi::PushHeader header{};
  if (const Error error = context.services().launchState(*kernel, header.launchState); error != Error::Success)
    return error;
  header.moduleData = function.module().dataAddress();
  std::copy_n(launch.grid, 3, header.gridDim);
  std::memcpy(dispatch.push, &header, sizeof(header));
  uint8_t* parameters = dispatch.push + abi::parameterOffset;
  uint32_t parameterBytes = kernel->parameterBytes;
  if (kernel->parametersInBuffer) {
    dispatch.parameters = std::make_shared<std::vector<uint8_t>>(kernel->parameterBytes, uint8_t(0));
    parameters = dispatch.parameters->data();
    parameterBytes = sizeof(uint64_t);
  } else if (abi::parameterOffset + parameterBytes > sizeof(dispatch.push)) {
    return Error::InvalidImage;
  } else {
    std::memset(parameters, 0, parameterBytes);
  }
  if (const Error error = gather(*kernel, arguments, parameters); error != Error::Success) return error;
  dispatch.pushBytes = (abi::parameterOffset + parameterBytes + 3) / 4 * 4;

  if (const Error error = stream.enqueue(dispatch); error != Error::Success) return error;
  return util::environment().launchBlocking ? stream.synchronize() : Error::Success;
}

}  // namespace mulciber::core
