#include <atomic>
#include <chrono>
#include <thread>

#include "core_test.h"
#include "runtime/core/memory_operations.h"

namespace mulciber::core {
namespace {

using namespace std::chrono_literals;

class StreamTest : public CoreTest {
 protected:
  void SetUp() override {
    CoreTest::SetUp();
    if (context) words = allocateHost<uint32_t>(1024);
  }
  uint32_t* words = nullptr;
  uint64_t at(size_t index) {
    uint64_t address = 0;
    EXPECT_OK(context->hostToDevicePointer(words + index, address));
    return address;
  }
};

// A gate that a stream stops at until the test opens it.
struct Gate {
  std::atomic<bool> open{false}, reached{false};
  std::function<void(Error)> function() {
    return [this](Error) {
      reached = true;
      while (!open) std::this_thread::sleep_for(100us);
    };
  }
};

TEST_F(StreamTest, HandlesAreResolved) {  // STR-05
  StreamRef found;
  ASSERT_OK(context->stream(0, false, found));
  EXPECT_TRUE(found->isLegacy());
  ASSERT_OK(context->stream(legacyStreamHandle, true, found));
  EXPECT_TRUE(found->isLegacy());
  StreamRef mine, again, other;
  ASSERT_OK(context->stream(0, true, mine));
  ASSERT_OK(context->stream(perThreadStreamHandle, false, again));
  EXPECT_EQ(mine, again);
  std::thread([&] { EXPECT_OK(context->stream(0, true, other)); }).join();
  EXPECT_NE(mine, other);
  int none = 0;
  EXPECT_EQ(context->stream(number(&none), false, found), Error::InvalidHandle);
  Stream& made = newStream();
  EXPECT_OK(context->stream(number(&made), false, found));
  EXPECT_OK(context->destroyStream(&made));
  EXPECT_EQ(context->stream(number(&made), false, found), Error::InvalidHandle);
}

TEST_F(StreamTest, HostFunctionsRunInOrderAndHoldBackWhatFollows) {  // STR-10
  Stream& one = newStream();
  Gate gate;
  ASSERT_OK(fill32(one, at(0), 1, 1));
  uint32_t seen = 0;
  ASSERT_OK(one.hostFunction([&](Error status) {
    EXPECT_EQ(status, Error::Success);
    seen = words[0];
  }));
  ASSERT_OK(one.hostFunction(gate.function()));
  ASSERT_OK(fill32(one, at(0), 2, 1));
  while (!gate.reached) std::this_thread::sleep_for(100us);
  EXPECT_EQ(seen, 1u);
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(words[0], 1u);
  EXPECT_EQ(one.query(), Error::NotReady);
  gate.open = true;
  ASSERT_OK(one.synchronize());
  EXPECT_EQ(words[0], 2u);
  EXPECT_OK(one.query());
}

// A stream stopped by the host must not stop others, though they share a queue.
TEST_F(StreamTest, AHeldStreamDoesNotHoldOthers) {  // STR-02, STR-09
  Stream& held = newStream(Stream::NonBlocking);
  Stream& free = newStream(Stream::NonBlocking);
  Gate gate;
  ASSERT_OK(held.hostFunction(gate.function()));
  ASSERT_OK(fill32(held, at(0), 1, 1));
  ASSERT_OK(fill32(free, at(1), 2, 1));
  ASSERT_OK(free.synchronize());
  EXPECT_EQ(words[1], 2u);
  EXPECT_EQ(words[0], 0u);
  gate.open = true;
  ASSERT_OK(held.synchronize());
  EXPECT_EQ(words[0], 1u);
}

TEST_F(StreamTest, TheLegacyStreamComesAfterBlockingStreams) {  // STR-04
  Stream& blocking = newStream();
  Gate gate;
  ASSERT_OK(blocking.hostFunction(gate.function()));
  ASSERT_OK(fill32(blocking, at(0), 1, 1));
  ASSERT_OK(fill32(*stream, at(0), 2, 1));
  EXPECT_EQ(stream->query(), Error::NotReady);
  gate.open = true;
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(words[0], 2u);
}

TEST_F(StreamTest, BlockingStreamsComeAfterTheLegacyStream) {  // STR-04, STR-06
  Stream& blocking = newStream();
  Stream& apart = newStream(Stream::NonBlocking);
  Gate gate;
  ASSERT_OK(stream->hostFunction(gate.function()));
  ASSERT_OK(fill32(*stream, at(0), 1, 1));
  ASSERT_OK(fill32(blocking, at(0), 2, 1));
  ASSERT_OK(fill32(apart, at(1), 3, 1));
  ASSERT_OK(apart.synchronize());
  EXPECT_EQ(words[1], 3u);
  EXPECT_EQ(words[0], 0u);
  EXPECT_EQ(blocking.query(), Error::NotReady);
  gate.open = true;
  ASSERT_OK(blocking.synchronize());
  EXPECT_EQ(words[0], 2u);
}

TEST_F(StreamTest, ADestroyedStreamFinishesItsWork) {  // STR-03
  Stream& one = newStream();
  Gate gate;
  ASSERT_OK(one.hostFunction(gate.function()));
  ASSERT_OK(fill32(one, at(0), 4, 1));
  ASSERT_OK(context->destroyStream(&one));
  gate.open = true;
  ASSERT_OK(stream->synchronize());
  EXPECT_EQ(words[0], 4u);
}

// What another thread gives the legacy stream while a stream is being destroyed comes after that stream's work too.
TEST_F(StreamTest, TheLegacyStreamComesAfterStreamsThatAreBeingDestroyed) {
  constexpr uint32_t rounds = 300;
  const uint64_t data = allocate(4);
  ASSERT_OK(fill32(*stream, data, 0, 1));
  std::atomic<uint32_t> given{0}, seen{0};
  std::thread destroyer([&] {
    for (uint32_t round = 1; round <= rounds; ++round) {
      Stream& one = newStream();
      EXPECT_OK(one.hostFunction([](Error) { std::this_thread::sleep_for(200us); }));
      EXPECT_OK(fill32(one, data, round, 1));
      given = round;
      // Another moment of the other thread's call each time.
      const auto until = std::chrono::steady_clock::now() + round % 100 * 100ns;
      while (std::chrono::steady_clock::now() < until) {
      }
      EXPECT_OK(context->destroyStream(&one));
      while (seen < round) std::this_thread::yield();
    }
  });
  for (uint32_t round = 1; round <= rounds; ++round) {
    while (given < round) {
    }
    EXPECT_OK(copyOn(*stream, at(0), data, 4, CopyKind::Default, true));
    EXPECT_OK(stream->synchronize());
    EXPECT_EQ(words[0], round);
    seen = round;
  }
  destroyer.join();
}

TEST_F(StreamTest, EventsOrderStreams) {  // STR-08
  Stream& first = newStream(Stream::NonBlocking);
  Stream& second = newStream(Stream::NonBlocking);
  Event* event = nullptr;
  ASSERT_OK(context->createEvent(Event::DisableTiming, event));
  Gate gate;
  ASSERT_OK(first.hostFunction(gate.function()));
  ASSERT_OK(fill32(first, at(0), 1, 1));
  ASSERT_OK(first.record(*event));
  EXPECT_EQ(event->query(), Error::NotReady);
  ASSERT_OK(second.wait(*event));
  ASSERT_OK(fill32(second, at(0), 2, 1));
  EXPECT_EQ(second.query(), Error::NotReady);
  gate.open = true;
  ASSERT_OK(second.synchronize());
  EXPECT_EQ(words[0], 2u);
  EXPECT_OK(event->query());
  EXPECT_OK(event->synchronize());
  EXPECT_OK(context->destroyEvent(event));
  EXPECT_EQ(context->destroyEvent(event), Error::InvalidHandle);
}

TEST_F(StreamTest, AnEventThatWasNeverRecordedIsComplete) {  // EVT-01
  Event* event = nullptr;
  ASSERT_OK(context->createEvent(0, event));
  EXPECT_OK(event->query());
  EXPECT_OK(event->synchronize());
  EXPECT_OK(stream->wait(*event));
}

// EVT-01: work given after the record does not delay the event, not even in the same batch.
TEST_F(StreamTest, AnEventIsNotDelayedByLaterWork) {
  Event* event = nullptr;
  ASSERT_OK(context->createEvent(Event::DisableTiming, event));
  Stream& one = newStream(Stream::NonBlocking);
  ASSERT_OK(fill32(one, at(0), 1, 1));
  ASSERT_OK(one.record(*event));
  Gate gate;
  ASSERT_OK(one.hostFunction(gate.function()));
  ASSERT_OK(fill32(one, at(0), 2, 1));
  ASSERT_OK(event->synchronize());
  EXPECT_EQ(words[0], 1u);
  gate.open = true;
  ASSERT_OK(one.synchronize());
}

TEST_F(StreamTest, ElapsedTimeIsMeasuredByTheDevice) {  // EVT-03
  Event *start = nullptr, *end = nullptr, *untimed = nullptr;
  ASSERT_OK(context->createEvent(0, start));
  ASSERT_OK(context->createEvent(0, end));
  ASSERT_OK(context->createEvent(Event::DisableTiming, untimed));
  float milliseconds = -1;
  EXPECT_EQ(Event::elapsed(*start, *end, milliseconds), Error::InvalidHandle);
  const uint64_t large = allocate(64 << 20);
  ASSERT_OK(stream->record(*start));
  ASSERT_OK(fill32(*stream, large, 1, 16 << 20));
  ASSERT_OK(stream->record(*end));
  ASSERT_OK(stream->record(*untimed));
  ASSERT_OK(end->synchronize());
  ASSERT_OK(Event::elapsed(*start, *end, milliseconds));
  EXPECT_GT(milliseconds, 0.0f);
  EXPECT_LT(milliseconds, 60'000.0f);
  EXPECT_EQ(Event::elapsed(*start, *untimed, milliseconds), Error::InvalidHandle);
  EXPECT_OK(context->free(large));
}

TEST_F(StreamTest, AnEventIsReusedManyTimes) {
  Event* event = nullptr;
  ASSERT_OK(context->createEvent(0, event));
  for (uint32_t i = 0; i < 3000; ++i) {
    ASSERT_OK(fill32(*stream, at(0), i, 1));
    ASSERT_OK(stream->record(*event));
  }
  ASSERT_OK(event->synchronize());
  EXPECT_EQ(words[0], 2999u);
}

TEST_F(StreamTest, ThousandsOfStreamsWork) {  // STR-13, STR-14
  std::vector<Stream*> all;
  for (int i = 0; i < 1000; ++i) all.push_back(&newStream());
  for (uint32_t i = 0; i < 1000; ++i) ASSERT_OK(fill32(*all[i], at(i), i, 1));
  ASSERT_OK(context->synchronize());
  for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(words[i], i);
  for (Stream* one : all) ASSERT_OK(context->destroyStream(one));
}

TEST_F(StreamTest, ManyThreadsShareStreamsAndTheLegacyStream) {
  Stream& shared = newStream();
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Stream& mine = newStream(t % 2 == 0 ? Stream::Default : Stream::NonBlocking);
      Event* event = nullptr;
      EXPECT_OK(context->createEvent(0, event));
      std::atomic<int> called{0};
      for (uint32_t i = 1; i <= 100; ++i) {
        EXPECT_OK(fill32(mine, at(t * 16), i, 16));
        EXPECT_OK(fill32(shared, at(512 + t), i, 1));
        EXPECT_OK(fill32(*stream, at(600 + t), i, 1));
        EXPECT_OK(mine.record(*event));
        EXPECT_OK(shared.wait(*event));
        if (i % 20 == 0) {
          EXPECT_OK(mine.hostFunction([&](Error) { ++called; }));
        }
        if (i % 25 == 0) {
          EXPECT_OK(mine.synchronize());
        }
      }
      EXPECT_OK(mine.synchronize());
      EXPECT_EQ(called.load(), 5);
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(context->synchronize());
  for (uint32_t t = 0; t < 4; ++t) {
    EXPECT_EQ(words[t * 16 + 15], 100u);
    EXPECT_EQ(words[512 + t], 100u);
    EXPECT_EQ(words[600 + t], 100u);
  }
}

// HOST-17: what other threads give meanwhile is not waited for.
TEST_F(StreamTest, WaitingEndsWhileOthersKeepStreamsBusy) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      Stream& mine = newStream(Stream::NonBlocking);
      while (!stop) {
        EXPECT_OK(mine.hostFunction([](Error) {}));
        std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
    });
  std::atomic<int> called{0};
  Stream& own = newStream(Stream::NonBlocking);
  for (int i = 0; i < 5; ++i) {
    EXPECT_OK(own.hostFunction([&](Error) { ++called; }));
    EXPECT_OK(context->synchronize());
    EXPECT_EQ(called.load(), i + 1);
    EXPECT_OK(context->free(allocate(1 << 20)));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_OK(context->synchronize());
}

// STR-05: a thread's stream goes with the thread, what was given to it is done, and the legacy stream comes after it.
TEST_F(StreamTest, PerThreadStreamsEndWithTheirThreads) {
  const uint64_t data = allocate(4 << 20);
  std::vector<std::weak_ptr<Stream>> ended;
  for (uint32_t i = 0; i < 50; ++i) {
    std::thread([&] {
      StreamRef mine;
      ASSERT_OK(context->perThreadStream(mine));
      StreamRef again;
      ASSERT_OK(context->perThreadStream(again));
      EXPECT_EQ(mine, again);
      EXPECT_OK(fill32(*mine, data, i, 1 << 20));
      if (i % 10 == 0) {
        EXPECT_OK(mine->hostFunction([](Error) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }));
        EXPECT_OK(fill32(*mine, data, i + 1, 1 << 20));
      }
      ended.push_back(mine);
    }).join();
    EXPECT_OK(copyOn(*stream, at(i), data + (4 << 20) - 4, 4, CopyKind::DeviceToHost, true));
  }
  ASSERT_OK(context->synchronize());
  for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(words[i], i % 10 == 0 ? i + 1 : i);
  EXPECT_TRUE(context->streams().empty());
  for (const auto& one : ended) EXPECT_TRUE(one.expired());
}

TEST_F(StreamTest, AStreamWaitsForAWordAndOthersDoNot) {
  auto* word = allocateHost<uint64_t>(4);
  Stream& waiting = newStream(Stream::NonBlocking);
  Stream& other = newStream(Stream::NonBlocking);
  const uint64_t data = allocate(64);
  ASSERT_OK(fill32(other, data, 0, 4));
  ASSERT_OK(other.synchronize());
  using Condition = WordWait::Condition;
  ASSERT_OK(carryOut(waiting, {WordWait{number(word), 5, 4, Condition::GreaterOrEqual}}));
  ASSERT_OK(fill32(waiting, data, 1, 1));
  ASSERT_OK(carryOut(waiting, {WordWrite{number(word + 1), 0x1122334455667788, 8}}));
  ASSERT_OK(fill32(other, data + 4, 2, 1));
  ASSERT_OK(other.synchronize());
  EXPECT_EQ(waiting.query(), Error::NotReady);
  *reinterpret_cast<volatile uint32_t*>(word) = 7;
  ASSERT_OK(waiting.synchronize());
  EXPECT_EQ(word[1], 0x1122334455667788u);
  uint32_t seen[2] = {};
  EXPECT_OK(context->readMemory(data, seen, sizeof(seen)));
  EXPECT_EQ(seen[0], 1u);
  EXPECT_EQ(seen[1], 2u);
  // One stream waits for what another writes, in memory of the device too.
  ASSERT_OK(carryOut(waiting, {WordWait{data, 100, 4, Condition::Equal}}));
  ASSERT_OK(carryOut(waiting, {WordWrite{data + 4, 3, 4}}));
  ASSERT_OK(carryOut(other, {WordWrite{data, 100, 4}}));
  ASSERT_OK(waiting.synchronize());
  EXPECT_OK(context->readMemory(data, seen, sizeof(seen)));
  EXPECT_EQ(seen[1], 3u);
  EXPECT_EQ(carryOut(waiting, {WordWait{data + 2, 0, 4, Condition::Equal}}), Error::InvalidValue);
  EXPECT_EQ(carryOut(waiting, {WordWrite{data + 4, 0, 8}}), Error::InvalidValue);
  EXPECT_EQ(carryOut(waiting, {WordWrite{64, 0, 4}}), Error::InvalidValue);
}

TEST(WordWait, Conditions) {
  using Condition = WordWait::Condition;
  EXPECT_TRUE((WordWait{0, 0xFFFFFFFF, 4, Condition::GreaterOrEqual}.isMet(1)));  // around the end
  EXPECT_FALSE((WordWait{0, 5, 4, Condition::GreaterOrEqual}.isMet(4)));
  EXPECT_TRUE((WordWait{0, 5, 8, Condition::GreaterOrEqual}.isMet(5)));
  EXPECT_TRUE((WordWait{0, 7, 4, Condition::Equal}.isMet(uint64_t(1) << 32 | 7)));
  EXPECT_FALSE((WordWait{0, 7, 8, Condition::Equal}.isMet(uint64_t(1) << 32 | 7)));
  EXPECT_TRUE((WordWait{0, 6, 4, Condition::And}.isMet(2)));
  EXPECT_FALSE((WordWait{0, 6, 4, Condition::And}.isMet(1)));
  EXPECT_FALSE((WordWait{0, 0xFFFFFFF0, 4, Condition::Nor}.isMet(0xF)));
  EXPECT_TRUE((WordWait{0, 0xFFFFFFF0, 4, Condition::Nor}.isMet(0xE)));
}

}  // namespace
}  // namespace mulciber::core
