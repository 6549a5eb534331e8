// Random kernels in which threads part, end early, and meet: warp operations in branches and in loops that lanes leave
// one by one, barriers in loops that some threads never come to again. Each runs as the device does it and in rounds
// (passes/block_rounds), and both give what this test works out. MULCIBER_FUZZ_COUNT sets how many, MULCIBER_FUZZ_SEED
// the first seed.
#include <algorithm>
#include <bit>
#include <random>

#include "execute/ptx_test.h"
#include "support/setting.h"

namespace mulciber::test {
namespace {

constexpr uint32_t mixFactor = 2654435761u;

struct Node {
  enum class Kind : uint8_t {
    // Of one thread
    Mix,
    ExitIf,
    // Of the lanes of a warp that stand there together
    Ballot,
    Vote,
    Shuffle,
    Match,
    Redux,
    Elect,
    WarpBarrier,
    // Of the block
    Exchange,
    CountTrue,
    AllTrue,
    AnyTrue,
    // Around others
    IfThread,
    IfBlock,
    LoopThread,
    LoopBlock,
  };
  Kind kind;
  uint32_t number;  // a constant, a bit, a distance, a count
  std::vector<Node> first, second;
};
using Kind = Node::Kind;
using Nodes = std::vector<Node>;

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Nodes nodes(unsigned depth, bool isWholeBlock) {
    Nodes result;
    for (unsigned count = 2 + pick(4); count > 0 && left_ > 0; --count) result.push_back(node(depth, isWholeBlock));
    return result;
  }
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

 private:
  Node node(unsigned depth, bool isWholeBlock) {
    --left_;
    uint32_t choice = pick(100);
    if (depth > 0 && choice < 40) {
      Kind kind = isWholeBlock && pick(2) ? (pick(2) ? Kind::IfBlock : Kind::LoopBlock)
                                          : (pick(2) ? Kind::IfThread : Kind::LoopThread);
      bool staysWhole = kind == Kind::IfBlock || kind == Kind::LoopBlock;
      Node made{kind, kind == Kind::LoopBlock ? 2 + pick(2) : pick(8), nodes(depth - 1, staysWhole), {}};
      if (kind == Kind::IfThread || kind == Kind::IfBlock) made.second = nodes(depth - 1, staysWhole);
      return made;
    }
    if (choice < 48) return {Kind::ExitIf, pick(16), {}, {}};
    if (isWholeBlock && choice < 72)
      return {static_cast<Kind>(static_cast<uint32_t>(Kind::Exchange) + pick(4)), 1 + pick(15), {}, {}};
    if (choice < 88) return {static_cast<Kind>(static_cast<uint32_t>(Kind::Ballot) + pick(7)), pick(16), {}, {}};
    return {Kind::Mix, pick(1000), {}, {}};
  }

  std::mt19937_64 random_;
  unsigned left_ = 24;  // nodes: drivers take long for large kernels in rounds
};

// The kernel as PTX. %r1 is what a thread computes, %r2 what its block last agreed on.
class Writer {
 public:
  explicit Writer(uint32_t threads) : threads_(threads) {}

  std::string run(const Nodes& nodes) {
    text_ =
        "mad.lo.u32 %r1, %t, 40503, 12345; mov.u32 %r2, 0; mov.u32 %r9, cells; shl.b32 %r8, %t, 2;\n"
        "add.u32 %r8, %r8, %r9; st.shared.u32 [%r8], 0; bar.sync 0;\n";
    write(nodes);
    return text_ + "END: st.global.u32 [%out], %r1;\n";
  }
  std::string declarations() const { return ".shared .align 4 .u32 cells[" + std::to_string(threads_) + "];"; }

