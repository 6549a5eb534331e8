// What the phases of the stress program share: its options, its account of wrong results, and its kernels.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <string>

namespace mulciber::stress {

struct Options {
  int threads = 32;
  int streams = 128;
  uint64_t launches = 1'000'000;
  int modules = 10'000;
  int allocations = 100'000;
  int percentOfMemory = 90;
  int seconds = 0;  // of the launches, at most; 0: until all are done
  uint64_t seed = 1;
};

// Everything wrong that was seen; the first few with a sentence on standard error.
class Report {
 public:
  void wrong(const std::string& what);
  // Whether the call succeeded.
  bool check(CUresult result, const char* what);
  uint64_t count() const { return count_.load(); }
  void progress() { progress_.fetch_add(1, std::memory_order_relaxed); }  // something still moves
  uint64_t moves() const { return progress_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> count_{0}, progress_{0};
};

#define STRESS_CHECK(report, call) ((report).check((call), #call))

using Random = std::mt19937_64;
inline uint64_t below(Random& random, uint64_t end) { return random() % end; }

// What the process and the device hold: compared before and after a phase.
struct Holdings {
  static Holdings now();
  int64_t residentMegabytes, deviceFreeMegabytes, threads, files;
};

// PTX with the kernels below; `salt` makes a text of its own of it, and `salted(data)` writes it.
std::string kernels(uint32_t salt);

void runLaunches(const Options& options, CUcontext context, Report& report);
void runModules(const Options& options, CUcontext context, Report& report);
void runAllocations(const Options& options, CUcontext context, Report& report);
void runLargest(const Options& options, CUcontext context, Report& report);

}  // namespace mulciber::stress
