// Many modules, many allocations, one very large allocation.
#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "load.h"

namespace mulciber::stress {

namespace {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// body(thread, from, to) in every thread, each with its share of `count`.
template <class Body>
void share(const Options& options, CUcontext context, Report& report, int count, Body&& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i)
    threads.emplace_back([&, i] {
      if (!STRESS_CHECK(report, cuCtxSetCurrent(context))) return;
      body(i, static_cast<int>(int64_t(count) * i / options.threads),
           static_cast<int>(int64_t(count) * (i + 1) / options.threads));
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

// Each with a text of its own, so that every one is parsed, translated and compiled; its kernel says which it is.
void runModules(const Options& options, CUcontext context, Report& report) {
  const Stopwatch watch;
  share(options, context, report, options.modules, [&](int, int from, int to) {
    CUdeviceptr word = 0;
    if (!STRESS_CHECK(report, cuMemAlloc(&word, sizeof(uint32_t)))) return;
    for (int i = from; i < to && report.count() == 0; ++i) {
      const uint32_t salt = 0x10000000u + static_cast<uint32_t>(i);
      CUmodule module = nullptr;
      CUfunction function = nullptr;
      if (!STRESS_CHECK(report, cuModuleLoadData(&module, kernels(salt).c_str()))) return;
      STRESS_CHECK(report, cuModuleGetFunction(&function, module, "salted"));
      void* parameters[] = {&word};
      STRESS_CHECK(report, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, parameters, nullptr));
      uint32_t got = 0;
      STRESS_CHECK(report, cuMemcpyDtoHAsync(&got, word, sizeof(got), CU_STREAM_PER_THREAD));
      STRESS_CHECK(report, cuStreamSynchronize(CU_STREAM_PER_THREAD));
      if (got != salt) report.wrong(fmt::format("the kernel of module {} wrote {:#x}", i, got));
      STRESS_CHECK(report, cuModuleUnload(module));
      report.progress();
    }
    STRESS_CHECK(report, cuMemFree(word));
  });
  fmt::print("modules: {} loaded, launched, unloaded, {:.1f} s\n", options.modules, watch.seconds());
}

// Live all at once, each filled with its own number; then a kernel reads the first and last word of each.
void runAllocations(const Options& options, CUcontext context, Report& report) {
  const Stopwatch watch;
  const auto count = static_cast<size_t>(options.allocations);
  std::vector<CUdeviceptr> first(count), last(count);
  std::vector<std::vector<size_t>> order(static_cast<size_t>(options.threads));
  share(options, context, report, options.allocations, [&](int thread, int from, int to) {
    Random random(options.seed * 7919 + static_cast<uint64_t>(thread));
    for (auto i = static_cast<size_t>(from); i < static_cast<size_t>(to) && report.count() == 0; ++i) {
      const size_t words = 1 + below(random, below(random, 16) == 0 ? 65536 : 1024);
      if (!STRESS_CHECK(report, cuMemAlloc(&first[i], words * 4))) return;
      last[i] = first[i] + (words - 1) * 4;
      STRESS_CHECK(report, cuMemsetD32Async(first[i], static_cast<unsigned>(i), words, CU_STREAM_PER_THREAD));
      order[static_cast<size_t>(thread)].push_back(i);
      report.progress();
    }
    STRESS_CHECK(report, cuStreamSynchronize(CU_STREAM_PER_THREAD));
    std::shuffle(order[static_cast<size_t>(thread)].begin(), order[static_cast<size_t>(thread)].end(), random);
  });
  if (report.count() != 0) return;
  const double made = watch.seconds();

  CUmodule module = nullptr;
  CUfunction gather = nullptr;
  CUdeviceptr table = 0, out = 0;
  STRESS_CHECK(report, cuModuleLoadData(&module, kernels(0).c_str()));
  STRESS_CHECK(report, cuModuleGetFunction(&gather, module, "gather"));
  STRESS_CHECK(report, cuMemAlloc(&table, count * sizeof(CUdeviceptr)));
  STRESS_CHECK(report, cuMemAlloc(&out, count * sizeof(uint32_t)));
  for (const auto* ends : {&first, &last}) {
    auto elements = static_cast<unsigned>(count);
    std::vector<uint32_t> words(count);
    void* parameters[] = {&table, &out, &elements};
    STRESS_CHECK(report, cuMemcpyHtoD(table, ends->data(), count * sizeof(CUdeviceptr)));
    STRESS_CHECK(report,
                 cuLaunchKernel(gather, (elements + 255) / 256, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
    STRESS_CHECK(report, cuMemcpyDtoH(words.data(), out, count * sizeof(uint32_t)));
    for (size_t i = 0; i < count && report.count() == 0; ++i)
      if (words[i] != i) report.wrong(fmt::format("allocation {} holds {}", i, words[i]));
  }
  STRESS_CHECK(report, cuMemFree(table));
  STRESS_CHECK(report, cuMemFree(out));
  STRESS_CHECK(report, cuModuleUnload(module));
  share(options, context, report, options.threads, [&](int thread, int, int) {
    for (const size_t i : order[static_cast<size_t>(thread)]) {
      STRESS_CHECK(report, cuMemFree(first[i]));
      report.progress();
    }
  });
  fmt::print("allocations: {} live at once, made in {:.1f} s, all in {:.1f} s\n", count, made, watch.seconds());
}

// Its ends and a word in every 256 MiB are written and read: on a CPU device the rest need not exist.
void runLargest(const Options& options, CUcontext, Report& report) {
  size_t available = 0, total = 0;
  if (!STRESS_CHECK(report, cuMemGetInfo(&available, &total))) return;
  const size_t bytes = total / 100 * static_cast<size_t>(options.percentOfMemory) / 4096 * 4096;
  CUdeviceptr data = 0;
  const Stopwatch watch;
  const CUresult result = cuMemAlloc(&data, bytes);
  // What the device cannot give is refused, and the program continues.
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    fmt::print("largest: {} % of {} MiB refused: out of memory ({} MiB free)\n", options.percentOfMemory, total >> 20,
               available >> 20);
    return;
  }
  if (!report.check(result, "cuMemAlloc of most of the memory")) return;
  constexpr size_t stride = size_t(256) << 20;
  std::vector<size_t> places;
  for (size_t place = 0; place < bytes; place += stride) places.push_back(place);
  places.push_back(bytes - 4);
  for (const size_t place : places)
    STRESS_CHECK(report, cuMemsetD32Async(data + place, static_cast<unsigned>(place >> 2), 1, nullptr));
  for (const size_t place : places) {
    uint32_t got = 0;
    STRESS_CHECK(report, cuMemcpyDtoH(&got, data + place, sizeof(got)));
    if (got != static_cast<uint32_t>(place >> 2)) report.wrong(fmt::format("byte {} of the largest is wrong", place));
    report.progress();
  }
  STRESS_CHECK(report, cuMemFree(data));
  fmt::print("largest: {} MiB, {} % of the memory, {:.1f} s\n", bytes >> 20, options.percentOfMemory, watch.seconds());
}

}  // namespace mulciber::stress