 private:
  void add(const std::string& line) { text_ += line + "\n"; }
  std::string label() { return "L" + std::to_string(labels_++); }
  void mix(const std::string& with) {
    add("mad.lo.u32 %r1, %r1, " + std::to_string(mixFactor) + ", " + with + "; shr.u32 %r3, %r1, 15;");
    add("xor.b32 %r1, %r1, %r3;");
  }
  void testBit(const std::string& of, uint32_t bit) {
    add("shr.u32 %r3, " + of + ", " + std::to_string(bit) + "; and.b32 %r3, %r3, 1; setp.ne.u32 %p1, %r3, 0;");
  }

  void write(const Nodes& nodes) {
    for (const Node& node : nodes) write(node);
  }
  void write(const Node& node) {
    const std::string number = std::to_string(node.number);
    switch (node.kind) {
      case Kind::Mix: return mix(number);
      case Kind::ExitIf:
        add("and.b32 %r3, %r1, 15; setp.eq.u32 %p1, %r3, " + number + ";");
        return add("@%p1 st.global.u32 [%out], %r1; @%p1 exit;");
      case Kind::Ballot:
        testBit("%r1", node.number);
        add("vote.sync.ballot.b32 %r4, %p1, -1;");
        return mix("%r4");
      case Kind::Vote:
        testBit("%r1", node.number);
        add("vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1;");
        add("selp.u32 %r4, 1, 0, %p2; @%p3 add.u32 %r4, %r4, 2;");
        return mix("%r4");
      case Kind::Shuffle:  // from the lowest lane, and from a distance, where that lane is there
        add("activemask.b32 %r5; brev.b32 %r6, %r5; clz.b32 %r6, %r6;");
        add("shfl.sync.idx.b32 %r4, %r1, %r6, 31, %r5; not.b32 %r7, %r1;");
        add("shfl.sync.bfly.b32 %r6|%p1, %r7, " + number + ", 31, %r5;");
        add("mov.u32 %r3, %laneid; xor.b32 %r3, %r3, " + number + "; shr.u32 %r3, %r5, %r3; and.b32 %r3, %r3, 1;");
        add("setp.ne.u32 %p1, %r3, 0; @%p1 add.u32 %r4, %r4, %r6;");
        return mix("%r4");
      case Kind::Match:
        add("activemask.b32 %r5; and.b32 %r4, %r1, 3; match.any.sync.b32 %r4, %r4, %r5;");
        return mix("%r4");
      case Kind::Redux:
        add("activemask.b32 %r5; redux.sync.add.u32 %r4, %r1, %r5; redux.sync.max.s32 %r6, %r1, %r5;");
        add("xor.b32 %r4, %r4, %r6;");
        return mix("%r4");
      case Kind::Elect:
        add("activemask.b32 %r5; elect.sync %r4|%p1, %r5; @%p1 add.u32 %r4, %r4, 100;");
        return mix("%r4");
      case Kind::WarpBarrier: return add("activemask.b32 %r5; bar.warp.sync %r5;");
      case Kind::Exchange:
        add("st.shared.u32 [%r8], %r1; bar.sync 0; add.u32 %r4, %t, " + number + "; rem.u32 %r4, %r4, " +
            std::to_string(threads_) + "; shl.b32 %r4, %r4, 2; add.u32 %r4, %r4, %r9; ld.shared.u32 %r4, [%r4];");
        add("bar.sync 0;");
        return mix("%r4");
      case Kind::CountTrue:
        testBit("%r1", node.number);
        add("bar.red.popc.u32 %r2, 0, %p1;");
        return mix("%r2");
      case Kind::AllTrue:
      case Kind::AnyTrue:
        add("and.b32 %r3, %r1, 3; setp.ne.u32 %p1, %r3, 0;");
        add(std::string("bar.red.") + (node.kind == Kind::AllTrue ? "and" : "or") + ".pred %p2, 0, %p1;");
        add("selp.u32 %r2, 85, 42, %p2;");
        return mix("%r2");
      case Kind::IfThread:
      case Kind::IfBlock: {
        std::string otherwise = label(), end = label();
        testBit(node.kind == Kind::IfThread ? "%r1" : "%r2", node.number);
        add("@!%p1 bra " + otherwise + ";");
        write(node.first);
        add("bra " + end + ";\n" + otherwise + ":");
        write(node.second);
        return add(end + ":");
      }
      case Kind::LoopThread:
      case Kind::LoopBlock: {
        std::string counter = "%n" + std::to_string(labels_), begin = label(), end = label();
        add(".reg .u32 " + counter + ";");
        if (node.kind == Kind::LoopBlock) add("mov.u32 " + counter + ", " + number + ";");
        else add("shr.u32 " + counter + ", %r1, " + number + "; and.b32 " + counter + ", " + counter + ", 3;");
        add(begin + ": setp.eq.u32 %p1, " + counter + ", 0; @%p1 bra " + end + ";");
        write(node.first);
        return add("sub.u32 " + counter + ", " + counter + ", 1; bra " + begin + ";\n" + end + ":");
      }
    }
  }

