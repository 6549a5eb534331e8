// What the runtime costs around a kernel: start, launches, waiting, events, copies, allocation, modules, threads.
//   overheads           everything
//   overheads --start   one kernel and its result: compare.py times the whole program
#include <thread>

#include <cuda.h>

#include "bench.h"

__global__ void empty() {}
__global__ void emptyWithArguments(float* a, float* b, float* c, int n, int m) {}
__global__ void answer(int* out) { *out = 42; }
__global__ void stir(unsigned* words, int turns) {
  unsigned* const word = words + blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = *word;
  for (int turn = 0; turn < turns; ++turn) value = value * 1664525u + 1013904223u;
  *word = value;
}

static const char* group = "overheads";

static void start() {
  int *device = deviceArray<int>(1), result = 0;
  answer<<<1, 1>>>(device);
  CHECK(cudaMemcpy(&result, device, sizeof result, cudaMemcpyDeviceToHost));
  if (result != 42) std::exit(1);
}

// Best of rounds of `count` calls: host time of one, and time of one until all are done.
struct Chain {
  double host = 1e30, device = 1e30;
};
static Chain chain(cudaStream_t stream, int count, const std::function<void()>& work) {
  Chain best;
  for (int round = 0; round < 5; ++round) {
    CHECK(cudaStreamSynchronize(stream));
    double begin = microseconds();
    for (int i = 0; i < count; ++i) work();
    double called = microseconds();
    CHECK(cudaStreamSynchronize(stream));
    best.host = std::min(best.host, (called - begin) / count);
    best.device = std::min(best.device, (microseconds() - begin) / count);
  }
  return best;
}

static void launchAndWait(const char* name, cudaStream_t stream) {
  auto both = [&] {
    empty<<<1, 32, 0, stream>>>();
    CHECK(cudaStreamSynchronize(stream));
  };
  report(group, name, hostTime(both, 300), "us");
}

static void launches() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Chain launched = chain(stream, 2000, [&] { empty<<<1, 32, 0, stream>>>(); });
  report(group, "launch, host time", launched.host, "us");
  report(group, "launch, in a chain", launched.device, "us");
  Chain loaded =
      chain(stream, 2000, [&] { emptyWithArguments<<<1, 32, 0, stream>>>(nullptr, nullptr, nullptr, 1, 2); });
  report(group, "launch of 5 arguments, chain", loaded.device, "us");
  launchAndWait("launch + synchronise", stream);

  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  report(group, "event record", chain(stream, 200, [&] { CHECK(cudaEventRecord(event, stream)); }).host, "us");
  CHECK(cudaStreamSynchronize(stream));
  report(group, "event query", chain(stream, 200, [&] { (void)cudaEventQuery(event); }).host, "us");
  auto recordAndWait = [&] {
    empty<<<1, 32, 0, stream>>>();
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaEventSynchronize(event));
  };
  report(group, "launch, record, wait", hostTime(recordAndWait, 300), "us");
  CHECK(cudaStreamDestroy(stream));
}

static void streams() {
  for (int count : {64, 2000}) {
    std::vector<cudaStream_t> all(count);
    double begin = microseconds();
    for (auto& s : all) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    double created = (microseconds() - begin) / count;
    auto launchEach = [&] {
      for (auto& s : all) empty<<<1, 32, 0, s>>>();
      CHECK(cudaDeviceSynchronize());
    };
    std::string name = std::to_string(count) + " streams, each a launch";
    report(group, name.c_str(), hostTime(launchEach, count == 64 ? 50 : 5), "us");
    begin = microseconds();
    for (auto& s : all) CHECK(cudaStreamDestroy(s));
    if (count > 64) report(group, "stream create + destroy", created + (microseconds() - begin) / count, "us");
  }
}

