// Many host threads that launch, copy, allocate and free in streams they share, and check every result.
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "load.h"

namespace mulciber::stress {

namespace {

struct Kernels {
  CUmodule module = nullptr;
  CUfunction step = nullptr, stepTable = nullptr, copyStep = nullptr, count = nullptr;
};

struct Shared {
  const Options& options;
  CUcontext context;
  Report& report;
  Kernels kernels;
  std::vector<CUstream> streams;
  std::atomic<uint64_t> launched{0}, counted{0};
  std::chrono::steady_clock::time_point until;
};

// An array on the device whose contents are known without computing them: data[i] = base + slope * i.
struct Slot {
  CUdeviceptr data = 0;
  uint32_t count = 0, base = 0, slope = 0;
  CUstream stream = nullptr;
  bool isFromPool = false;
};

// What a host function looks at: it must run after the copy before it.
struct HostCheck {
  Report* report;
  const uint32_t* copied;
  uint32_t base;
  std::atomic<bool>* done;
};

void CUDA_CB lookAtCopy(void* data) {
  const std::unique_ptr<HostCheck> check(static_cast<HostCheck*>(data));
  if (*check->copied != check->base) check->report->wrong("a host function ran before the copy it comes after");
  check->done->store(true, std::memory_order_release);
}

class Thread {
 public:
  Thread(Shared& shared, int number)
      : shared_(shared),
        report_(shared.report),
        random_(shared.options.seed * 1000003 + static_cast<uint64_t>(number)) {}

