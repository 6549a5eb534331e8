// Streams, events, asynchronous copies, host functions: the order that CUDA promises.
#include "program.h"

__global__ void add(int* data, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += value;
}
__global__ void times(int* data, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= value;
}

static void CUDART_CB note(void* text) {
  auto* notes = static_cast<std::vector<int>*>(text);
  notes->push_back(static_cast<int>(notes->size()));
}

int main() {
  const int n = 10000;
  int *host, *device[2];
  CHECK(cudaMallocHost(&host, n * sizeof(int)));
  cudaStream_t streams[2];
  cudaEvent_t begin, middle, end;
  for (int s = 0; s < 2; ++s) {
    CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
    CHECK(cudaMalloc(&device[s], n * sizeof(int)));
  }
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventCreateWithFlags(&middle, cudaEventDisableTiming));
  for (int i = 0; i < n; ++i) host[i] = i;
  CHECK(cudaEventRecord(begin, streams[0]));
  CHECK(cudaMemcpyAsync(device[0], host, n * sizeof(int), cudaMemcpyHostToDevice, streams[0]));
  for (int k = 0; k < 50; ++k) {
    add<<<(n + 255) / 256, 256, 0, streams[0]>>>(device[0], n, k);
    times<<<(n + 255) / 256, 256, 0, streams[0]>>>(device[0], n, 3);
  }
  CHECK(cudaEventRecord(middle, streams[0]));
  CHECK(cudaStreamWaitEvent(streams[1], middle, 0));
  CHECK(cudaMemcpyAsync(device[1], device[0], n * sizeof(int), cudaMemcpyDeviceToDevice, streams[1]));
  add<<<(n + 255) / 256, 256, 0, streams[1]>>>(device[1], n, 7);
  std::vector<int> notes;
  CHECK(cudaMemcpyAsync(host, device[1], n * sizeof(int), cudaMemcpyDeviceToHost, streams[1]));
  for (int k = 0; k < 3; ++k) CHECK(cudaLaunchHostFunc(streams[1], note, &notes));
  CHECK(cudaEventRecord(end, streams[1]));
  CHECK(cudaEventSynchronize(end));
  CHECK(cudaStreamSynchronize(streams[1]));
  show("result", std::vector<int>(host, host + n));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  std::printf("notes %zu, time %s, query %s\n", notes.size(), milliseconds >= 0 ? "ok" : "negative",
              cudaGetErrorName(cudaStreamQuery(streams[0])));
  // The legacy default stream waits for blocking streams, and they for it.
  cudaStream_t blocking;
  CHECK(cudaStreamCreate(&blocking));
  add<<<(n + 255) / 256, 256, 0, blocking>>>(device[0], n, 5);
  times<<<(n + 255) / 256, 256>>>(device[0], n, 2);
  add<<<(n + 255) / 256, 256, 0, blocking>>>(device[0], n, 1);
  CHECK(cudaMemcpy(host, device[0], n * sizeof(int), cudaMemcpyDeviceToHost));
  show("default stream", std::vector<int>(host, host + n));
  CHECK(cudaMemsetAsync(device[0], 0x11, 100, blocking));
  CHECK(cudaMemcpy(host, device[0], 200, cudaMemcpyDefault));
  show("memset", std::vector<int>(host, host + 50));
  CHECK(cudaFreeHost(host));
  for (int s = 0; s < 2; ++s) {
    CHECK(cudaFree(device[s]));
    CHECK(cudaStreamDestroy(streams[s]));
  }
  CHECK(cudaStreamDestroy(blocking));
  for (cudaEvent_t event : {begin, middle, end}) CHECK(cudaEventDestroy(event));
}
