#include "runtime/core/compilation.h"

#include <unistd.h>

#include <chrono>
#include <mutex>

#include <fmt/format.h>

#include "runtime/core/trace.h"
#include "util/environment.h"

namespace mulciber::core {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double patience = 2;  // seconds of compiling before the user is told, and between lines

int64_t now() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

// What the process has compiled so far.
class Progress {
 public:
  static Progress& get() {
    static auto* const progress = new Progress;  // never destroyed: exit handlers of the program may launch
    return *progress;
  }

  void add(Compilation::Step step, double seconds) {
    std::lock_guard lock(mutex_);
    seconds_ += seconds;
    if (step == Compilation::Step::Translation) ++kernels_;
    if (!isShown_ || seconds_ < patience) return;
    const Clock::time_point time = Clock::now();
    if (said_ != Clock::time_point() && time - said_ < std::chrono::duration<double>(patience)) return;
    said_ = time;
    fmt::print(stderr, "mulciber: {} kernels compiled so far, {:.0f} s; the next start takes them from the cache\n",
               kernels_, seconds_);
  }

 private:
  std::mutex mutex_;
  const bool isShown_ = isatty(STDERR_FILENO) == 1 || util::environment().progress;
  double seconds_ = 0;
  int kernels_ = 0;
  Clock::time_point said_;
};

}  // namespace

Compilation::Compilation(Step step, const std::string& kernel) : step_(step), kernel_(kernel), begin_(now()) {}

double Compilation::seconds() const { return double(now() - begin_) * 1e-9; }

Compilation::~Compilation() {
  if (!isCached_) Progress::get().add(step_, seconds());
  if (Trace* const trace = Trace::active()) {
    const char* what = isCached_ ? "load" : step_ == Step::Translation ? "translate" : "compile";
    const int64_t end = trace->now(), begin = end - (now() - begin_);
    trace->add({fmt::format("{} {}", what, kernel_), "compile", Trace::threadId(), begin, end});
  }
}

}  // namespace mulciber::core
