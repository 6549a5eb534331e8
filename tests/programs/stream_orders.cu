// Two streams' work issued one stream at a time and one step at a time, callbacks, priorities, times, and data that is
// to stay in the cache. CS-007, CS-011, CS-012, CS-013, CS-018.
#include "program.h"

constexpr int n = 1 << 16, count = 2;

__global__ void polish(float* out, const float* in, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) out[i] = in[i] * 2.0f + i;
}

struct Work {
  float *host, *in, *out;
  cudaStream_t stream;
};

static void copyIn(const Work& w) { CHECK(cudaMemcpyAsync(w.in, w.host, n * 4, cudaMemcpyHostToDevice, w.stream)); }
static void compute(const Work& w) { polish<<<n / 256, 256, 0, w.stream>>>(w.out, w.in, n); }
static void copyOut(const Work& w) { CHECK(cudaMemcpyAsync(w.host, w.out, n * 4, cudaMemcpyDeviceToHost, w.stream)); }

struct Note {
  int number;
  const float* host;
  float seen;
  cudaError_t status;
};
static void CUDART_CB note(cudaStream_t, cudaError_t status, void* data) {
  auto* written = static_cast<Note*>(data);
  written->status = status;
  written->seen = written->host[n - 1];  // the copy before it is done
}

static void showAll(const char* name, const Work* work) {
  for (int i = 0; i < count; ++i) show(name, std::vector<float>(work[i].host, work[i].host + n));
}

int main() {
  Work work[count];
  for (int i = 0; i < count; ++i) {
    Work& w = work[i];
    CHECK(cudaStreamCreate(&w.stream));
    CHECK(cudaMallocHost(&w.host, n * 4));
    CHECK(cudaMalloc(&w.in, n * 4));
    CHECK(cudaMalloc(&w.out, n * 4));
    for (int k = 0; k < n; ++k) w.host[k] = (k % 1000) * (i + 1);
  }
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  for (const Work& w : work) copyIn(w), compute(w), copyOut(w);
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  std::printf("took time: %d\n", milliseconds > 0);
  showAll("by stream", work);
  for (const Work& w : work) copyIn(w);
  for (const Work& w : work) compute(w);
  for (const Work& w : work) copyOut(w);
  CHECK(cudaDeviceSynchronize());
  showAll("by step", work);

  Note notes[count];
  for (int i = 0; i < count; ++i) {
    notes[i] = {i, work[i].host, 0, cudaErrorUnknown};
    copyIn(work[i]), compute(work[i]), copyOut(work[i]);
    CHECK(cudaStreamAddCallback(work[i].stream, note, &notes[i], 0));
  }
  CHECK(cudaDeviceSynchronize());
  for (const Note& written : notes)
    std::printf("callback %d: %s, saw %g\n", written.number, cudaGetErrorName(written.status), written.seen);

  int least = 0, greatest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  std::printf("priorities: %d\n", greatest <= least);
  for (const int priority : {greatest, least}) {
    cudaStream_t stream;
    int told = 77;
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    CHECK(cudaStreamGetPriority(stream, &told));
    polish<<<n / 256, 256, 0, stream>>>(work[0].out, work[0].in, n);
    CHECK(cudaStreamSynchronize(stream));
    std::printf("told back: %d\n", told == priority);
    CHECK(cudaStreamDestroy(stream));
  }

  cudaStreamAttrValue window{}, told{};
  window.accessPolicyWindow.base_ptr = work[0].in;
  window.accessPolicyWindow.num_bytes = 4096;
  window.accessPolicyWindow.hitRatio = 0.6f;
  window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  CHECK(cudaStreamSetAttribute(work[0].stream, cudaStreamAttributeAccessPolicyWindow, &window));
  CHECK(cudaStreamGetAttribute(work[0].stream, cudaStreamAttributeAccessPolicyWindow, &told));
  std::printf("window: %d %zu %g\n", told.accessPolicyWindow.base_ptr == work[0].in, told.accessPolicyWindow.num_bytes,
              told.accessPolicyWindow.hitRatio);
  for (int i = 0; i < 10; ++i) compute(work[0]);
  window.accessPolicyWindow.num_bytes = 0;
  CHECK(cudaStreamSetAttribute(work[0].stream, cudaStreamAttributeAccessPolicyWindow, &window));
  CHECK(cudaCtxResetPersistingL2Cache());
  copyOut(work[0]);
  CHECK(cudaStreamSynchronize(work[0].stream));
  show("window", std::vector<float>(work[0].host, work[0].host + n));
  for (const Work& w : work) {
    CHECK(cudaStreamDestroy(w.stream));
    CHECK(cudaFreeHost(w.host));
    CHECK(cudaFree(w.in));
    CHECK(cudaFree(w.out));
  }
  finish();
}
