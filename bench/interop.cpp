// One scene both ways: a million particles that a CUDA kernel moves and Vulkan draws. `engine` records the kernel into
// the frame's command buffer; `interop` lets libcuda.so.1, ours or NVIDIA's, write exported memory between exported
// semaphores.
//   bench_interop engine|interop [particles] [frames]
#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include <cuda.h>

#include "particles/scene.h"

namespace {

using namespace example;

constexpr uint32_t width = 1280, height = 720, inFlight = 2;

// What moves the particles of a frame, and how the frame is submitted.
class Mover {
 public:
  virtual ~Mover() = default;
  virtual VkBuffer buffer() const = 0;
  virtual VkDeviceSize offset() const { return 0; }
  virtual void beforeFrame(uint32_t) {}
  virtual void record(VkCommandBuffer, uint32_t) {}
  virtual TimelinePoint submit(VkCommandBuffer commands, uint32_t frame) = 0;
};

class EngineMover : public Mover {
 public:
  EngineMover(Gpu& gpu, uint32_t count)
      : gpu_(gpu),
        count_(count),
        module_(gpu.context().get(), particlesPtx),
        advance_(module_.kernel("advance")),
        shape_{{blocksFor(count), 1, 1}, {threadsPerBlock, 1, 1}},
        memory_(gpu.context().allocate(size_t{count} * particleBytes)),
        range_(gpu.context().buffer(memory_)) {
    const cuda::Stream stream(gpu.context().get());
    stream.launch(module_.kernel("place"), shape_, memory_, count, particlesExtent);
    stream.synchronize();
    advance_.prepare(shape_);
  }
  VkBuffer buffer() const override { return range_.buffer; }
  VkDeviceSize offset() const override { return range_.offset; }
  void record(VkCommandBuffer commands, uint32_t frame) override {
    if (frame >= inFlight) gpu_.context().retire(frame - inFlight);
    const MulciberRecordingInfo info{sizeof(info), commands, gpu_.family(),
                                     MULCIBER_RECORDING_BARRIER_BEFORE | MULCIBER_RECORDING_BARRIER_AFTER, frame};
    cuda::Recording recording(gpu_.context().get(), info);
    recording.launch(advance_, shape_, memory_, count_, secondsPerStep, stepsPerFrame);
    recording.end();
  }
  TimelinePoint submit(VkCommandBuffer commands, uint32_t) override { return gpu_.submit(commands); }

 private:
  Gpu& gpu_;
  const uint32_t count_;
  const cuda::Module module_;
  const cuda::Kernel advance_;
  const cuda::Shape shape_;
  const VkDeviceAddress memory_;
  const MulciberBufferRange range_;
};

void check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(std::string(what) + " gave " + std::to_string(result));
}

// The driver library that the loader finds, called by the names that its header gives the functions.
template <class Function>
Function* find(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* const found = library ? dlsym(library, name) : nullptr;
  if (!found) throw std::runtime_error(std::string("libcuda.so.1 has no ") + name);
  return reinterpret_cast<Function*>(found);
}
#define NAME_OF_(function) #function
#define NAME_OF(function) NAME_OF_(function)
#define CALL(function, ...)                                                  \
  do {                                                                       \
    static auto* const called = find<decltype(function)>(NAME_OF(function)); \
    check(called(__VA_ARGS__), NAME_OF(function));                           \
  } while (false)

