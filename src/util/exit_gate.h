// Keeps threads out of the Vulkan driver while exit() takes it down. Drivers and layers destroy their static objects
// among the exit handlers, those they made last first, so before any handler of ours has run: a thread that
// still launches then would use a driver that is gone.
//
// When exit() begins, other threads of the program are shut out, and what they call from then on gives
// CUDA_ERROR_DEINITIALIZED; those inside are waited for. The thread that ends the process may still call CUDA, because
// its exit handlers and static destructors may free what they hold, until those come that were there before CUDA was:
// from then on it is told the same. CUDA itself draws the line there.
#pragma once

#include <atomic>

namespace mulciber::util {

// Whose call it is: the program's, or one of our own threads, which serve the thread that ends the process to the last.
enum class Caller : bool { Program, Service };

// A call that may use the driver, for as long as this lives; calls nest. False: it must not, the process is ending.
class Inside {
 public:
  explicit Inside(Caller caller = Caller::Program) : entered_(enter(caller)) {}
  ~Inside() {
    if (entered_ != Entered::Not) leave();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  explicit operator bool() const { return entered_ != Entered::Not; }
  // The call comes from a host function, which one of our own threads runs for the program.
  bool isFromHostFunction() const { return entered_ == Entered::FromHostFunction; }

 private:
  enum class Entered : char { Not, Yes, FromHostFunction };
  static Entered enter(Caller caller);
  static void leave();
  const Entered entered_;
};

// What a service thread calls of the program's, within its own call: nobody waits for that.
class Outside {
 public:
  Outside();
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  const int depth_;
};

namespace detail {
extern std::atomic<bool> isEnding;
bool mustLeaveNow();
}  // namespace detail

// Whether the calling thread is waited for: it must give up what it waits for itself.
inline bool mustLeave() { return detail::isEnding.load(std::memory_order_relaxed) && detail::mustLeaveNow(); }
inline bool isProcessEnding() { return detail::isEnding.load(std::memory_order_relaxed); }

// Called when a driver has made objects of its own, which exit() destroys after it has called what is registered here:
// from then on all are shut out.
void watchExit();

// Who ends the process is shut out with the others.
void refuseAllAtExit();

// For a forked child: the other threads are not there.
void forgetOtherThreads();

}  // namespace mulciber::util
