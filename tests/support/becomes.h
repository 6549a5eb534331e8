// Waiting for what other threads or the device will do.
#pragma once

#include <ctime>
#include <thread>

namespace mulciber::test {

// Whether `condition` comes true. Gives up after this thread has used 20 seconds of the processor: by the clock, a
// loaded machine may take any time.
template <class Condition>
bool becomes(Condition condition) {
  const auto seconds = [] {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec;
  };
  for (const auto end = seconds() + 20; !condition(); std::this_thread::yield())
    if (seconds() >= end) return false;
  return true;
}

}  // namespace mulciber::test
