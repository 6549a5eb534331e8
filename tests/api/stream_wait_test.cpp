// What is waited for by whom, and that asking costs nothing but time.
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"
#include "held_stream.h"

namespace mulciber::test {
namespace {

class StreamWaits : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cudaMalloc(&data_, 256), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&blocking_), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&other_), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&apart_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    if (context) {
      for (cudaStream_t stream : {blocking_, other_, apart_}) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
      EXPECT_EQ(cudaFree(data_), cudaSuccess);
    }
    WithDevice::TearDown();
  }
  void work(cudaStream_t stream) const { ASSERT_EQ(cudaMemsetAsync(data_, 1, 256, stream), cudaSuccess); }

  void* data_ = nullptr;
  cudaStream_t blocking_ = nullptr, other_ = nullptr, apart_ = nullptr;
};

// Of every two kinds of streams one is held, and the other is given work before and perhaps after that.
TEST_F(StreamWaits, SynchronizingWaitsForWhatTheStreamWasGiven) {  // STR-04, STR-06, STR-07
  const cudaStream_t legacy = nullptr, perThread = cudaStreamPerThread;
  const std::vector<std::pair<const char*, cudaStream_t>> streams{
      {"legacy", legacy}, {"per thread", perThread}, {"blocking", blocking_}, {"other", other_}, {"apart", apart_}};
  for (const auto& [heldName, held] : streams)
    for (const auto& [name, stream] : streams)
      for (const bool hasWorkAfter : {false, true}) {
        const std::string what =
            std::string(name) + " while " + heldName + " is held" + (hasWorkAfter ? ", after" : "");
        ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        work(stream);
        // The held stream's wait may itself come after that work.
        Hold hold(held);
        if (hasWorkAfter) work(stream);
        const bool areOrdered = (held == legacy && stream != apart_) || (stream == legacy && held != apart_);
        const auto synchronize = [&, stream = stream] {
          EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess) << what;
        };
        const auto query = [&, stream = stream] { return cudaStreamQuery(stream); };
        if (held == stream || (areOrdered && hasWorkAfter)) {
          EXPECT_EQ(query(), cudaErrorNotReady) << what;
          EXPECT_TRUE(hold.isWaitedForBy(synchronize)) << what;
          EXPECT_EQ(query(), cudaSuccess) << what;
        } else if (stream != legacy || !areOrdered) {  // it stands for what its next work would come after
          EXPECT_FALSE(hold.isWaitedForBy(synchronize, std::chrono::seconds(10))) << what;
          EXPECT_EQ(query(), cudaSuccess) << what;
        }
      }
}

// A host function of the legacy stream that waits for the thread that synchronizes.
TEST_F(StreamWaits, AHostFunctionMayWaitForAThreadThatSynchronizes) {  // STR-10
  std::atomic<int> state = 0;
  work(blocking_);
  ASSERT_EQ(cudaLaunchHostFunc(
                nullptr,
                [](void* at) {
                  auto& seen = *static_cast<std::atomic<int>*>(at);
                  for (int i = 0; i < 5000 && seen == 0; ++i) usleep(1000);
                  seen = seen == 1 ? 2 : 3;
                },
                &state),
            cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(blocking_), cudaSuccess);
  int expected = 0;
  EXPECT_TRUE(state.compare_exchange_strong(expected, 1));
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(state, 2);
}

int64_t residentKilobytes() {
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

// Whatever holds a stream back, programs poll.
TEST_F(StreamWaits, AskingKeepsNothing) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  HeldStream held;
  work(held.stream);
  ASSERT_EQ(cudaEventRecord(event, held.stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(blocking_, event), cudaSuccess);
  work(blocking_);
  work(nullptr);
  using Ask = std::function<int()>;
  size_t first = 0, second = 0;
  cudaStreamCaptureStatus status{};
  cudaPointerAttributes attributes{};
  float milliseconds = 0;
  unsigned flags = 0;
  const std::vector<std::pair<const char*, Ask>> questions{
      {"the held stream", [&] { return cudaStreamQuery(held.stream) - cudaErrorNotReady; }},
      {"a stream that waits for it", [&] { return cudaStreamQuery(blocking_) - cudaErrorNotReady; }},
      {"the legacy stream", [&] { return cudaStreamQuery(nullptr) - cudaErrorNotReady; }},
      {"a free stream", [&] { return int{cudaStreamQuery(apart_)}; }},
      {"its event", [&] { return cudaEventQuery(event) - cudaErrorNotReady; }},
      {"a time", [&] { return cudaEventElapsedTime(&milliseconds, event, event) - cudaErrorNotReady; }},
      {"a capture", [&] { return int{cudaStreamIsCapturing(held.stream, &status)}; }},
      {"flags", [&] { return int{cudaStreamGetFlags(held.stream, &flags)}; }},
      {"memory", [&] { return int{cudaMemGetInfo(&first, &second)}; }},
      {"an address", [&] { return int{cudaPointerGetAttributes(&attributes, data_)}; }},
  };
  for (const auto& [name, ask] : questions) {
    for (int i = 0; i < 100; ++i) ASSERT_EQ(ask(), 0) << name;
    const int64_t before = residentKilobytes();
    for (int i = 0; i < 50'000; ++i) ASSERT_EQ(ask(), 0) << name;
    EXPECT_LT(residentKilobytes() - before, 4096) << name;
  }
  held.letGo();
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

}  // namespace
}  // namespace mulciber::test
