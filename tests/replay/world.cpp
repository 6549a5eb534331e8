// What the cases' arguments are made of.
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "replay.h"
#include "support/scale_ptx.h"

namespace mulciber::replay {

namespace {

void must(int error, const char* what) {
  if (error == 0) return;
  std::fprintf(stderr, "setting up: %s gives %d\n", what, error);
  std::_Exit(3);
}
CUDA_ARRAY3D_DESCRIPTOR shape(size_t width, size_t height, size_t depth, CUarray_format format, unsigned channels,
                              unsigned flags) {
  return {width, height, depth, format, channels, flags};
}

#define MUST(name, ...) must(FUNCTION(name)(__VA_ARGS__), REPLAY_NAME(name))

// Where device memory was. Something of the process's is there now, so that no other allocation gets the address. It is
// more than Mulciber asks its driver for at once, so that nothing else lies beside it.
CUdeviceptr makeGoneMemory() {
  constexpr size_t bytes = size_t{160} << 20, held = 64 << 10, tooMuch = size_t{1} << 47;
  CUdeviceptr gone = 0, none = 0;
  MUST(cuMemAlloc, &gone, bytes);
  MUST(cuMemFree, gone);
  FUNCTION(cuMemAlloc)(&none, tooMuch);  // fails, and Mulciber gives back what it keeps for later
  void* place = mmap(reinterpret_cast<void*>(gone), held, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (place != MAP_FAILED && place != reinterpret_cast<void*>(gone)) munmap(place, held);  // Linux before 4.17
  return gone;
}

}  // namespace

void World::initialize() {
  MUST(cuInit, 0u);
  MUST(cuDevicePrimaryCtxRetain, &context, 0);
  MUST(cuCtxSetCurrent, context);
  MUST(cudaSetDevice, 0);
  goneDevice = makeGoneMemory();
  MUST(cuStreamCreate, &goneStream, 0u);
  MUST(cuStreamDestroy, goneStream);
  MUST(cuEventCreate, &goneEvent, 0u);
  MUST(cuEventDestroy, goneEvent);
  const CUDA_ARRAY3D_DESCRIPTOR flat = shape(64, 32, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
  MUST(cuArray3DCreate, &goneArray, &flat);
  MUST(cuArrayDestroy, goneArray);
  MUST(cuMipmappedArrayCreate, &goneMipmapped, &flat, 4u);
  MUST(cuMipmappedArrayDestroy, goneMipmapped);
  pageable = static_cast<char*>(std::calloc(1, deviceBytes));
  registerProgram();
  makeConsumables();
}

void World::makeConsumables() {
  MUST(cuMemAlloc, &device, deviceBytes);
  MUST(cuMemAlloc, &other, deviceBytes);
  MUST(cuMemsetD8, device, 0, deviceBytes);
  MUST(cuMemAllocHost, reinterpret_cast<void**>(&host), deviceBytes);
  MUST(cuMemAllocManaged, &managed, deviceBytes, 1u);
  MUST(cuStreamCreate, &stream, 0u);
  MUST(cuEventCreate, &event, 0u);
  MUST(cuEventCreate, &timed, 0u);
  MUST(cuEventCreate, &untimed, unsigned{CU_EVENT_DISABLE_TIMING});
  MUST(cuEventRecord, event, stream);
  MUST(cuEventRecord, timed, stream);
  MUST(cuModuleLoadData, &module, test::scalePtx);
  MUST(cuModuleGetFunction, &function, module, "scale");
  MUST(cuLibraryLoadData, &library, test::scalePtx, nullptr, nullptr, 0u, nullptr, nullptr, 0u);
  MUST(cuLibraryGetKernel, &kernel, library, "scale");
  MUST(cuDeviceGetDefaultMemPool, &defaultPool, 0);
  MUST(cuDeviceSetMemPool, 0, defaultPool);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  MUST(cuMemPoolCreate, &pool, &properties);
  MUST(cuMemAllocAsync, &pooled, size_t{4096}, stream);
  MUST(cuStreamSynchronize, stream);
  const CUDA_ARRAY3D_DESCRIPTOR flat = shape(64, 32, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST);
  const CUDA_ARRAY3D_DESCRIPTOR lineShape = shape(256, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
  const CUDA_ARRAY3D_DESCRIPTOR boxShape = shape(16, 8, 4, CU_AD_FORMAT_UNSIGNED_INT16, 2, 0);
  const CUDA_ARRAY3D_DESCRIPTOR layers = shape(16, 8, 4, CU_AD_FORMAT_UNSIGNED_INT16, 2, CUDA_ARRAY3D_LAYERED);
  MUST(cuArray3DCreate, &array, &flat);
  MUST(cuArray3DCreate, &line, &lineShape);
  MUST(cuArray3DCreate, &box, &boxShape);
  MUST(cuArray3DCreate, &layered, &layers);
  MUST(cuMipmappedArrayCreate, &mipmapped, &flat, 4u);
  parameterData = device;
  kernelParameters[0] = &parameterData;
  kernelParameters[1] = &parameterFactor;
  kernelParameters[2] = &parameterCount;
}

namespace {

std::string nameOf(uint64_t value) {
  if (value < 1u << 20) return std::to_string(value);
  if (static_cast<int32_t>(value) < 0 && static_cast<int32_t>(value) > -1000 && value <= UINT32_MAX)
    return std::to_string(static_cast<int32_t>(value));
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "0x%llx", static_cast<unsigned long long>(value));
  return buffer;
}

}  // namespace

Choices of(std::string name, std::function<uint64_t(World&)> make) {
  Choices made;
  made.all.push_back({std::move(name), std::move(make)});
  return made;
}

Choices number(uint64_t right, std::vector<uint64_t> wrong) {
  Choices made = of(nameOf(right), [right](World&) { return right; });
  for (const uint64_t value : wrong) made.all.push_back({nameOf(value), [value](World&) { return value; }});
  return made;
}

Choices show(int slot, unsigned bytes) {
  Choices made = of("out", [slot](World& world) { return bits(world.slot[slot]); }).add("null", [](World&) {
    return uint64_t{0};
  });
  made.slot = slot;
  made.shownBytes = bytes;
  return made;
}

Choices out(int slot) { return show(slot, 0); }

Choices text(const char* right, std::vector<const char*> wrong) {
  Choices made = of(std::string("\"") + right + "\"", [right](World&) { return bits(right); });
  for (const char* value : wrong)
    made.all.push_back({value ? std::string("\"") + value + "\"" : "null", [value](World&) { return bits(value); }});
  return made;
}

Choices stream() {
  return of("stream", [](World& w) { return bits(w.stream); })
      .add("0", [](World&) { return uint64_t{0}; })
      .add("legacy", [](World&) { return uint64_t{1}; })
      .add("perThread", [](World&) { return uint64_t{2}; })
      .add("goneStream", [](World& w) { return bits(w.goneStream); });
}

Choices event() {
  return of("event", [](World& w) { return bits(w.event); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("goneEvent", [](World& w) { return bits(w.goneEvent); });
}

Choices deviceMemory() {
  return of("device", [](World& w) { return w.device; })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("device+256", [](World& w) { return w.device + 256; })
      .add("device+1", [](World& w) { return w.device + 1; })
      .add("deviceEnd", [](World& w) { return w.device + World::deviceBytes; })
      .add("goneDevice", [](World& w) { return w.goneDevice; })
      .add("pinned", [](World& w) { return bits(w.host); })
      .add("managed", [](World& w) { return w.managed; })
      .add("pooled", [](World& w) { return w.pooled; })
      .add("pageable", [](World& w) { return bits(w.pageable); });
}

Choices hostMemory() {
  return of("pinned", [](World& w) { return bits(w.host); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("pinned+16", [](World& w) { return bits(w.host + 16); })
      .add("pageable", [](World& w) { return bits(w.pageable); })
      .add("managed", [](World& w) { return w.managed; })
      .add("device", [](World& w) { return w.device; });
}

Choices function() {
  return of("function", [](World& w) { return bits(w.function); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("kernel", [](World& w) { return bits(w.kernel); });
}
Choices module() {
  return of("module", [](World& w) { return bits(w.module); }).add("null", [](World&) { return uint64_t{0}; });
}
Choices library() {
  return of("library", [](World& w) { return bits(w.library); }).add("null", [](World&) { return uint64_t{0}; });
}
Choices kernel() {
  return of("kernel", [](World& w) { return bits(w.kernel); }).add("null", [](World&) { return uint64_t{0}; });
}
Choices pool() {
  return of("pool", [](World& w) { return bits(w.pool); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("defaultPool", [](World& w) { return bits(w.defaultPool); });
}
Choices context() {
  return of("context", [](World& w) { return bits(w.context); }).add("null", [](World&) { return uint64_t{0}; });
}
Choices array() {
  return of("array", [](World& w) { return bits(w.array); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("goneArray", [](World& w) { return bits(w.goneArray); })
      .add("line", [](World& w) { return bits(w.line); })
      .add("box", [](World& w) { return bits(w.box); })
      .add("layered", [](World& w) { return bits(w.layered); });
}
Choices mipmapped() {
  return of("mipmapped", [](World& w) { return bits(w.mipmapped); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("goneMipmapped", [](World& w) { return bits(w.goneMipmapped); });
}
Choices ordinal() { return number(0, {0xFFFFFFFFu, 77}); }

}  // namespace mulciber::replay
