// Calls that allocate, free, copy and fill, made while a stream is being captured.
#include <utility>

#include "capture_scene.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver;

void memory() {
  whileCapturing(D, "cuMemAlloc", [](Scene&) {
    CUdeviceptr made = 0;
    return FUNCTION(cuMemAlloc)(&made, size_t{4096});
  });
  whileCapturing(D, "cuMemAllocPitch", [](Scene&) {
    CUdeviceptr made = 0;
    size_t pitch = 0;
    return FUNCTION(cuMemAllocPitch)(&made, &pitch, size_t{64}, size_t{4}, 4u);
  });
  whileCapturing(D, "cuMemAllocManaged", [](Scene&) {
    CUdeviceptr made = 0;
    return FUNCTION(cuMemAllocManaged)(&made, size_t{4096}, 1u);
  });
  whileCapturing(D, "cuMemAllocHost", [](Scene&) {
    void* made = nullptr;
    return FUNCTION(cuMemAllocHost)(&made, size_t{4096});
  });
  whileCapturing(D, "cuMemHostAlloc", [](Scene&) {
    void* made = nullptr;
    return FUNCTION(cuMemHostAlloc)(&made, size_t{4096}, 0u);
  });
  whileCapturing(D, "cuMemHostRegister", [](Scene&) {
    alignas(4096) static char area[7][4096];
    static int next = 0;
    return FUNCTION(cuMemHostRegister)(area[next++ % 7], size_t{4096}, 0u);
  });
  whileCapturing(D, "cuMemFree", [](Scene& s) { return FUNCTION(cuMemFree)(std::exchange(s.memory, 0)); });
  whileCapturing(D, "cuMemFreeHost", [](Scene& s) { return FUNCTION(cuMemFreeHost)(std::exchange(s.host, nullptr)); });
  whileCapturing(D, "cuMemGetInfo", [](Scene&) {
    size_t one = 0, two = 0;
    return FUNCTION(cuMemGetInfo)(&one, &two);
  });
  whileCapturing(D, "cuMemPoolTrimTo", [](Scene& s) { return FUNCTION(cuMemPoolTrimTo)(s.w.pool, size_t{0}); });
  whileCapturing(D, "cuMemPoolCreate", [](Scene&) {
    CUmemoryPool made = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return FUNCTION(cuMemPoolCreate)(&made, &properties);
  });
  whileCapturing(D, "cuMemAllocAsync in it", [](Scene& s) {
    CUdeviceptr made = 0;
    return FUNCTION(cuMemAllocAsync)(&made, size_t{4096}, s.captured);
  });
  whileCapturing(D, "cuMemAllocAsync in another stream", [](Scene& s) {
    CUdeviceptr made = 0;
    return FUNCTION(cuMemAllocAsync)(&made, size_t{4096}, s.other);
  });
  whileCapturing(D, "cuMemAllocAsync and cuMemFreeAsync in it", [](Scene& s) {
    CUdeviceptr made = 0;
    const int first = FUNCTION(cuMemAllocAsync)(&made, size_t{4096}, s.captured);
    return first != 0 ? first : FUNCTION(cuMemFreeAsync)(made, s.captured);
  });
  whileCapturing(D, "cuMemFreeAsync in it, of memory from before",
                 [](Scene& s) { return FUNCTION(cuMemFreeAsync)(s.pooled, s.captured); });
  whileCapturing(D, "cuMemFreeAsync in it, of what cuMemAlloc gave",
                 [](Scene& s) { return FUNCTION(cuMemFreeAsync)(s.memory, s.captured); });
  whileCapturing(D, "cuMemFree of memory allocated in it", [](Scene& s) {
    CUdeviceptr made = 0;
    FUNCTION(cuMemAllocAsync)(&made, size_t{4096}, s.captured);
    return FUNCTION(cuMemFree)(made);
  });
  whileCapturing(D, "cuMemFreeAsync in another stream",
                 [](Scene& s) { return FUNCTION(cuMemFreeAsync)(s.pooled, s.other); });
}

