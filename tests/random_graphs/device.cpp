#include "device.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mulciber::random_graphs {

namespace {

// to[i] = to[i] * a + from[i] + b, and the same with other arithmetic and other places of its parameters. Then `delay`
// steps of a random sequence.
constexpr const char* ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry decide(.param .u64 handle, .param .u64 from, .param .u32 limit, .param .u64 counter) {
  .reg .b32 %r<3>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [handle];
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [counter];
  ld.param.u32 %r1, [limit];
  ld.global.u32 %r0, [%d1];
  rem.u32 %r0, %r0, %r1;
  st.global.u32 [%d2], %r0;
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %d0;
    st.param.b32 [second], %r0;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
.visible .entry step(.param .u64 handle, .param .u64 counter) {
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  ld.param.u64 %d0, [handle];
  ld.param.u64 %d1, [counter];
  ld.global.u32 %r0, [%d1];
  sub.u32 %r0, %r0, 1;
  st.global.u32 [%d1], %r0;
  {
    .param .b64 first;
    .param .b32 second;
    st.param.b64 [first], %d0;
    st.param.b32 [second], %r0;
    call.uni cudaGraphSetConditional, (first, second);
  }
  ret;
}
.visible .entry first(.param .u64 to, .param .u64 from, .param .u32 words, .param .u32 a, .param .u32 b,
                      .param .u32 delay) {
  .reg .b32 %r<12>;
  .reg .b64 %d<5>;
  .reg .pred %p;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  ld.param.u32 %r1, [words];
  setp.ge.u32 %p, %r0, %r1;
  @%p bra end;
  ld.param.u64 %d0, [to];
  ld.param.u64 %d1, [from];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r0, 4;
  add.s64 %d0, %d0, %d2;
  add.s64 %d1, %d1, %d2;
  ld.global.u32 %r3, [%d0];
  ld.global.u32 %r4, [%d1];
  ld.param.u32 %r5, [a];
  ld.param.u32 %r6, [b];
  ld.param.u32 %r7, [delay];
  mad.lo.u32 %r3, %r3, %r5, %r4;
  add.u32 %r3, %r3, %r6;
again:
  setp.eq.u32 %p, %r7, 0;
  @%p bra store;
  mad.lo.u32 %r3, %r3, 1664525, 1013904223;
  sub.u32 %r7, %r7, 1;
  bra again;
store:
  st.global.u32 [%d0], %r3;
end:
  ret;
}
.visible .entry second(.param .u32 a, .param .u64 from, .param .u32 b, .param .u64 to, .param .u32 delay,
                       .param .u32 words) {
  .reg .b32 %r<12>;
  .reg .b64 %d<5>;
  .reg .pred %p;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r0, %r0, %r1, %r2;
  ld.param.u32 %r1, [words];
  setp.ge.u32 %p, %r0, %r1;
  @%p bra end;
  ld.param.u64 %d0, [to];
  ld.param.u64 %d1, [from];
  cvta.to.global.u64 %d0, %d0;
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r0, 4;
  add.s64 %d0, %d0, %d2;
  add.s64 %d1, %d1, %d2;
  ld.global.u32 %r3, [%d0];
  ld.global.u32 %r4, [%d1];
  ld.param.u32 %r5, [a];
  ld.param.u32 %r6, [b];
  ld.param.u32 %r7, [delay];
  xor.b32 %r3, %r3, %r4;
  mad.lo.u32 %r3, %r3, %r5, %r6;
again:
  setp.eq.u32 %p, %r7, 0;
  @%p bra store;
  mad.lo.u32 %r3, %r3, 1664525, 1013904223;
  sub.u32 %r7, %r7, 1;
  bra again;
store:
  st.global.u32 [%d0], %r3;
end:
  ret;
}
)";

constexpr unsigned mostCounters = 1u << 14;

CUmemorytype typeOf(unsigned buffer, bool isUnified) {
  if (placeOf(buffer) == Place::Array) return CU_MEMORYTYPE_ARRAY;
  if (placeOf(buffer) == Place::Managed) return CU_MEMORYTYPE_UNIFIED;
  if (placeOf(buffer) == Place::Device) return isUnified ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_DEVICE;
  return isUnified && placeOf(buffer) == Place::Pinned ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
}

bool isBox(const Work& work) {
  return work.rows > 1 || placeOf(work.to.buffer) == Place::Array || placeOf(work.from.buffer) == Place::Array;
}

}  // namespace

void succeed(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  throw Failure(std::string(name ? name : "?") + " from " + call);
}

