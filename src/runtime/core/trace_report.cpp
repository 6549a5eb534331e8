// How a trace is written: as Chrome's trace events, which Perfetto reads too, and as a table of kernels.
#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "mulciber/version.h"
#include "runtime/core/trace.h"
#include "util/json.h"

namespace mulciber::core {

namespace {

using util::json;
using Out = fmt::memory_buffer;

double microseconds(int64_t nanoseconds) { return double(nanoseconds) / 1000; }

template <class... Arguments>
void event(Out& out, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(out), "{}", out.size() == 0 ? "\n" : ",\n");
  fmt::format_to(std::back_inserter(out), text, std::forward<Arguments>(arguments)...);
}

std::string nameOf(const DeviceSpan& span) {
  switch (span.kind) {
    case DeviceSpan::Kind::Kernel: return span.name;
    case DeviceSpan::Kind::Copy: return "copy";
    case DeviceSpan::Kind::Fill: return "fill";
    case DeviceSpan::Kind::Graph: return "graph";
  }
  return {};
}

const char* categoryOf(DeviceSpan::Kind kind) {
  switch (kind) {
    case DeviceSpan::Kind::Kernel: return "kernel";
    case DeviceSpan::Kind::Copy: return "copy";
    case DeviceSpan::Kind::Fill: return "fill";
    case DeviceSpan::Kind::Graph: return "graph";
  }
  return "";
}

std::string argumentsOf(const DeviceSpan& span) {
  std::string text = fmt::format("\"stream\": {}", span.stream);
  if (span.kind == DeviceSpan::Kind::Kernel)
    text += fmt::format(
        ", \"grid\": [{}], \"block\": [{}], \"shared bytes\": {}, \"blocks per multiprocessor, at most\": {}",
        fmt::join(span.grid, ", "), fmt::join(span.block, ", "), span.sharedBytes, span.blocksPerMultiprocessor);
  if (span.kind == DeviceSpan::Kind::Copy || span.kind == DeviceSpan::Kind::Fill)
    text += fmt::format(", \"bytes\": {}", span.bytes);
  return text;
}

}  // namespace

std::string chromeTrace(const std::vector<HostSpan>& calls, const std::vector<DeviceSpan>& works,
                        const std::vector<TracedDevice>& devices, uint64_t leftOut) {
  // Each device is a process of the trace, its queues are the threads.
  const auto devicePid = [](size_t device) { return 1'000'000'000 + device; };
  const int pid = getpid();
  Out out;
  event(out, R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": "program"}}}})", pid);
  for (size_t i = 0; i < devices.size(); ++i) {
    event(out, R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}})", devicePid(i),
          json(fmt::format("device {}: {}", i, devices[i].name)));
    std::map<uint32_t, int> queues;
    for (const DeviceSpan& span : works)
      if (span.device == i && queues[span.queue]++ == 0)
        event(out, R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": "queue {}"}}}})",
              devicePid(i), span.queue, span.queue);
  }
  for (const HostSpan& span : calls)
    event(out, R"({{"ph": "X", "name": {}, "cat": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}}})",
          json(span.name), span.category, pid, span.thread, microseconds(span.begin),
          microseconds(span.end - span.begin));
  uint64_t number = 0;
  for (const DeviceSpan& span : works) {
    const int64_t begin = devices[span.device].onHost(span.beginTicks);
    const int64_t end = std::max(begin, devices[span.device].onHost(span.endTicks));
    event(
        out,
        R"({{"ph": "X", "name": {}, "cat": "{}", "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{{}}}}})",
        json(nameOf(span)), categoryOf(span.kind), devicePid(span.device), span.queue, microseconds(begin),
        microseconds(end - begin), argumentsOf(span));
    // An arrow from the call that gave the work.
    event(out, R"({{"ph": "s", "name": "given", "cat": "given", "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}}})",
          ++number, pid, span.thread, microseconds(span.given));
    event(out,
          R"({{"ph": "f", "bp": "e", "name": "given", "cat": "given", "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}}})",
          number, devicePid(span.device), span.queue, microseconds(begin));
  }
  std::string clocks;
  for (const TracedDevice& device : devices)
    for (const TracedDevice::ClockPair& clock : device.clocks)
      clocks += fmt::format("{}{:.3f}", clocks.empty() ? "" : ", ", microseconds(clock.width));
  return fmt::format(
      "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"made by\": {}, \"spans left out\": {}, \"device clocks were "
      "read within, in microseconds\": [{}]}},\n\"traceEvents\": [{}\n]}}\n",
      json("mulciber " MULCIBER_VERSION_STRING), leftOut, clocks, fmt::to_string(out));
}