static void threads() {
  const int threads = 16, launches = 1000;
  auto work = [&] {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        cudaStream_t stream;
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (int i = 0; i < launches; ++i) empty<<<1, 32, 0, stream>>>();
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaStreamDestroy(stream));
      });
    for (auto& thread : all) thread.join();
  };
  report(group, "16 threads, each launch", hostTime(work, 3) / (threads * launches), "us");
}

static void copies() {
  const size_t large = size_t(256) << 20;
  char *device = deviceArray<char>(large), *other = deviceArray<char>(large), *pinned;
  CHECK(cudaMallocHost(&pinned, large));
  std::memset(pinned, 1, large);
  launchAndWait("same, with pinned memory", nullptr);
  auto bandwidth = [&](const char* name, double bytes, const std::function<void()>& work) {
    report(group, name, bytes / deviceTime(work, 7) / 1000, "GB/s");
  };
  bandwidth("H2D pinned 256 MiB", large,
            [&] { CHECK(cudaMemcpyAsync(device, pinned, large, cudaMemcpyHostToDevice)); });
  bandwidth("D2H pinned 256 MiB", large,
            [&] { CHECK(cudaMemcpyAsync(pinned, device, large, cudaMemcpyDeviceToHost)); });
  bandwidth("D2D 256 MiB, read + write", 2.0 * large,
            [&] { CHECK(cudaMemcpyAsync(other, device, large, cudaMemcpyDeviceToDevice)); });
  bandwidth("memset 256 MiB", large, [&] { CHECK(cudaMemsetAsync(device, 3, large)); });

  std::vector<char> pageable(1 << 20, 1);
  struct Side {
    const char* name;
    char* to;
    char* from;
  };
  const Side sides[] = {{"H2D pageable", device, pageable.data()},
                        {"D2H pageable", pageable.data(), device},
                        {"H2D pinned", device, pinned},
                        {"D2H pinned", pinned, device},
                        {"D2D", other, device}};
  for (size_t bytes : {size_t(4096), size_t(1) << 20})
    for (const Side& side : sides) {
      std::string name = side.name + std::string(bytes == 4096 ? " 4 KiB" : " 1 MiB");
      auto copyAndWait = [&] {
        CHECK(cudaMemcpyAsync(side.to, side.from, bytes, cudaMemcpyDefault, nullptr));
        CHECK(cudaStreamSynchronize(nullptr));
      };
      report(group, name.c_str(), hostTime(copyAndWait, 100), "us");
    }
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
  CHECK(cudaFree(other));
}

// Copies of pinned memory beside kernels of other streams that take about as long.
static void overlaps() {
  const int count = 4, turns = 3000;
  const size_t bytes = size_t(16) << 20;
  struct Lane {
    cudaStream_t stream;
    unsigned *device, *in, *out;
  };
  std::vector<Lane> lanes(count);
  for (Lane& lane : lanes) {
    CHECK(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking));
    lane.device = deviceArray<unsigned>(bytes / 4);
    CHECK(cudaMallocHost(&lane.in, bytes));
    CHECK(cudaMallocHost(&lane.out, bytes));
    std::memset(lane.in, 1, bytes);
  }
  auto in = [&](Lane& lane) {
    CHECK(cudaMemcpyAsync(lane.device, lane.in, bytes, cudaMemcpyHostToDevice, lane.stream));
  };
  auto out = [&](Lane& lane) {
    CHECK(cudaMemcpyAsync(lane.out, lane.device, bytes, cudaMemcpyDeviceToHost, lane.stream));
  };
  auto kernel = [&](Lane& lane) { stir<<<bytes / 1024, 256, 0, lane.stream>>>(lane.device, turns); };
  auto waited = [&](const char* name, const std::function<void()>& work) {
    auto both = [&] {
      work();
      CHECK(cudaDeviceSynchronize());
    };
    report(group, name, hostTime(both, 20), "us");
  };
  waited("kernel alone", [&] { kernel(lanes[0]); });
  waited("copy of 16 MiB in", [&] { in(lanes[1]); });
  waited("kernel, copy in beside it", [&] { kernel(lanes[0]), in(lanes[1]); });
  waited("kernel, copy out beside it", [&] { kernel(lanes[0]), out(lanes[1]); });
  waited("4 streams: in, kernel, out", [&] {
    for (Lane& lane : lanes) in(lane), kernel(lane), out(lane);
  });
  for (Lane& lane : lanes) {
    CHECK(cudaStreamDestroy(lane.stream));
    CHECK(cudaFree(lane.device));
    CHECK(cudaFreeHost(lane.in));
    CHECK(cudaFreeHost(lane.out));
  }
}

