// A load that finds races, leaks and hangs: docs/reliability.md. Links to libcuda.so.1 alone, so that it runs with
// NVIDIA's as well. Exits with 77 when there is no device.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "load.h"

namespace mulciber::stress {

void Report::wrong(const std::string& what) {
  if (count_.fetch_add(1) < 10) fmt::print(stderr, "wrong: {}\n", what);
}

bool Report::check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return true;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  wrong(fmt::format("{} gave {}", what, name ? name : "?"));
  return false;
}

Holdings Holdings::now() {
  const auto entries = [](const char* folder) {
    std::error_code error;
    int64_t count = 0;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      ++count;
    return count;
  };
  int64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  size_t available = 0, total = 0;
  cuMemGetInfo(&available, &total);
  return {resident * sysconf(_SC_PAGESIZE) >> 20, static_cast<int64_t>(available >> 20), entries("/proc/self/task"),
          entries("/proc/self/fd")};
}

namespace {

constexpr int skipped = 77;

void print(const char* when, const Holdings& held) {
  fmt::print("  {}: {} MiB resident, {} MiB free on the device, {} threads, {} open files\n", when,
             held.residentMegabytes, held.deviceFreeMegabytes, held.threads, held.files);
  std::fflush(stdout);
}

// Ends the process when nothing has moved for that long.
void watchForHangs(const Report& report, int seconds) {
  std::thread([&report, seconds] {
    uint64_t before = report.moves();
    while (true) {
      std::this_thread::sleep_for(std::chrono::seconds(seconds));
      if (report.moves() == before) {
        fmt::print(stderr, "wrong: nothing has moved for {} s\n", seconds);
        std::abort();
      }
      before = report.moves();
    }
  }).detach();
}

int run(const Options& options, int rounds, int hangSeconds) {
  if (cuInit(0) == CUDA_ERROR_NO_DEVICE) {
    fmt::print("skipped: no device\n");
    return skipped;
  }
  static Report report;
  CUdevice device = 0;
  CUcontext context = nullptr;
  char name[256] = {};
  if (!STRESS_CHECK(report, cuDeviceGet(&device, 0)) ||
      !STRESS_CHECK(report, cuDevicePrimaryCtxRetain(&context, device)) ||
      !STRESS_CHECK(report, cuCtxSetCurrent(context)) || !STRESS_CHECK(report, cuDeviceGetName(name, 255, device)))
    return 1;
  fmt::print("{}\n", name);
  watchForHangs(report, hangSeconds);
  print("before", Holdings::now());
  for (int round = 0; round < rounds && report.count() == 0; ++round) {
    if (options.launches > 0) runLaunches(options, context, report);
    if (options.modules > 0 && report.count() == 0) runModules(options, context, report);
    if (options.allocations > 0 && report.count() == 0) runAllocations(options, context, report);
    if (options.percentOfMemory > 0 && report.count() == 0) runLargest(options, context, report);
    print("after", Holdings::now());
  }
  STRESS_CHECK(report, cuDevicePrimaryCtxRelease(device));
  print("context released", Holdings::now());
  fmt::print("{} wrong\n", report.count());
  return report.count() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace mulciber::stress

int main(int argc, char** argv) {
  using namespace mulciber::stress;
  Options options;
  int rounds = 1, hangSeconds = 120;
  CLI::App app("Launches, modules and allocations from many threads, every result checked");
  app.add_option("--threads", options.threads, "host threads")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--streams", options.streams, "streams they share")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--launches", options.launches, "launches, with allocations among them")->capture_default_str();
  app.add_option("--modules", options.modules, "modules loaded and unloaded")->capture_default_str();
  app.add_option("--allocations", options.allocations, "allocations live at once")->capture_default_str();
  app.add_option("--largest", options.percentOfMemory, "percent of the memory in one allocation")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "end the launches after this long; 0: when all are done")
      ->capture_default_str();
  app.add_option("--rounds", rounds, "repeat everything this many times: what grows with it is a leak")
      ->capture_default_str();
  app.add_option("--hang", hangSeconds, "seconds without progress that count as a hang")->capture_default_str();
  app.add_option("--seed", options.seed, "of all that is random")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  return run(options, rounds, hangSeconds);
}
