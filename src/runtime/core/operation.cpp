#include "runtime/core/operation.h"

#include <cstring>

#include "runtime/core/kernel_services.h"
#include "runtime/vk/device.h"
#include "runtime/vk/illegal_address.h"

namespace mulciber::core {

namespace {

vk::Status recordWork(const KernelLaunch& launch, vk::Commands& commands) { return launch.record(commands); }

vk::Status recordWork(const DeviceCopy& copy, vk::Commands& commands) {
  commands.copy(copy.region);
  if (copy.staging) commands.keep(copy.staging);
  if (copy.hostReads) commands.makeVisibleToHost();
  return vk::Status::Ok;
}

vk::Status recordWork(const BufferCopy& copy, vk::Commands& commands) {
  commands.copyBuffer(copy.destination->memory, copy.destinationOffset, copy.source->memory, copy.sourceOffset,
                      copy.bytes);
  return vk::Status::Ok;
}

vk::Status recordWork(const Upload& upload, vk::Commands& commands) {
  vk::Memory memory;
  TRY(commands.upload(upload.bytes->size(), memory));
  std::memcpy(memory.host, upload.bytes->data(), upload.bytes->size());
  vk::CopyRegion region = upload.region;
  region.source += memory.address;
  commands.copy(region);
  return vk::Status::Ok;
}

vk::Status recordWork(const ArrayCopy& copy, vk::Commands& commands) {
  if (copy.toArray) return commands.copyToImage(copy.array, copy.memory);
  if (!copy.allocation) commands.makeVisibleToHost();
  return commands.copyFromImage(copy.memory, copy.array);
}

vk::Status recordWork(const ArrayUpload& upload, vk::Commands& commands) {
  vk::Memory memory;
  TRY(commands.upload(upload.bytes->size(), memory));
  std::memcpy(memory.host, upload.bytes->data(), upload.bytes->size());
  const uint64_t row = upload.array.rowBytes;
  return commands.copyToImage(upload.array, {memory, memory.address, row, row * upload.array.height});
}

vk::Status recordWork(const ArrayToArrayCopy& copy, vk::Commands& commands) {
  return commands.copyImage(copy.destination, copy.source);
}

vk::Status recordWork(const vk::FillRegion& region, vk::Commands& commands) {
  commands.fill(region);
  return vk::Status::Ok;
}

}  // namespace

vk::Status record(const DeviceWork& work, vk::Commands& commands) {
  return std::visit([&](const auto& one) { return recordWork(one, commands); }, work);
}

void willBeRecorded(const DeviceWork& work) {
  if (const auto* launch = std::get_if<KernelLaunch>(&work)) willBeRecorded(*launch);
}

void willBeRecorded(const KernelLaunch& launch) {
  if (launch.kernel->usesPrintf) launch.services->launchesPrinting();
}

void wasRecorded(const DeviceWork& work, const vk::Point& point) {
  if (const auto* launch = std::get_if<KernelLaunch>(&work)) wasRecorded(*launch, point);
}

void wasRecorded(const KernelLaunch& launch, const vk::Point& point) {
  if (launch.kernel->usesPrintf) launch.services->launchedPrinting(point);
  if (launch.kernel->readsHostWrites) point.queue->device().showHostWrites(point);
}

vk::Status run(const RecordedWork& work, vk::Queue& queue, vk::Position& position) {
  for (const std::string& kernel : work.kernels) vk::noteLaunch(kernel);
  if (work.usesPrintf) work.services->launchesPrinting();
  const vk::Status status = queue.run(work.commands, position);
  if (work.usesPrintf) work.services->launchedPrinting(position.last);
  if (work.readsHostWrites) queue.device().showHostWrites(position.last);
  return status;
}

}  // namespace mulciber::core
