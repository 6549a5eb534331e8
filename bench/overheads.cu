// What the runtime costs around a kernel: launches, waiting, events, copies, allocation.
#include "bench.h"

__global__ void empty() {}
__global__ void emptyWithArguments(float* a, float* b, float* c, int n, int m) {}

static void launches() {
  const int chain = 2000;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  double host = 0, device = 0;
  for (int round = 0; round < 5; ++round) {
    CHECK(cudaStreamSynchronize(stream));
    double start = microseconds();
    for (int i = 0; i < chain; ++i) empty<<<1, 32, 0, stream>>>();
    double launched = microseconds();
    CHECK(cudaStreamSynchronize(stream));
    double done = microseconds();
    host = round ? std::min(host, (launched - start) / chain) : (launched - start) / chain;
    device = round ? std::min(device, (done - start) / chain) : (done - start) / chain;
  }
  report("launch, host time", host, "us");
  report("launch, in a chain", device, "us");
  report("launch, 5 arguments",
         hostTime([&] { emptyWithArguments<<<1, 32, 0, stream>>>(nullptr, nullptr, nullptr, 1, 2); }), "us");
  CHECK(cudaStreamSynchronize(stream));
  report("launch + synchronise",
         hostTime(
             [&] {
               empty<<<1, 32, 0, stream>>>();
               CHECK(cudaStreamSynchronize(stream));
             },
             300),
         "us");
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  report("event record", hostTime([&] { CHECK(cudaEventRecord(event, stream)); }), "us");
  CHECK(cudaStreamSynchronize(stream));
  report("event query", hostTime([&] { (void)cudaEventQuery(event); }), "us");
  const int count = 64;
  std::vector<cudaStream_t> streams(count);
  for (auto& s : streams) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  report("64 streams, each a launch", hostTime([&] {
           for (auto& s : streams) empty<<<1, 32, 0, s>>>();
           CHECK(cudaDeviceSynchronize());
         }),
         "us");
}

static void copies() {
  const size_t large = size_t(256) << 20;
  char *device = deviceArray<char>(large), *other = deviceArray<char>(large), *pinned;
  CHECK(cudaMallocHost(&pinned, large));
  std::vector<char> pageable(1 << 20, 1);
  std::memset(pinned, 1, large);
  auto bandwidth = [&](const char* name, double bytes, const std::function<void()>& work) {
    report(name, bytes / deviceTime(work, 7) / 1000, "GB/s");
  };
  bandwidth("H2D pinned 256 MiB", large,
            [&] { CHECK(cudaMemcpyAsync(device, pinned, large, cudaMemcpyHostToDevice)); });
  bandwidth("D2H pinned 256 MiB", large,
            [&] { CHECK(cudaMemcpyAsync(pinned, device, large, cudaMemcpyDeviceToHost)); });
  bandwidth("D2D 256 MiB (read+write)", 2.0 * large,
            [&] { CHECK(cudaMemcpyAsync(other, device, large, cudaMemcpyDeviceToDevice)); });
  bandwidth("memset 256 MiB", large, [&] { CHECK(cudaMemsetAsync(device, 3, large)); });
  report("H2D pageable 4 KiB",
         hostTime([&] { CHECK(cudaMemcpy(device, pageable.data(), 4096, cudaMemcpyHostToDevice)); }), "us");
  report("D2H pageable 4 KiB",
         hostTime([&] { CHECK(cudaMemcpy(pageable.data(), device, 4096, cudaMemcpyDeviceToHost)); }), "us");
  report("H2D pageable 1 MiB",
         hostTime([&] { CHECK(cudaMemcpy(device, pageable.data(), 1 << 20, cudaMemcpyHostToDevice)); }), "us");
  report("D2H pageable 1 MiB",
         hostTime([&] { CHECK(cudaMemcpy(pageable.data(), device, 1 << 20, cudaMemcpyDeviceToHost)); }), "us");
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
  CHECK(cudaFree(other));
}

static void allocations() {
  report("malloc + free 1 MiB", hostTime([] {
           void* p;
           CHECK(cudaMalloc(&p, 1 << 20));
           CHECK(cudaFree(p));
         }),
         "us");
  report("malloc + free 4 KiB", hostTime([] {
           void* p;
           CHECK(cudaMalloc(&p, 4096));
           CHECK(cudaFree(p));
         }),
         "us");
}

int main() {
  double start = microseconds();
  CHECK(cudaFree(nullptr));
  empty<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  report("start to first result", (microseconds() - start) / 1000, "ms");
  launches();
  copies();
  allocations();
}
