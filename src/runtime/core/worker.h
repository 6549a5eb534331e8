// The thread that serves kept-back streams: it runs their host functions and gives the queues the work behind those.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mulciber::core {

class Marker;
class Stream;

class Worker {
 public:
  Worker() = default;
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void add(Stream& stream);  // it has something to be carried on
  // Lets go of the object when the marker has passed. Nobody waits for that: its destructor may be the program's.
  void keep(std::shared_ptr<Marker> until, std::shared_ptr<const void> object);
  std::vector<std::shared_ptr<Marker>> marks();  // the ends of all that is kept back now
  void waitIdle();                               // until all that is kept back now has been handed on
  void finish();                                 // the same, but for what waits for words that nobody writes
  void stop();                                   // what is kept back then is dropped

 private:
  void run();
  std::vector<std::shared_ptr<Stream>> deferred();
  void wake();   // the caller holds the lock
  bool letGo();  // whether something went

  struct Kept {
    std::shared_ptr<Marker> until;
    std::shared_ptr<const void> object;
  };
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::vector<Kept> kept_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace mulciber::core
