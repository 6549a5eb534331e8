// Managed memory and variables as programs use them: explicit copies against none, strings, advice, prefetches, streams
// it is attached to. CS-080, CS-094 to CS-099.
#include <thread>

#include "program.h"

__global__ void sum(int* out, int a, int b) { out[threadIdx.x] = a + b + threadIdx.x; }
__global__ void append(int* data, int a, int b) { data[threadIdx.x] += a + b + threadIdx.x; }
__global__ void printText(const char* text) { printf("%s", text); }

__managed__ int results[100];
__managed__ int x[2];
__managed__ int* own = nullptr;
__global__ void sumInVariable(int a, int b) { results[threadIdx.x] = a + b + threadIdx.x; }
__global__ void next(int y) { x[1] = x[0] + y; }
__global__ void sameAddress(int* host, int* same) { *same = host == results; }
__global__ void follow() { *own += 5; }

static void showInts(const char* name, const int* data) { show(name, std::vector<int>(data, data + 100)); }

int main() {
  std::vector<int> host(100);
  DeviceArray<int> explicitly(100);
  sum<<<1, 100>>>(explicitly.get(), 10, 100);
  CHECK(cudaMemcpy(host.data(), explicitly.get(), 400, cudaMemcpyDeviceToHost));
  showInts("copied", host.data());
  int* shared = nullptr;
  CHECK(cudaMallocManaged(&shared, 400));
  sum<<<1, 100>>>(shared, 10, 100);
  CHECK(cudaDeviceSynchronize());
  showInts("managed", shared);
  sumInVariable<<<1, 100>>>(10, 100);
  CHECK(cudaDeviceSynchronize());
  showInts("variable", results);
  x[0] = 5;
  next<<<1, 1>>>(3);
  CHECK(cudaDeviceSynchronize());
  std::printf("x[1] = %d\n", x[1]);
  int* same = nullptr;
  CHECK(cudaMallocManaged(&same, 4));
  sameAddress<<<1, 1>>>(results, same);
  CHECK(cudaDeviceSynchronize());
  void* address = nullptr;
  CHECK(cudaGetSymbolAddress(&address, results));
  std::printf("one address: %d %d\n", *same, address == results);
  CHECK(cudaMallocManaged(&own, 4));
  *own = 37;
  follow<<<1, 1>>>();
  CHECK(cudaDeviceSynchronize());
  std::printf("through a managed pointer: %d\n", *own);

  char* text = nullptr;
  CHECK(cudaMallocManaged(&text, 64));
  std::snprintf(text, 64, "a text of %s memory\n", "managed");
  std::fflush(stdout);
  printText<<<1, 1>>>(text);
  CHECK(cudaDeviceSynchronize());

  cudaMemLocation device{cudaMemLocationTypeDevice, 0}, cpu{cudaMemLocationTypeHost, 0};
  CHECK(cudaMemAdvise(shared, 400, cudaMemAdviseSetPreferredLocation, device));
  CHECK(cudaMemAdvise(shared, 400, cudaMemAdviseSetAccessedBy, cpu));
  for (int i = 0; i < 100; ++i) shared[i] = 110 + i;
  append<<<1, 100>>>(shared, 10, 100);
  CHECK(cudaDeviceSynchronize());
  showInts("appended", shared);
  int readMostly = -1;
  CHECK(cudaMemAdvise(shared, 400, cudaMemAdviseSetReadMostly, device));
  CHECK(cudaMemRangeGetAttribute(&readMostly, 4, cudaMemRangeAttributeReadMostly, shared, 400));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemPrefetchAsync(shared, 400, device, 0, stream));
  append<<<1, 100, 0, stream>>>(shared, 1, 2);
  CHECK(cudaMemPrefetchAsync(shared, 400, cpu, 0, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("read mostly: %d\n", readMostly);
  showInts("prefetched", shared);
  CHECK(cudaMemAdvise(shared, 400, cudaMemAdviseUnsetReadMostly, device));
  CHECK(cudaMemRangeGetAttribute(&readMostly, 4, cudaMemRangeAttributeReadMostly, shared, 400));
  std::printf("no longer: %d\n", readMostly);

  // Each thread its stream and memory attached to it.
  int sums[4] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &sums] {
      cudaStream_t mine;
      int* data = nullptr;
      CHECK(cudaStreamCreate(&mine));
      CHECK(cudaMallocManaged(&data, 400, cudaMemAttachHost));
      CHECK(cudaStreamAttachMemAsync(mine, data, 0, cudaMemAttachSingle));
      CHECK(cudaStreamSynchronize(mine));
      for (int i = 0; i < 100; ++i) data[i] = t;
      append<<<1, 100, 0, mine>>>(data, t, 1);
      CHECK(cudaStreamSynchronize(mine));
      for (int i = 0; i < 100; ++i) sums[t] += data[i];
      CHECK(cudaFree(data));
      CHECK(cudaStreamDestroy(mine));
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("sums: %d %d %d %d\n", sums[0], sums[1], sums[2], sums[3]);
  CHECK(cudaStreamDestroy(stream));
  for (void* memory :
       {static_cast<void*>(shared), static_cast<void*>(same), static_cast<void*>(own), static_cast<void*>(text)})
    CHECK(cudaFree(memory));
  finish();
}