Device::Device() {
  CUdevice device = 0;
  SUCCEED(cuInit(0));
  SUCCEED(cuDeviceGet(&device, 0));
  SUCCEED(cuDevicePrimaryCtxRetain(&context_, device));
  SUCCEED(cuCtxSetCurrent(context_));
  SUCCEED(cuModuleLoadData(&module_, ptx));
  SUCCEED(cuModuleGetFunction(&functions_[0], module_, "first"));
  SUCCEED(cuModuleGetFunction(&functions_[1], module_, "second"));
  SUCCEED(cuModuleGetFunction(&functions_[2], module_, "decide"));
  SUCCEED(cuModuleGetFunction(&functions_[3], module_, "step"));
  SUCCEED(cuMemAlloc(&counters_, mostCounters * sizeof(uint32_t)));
  for (unsigned i = 0; i < deviceBuffers; ++i) {
    CUdeviceptr address = 0;
    SUCCEED(cuMemAlloc(&address, bytesOfBuffer));
    memory_[i] = address;
  }
  void* pinned = nullptr;
  SUCCEED(cuMemAllocHost(&pinned, bytesOfBuffer));
  memory_[pinnedBuffer] = reinterpret_cast<uint64_t>(pinned);
  pageable_.resize(bytesOfBuffer);
  memory_[pageableBuffer] = reinterpret_cast<uint64_t>(pageable_.data());
  CUdeviceptr managed = 0;
  SUCCEED(cuMemAllocManaged(&managed, bytesOfBuffer, CU_MEM_ATTACH_GLOBAL));
  memory_[managedBuffer] = managed;
  const CUDA_ARRAY_DESCRIPTOR line{bytesOfBuffer, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  SUCCEED(cuArrayCreate(&array_, &line));
  for (unsigned i = 0; i + 1 < streams_.size(); ++i)
    SUCCEED(cuStreamCreate(&streams_[i], i == 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
  for (CUstream& lane : lanes_) SUCCEED(cuStreamCreate(&lane, CU_STREAM_NON_BLOCKING));
  for (CUevent& event : events_) SUCCEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  for (CUevent& event : others_) SUCCEED(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
}

Device::~Device() {
  if (!context_) return;
  (void)cuCtxSynchronize();
  for (const CUevent event : others_) (void)cuEventDestroy(event);
  for (const CUevent event : events_) (void)cuEventDestroy(event);
  for (const CUstream lane : lanes_) (void)cuStreamDestroy(lane);
  for (unsigned i = 0; i + 1 < streams_.size(); ++i) (void)cuStreamDestroy(streams_[i]);
  for (unsigned i = 0; i < deviceBuffers; ++i) (void)cuMemFree(memory_[i]);
  (void)cuMemFreeHost(reinterpret_cast<void*>(memory_[pinnedBuffer]));
  (void)cuMemFree(memory_[managedBuffer]);
  (void)cuArrayDestroy(array_);
  (void)cuMemFree(counters_);
  (void)cuModuleUnload(module_);
}

void Device::giveNow(const Work& work) const {
  if (work.kind == Kind::Copy) {
    const auto p = copyNode(work, false);
    if (isBox(work)) SUCCEED(cuMemcpy3D(&p));
    else SUCCEED(cuMemcpy(p.dstDevice, p.srcDevice, p.WidthInBytes));
    return;
  }
  const auto p = fillNode(work);
  const size_t pitch = work.rows > 1 ? p.pitch : bytesOfBuffer;
  if (p.elementSize == 4) SUCCEED(cuMemsetD2D32(p.dst, pitch, p.value, p.width, p.height));
  if (p.elementSize == 2) SUCCEED(cuMemsetD2D16(p.dst, pitch, static_cast<unsigned short>(p.value), p.width, p.height));
  if (p.elementSize == 1) SUCCEED(cuMemsetD2D8(p.dst, pitch, static_cast<unsigned char>(p.value), p.width, p.height));
}

CUevent Device::nextEvent() { return others_[nextOther_++ % others_.size()]; }

uint64_t Device::addressOf(const Range& range, unsigned byte) const {
  return memory_[range.buffer] + range.begin * 4 + byte;
}

void Device::write(const Memory& memory) {
  for (unsigned i = 0; i < deviceBuffers; ++i) SUCCEED(cuMemcpyHtoD(memory_[i], memory[i].data(), bytesOfBuffer));
  SUCCEED(cuMemcpyHtoA(array_, 0, memory[arrayBuffer].data(), bytesOfBuffer));
  for (const unsigned i : {pinnedBuffer, pageableBuffer, managedBuffer})
    std::memcpy(reinterpret_cast<void*>(memory_[i]), memory[i].data(), bytesOfBuffer);
  SUCCEED(cuCtxSynchronize());
}

Memory Device::read() {
  Memory memory;
  for (auto& buffer : memory) buffer.resize(bytesOfBuffer);
  for (unsigned i = 0; i < deviceBuffers; ++i) SUCCEED(cuMemcpyDtoH(memory[i].data(), memory_[i], bytesOfBuffer));
  SUCCEED(cuMemcpyAtoH(memory[arrayBuffer].data(), array_, 0, bytesOfBuffer));
  for (const unsigned i : {pinnedBuffer, pageableBuffer, managedBuffer})
    std::memcpy(memory[i].data(), reinterpret_cast<const void*>(memory_[i]), bytesOfBuffer);
  return memory;
}

void Device::call(void* data) {
  auto& call = *static_cast<HostCall*>(data);
  if (call.isGone) call.wasCalledLate = true;
  if (call.work.delay != 0) usleep(call.work.delay);
  for (unsigned i = 0; i < call.work.to.words; ++i) {
    uint32_t to = 0, from = 0;
    std::memcpy(&to, call.to + i * size_t{4}, 4);
    std::memcpy(&from, call.from + i * size_t{4}, 4);
    to = combine(call.work, to, from);
    std::memcpy(call.to + i * size_t{4}, &to, 4);
  }
}

void Device::setArguments(const Work& work) {
  to_ = addressOf(work.to);
  from_ = addressOf(work.from);
  words_ = work.to.words;
  a_ = work.a;
  b_ = work.b;
  delay_ = work.delay;
  if (work.isSecond) arguments_ = {&a_, &from_, &b_, &to_, &delay_, &words_};
  else arguments_ = {&to_, &from_, &words_, &a_, &b_, &delay_};
}

CUDA_KERNEL_NODE_PARAMS Device::kernelNode(const Work& work) {
  setArguments(work);
  return kernelNodeNow(work);
}

CUDA_KERNEL_NODE_PARAMS Device::kernelNodeNow(const Work& work) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = functions_[work.isSecond];
  p.gridDimX = (work.to.words + work.block - 1) / work.block;
  p.blockDimX = work.block;
  p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = arguments_.data();
  return p;
}

CUdeviceptr Device::nextCounter() { return counters_ + nextCounter_++ % mostCounters * sizeof(uint32_t); }

CUDA_KERNEL_NODE_PARAMS Device::decideNode(const Work& work, CUgraphConditionalHandle handle, unsigned limit,
                                           CUdeviceptr counter) {
  handle_ = handle;
  from_ = addressOf(work.from);
  words_ = limit;
  counter_ = counter;
  arguments_ = {&handle_, &from_, &words_, &counter_};
  return oneThread(functions_[2]);
}

CUDA_KERNEL_NODE_PARAMS Device::stepNode(CUgraphConditionalHandle handle, CUdeviceptr counter) {
  handle_ = handle;
  counter_ = counter;
  arguments_ = {&handle_, &counter_};
  return oneThread(functions_[3]);
}

CUDA_KERNEL_NODE_PARAMS Device::oneThread(CUfunction function) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = function;
  p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimX = p.blockDimY = p.blockDimZ = 1;
  p.kernelParams = arguments_.data();
  return p;
}

CUDA_MEMCPY3D Device::copyNode(const Work& work, bool isUnified) const {
  CUDA_MEMCPY3D p{};
  p.dstMemoryType = typeOf(work.to.buffer, isUnified);
  p.srcMemoryType = typeOf(work.from.buffer, isUnified);
  p.dstDevice = addressOf(work.to, work.toByte);
  p.srcDevice = addressOf(work.from, work.fromByte);
  p.dstHost = reinterpret_cast<void*>(p.dstDevice);
  p.srcHost = reinterpret_cast<const void*>(p.srcDevice);
  if (p.dstMemoryType == CU_MEMORYTYPE_ARRAY) p.dstArray = array_, p.dstXInBytes = p.dstDevice;
  if (p.srcMemoryType == CU_MEMORYTYPE_ARRAY) p.srcArray = array_, p.srcXInBytes = p.srcDevice;
  p.dstPitch = work.toPitch * 4;
  p.srcPitch = work.fromPitch * 4;
  p.WidthInBytes = work.rowWords() * 4 - work.lessBytes;
  p.Height = work.rows;
  p.Depth = 1;
  return p;
}

CUDA_MEMSET_NODE_PARAMS Device::fillNode(const Work& work) const {
  CUDA_MEMSET_NODE_PARAMS p{};
  p.dst = addressOf(work.to);
  p.pitch = work.toPitch * 4;
  p.elementSize = work.valueBytes;
  p.value = work.valueBytes == 4 ? work.b : work.b & ((1u << work.valueBytes * 8) - 1);
  p.width = work.rowWords() * 4 / work.valueBytes;
  p.height = work.rows;
  return p;
}

CUDA_HOST_NODE_PARAMS Device::hostNode(const Work& work) {
  const auto at = [&](const Range& range) { return reinterpret_cast<uint8_t*>(addressOf(range)); };
  return {call, &hostCalls_.emplace_back(work, at(work.to), at(work.from))};
}

void Device::giveHostCall(CUgraph graph) {
  HostCall& call = hostCalls_.back();
  const auto destructor = [](void* data) { static_cast<HostCall*>(data)->isGone = true; };
  CUuserObject object = nullptr;
  SUCCEED(cuUserObjectCreate(&object, &call, destructor, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  SUCCEED(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  call.isGiven = true;
}

std::string Device::endHostCalls() {
  std::string wrong;
  for (const HostCall& call : hostCalls_) {
    for (int i = 0; i < 5000 && call.isGiven && !call.isGone && wrong.empty(); ++i) usleep(1000);
    if (call.isGiven && !call.isGone) wrong = "what a graph kept did not go";
  }
  if (std::any_of(hostCalls_.begin(), hostCalls_.end(), [](const HostCall& call) { return call.wasCalledLate.load(); }))
    wrong = "what a graph kept went too early";
  if (wrong.empty()) hostCalls_.clear();
  else endedWrongly_.push_back(std::exchange(hostCalls_, {}));  // what still refers to them may go later
  return wrong;
}

std::pair<CUgraphNode, CUgraphNode> Device::addScratch(const Work& work, CUgraph graph,
                                                       const std::vector<CUgraphNode>& after) {
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  allocation.bytesize = work.from.words * size_t{4};
  CUgraphNode first = nullptr, copied = nullptr, read = nullptr, last = nullptr;
  SUCCEED(cuGraphAddMemAllocNode(&first, graph, after.data(), after.size(), &allocation));
  auto copy = copyNode(work, false);
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = allocation.dptr;
  SUCCEED(cuGraphAddMemcpyNode(&copied, graph, &first, 1, &copy, context_));
  setArguments(work);
  from_ = allocation.dptr;
  const auto kernel = kernelNodeNow(work);
  SUCCEED(cuGraphAddKernelNode(&read, graph, &copied, 1, &kernel));
  SUCCEED(cuGraphAddMemFreeNode(&last, graph, &read, 1, allocation.dptr));
  return {first, last};
}

void Device::giveScratch(const Work& work, CUstream stream) {
  CUdeviceptr scratch = 0;
  const size_t bytes = work.from.words * size_t{4};
  SUCCEED(cuMemAllocAsync(&scratch, bytes, stream));
  SUCCEED(cuMemcpyAsync(scratch, addressOf(work.from), bytes, stream));
  setArguments(work);
  from_ = scratch;
  const auto p = kernelNodeNow(work);
  SUCCEED(cuLaunchKernel(p.func, p.gridDimX, 1, 1, p.blockDimX, 1, 1, 0, stream, p.kernelParams, nullptr));
  SUCCEED(cuMemFreeAsync(scratch, stream));
}

void Device::give(const Work& work, CUstream stream) {
  switch (work.kind) {
    case Kind::Scratch: giveScratch(work, stream); break;
    case Kind::Kernel: {
      const auto p = kernelNode(work);
      SUCCEED(cuLaunchKernel(p.func, p.gridDimX, 1, 1, p.blockDimX, 1, 1, 0, stream, p.kernelParams, nullptr));
      break;
    }
    case Kind::Copy: {
      const auto p = copyNode(work, false);
      if (isBox(work)) SUCCEED(cuMemcpy3DAsync(&p, stream));
      else SUCCEED(cuMemcpyAsync(p.dstDevice, p.srcDevice, p.WidthInBytes, stream));
      break;
    }
    case Kind::Fill: {
      const auto p = fillNode(work);
      const auto half = static_cast<unsigned short>(p.value);
      const auto byte = static_cast<unsigned char>(p.value);
      if (work.rows > 1) {
        if (p.elementSize == 4) SUCCEED(cuMemsetD2D32Async(p.dst, p.pitch, p.value, p.width, p.height, stream));
        if (p.elementSize == 2) SUCCEED(cuMemsetD2D16Async(p.dst, p.pitch, half, p.width, p.height, stream));
        if (p.elementSize == 1) SUCCEED(cuMemsetD2D8Async(p.dst, p.pitch, byte, p.width, p.height, stream));
      } else {
        if (p.elementSize == 4) SUCCEED(cuMemsetD32Async(p.dst, p.value, p.width, stream));
        if (p.elementSize == 2) SUCCEED(cuMemsetD16Async(p.dst, half, p.width, stream));
        if (p.elementSize == 1) SUCCEED(cuMemsetD8Async(p.dst, byte, p.width, stream));
      }
      break;
    }
    default: {
      const auto p = hostNode(work);
      SUCCEED(cuLaunchHostFunc(stream, p.fn, p.userData));
    }
  }
}

}  // namespace mulciber::random_graphs