  uint32_t threads_;
  std::string text_;
  unsigned labels_ = 0;
};

// The same on the host, statement by statement for all threads that stand there.
class Model {
 public:
  explicit Model(uint32_t threads) : values_(threads), cells_(threads), isAlive_(threads, true) {
    for (uint32_t t = 0; t < threads; ++t) values_[t] = t * 40503 + 12345;
  }

  std::vector<uint32_t> run(const Nodes& nodes) {
    run(nodes, std::vector<bool>(values_.size(), true));
    return values_;
  }

 private:
  using Threads = std::vector<bool>;

  void mix(uint32_t t, uint32_t with) {
    uint32_t value = values_[t] * mixFactor + with;
    values_[t] = value ^ value >> 15;
  }
  bool bit(uint32_t t, uint32_t number) const { return values_[t] >> number & 1; }

  void run(const Nodes& nodes, const Threads& threads) {
    for (const Node& node : nodes) {
      Threads active = threads;
      for (uint32_t t = 0; t < active.size(); ++t) active[t] = active[t] && isAlive_[t];
      run(node, active);
    }
  }

  // Calls with each warp's active lanes.
  template <typename Function>
  void eachWarp(const Threads& active, const Function& function) {
    for (uint32_t begin = 0; begin < active.size(); begin += 32) {
      uint32_t mask = 0;
      for (uint32_t lane = 0; lane < 32 && begin + lane < active.size(); ++lane)
        mask |= uint32_t(active[begin + lane]) << lane;
      if (mask == 0) continue;
      std::vector<uint32_t> before(values_.begin() + begin,
                                   values_.begin() + std::min<size_t>(begin + 32, values_.size()));
      for (uint32_t lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1) mix(begin + lane, function(before, mask, lane));
    }
  }
  static uint32_t ballot(const std::vector<uint32_t>& values, uint32_t mask, auto condition) {
    uint32_t result = 0;
    for (uint32_t lane = 0; lane < values.size(); ++lane)
      if (mask >> lane & 1 && condition(values[lane])) result |= 1u << lane;
    return result;
  }

