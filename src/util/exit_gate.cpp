#include "util/exit_gate.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace mulciber::util {

std::atomic<bool> detail::isEnding{false};

namespace {

enum class State : int { Open, ForOneThread, Shut };

// One of each thread, in a list that only grows; those of ended threads are taken again. Each has a cache line of its
// own, so that a call costs no more than a store that nobody else reads.
struct alignas(64) Record {
  std::atomic<bool> isInside{false}, isService{false}, isTaken{true};
  int depth = 0;  // calls of the thread that are under way
  Record* next = nullptr;
};

std::atomic<State> state{State::Open};
std::atomic<bool> refusesAll{false};
std::atomic<Record*> records{nullptr};
std::atomic<Record*> endingThread{nullptr};
__attribute__((tls_model("initial-exec"))) thread_local Record* ownRecord = nullptr;

// A driver may be compiling: longer than that, and the process ends all the same.
constexpr auto mostWait = std::chrono::seconds(5);
// The thread that ends the process came out of a call of ours, and may hold what the others wait for.
constexpr auto mostWaitInside = std::chrono::milliseconds(200);

void giveBack(void* record) {
  ownRecord = nullptr;
  static_cast<Record*>(record)->isTaken.store(false, std::memory_order_release);
}

Record* takeRecord() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    return pthread_key_create(&made, giveBack) == 0 ? made : pthread_key_t(-1);
  }();
  Record* record = records.load(std::memory_order_acquire);
  for (; record; record = record->next) {
    bool isTaken = false;
    if (record->isTaken.compare_exchange_strong(isTaken, true, std::memory_order_acq_rel)) break;
  }
  if (!record) {
    record = new Record;
    record->next = records.load(std::memory_order_relaxed);
    while (!records.compare_exchange_weak(record->next, record)) {
    }
  }
  record->isService.store(false, std::memory_order_relaxed);
  (void)pthread_setspecific(key, record);
  return record;
}

void watchThread();

Record& own() {
  if (!ownRecord) {
    ownRecord = takeRecord();
    watchThread();
  }
  return *ownRecord;
}

bool mayEnter(const Record& record) {
  switch (state.load()) {
    case State::Open: return true;
    case State::ForOneThread: return record.isService.load(std::memory_order_relaxed) || endingThread.load() == &record;
    case State::Shut: return false;
  }
  return false;
}

void waitForOthers(bool alsoService) {
  const Record& self = own();
  const auto until =
      std::chrono::steady_clock::now() + (self.depth != 0 ? std::chrono::nanoseconds(mostWaitInside) : mostWait);
  for (const Record* record = records.load(); record; record = record->next)
    while (record != &self && (alsoService || !record->isService.load()) && record->isInside.load()) {
      if (std::chrono::steady_clock::now() > until) return;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

void shutForOthers() {
  Record* none = nullptr;
  if (!endingThread.compare_exchange_strong(none, &own())) return;
  const bool forAll = refusesAll.load();
  state.store(forAll ? State::Shut : State::ForOneThread);
  detail::isEnding.store(true);
  waitForOthers(forAll);
}

void shut() {
  shutForOthers();
  state.store(State::Shut);
  waitForOthers(true);
}

// exit() ends the thread_local objects of its thread before it calls the handlers, newest first. So does a thread that
// just returns: who called tells the two apart.
bool isCalledByExit() {
  static void* const functionExit = [] {
    void* const libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return libc ? dlsym(libc, "exit") : nullptr;
  }();
  struct Search {
    int framesLeft = 8;
    bool found = false;
  } search;
  const auto look = [](_Unwind_Context* frame, void* into) {
    auto& seen = *static_cast<Search*>(into);
    seen.found = _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(_Unwind_GetIP(frame))) == functionExit;
    return seen.found || --seen.framesLeft == 0 ? _URC_END_OF_STACK : _URC_NO_REASON;
  };
  if (functionExit) _Unwind_Backtrace(look, &search);
  return search.found;
}

struct AtThreadsEnd {
  ~AtThreadsEnd() {
    if (isCalledByExit()) shutForOthers();
  }
};

void watchThread() {
  static thread_local AtThreadsEnd watched;
  (void)watched;
}

// The main thread may be one that never calls us. As a rule it is the one that loads us.
__attribute__((constructor)) void watchFirstThread() { watchThread(); }

}  // namespace

Inside::Entered Inside::enter(Caller caller) {
  Record& record = own();
  if (record.depth++ != 0) return Entered::Yes;
  if (caller == Caller::Service) record.isService.store(true, std::memory_order_relaxed);
  record.isInside.store(true);  // before the state is looked at: who shuts the gate does the two the other way round
  if (state.load() == State::Open || mayEnter(record)) {
    const bool isForeign = caller == Caller::Program && record.isService.load(std::memory_order_relaxed);
    return isForeign ? Entered::FromHostFunction : Entered::Yes;
  }
  leave();
  return Entered::Not;
}

void Inside::leave() {
  if (--ownRecord->depth == 0) ownRecord->isInside.store(false, std::memory_order_release);
}

Outside::Outside() : depth_(own().depth) {
  ownRecord->depth = 0;
  ownRecord->isInside.store(false, std::memory_order_release);
}

Outside::~Outside() {
  ownRecord->isInside.store(true);
  ownRecord->depth = depth_;
}

bool detail::mustLeaveNow() { return !mayEnter(own()); }

void watchExit() { std::atexit(shut); }

void refuseAllAtExit() { refusesAll.store(true); }

void forgetOtherThreads() {
  for (Record* record = records.load(); record; record = record->next)
    if (record != ownRecord) record->isInside.store(false);
}

}  // namespace mulciber::util
