// What a process does over time, for `mulciber run --trace` and `--profile`: calls of the API, compilation, and the
// device's work with the device's own timestamps. The report is written when the process ends.
//
// While it is on, each piece of work waits for all that was given to its queue before, so that its time is its own.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/core/operation.h"
#include "runtime/vk/queue.h"
#include "runtime/vk/timestamp.h"

namespace mulciber::vk {
class Device;
}

namespace mulciber::core {

// Something the host did. Times are nanoseconds since the trace began.
struct HostSpan {
  std::string name;
  const char* category;
  int thread;
  int64_t begin, end;
};

struct DeviceSpan {
  enum class Kind : uint8_t { Kernel, Copy, Fill, Graph };

  Kind kind;
  std::string name;  // of a kernel
  size_t device;     // index in Trace::devices()
  uint32_t queue;
  uint64_t stream;
  std::array<uint32_t, 3> grid, block;
  uint32_t sharedBytes, blocksPerMultiprocessor;
  uint64_t bytes;                   // of copies and fills
  int thread;                       // that gave it
  int64_t given;                    // when, on the host
  double beginTicks = 0, endTicks;  // the device's clock, in nanoseconds
};

// A device, and pairs of readings of its clock and the host's.
struct TracedDevice {
  struct ClockPair {
    double device;
    int64_t host, width;  // the device's clock was read within this many nanoseconds of `host`
  };
  std::string name;
  uint32_t multiprocessors, threadsPerMultiprocessor;
  std::vector<ClockPair> clocks;

  int64_t onHost(double deviceNanoseconds) const;
};

class Trace {
 public:
  static Trace* active() { return active_; }  // null unless MULCIBER_TRACE or MULCIBER_PROFILE asks for it

  int64_t now() const;
  // The outermost of the thread's calls counts: calls within a call are part of it.
  void enterCall(const char* name);
  void leaveCall();
  void add(HostSpan span);

  void addDevice(const std::shared_ptr<vk::Device>& vulkan, const class Device& device);
  // Records the work between two timestamps. The caller holds the queue's lock.
  vk::Status record(const DeviceWork& work, vk::Commands& commands, const vk::Queue& queue, const Stream& stream);
  // Runs a recorded graph between two timestamps.
  vk::Status run(const RecordedWork& work, vk::Queue& queue, vk::Position& position, const Stream& stream);

  void finish();  // writes the reports, once

  static int threadId();

 private:
  struct Pending {
    DeviceSpan span;
    std::shared_ptr<vk::Device> vulkan;  // whose timestamps these are
    vk::TimestampRef begin, end;
  };

  Trace();
  static Trace* start();
  bool begin(Pending& pending, const vk::Queue& queue, const Stream& stream);
  void give(Pending pending);
  void collect();  // what has been done meanwhile; the caller holds the lock
  void readClock(size_t device);
  void write();

  static Trace* const active_;
  const int64_t start_;
  std::mutex mutex_;
  std::atomic<bool> isFinished_{false};
  std::vector<HostSpan> calls_;
  std::vector<Pending> pending_;
  std::vector<DeviceSpan> works_;
  std::vector<TracedDevice> devices_;
  std::vector<std::weak_ptr<vk::Device>> vulkans_;
  uint64_t leftOut_ = 0;  // beyond what is kept, or not done when the process ended
};

// A call of the API, named as the program calls it. One load and one branch when nothing is traced.
class ApiSpan {
 public:
  explicit ApiSpan(const char* name) : trace_(Trace::active()) {
    if (trace_) [[unlikely]]
      trace_->enterCall(name);
  }
  ~ApiSpan() {
    if (trace_) [[unlikely]]
      trace_->leaveCall();
  }
  ApiSpan(const ApiSpan&) = delete;
  ApiSpan& operator=(const ApiSpan&) = delete;

 private:
  Trace* const trace_;
};

// The reports.
std::string chromeTrace(const std::vector<HostSpan>& calls, const std::vector<DeviceSpan>& works,
                        const std::vector<TracedDevice>& devices, uint64_t leftOut);
std::string kernelTable(const std::vector<HostSpan>& calls, const std::vector<DeviceSpan>& works,
                        const std::vector<TracedDevice>& devices, uint64_t leftOut);

}  // namespace mulciber::core