  void run() {
    if (!STRESS_CHECK(report_, cuCtxSetCurrent(shared_.context))) return;
    STRESS_CHECK(report_, cuMemAllocHost(reinterpret_cast<void**>(&pinned_), mostElements * sizeof(uint32_t)));
    STRESS_CHECK(report_, cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    if (!pinned_ || !event_) return;
    for (Slot& slot : slots_) make(slot);
    while (report_.count() == 0 && wantsMore()) {
      operation();
      report_.progress();
    }
    waitForHostFunction();
    for (Slot& slot : slots_) {
      verify(slot);
      drop(slot);
    }
    STRESS_CHECK(report_, cuStreamSynchronize(CU_STREAM_PER_THREAD));
    STRESS_CHECK(report_, cuEventDestroy(event_));
    STRESS_CHECK(report_, cuMemFreeHost(pinned_));
  }

 private:
  static constexpr uint32_t mostElements = 4096;

  bool wantsMore() const {
    if (shared_.options.seconds > 0 && std::chrono::steady_clock::now() >= shared_.until) return false;
    return shared_.launched.load(std::memory_order_relaxed) < shared_.options.launches;
  }

  Slot& anySlot() { return slots_[below(random_, slots_.size())]; }

  // Mostly the ordinary streams; sometimes the thread's own and the legacy one, which waits for all the others.
  CUstream anyStream() {
    const uint64_t which = below(random_, 64);
    if (which == 0) return CU_STREAM_LEGACY;
    if (which < 3) return CU_STREAM_PER_THREAD;
    return shared_.streams[below(random_, shared_.streams.size())];
  }

  void operation() {
    const uint64_t which = below(random_, 1000);
    if (which < 800) step(anySlot());
    else if (which < 860) stepTable(anySlot());
    else if (which < 900) move(anySlot(), anyStream());
    else if (which < 930) copySlot();
    else if (which < 950) count();
    else if (which < 970) verify(anySlot());
    else if (which < 980) fill(anySlot());
    else if (which < 990) renew(anySlot());
    else if (which < 995) hostFunction(anySlot());
    else query();
  }

  void launch(CUfunction function, uint32_t elements, CUstream stream, void** parameters) {
    constexpr uint32_t block = 128;
    STRESS_CHECK(report_, cuLaunchKernel(function, (elements + block - 1) / block, 1, 1, block, 1, 1, 0, stream,
                                         parameters, nullptr));
    shared_.launched.fetch_add(1, std::memory_order_relaxed);
  }

  static void advance(Slot& slot, uint32_t a, uint32_t b, uint32_t c) {
    slot.base = slot.base * a + b;
    slot.slope = slot.slope * a + c;
  }

  void step(Slot& slot) {
    auto a = static_cast<uint32_t>(random_() | 1), b = static_cast<uint32_t>(random_()),
         c = static_cast<uint32_t>(random_());
    void* parameters[] = {&slot.data, &slot.count, &a, &b, &c};
    launch(shared_.kernels.step, slot.count, slot.stream, parameters);
    advance(slot, a, b, c);
  }

  void stepTable(Slot& slot) {
    std::array<uint32_t, 256> table{};
    for (size_t i = 253; i < 256; ++i) table[i] = static_cast<uint32_t>(random_() | 1);
    void* parameters[] = {&slot.data, &slot.count, table.data()};
    launch(shared_.kernels.stepTable, slot.count, slot.stream, parameters);
    advance(slot, table[253], table[254], table[255]);
  }

  void count() {
    launch(shared_.kernels.count, 1, anyStream(), nullptr);
    shared_.counted.fetch_add(128, std::memory_order_relaxed);
  }

  // From now on in another stream, which has to wait for the old one. The event is used again and again.
  void move(Slot& slot, CUstream stream) {
    STRESS_CHECK(report_, cuEventRecord(event_, slot.stream));
    STRESS_CHECK(report_, cuStreamWaitEvent(stream, event_, 0));
    slot.stream = stream;
  }

  void copySlot() {
    Slot &to = anySlot(), &from = anySlot();
    if (&to == &from || to.count > from.count) return;
    if (to.stream != from.stream) move(from, to.stream);
    if (below(random_, 2) == 0) {
      STRESS_CHECK(report_, cuMemcpyDtoDAsync(to.data, from.data, to.count * sizeof(uint32_t), to.stream));
      to.base = from.base;
      to.slope = from.slope;
      return;
    }
    auto a = static_cast<uint32_t>(random_() | 1), b = static_cast<uint32_t>(random_());
    void* parameters[] = {&to.data, &from.data, &to.count, &a, &b};
    launch(shared_.kernels.copyStep, to.count, to.stream, parameters);
    to.base = from.base * a + b;
    to.slope = from.slope * a;
  }

  void fill(Slot& slot) {
    slot.base = static_cast<uint32_t>(random_());
    slot.slope = 0;
    STRESS_CHECK(report_, cuMemsetD32Async(slot.data, slot.base, slot.count, slot.stream));
  }

  void verify(Slot& slot) {
    waitForHostFunction();
    const size_t bytes = slot.count * sizeof(uint32_t);
    std::memset(pinned_, 0, bytes);
    STRESS_CHECK(report_, cuMemcpyDtoHAsync(pinned_, slot.data, bytes, slot.stream));
    if (below(random_, 2) == 0) {
      STRESS_CHECK(report_, cuStreamSynchronize(slot.stream));
    } else {
      STRESS_CHECK(report_, cuEventRecord(event_, slot.stream));
      STRESS_CHECK(report_, cuEventSynchronize(event_));
    }
    for (uint32_t i = 0; i < slot.count; ++i) {
      if (pinned_[i] == slot.base + slot.slope * i) continue;
      report_.wrong(fmt::format("element {} of {} is {:#x} and should be {:#x}", i, slot.count, pinned_[i],
                                slot.base + slot.slope * i));
      return;
    }
  }

  void make(Slot& slot) {
    slot.count = 1 + static_cast<uint32_t>(below(random_, mostElements));
    slot.stream = anyStream();
    slot.isFromPool = below(random_, 2) == 0;
    const size_t bytes = slot.count * sizeof(uint32_t);
    if (slot.isFromPool) STRESS_CHECK(report_, cuMemAllocAsync(&slot.data, bytes, slot.stream));
    else STRESS_CHECK(report_, cuMemAlloc(&slot.data, bytes));
    fill(slot);
  }

  void drop(Slot& slot) {
    // cuMemFree waits for whatever uses the memory.
    if (slot.isFromPool) STRESS_CHECK(report_, cuMemFreeAsync(slot.data, slot.stream));
    else STRESS_CHECK(report_, cuMemFree(slot.data));
  }

  void renew(Slot& slot) {
    if (below(random_, 2) == 0) verify(slot);
    drop(slot);
    make(slot);
  }

  void hostFunction(Slot& slot) {
    waitForHostFunction();
    STRESS_CHECK(report_, cuMemcpyDtoHAsync(pinned_, slot.data, sizeof(uint32_t), slot.stream));
    hostFunctionDone_.store(false, std::memory_order_relaxed);
    auto check = std::make_unique<HostCheck>(HostCheck{&report_, pinned_, slot.base, &hostFunctionDone_});
    if (STRESS_CHECK(report_, cuLaunchHostFunc(slot.stream, lookAtCopy, check.get()))) (void)check.release();
    else hostFunctionDone_.store(true);
  }

  void waitForHostFunction() {
    while (!hostFunctionDone_.load(std::memory_order_acquire) && report_.count() == 0) std::this_thread::yield();
  }

  void query() {
    const CUresult event = cuEventQuery(event_);
    if (event != CUDA_ERROR_NOT_READY) report_.check(event, "cuEventQuery");
    const CUresult stream = cuStreamQuery(anyStream());
    if (stream != CUDA_ERROR_NOT_READY) report_.check(stream, "cuStreamQuery");
  }

  Shared& shared_;
  Report& report_;
  Random random_;
  std::array<Slot, 8> slots_;
  uint32_t* pinned_ = nullptr;
  CUevent event_ = nullptr;
  std::atomic<bool> hostFunctionDone_{true};
};

}  // namespace

void runLaunches(const Options& options, CUcontext context, Report& report) {
  Shared shared{options, context, report, {}, {}, {}, {}, {}};
  Kernels& kernels = shared.kernels;
  if (!STRESS_CHECK(report, cuModuleLoadData(&kernels.module, stress::kernels(0).c_str()))) return;
  for (const auto& [name, function] : {std::pair{"step", &kernels.step}, std::pair{"stepTable", &kernels.stepTable},
                                       std::pair{"copyStep", &kernels.copyStep}, std::pair{"count", &kernels.count}})
    STRESS_CHECK(report, cuModuleGetFunction(function, kernels.module, name));
  for (int i = 0; i < options.streams; ++i)
    STRESS_CHECK(report, cuStreamCreate(&shared.streams.emplace_back(),
                                        i % 2 == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
  if (report.count() != 0) return;

  const auto start = std::chrono::steady_clock::now();
  shared.until = start + std::chrono::seconds(options.seconds);
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([&shared, i] { Thread(shared, i).run(); });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;

  STRESS_CHECK(report, cuCtxSynchronize());
  CUdeviceptr counter = 0;
  uint64_t counted = 0;
  STRESS_CHECK(report, cuModuleGetGlobal(&counter, nullptr, kernels.module, "counted"));
  STRESS_CHECK(report, cuMemcpyDtoH(&counted, counter, sizeof(counted)));
  if (counted != shared.counted.load())
    report.wrong(fmt::format("{} threads counted themselves, not {}", counted, shared.counted.load()));
  for (CUstream stream : shared.streams) STRESS_CHECK(report, cuStreamDestroy(stream));
  STRESS_CHECK(report, cuModuleUnload(kernels.module));
  fmt::print("launches: {} by {} threads in {} streams, {:.1f} s\n", shared.launched.load(), options.threads,
             options.streams, took.count());
}

}  // namespace mulciber::stress
