// Streams that do nothing until they are let go.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

namespace mulciber::test {

// Holds a stream from here on. Ends when the stream has done its work.
class Hold {
 public:
  explicit Hold(cudaStream_t stream) : stream_(stream) {
    EXPECT_EQ(cudaMallocHost(&word_, sizeof(*word_)), cudaSuccess);
    *word_ = 0;
    EXPECT_EQ(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(word_), 1, CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  }
  ~Hold() {
    letGo();
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(word_), cudaSuccess);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  void letGo() { std::atomic_ref(*word_).store(1); }

  // Makes the call, and lets the stream go if that has not returned by then. True when it had not.
  template <class Call>
  bool isWaitedForBy(Call&& call, std::chrono::milliseconds patience = std::chrono::milliseconds(5)) {
    std::promise<void> returned;
    auto other = std::async(std::launch::async, [&, hasReturned = returned.get_future()] {
      const bool hasWaited = hasReturned.wait_for(patience) == std::future_status::timeout;
      if (hasWaited) letGo();
      return hasWaited;
    });
    call();
    returned.set_value();
    return other.get();
  }

 private:
  cudaStream_t stream_;
  unsigned* word_ = nullptr;
};

// A stream of its own that is held.
class HeldStream {
 public:
  explicit HeldStream(unsigned flags = cudaStreamDefault) : stream(newStream(flags)), hold(std::in_place, stream) {}
  ~HeldStream() {
    hold.reset();
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;
  void letGo() { hold->letGo(); }

  const cudaStream_t stream;
  std::optional<Hold> hold;

 private:
  static cudaStream_t newStream(unsigned flags) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&made, flags), cudaSuccess);
    return made;
  }
};

}  // namespace mulciber::test
