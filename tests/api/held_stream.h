// A stream that does nothing until it is let go.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <atomic>

namespace mulciber::test {

class HeldStream {
 public:
  explicit HeldStream(unsigned flags = cudaStreamDefault) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
    EXPECT_EQ(cudaMallocHost(&word_, sizeof(*word_)), cudaSuccess);
    *word_ = 0;
    EXPECT_EQ(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(word_), 1, CU_STREAM_WAIT_VALUE_EQ),
              CUDA_SUCCESS);
  }
  ~HeldStream() {
    letGo();
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(word_), cudaSuccess);
  }
  HeldStream(const HeldStream&) = delete;
  HeldStream& operator=(const HeldStream&) = delete;
  void letGo() { std::atomic_ref(*word_).store(1); }

  cudaStream_t stream = nullptr;

 private:
  unsigned* word_ = nullptr;
};

}  // namespace mulciber::test