  void run(const Node& node, const Threads& active) {
    auto each = [&](auto function) {
      for (uint32_t t = 0; t < active.size(); ++t)
        if (active[t]) function(t);
    };
    const uint32_t number = node.number;
    using Values = const std::vector<uint32_t>&;
    auto isSet = [number](uint32_t value) { return value >> number & 1; };
    switch (node.kind) {
      case Kind::Mix: return each([&](uint32_t t) { mix(t, number); });
      case Kind::ExitIf: return each([&](uint32_t t) { isAlive_[t] = (values_[t] & 15) != number; });
      case Kind::Ballot:
        return eachWarp(active, [&](Values v, uint32_t mask, uint32_t) { return ballot(v, mask, isSet); });
      case Kind::Vote:
        return eachWarp(active, [&](Values v, uint32_t mask, uint32_t) {
          uint32_t set = ballot(v, mask, isSet);
          return (set != 0 ? 1u : 0u) + (set == mask ? 2u : 0u);
        });
      case Kind::Shuffle:
        return eachWarp(active, [&](Values v, uint32_t mask, uint32_t lane) {
          uint32_t result = v[static_cast<size_t>(std::countr_zero(mask))], other = lane ^ number;
          bool isThere = mask >> other & 1;
          return result + (isThere ? ~v[other] : 0);
        });
      case Kind::Match:
        return eachWarp(active, [&](Values v, uint32_t mask, uint32_t lane) {
          return ballot(v, mask, [&](uint32_t other) { return (other & 3) == (v[lane] & 3); });
        });
      case Kind::Redux:
        return eachWarp(active, [&](Values v, uint32_t mask, uint32_t) {
          uint32_t sum = 0;
          int32_t most = INT32_MIN;
          for (uint32_t lane = 0; lane < v.size(); ++lane)
            if (mask >> lane & 1) sum += v[lane], most = std::max(most, static_cast<int32_t>(v[lane]));
          return sum ^ static_cast<uint32_t>(most);
        });
      case Kind::Elect:
        return eachWarp(active, [&](Values, uint32_t mask, uint32_t lane) {
          auto leader = static_cast<uint32_t>(std::countr_zero(mask));
          return leader + (lane == leader ? 100u : 0u);
        });
      case Kind::WarpBarrier: return;
      case Kind::Exchange: {
        each([&](uint32_t t) { cells_[t] = values_[t]; });
        return each([&](uint32_t t) { mix(t, cells_[(t + number) % cells_.size()]); });
      }
      case Kind::CountTrue: {
        agreed_ = 0;
        each([&](uint32_t t) { agreed_ += bit(t, number); });
        return each([&](uint32_t t) { mix(t, agreed_); });
      }
      case Kind::AllTrue:
      case Kind::AnyTrue: {
        bool all = true, any = false;
        each([&](uint32_t t) {
          bool isTrue = (values_[t] & 3) != 0;
          all &= isTrue;
          any |= isTrue;
        });
        agreed_ = (node.kind == Kind::AllTrue ? all : any) ? 85 : 42;
        return each([&](uint32_t t) { mix(t, agreed_); });
      }
      case Kind::IfThread: {
        Threads taken = active, other = active;
        each([&](uint32_t t) { (bit(t, number) ? other : taken)[t] = false; });
        run(node.first, taken);
        return run(node.second, other);
      }
      case Kind::IfBlock: return run(agreed_ >> number & 1 ? node.first : node.second, active);
      case Kind::LoopThread: {
        std::vector<uint32_t> turns(active.size());
        each([&](uint32_t t) { turns[t] = values_[t] >> number & 3; });
        for (uint32_t turn = 0; turn < 3; ++turn) {
          Threads staying = active;
          each([&](uint32_t t) { staying[t] = turn < turns[t]; });
          run(node.first, staying);
        }
        return;
      }
      case Kind::LoopBlock:
        for (uint32_t turn = 0; turn < number; ++turn) run(node.first, active);
        return;
    }
  }

  std::vector<uint32_t> values_, cells_;
  Threads isAlive_;
  uint32_t agreed_ = 0;
};

class RandomBlock : public PtxTest {};

TEST_F(RandomBlock, ThreadsPartEndAndMeet) {
  uint64_t first = setting("MULCIBER_FUZZ_SEED", 1), count = setting("MULCIBER_FUZZ_COUNT", 4);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Generator generator(seed);
    const uint32_t threads = 33 + generator.pick(100);
    Nodes nodes = generator.nodes(3, true);
    Writer writer(threads);
    std::string body = writer.run(nodes);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(threads) + " threads\n" + body);
    std::vector<uint32_t> expected = Model(threads).run(nodes);
    for (const TargetProfile& profile : blockProfiles()) {
      ASSERT_EQ(wordsOf(profile, body, 1, threads, writer.declarations()), expected) << profile.name;
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace mulciber::test