namespace {

struct Row {
  uint64_t calls = 0, bytes = 0;
  double total = 0, least = 0, most = 0, occupancy = 0;
  bool isKernel = false;

  void add(double time) {
    least = calls == 0 ? time : std::min(least, time);
    most = std::max(most, time);
    total += time;
    ++calls;
  }
};

std::string duration(double nanoseconds) {
  if (nanoseconds < 1e6) return fmt::format("{:.2f} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.2f} ms", nanoseconds / 1e6);
  return fmt::format("{:.2f} s", nanoseconds / 1e9);
}

}  // namespace

std::string kernelTable(const std::vector<HostSpan>& calls, const std::vector<DeviceSpan>& works,
                        const std::vector<TracedDevice>& devices, uint64_t leftOut) {
  std::map<std::string, Row> rows;
  double all = 0;
  for (const DeviceSpan& span : works) {
    const bool isKernel = span.kind == DeviceSpan::Kind::Kernel;
    Row& row = rows[isKernel ? span.name : "(" + nameOf(span) + ")"];
    const double time = std::max(0.0, span.endTicks - span.beginTicks);
    row.add(time);
    row.bytes += span.bytes;
    row.isKernel = isKernel;
    const uint64_t threads = uint64_t{span.block[0]} * span.block[1] * span.block[2];
    row.occupancy = double(span.blocksPerMultiprocessor) * double(threads) /
                    std::max(1u, devices[span.device].threadsPerMultiprocessor);
    all += time;
  }
  std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
  std::ranges::sort(sorted, [](const auto& a, const auto& b) { return a.second.total > b.second.total; });

  double compiling = 0;
  for (const HostSpan& span : calls)
    if (std::string_view(span.category) == "compile") compiling += double(span.end - span.begin);
  std::string names;
  for (const TracedDevice& device : devices) names += (names.empty() ? "" : ", ") + device.name;
  std::string out = fmt::format("mulciber profile: {}, {} of work on the device, {} of compiling on the host\n",
                                names.empty() ? "no device" : names, duration(all), duration(compiling));
  out += fmt::format("{:>6}  {:>10}  {:>8}  {:>10}  {:>10}  {:>10}  {:>9}  {}\n", "share", "total", "calls", "mean",
                     "least", "most", "occupancy", "kernel");
  for (const auto& [name, row] : sorted) {
    const std::string last = row.isKernel     ? fmt::format("{:.0f} %", row.occupancy * 100)
                             : row.bytes != 0 ? fmt::format("{:.1f} GB/s", double(row.bytes) / row.total)
                                              : "";
    out += fmt::format("{:>5.1f}%  {:>10}  {:>8}  {:>10}  {:>10}  {:>10}  {:>9}  {}\n",
                       all > 0 ? row.total / all * 100 : 0, duration(row.total), row.calls,
                       duration(row.total / double(row.calls)), duration(row.least), duration(row.most), last, name);
  }
  out += "occupancy: the most that threads and shared memory of a block allow; Vulkan does not tell registers\n";
  if (leftOut != 0) out += fmt::format("{} pieces of work or calls are left out\n", leftOut);
  return out;
}

}  // namespace mulciber::core