class InteropMover : public Mover {
 public:
  InteropMover(Gpu& gpu, uint32_t count) : gpu_(gpu), count_(count) {
    CALL(cuInit, 0);
    CUcontext context = nullptr;
    CALL(cuDevicePrimaryCtxRetain, &context, 0);
    CALL(cuCtxSetCurrent, context);
    CALL(cuStreamCreate, &stream_, CU_STREAM_NON_BLOCKING);
    CUmodule module = nullptr;
    const std::string text(particlesPtx);
    CALL(cuModuleLoadData, &module, text.c_str());
    CALL(cuModuleGetFunction, &advance_, module, "advance");
    makeBuffer();
    drawn_ = shareSemaphore(drawnInCuda_);
    moved_ = shareSemaphore(movedInCuda_);
    CUfunction place = nullptr;
    CALL(cuModuleGetFunction, &place, module, "place");
    float extent = particlesExtent;
    void* arguments[] = {&memory_, &count_, &extent};
    CALL(cuLaunchKernel, place, blocksFor(count_), 1, 1, threadsPerBlock, 1, 1, 0, stream_, arguments, nullptr);
    CALL(cuStreamSynchronize, stream_);
  }
  ~InteropMover() override {
    vkDeviceWaitIdle(gpu_.device());
    vkDestroyBuffer(gpu_.device(), buffer_, nullptr);
    vkFreeMemory(gpu_.device(), exported_, nullptr);
    for (const VkSemaphore semaphore : {drawn_, moved_}) vkDestroySemaphore(gpu_.device(), semaphore, nullptr);
  }
  VkBuffer buffer() const override { return buffer_; }
  void beforeFrame(uint32_t frame) override {
    if (frame != 0) {
      CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait{};
      wait.params.fence.value = frame;
      CALL(cuWaitExternalSemaphoresAsync, &drawnInCuda_, &wait, 1, stream_);
    }
    float seconds = secondsPerStep;
    uint32_t steps = stepsPerFrame;
    void* arguments[] = {&memory_, &count_, &seconds, &steps};
    CALL(cuLaunchKernel, advance_, blocksFor(count_), 1, 1, threadsPerBlock, 1, 1, 0, stream_, arguments, nullptr);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal{};
    signal.params.fence.value = frame + 1;
    CALL(cuSignalExternalSemaphoresAsync, &movedInCuda_, &signal, 1, stream_);
  }
  TimelinePoint submit(VkCommandBuffer commands, uint32_t frame) override {
    return gpu_.submit(commands, {{moved_, frame + 1}}, {{drawn_, frame + 1}});
  }

 private:
  void makeBuffer() {
    const VkDeviceSize bytes = VkDeviceSize{count_} * particleBytes;
    VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
    external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, &external};
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_VERTEX_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    example::check(vkCreateBuffer(gpu_.device(), &info, nullptr, &buffer_), "making a buffer");
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu_.device(), buffer_, &needs);
    VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
    dedicated.buffer = buffer_;
    VkExportMemoryAllocateInfo exports{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, &dedicated};
    exports.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &exports};
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = gpu_.memoryType(needs.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
    example::check(vkAllocateMemory(gpu_.device(), &allocate, nullptr, &exported_), "allocating memory");
    example::check(vkBindBufferMemory(gpu_.device(), buffer_, exported_, 0), "binding memory");
    VkMemoryGetFdInfoKHR get{VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR};
    get.memory = exported_;
    get.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC handle{};
    handle.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    example::check(vkGetMemoryFdKHR(gpu_.device(), &get, &handle.handle.fd), "exporting memory");
    handle.size = needs.size;
    handle.flags = CUDA_EXTERNAL_MEMORY_DEDICATED;
    CUexternalMemory imported = nullptr;
    CALL(cuImportExternalMemory, &imported, &handle);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC range{};
    range.size = bytes;
    CALL(cuExternalMemoryGetMappedBuffer, &memory_, imported, &range);
  }

  VkSemaphore shareSemaphore(CUexternalSemaphore& inCuda) {
    VkExportSemaphoreCreateInfo exports{VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO};
    exports.handleTypes = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, &exports};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type};
    VkSemaphore made = VK_NULL_HANDLE;
    example::check(vkCreateSemaphore(gpu_.device(), &info, nullptr, &made), "making a semaphore");
    VkSemaphoreGetFdInfoKHR get{VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR};
    get.semaphore = made;
    get.handleType = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC handle{};
    handle.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    example::check(vkGetSemaphoreFdKHR(gpu_.device(), &get, &handle.handle.fd), "exporting a semaphore");
    CALL(cuImportExternalSemaphore, &inCuda, &handle);
    return made;
  }

  Gpu& gpu_;
  uint32_t count_;
  CUstream stream_ = nullptr;
  CUfunction advance_ = nullptr;
  CUdeviceptr memory_ = 0;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceMemory exported_ = VK_NULL_HANDLE;
  VkSemaphore drawn_ = VK_NULL_HANDLE, moved_ = VK_NULL_HANDLE;
  CUexternalSemaphore drawnInCuda_ = nullptr, movedInCuda_ = nullptr;
};

double cpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Of each thread of the process, by its number: the drivers have threads of their own.
std::map<std::string, double> threadSeconds() {
  std::map<std::string, double> seconds;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    double nanoseconds = 0;
    std::ifstream(thread.path() / "schedstat") >> nanoseconds;
    seconds[thread.path().filename()] = nanoseconds * 1e-9;
  }
  return seconds;
}

void printThreads(const std::map<std::string, double>& before, uint32_t frames) {
  for (const auto& [number, seconds] : threadSeconds()) {
    const auto earlier = before.find(number);
    const double each = (seconds - (earlier == before.end() ? 0 : earlier->second)) * 1e6 / frames;
    std::string name;
    std::getline(std::ifstream("/proc/self/task/" + number + "/comm"), name);
    if (each >= 1) std::printf("  thread %s (%s): %.2f us of CPU time a frame\n", number.c_str(), name.c_str(), each);
  }
}

void run(const std::string& way, uint32_t count, uint32_t frames) {
  Gpu gpu;
  const Picture picture(gpu, width, height, VK_SAMPLE_COUNT_1_BIT);
  const GraphicsPipeline pipeline(gpu, particlePipeline());
  std::unique_ptr<Mover> mover;
  if (way == "engine") mover = std::make_unique<EngineMover>(gpu, count);
  else mover = std::make_unique<InteropMover>(gpu, count);
  const Camera camera({5.9f, 5.5f, 7.4f}, {0.3f, 0.3f, 0.3f}, 0.78f, static_cast<float>(width) / height);
  const ParticleConstants constants = lookAt(camera, width, height, count);

  constexpr uint32_t warmUp = 20;
  TimelinePoint drawn[inFlight];
  auto begin = std::chrono::steady_clock::now();
  double cpu = 0;
  std::map<std::string, double> threads;
  for (uint32_t frame = 0; frame < frames + warmUp; ++frame) {
    if (frame == warmUp) {
      threads = threadSeconds();
      begin = std::chrono::steady_clock::now();
      cpu = cpuSeconds();
    }
    TimelinePoint& slot = drawn[frame % inFlight];
    if (frame >= inFlight) gpu.wait(slot);
    mover->beforeFrame(frame);
    const VkCommandBuffer commands = gpu.begin(frame % inFlight);
    mover->record(commands, frame);
    picture.begin(commands);
    pipeline.bind(commands, constants);
    const VkBuffer buffer = mover->buffer();
    const VkDeviceSize offset = mover->offset();
    vkCmdBindVertexBuffers(commands, 0, 1, &buffer, &offset);
    vkCmdDraw(commands, count, 1, 0, 0);
    picture.end(commands);
    if (frame + 1 == frames + warmUp) picture.read(commands);
    slot = mover->submit(commands, frame);
  }
  gpu.wait(drawn[(frames + warmUp - 1) % inFlight]);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  const double used = cpuSeconds() - cpu;
  printThreads(threads, frames);
  picture.save("interop_" + way + ".png", 1);
  std::printf("%-8s %8u particles: %9.2f us a frame, %8.2f us of CPU time\n", way.c_str(), count, time.count() / frames,
              used * 1e6 / frames);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  if (way != "engine" && way != "interop") {
    std::fprintf(stderr, "usage: bench_interop engine|interop [particles] [frames]\n");
    return 2;
  }
  try {
    run(way, argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : 1000000,
        argc > 3 ? static_cast<uint32_t>(std::atoi(argv[3])) : 500);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_interop: %s\n", error.what());
    return 1;
  }
}