void copies() {
  for (const unsigned flags : {0u, 1u}) {
    const std::string kind = flags ? "" : ", blocking,";
    whileCapturing(
        D, "cuMemcpyHtoD" + kind,
        [](Scene& s) { return FUNCTION(cuMemcpyHtoD)(s.w.device, s.w.pageable, capturedBytes); }, flags);
    whileCapturing(
        D, "cuMemcpyDtoH" + kind,
        [](Scene& s) { return FUNCTION(cuMemcpyDtoH)(s.w.pageable, s.w.device, capturedBytes); }, flags);
    whileCapturing(
        D, "cuMemcpyDtoD" + kind, [](Scene& s) { return FUNCTION(cuMemcpyDtoD)(s.w.device, s.w.other, capturedBytes); },
        flags);
    whileCapturing(
        D, "cuMemsetD8" + kind,
        [](Scene& s) { return FUNCTION(cuMemsetD8)(s.w.device, static_cast<unsigned char>(1), capturedBytes); }, flags);
    whileCapturing(
        D, "cuMemcpyDtoDAsync in the legacy stream" + kind,
        [](Scene& s) { return FUNCTION(cuMemcpyDtoDAsync)(s.w.device, s.w.other, capturedBytes, CUstream{}); }, flags);
    whileCapturing(
        D, "a launch in the legacy stream" + kind, [](Scene& s) { return launch(s, nullptr); }, flags);
    whileCapturing(
        D, "cuStreamSynchronize of the legacy stream" + kind,
        [](Scene&) { return FUNCTION(cuStreamSynchronize)(CUstream{}); }, flags);
    whileCapturing(
        D, "cuStreamQuery of the legacy stream" + kind, [](Scene&) { return FUNCTION(cuStreamQuery)(CUstream{}); },
        flags);
    whileCapturing(
        D, "cuEventRecord in the legacy stream" + kind,
        [](Scene& s) { return FUNCTION(cuEventRecord)(s.outside, CUstream{}); }, flags);
    whileCapturing(
        D, "cuStreamWaitEvent by the legacy stream" + kind,
        [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(CUstream{}, s.outside, 0u); }, flags);
    whileCapturing(
        D, "cuStreamWaitEvent by the legacy stream for the captured one" + kind,
        [](Scene& s) { return FUNCTION(cuStreamWaitEvent)(CUstream{}, s.inside, 0u); }, flags);
    whileCapturing(
        D, "cuMemAllocAsync in the legacy stream" + kind,
        [](Scene&) {
          CUdeviceptr made = 0;
          return FUNCTION(cuMemAllocAsync)(&made, size_t{4096}, CUstream{});
        },
        flags);
    whileCapturing(
        D, "cuLaunchHostFunc in the legacy stream" + kind,
        [](Scene&) { return FUNCTION(cuLaunchHostFunc)(CUstream{}, hostFunction, nullptr); }, flags);
    whileCapturing(
        D, "cuCtxSynchronize" + kind, [](Scene&) { return FUNCTION(cuCtxSynchronize)(); }, flags);
    whileCapturing(
        D, "a launch in another stream" + kind, [](Scene& s) { return launch(s, s.other); }, flags);
  }
  whileCapturing(D, "cuMemcpyHtoDAsync in it, of pageable memory,", [](Scene& s) {
    return FUNCTION(cuMemcpyHtoDAsync)(s.w.device, s.w.pageable, capturedBytes, s.captured);
  });
  whileCapturing(D, "cuMemcpyHtoDAsync in it, of pinned memory,",
                 [](Scene& s) { return FUNCTION(cuMemcpyHtoDAsync)(s.w.device, s.w.host, capturedBytes, s.captured); });
  whileCapturing(D, "cuMemcpyDtoHAsync in it, to pageable memory,", [](Scene& s) {
    return FUNCTION(cuMemcpyDtoHAsync)(s.w.pageable, s.w.device, capturedBytes, s.captured);
  });
  whileCapturing(D, "cuMemcpyDtoDAsync in it", [](Scene& s) {
    return FUNCTION(cuMemcpyDtoDAsync)(s.w.device, s.w.other, capturedBytes, s.captured);
  });
  whileCapturing(D, "cuMemcpyAsync in it, of nothing,",
                 [](Scene& s) { return FUNCTION(cuMemcpyAsync)(s.w.device, s.w.other, size_t{0}, s.captured); });
  whileCapturing(D, "cuMemcpyAsync in it, of wrong addresses,", [](Scene& s) {
    return FUNCTION(cuMemcpyDtoDAsync)(s.w.device, s.w.goneDevice, capturedBytes, s.captured);
  });
  whileCapturing(D, "cuMemsetD32Async in it",
                 [](Scene& s) { return FUNCTION(cuMemsetD32Async)(s.w.device, 7u, capturedBytes, s.captured); });
  whileCapturing(D, "cuMemsetD2D8Async in it", [](Scene& s) {
    return FUNCTION(cuMemsetD2D8Async)(s.w.device, size_t{512}, static_cast<unsigned char>(7), capturedBytes, size_t{3},
                                       s.captured);
  });
  whileCapturing(D, "cuMemsetD8Async in it, of nothing,", [](Scene& s) {
    return FUNCTION(cuMemsetD8Async)(s.w.device, static_cast<unsigned char>(7), size_t{0}, s.captured);
  });
  whileCapturing(D, "cuMemcpyPeer", [](Scene& s) {
    return FUNCTION(cuMemcpyPeer)(s.w.device, s.w.context, s.w.other, s.w.context, capturedBytes);
  });
  whileCapturing(D, "cuMemcpyPeerAsync in it", [](Scene& s) {
    return FUNCTION(cuMemcpyPeerAsync)(s.w.device, s.w.context, s.w.other, s.w.context, capturedBytes, s.captured);
  });
}

}  // namespace

void addCapturedMemoryCalls() {
  memory();
  copies();
}

}  // namespace mulciber::replay