static void allocations() {
  for (size_t bytes : {size_t(4096), size_t(1) << 20, size_t(256) << 20}) {
    std::string name = "malloc + free " +
                       (bytes < 1 << 20 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes >> 20) + " MiB");
    auto allocateAndFree = [&] {
      void* p;
      CHECK(cudaMalloc(&p, bytes));
      CHECK(cudaFree(p));
    };
    report(group, name.c_str(), hostTime(allocateAndFree), "us");
  }
  auto pinned = [] {
    void* p;
    CHECK(cudaMallocHost(&p, 1 << 20));
    CHECK(cudaFreeHost(p));
  };
  report(group, "pinned malloc + free 1 MiB", hostTime(pinned, 20), "us");
  auto ordered = [] {
    void* p;
    CHECK(cudaMallocAsync(&p, 1 << 20, nullptr));
    CHECK(cudaFreeAsync(p, nullptr));
  };
  report(group, "mallocAsync + freeAsync", hostTime(ordered), "us");
  CHECK(cudaDeviceSynchronize());
}

// PTX that nothing has seen before: 300 steps of arithmetic, with `salt` in its constants.
static std::string freshModule(unsigned salt) {
  std::string text =
      ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry fresh(.param .u64 out)\n{\n"
      ".reg .u64 %rd<3>;\n.reg .b32 %r<4>;\nld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd1, %rd1;\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %r1;\n";
  for (int i = 0; i < 300; ++i) {
    salt = salt * 747796405u + 2891336453u;
    text += "mad.lo.u32 %r1, %r1, " + std::to_string(salt | 1) + ", %r2;\nshr.u32 %r3, %r1, " +
            std::to_string(salt % 31 + 1) + ";\nxor.b32 %r2, %r2, %r3;\n";
  }
  return text + "mul.wide.u32 %rd2, %r1, 0;\nadd.u64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r2;\nret;\n}\n";
}
static void modules() {
  unsigned salt = unsigned(std::chrono::system_clock::now().time_since_epoch().count());
  int* out = deviceArray<int>(1);
  auto check = [](CUresult status) {
    if (status != CUDA_SUCCESS) std::fprintf(stderr, "modules: error %d\n", int(status)), std::exit(1);
  };
  auto load = [&](const std::string& text) {
    CUmodule module;
    CUfunction function;
    void* arguments[] = {&out};
    check(cuModuleLoadData(&module, text.c_str()));
    check(cuModuleGetFunction(&function, module, "fresh"));
    check(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    check(cuCtxSynchronize());
    check(cuModuleUnload(module));
  };
  std::vector<double> cold, warm;
  for (int i = 0; i < 5; ++i) {
    std::string text = freshModule(salt + i);
    for (auto* times : {&cold, &warm}) {
      double begin = microseconds();
      load(text);
      times->push_back((microseconds() - begin) / 1000);
    }
  }
  report(group, "PTX to first result, cold", median(cold), "ms");
  report(group, "PTX to first result, again", median(warm), "ms");
}

int main(int argc, char** argv) {
  start();
  if (argc > 1 && !std::strcmp(argv[1], "--start")) return 0;
  launches();
  streams();
  threads();
  copies();
  overlaps();
  allocations();
  modules();
}
