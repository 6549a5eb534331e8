// Large copies of pinned memory, kernels and events in several streams, which a device may run side by side: the result
// is that of the calls one after the other.
#include "program.h"

#include <algorithm>
#include <memory>

constexpr int lanes = 5, words = 320 << 10, rounds = 8, steps = 40;

__global__ void change(unsigned* values, int count, unsigned by, int turns) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    unsigned value = values[i];
    for (int turn = 0; turn < turns; ++turn) value = value * 1664525u + by;
    values[i] = value;
  }
}

// A stream with memory of its own, and what that memory must hold.
struct Lane {
  Lane() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaMalloc(&device, words * 4));
    CHECK(cudaMallocHost(&in, words * 4));
    CHECK(cudaMallocHost(&out, words * 4));
    CHECK(cudaMemset(device, 0, words * 4));
    std::fill_n(out, words, 0u);
  }
  ~Lane() {
    cudaFree(device);
    cudaFreeHost(in);
    cudaFreeHost(out);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
  }
  Lane(const Lane&) = delete;

  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  unsigned *device = nullptr, *in = nullptr, *out = nullptr;
  std::vector<unsigned> onDevice = std::vector<unsigned>(words), atHome = std::vector<unsigned>(words);
};

struct Piece {
  explicit Piece(Random& random) {
    const int sizes[] = {64 << 10, 100000, 256 << 10, words};  // 256 KiB, not whole lines, 1 MiB, all
    count = sizes[random.next() % 4];
    first = static_cast<int>(random.next() % static_cast<unsigned>(words - count + 1));
  }
  int first, count;
};

// What comes next in `after` comes after all that `before` was given.
void order(Lane& before, Lane& after) {
  CHECK(cudaEventRecord(before.event, before.stream));
  CHECK(cudaStreamWaitEvent(after.stream, before.event, 0));
}

void step(std::vector<std::unique_ptr<Lane>>& all, Random& random) {
  Lane &own = *all[random.next() % lanes], &other = *all[random.next() % lanes];
  const Piece piece(random);
  const auto at = [&](auto& memory) { return &memory[0] + piece.first; };
  switch (random.next() % 5) {
    case 0:
      CHECK(cudaMemcpyAsync(at(own.device), at(own.in), piece.count * 4, cudaMemcpyHostToDevice, own.stream));
      std::copy_n(at(own.in), piece.count, at(own.onDevice));
      break;
    case 1:
      CHECK(cudaMemcpyAsync(at(own.out), at(own.device), piece.count * 4, cudaMemcpyDeviceToHost, own.stream));
      std::copy_n(at(own.onDevice), piece.count, at(own.atHome));
      break;
    case 2: {  // from another stream's memory
      order(other, own);
      CHECK(cudaMemcpyAsync(at(own.out), at(other.device), piece.count * 4, cudaMemcpyDeviceToHost, own.stream));
      order(own, other);
      std::copy_n(at(other.onDevice), piece.count, at(own.atHome));
      break;
    }
    case 3: {
      order(other, own);
      CHECK(cudaMemcpyAsync(at(own.device), at(other.device), piece.count * 4, cudaMemcpyDeviceToDevice, own.stream));
      order(own, other);
      if (&own != &other) std::copy_n(at(other.onDevice), piece.count, at(own.onDevice));
      break;
    }
    default: {
      const unsigned by = random.next();
      const int turns = 1 + static_cast<int>(random.next() % 20);
      change<<<8, 128, 0, own.stream>>>(at(own.device), piece.count, by, turns);
      for (int i = 0; i < piece.count; ++i)
        for (int turn = 0; turn < turns; ++turn) at(own.onDevice)[i] = at(own.onDevice)[i] * 1664525u + by;
      break;
    }
  }
}

// In one of the ways that programs wait.
void wait(std::vector<std::unique_ptr<Lane>>& all, unsigned way) {
  if (way == 0) CHECK(cudaDeviceSynchronize());
  for (auto& lane : all) {
    if (way == 1) CHECK(cudaStreamSynchronize(lane->stream));
    if (way < 2) continue;
    CHECK(cudaEventRecord(lane->event, lane->stream));
    if (way == 2) CHECK(cudaEventSynchronize(lane->event));
    cudaError_t state = cudaErrorNotReady;
    while (way == 3 && state == cudaErrorNotReady) state = cudaStreamQuery(lane->stream);
    if (way == 3) CHECK(state);
  }
}

int main() {
  Random random;
  std::vector<std::unique_ptr<Lane>> all;
  for (int i = 0; i < lanes; ++i) {
    all.push_back(std::make_unique<Lane>());
    std::generate_n(all.back()->in, words, [&] { return random.next(); });
  }
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < steps; ++i) step(all, random);
    wait(all, round % 4);
    int wrong = 0;
    for (auto& lane : all) wrong += !std::equal(lane->atHome.begin(), lane->atHome.end(), lane->out);
    std::printf("round %d: %d streams wrong\n", round, wrong);
  }
  for (auto& lane : all) {
    std::vector<unsigned> left(words);
    CHECK(cudaMemcpy(left.data(), lane->device, words * 4, cudaMemcpyDeviceToHost));
    std::printf("left on the device: %s\n", left == lane->onDevice ? "right" : "wrong");
    show("words", left);
  }
}
