#include "runtime/api/common/batch_copies.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/core/array.h"
#include "runtime/core/copy.h"
#include "runtime/core/platform.h"

namespace mulciber::api {

using core::Error;

namespace {

// A copy with when its source may be read.
struct Described {
  core::Copy copy;
  CUmemcpySrcAccessOrder order;
};

bool isOrder(CUmemcpySrcAccessOrder order) {
  return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

// A place that changes nothing, but has to be one; 0 says nothing.
bool isHint(const CUmemLocation& hint) {
  return hint.type == CU_MEM_LOCATION_TYPE_DEVICE
             ? core::Platform::get().device(hint.id) != nullptr
             : hint.type >= 0 && hint.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

bool isAttribute(const CUmemcpyAttributes& attributes) {
  return isOrder(attributes.srcAccessOrder) && isHint(attributes.srcLocHint) && isHint(attributes.dstLocHint) &&
         (attributes.flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) == 0;
}

// The caller's source may be gone when the call has returned. Pageable memory is read before that anyway; what the
// device would read later is read here, or waited for where the host cannot.
Error copyNow(core::Stream& stream, core::Copy copy) {
  const core::AllocationRef source = core::currentMemory().find(copy.source);
  if (!source && !copy.sourceArray.array) return core::copy(stream, copy, true);
  if (copy.sourceArray.array || !source->isHostVisible()) {
    const Error error = core::copy(stream, copy, true);
    return error == Error::Success ? stream.finish() : error;
  }
  const size_t bytes = (copy.depth - 1) * copy.sourceSlice + (copy.height - 1) * copy.sourcePitch + copy.width;
  const uint64_t offset = source->offsetOf(copy.source);
  if (bytes > source->size - offset) return Error::InvalidValue;
  const char* host = reinterpret_cast<const char*>(source->hostAddress) + offset;  // NOLINT: addresses are numbers here
  const std::vector<char> taken(host, host + bytes);
  copy.source = reinterpret_cast<uintptr_t>(taken.data());
  return core::copy(stream, copy, true);
}

// The batch comes in the order of its stream, and its copies in any: they are given one after the other.
Error copyAll(core::Stream& stream, const std::vector<Described>& all, size_t* failed) {
  for (size_t i = 0; i < all.size(); ++i) {
    const bool isNow = all[i].order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    const Error error = all[i].copy.width == 0 ? Error::InvalidValue
                        : isNow                ? copyNow(stream, all[i].copy)
                                               : core::copy(stream, all[i].copy, true);
    if (error == Error::Success) continue;
    if (failed) *failed = i;
    return error;
  }
  return Error::Success;
}

Error arrayOf(const CUmemcpy3DOperand& operand, core::ArrayPlace& place, size_t& elementBytes) {
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY) return Error::Success;
  const auto& [array, offset] = operand.op.array;
  TRY(core::findArray(reinterpret_cast<core::Array*>(array), place.array));
  const core::ArrayFormat& format = place.array->format();
  if (format.isCompressed()) return Error::NotSupported;  // whose elements are blocks
  if (elementBytes != 0 && elementBytes != format.bytes) return Error::InvalidValue;
  elementBytes = format.bytes;
  place.y = offset.y;
  place.z = offset.z;
  return __builtin_mul_overflow(offset.x, elementBytes, &place.x) ? Error::InvalidValue : Error::Success;
}

// Lengths count elements: those of an array at the other end, else bytes.
Error sideOf(const CUmemcpy3DOperand& operand, const CUextent3D& extent, size_t elementBytes, uint64_t& address,
             size_t& pitch, size_t& slice) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) return Error::Success;
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_POINTER || operand.op.ptr.ptr == 0) return Error::InvalidValue;
  const size_t row = operand.op.ptr.rowLength, layer = operand.op.ptr.layerHeight;
  if ((row != 0 && row < extent.width) || (layer != 0 && layer < extent.height)) return Error::InvalidValue;
  address = operand.op.ptr.ptr;
  if (__builtin_mul_overflow(row != 0 ? row : extent.width, elementBytes, &pitch)) return Error::InvalidValue;
  return __builtin_mul_overflow(pitch, layer != 0 ? layer : extent.height, &slice) ? Error::InvalidValue
                                                                                   : Error::Success;
}

Error describe(const CUDA_MEMCPY3D_BATCH_OP& box, Described& out) {
  if (!isOrder(box.srcAccessOrder) || (box.flags & ~unsigned{CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE}) != 0)
    return Error::InvalidValue;
  if (box.extent.width == 0 || box.extent.height == 0 || box.extent.depth == 0) return Error::InvalidValue;
  out.order = box.srcAccessOrder;
  core::Copy& copy = out.copy;
  size_t elementBytes = 0;
  TRY(arrayOf(box.src, copy.sourceArray, elementBytes));
  TRY(arrayOf(box.dst, copy.destinationArray, elementBytes));
  elementBytes = std::max<size_t>(elementBytes, 1);
  if (__builtin_mul_overflow(box.extent.width, elementBytes, &copy.width)) return Error::InvalidValue;
  copy.height = box.extent.height;
  copy.depth = box.extent.depth;
  TRY(sideOf(box.src, box.extent, elementBytes, copy.source, copy.sourcePitch, copy.sourceSlice));
  return sideOf(box.dst, box.extent, elementBytes, copy.destination, copy.destinationPitch, copy.destinationSlice);
}

}  // namespace

Error copyBatch(core::Stream& stream, const CUdeviceptr* destinations, const CUdeviceptr* sources, const size_t* sizes,
                size_t count, const CUmemcpyAttributes* attributes, const size_t* firsts, size_t attributeCount,
                size_t* failed) {
  if (failed) *failed = SIZE_MAX;
  if (stream.isCapturing()) return Error::StreamCaptureUnsupported;
  if (stream.isLegacy() || !destinations || !sources || !sizes || !attributes || !firsts) return Error::InvalidValue;
  if (attributeCount == 0 || attributeCount > count || firsts[0] != 0) return Error::InvalidValue;
  if (!std::all_of(attributes, attributes + attributeCount, isAttribute)) return Error::InvalidValue;
  for (size_t i = 0; i < attributeCount; ++i)
    if (firsts[i] >= count || (i > 0 && firsts[i] <= firsts[i - 1])) return Error::InvalidValue;
  std::vector<Described> all;
  for (size_t i = 0, attribute = 0; i < count; ++i) {
    if (attribute + 1 < attributeCount && firsts[attribute + 1] == i) ++attribute;
    Described described{{}, attributes[attribute].srcAccessOrder};
    described.copy.destination = destinations[i];
    described.copy.source = sources[i];
    described.copy.width = described.copy.destinationPitch = described.copy.sourcePitch = sizes[i];
    all.push_back(described);
  }
  return copyAll(stream, all, failed);
}

Error copyBoxes(core::Stream& stream, const CUDA_MEMCPY3D_BATCH_OP* boxes, size_t count, unsigned long long flags,
                size_t* failed) {
  if (failed) *failed = SIZE_MAX;
  if (stream.isCapturing()) return Error::StreamCaptureUnsupported;
  if (stream.isLegacy() || !boxes || count == 0 || flags != 0) return Error::InvalidValue;
  std::vector<Described> all(count);
  for (size_t i = 0; i < count; ++i)
    if (Error error = describe(boxes[i], all[i]); error != Error::Success) {
      if (failed && boxes[i].src.op.ptr.ptr != 0 && boxes[i].dst.op.ptr.ptr != 0) *failed = i;
      return error;
    }
  return copyAll(stream, all, nullptr);  // what the addresses lack is not told of one of them
}

}  // namespace mulciber::api
