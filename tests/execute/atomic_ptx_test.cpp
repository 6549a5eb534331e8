// atom and red of every operation and type, on global and shared memory and through generic addresses, from several
// blocks at a time, on devices that have the operation and on those that have not.
#include <algorithm>
#include <bit>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t blocks = 3, threads = 64, all = blocks * threads;

struct Case {
  const char* name;   // "add.u32"
  const char* value;  // of thread %r1 = 0, 1, 2 ..., into %x
  uint64_t initial;
  uint64_t (*expected)(uint32_t threads);  // whatever their order
};

constexpr uint64_t triangle(uint64_t n) { return n * (n - 1) / 2; }
uint64_t exclusive(uint32_t n, uint64_t factor) {
  uint64_t result = 0;
  for (uint32_t i = 0; i < n; i++) result ^= i * factor;
  return result;
}

const Case cases[] = {
    {"add.u32", "mov.b32 %x, %r1;", 5, [](uint32_t n) { return triangle(n) + 5; }},
    {"add.s32", "neg.s32 %x, %r1;", 5, [](uint32_t n) { return (5 - triangle(n)) & 0xFFFFFFFF; }},
    {"add.u64", "mul.wide.u32 %x, %r1, 0x40000000;", 1, [](uint32_t n) { return (triangle(n) << 30) + 1; }},
    {"min.u32", "not.b32 %x, %r1;", ~0u, [](uint32_t n) { return uint64_t(~(n - 1)) & 0xFFFFFFFF; }},
    {"min.s32", "sub.s32 %x, 3, %r1;", 100, [](uint32_t n) { return uint64_t(4 - n) & 0xFFFFFFFF; }},
    {"max.u32", "not.b32 %x, %r1;", 0, [](uint32_t) { return uint64_t(~0u); }},
    {"max.s32", "sub.s32 %x, %r1, 100;", 0x80000000, [](uint32_t n) { return uint64_t(n - 101) & 0xFFFFFFFF; }},
    {"min.u64", "mul.wide.u32 %x, %r1, 0x40000000; not.b64 %x, %x;", ~0ull,
     [](uint32_t n) { return ~(uint64_t(n - 1) << 30); }},
    {"min.s64", "mul.wide.s32 %x, %r1, -0x40000000;", 7, [](uint32_t n) { return -(uint64_t(n - 1) << 30); }},
    {"max.u64", "mul.wide.u32 %x, %r1, 0x40000000;", 7, [](uint32_t n) { return uint64_t(n - 1) << 30; }},
    {"max.s64", "mul.wide.s32 %x, %r1, -0x40000000;", 1ull << 63, [](uint32_t) { return uint64_t(0); }},
    {"and.b32", "shl.b32 %x, 1, %r1; not.b32 %x, %x;", ~0u, [](uint32_t) { return uint64_t(0); }},
    {"and.b64", "and.b32 %r9, %r1, 31; mov.b64 %x, 1; shl.b64 %x, %x, %r9; not.b64 %x, %x;", ~0ull,
     [](uint32_t) { return uint64_t(0xFFFFFFFF00000000); }},
    {"or.b32", "and.b32 %r9, %r1, 7; shl.b32 %x, 1, %r9;", 0x100, [](uint32_t) { return uint64_t(0x1FF); }},
    {"or.b64", "and.b32 %r9, %r1, 63; mov.b64 %x, 1; shl.b64 %x, %x, %r9;", 0,
     [](uint32_t) { return uint64_t(~0ull); }},
    {"xor.b32", "mul.lo.u32 %x, %r1, 0x1234567;", 0, [](uint32_t n) { return exclusive(n, 0x1234567) & 0xFFFFFFFF; }},
    {"xor.b64", "mul.wide.u32 %x, %r1, 0x12345678;", 0, [](uint32_t n) { return exclusive(n, 0x12345678); }},
    {"inc.u32", "mov.b32 %x, 6;", 0, [](uint32_t n) { return uint64_t(n % 7); }},
    {"dec.u32", "mov.b32 %x, 6;", 0, [](uint32_t n) { return uint64_t((7 - n % 7) % 7); }},
    {"add.f32", "cvt.rn.f32.u32 %x, %r1;", 0,
     [](uint32_t n) { return uint64_t(std::bit_cast<uint32_t>(static_cast<float>(triangle(n)))); }},
    {"add.f64", "cvt.rn.f64.u32 %x, %r1;", 0,
     [](uint32_t n) { return std::bit_cast<uint64_t>(static_cast<double>(triangle(n))); }},
    {"add.noftz.f16", "mov.b16 %x, 0x3C00;", 0, [](uint32_t n) { return uint64_t(n == 64 ? 0x5400 : 0x5A00); }},
    {"add.noftz.bf16", "mov.b16 %x, 0x3F80;", 0, [](uint32_t n) { return uint64_t(n == 64 ? 0x4280 : 0x4340); }},
    {"add.noftz.f16x2", "mov.b32 %x, 0xBC003C00;", 0,
     [](uint32_t n) { return uint64_t(n == 64 ? 0xD4005400 : 0xDA005A00); }},
    {"add.noftz.bf16x2", "mov.b32 %x, 0xBF803F80;", 0,
     [](uint32_t n) { return uint64_t(n == 64 ? 0xC2804280 : 0xC3404340); }},
};

std::string registerType(std::string_view name) {
  std::string type(name.substr(name.rfind('.') + 1));
  if (type.ends_with("x2")) return "b32";
  if (type.ends_with("f16")) return "b16";
  return type;
}

class AtomicPtx : public PtxTest {
 protected:
  // Cells of 16 bytes: four that all blocks share, then four for each block's shared memory. Ways to them: 0 is .global
  // to the first cell, 1 a generic address of the third, 2 and 3 the same in shared memory.
  static constexpr uint32_t cellCount = 4 + 4 * blocks;

  struct Result {
    std::vector<uint8_t> cells;
    std::vector<uint64_t> olds;  // for each of four ways, for each thread two words
    uint64_t cell(uint32_t index, uint32_t bytes) const {
      uint64_t value = 0;
      std::memcpy(&value, cells.data() + index * 16, std::min(bytes, 8u));
      return value;
    }
  };

  // The devices on which an operation of such a width goes a way of its own.
  std::vector<TargetProfile> profilesFor(uint32_t bytes, bool isFloat) const {
    std::vector<TargetProfile> chosen{profiles()[0]}, locking = profilesThatLock();
    if (bytes == 2 || isFloat) chosen.push_back(profiles()[2]);  // no float atomics, words alone
    if (bytes >= 8) chosen.insert(chosen.end(), locking.begin(), locking.end());
    return chosen;
  }

  // `use` is the text for one cell, with SPACE, CELL and OLD (an address for 16 bytes) in it; `others` the same for
  // ways 1 and 2.
  Result runCells(const TargetProfile& profile, const std::string& registers, const std::string& before,
                  const std::string& use, uint64_t low, uint64_t high, const std::string& others = "") {
    auto with = [&](const char* space, const char* cell, uint32_t way) {
      std::string text = !others.empty() && (way == 1 || way == 2) ? others : use;
      auto replace = [&](std::string_view name, const std::string& by) {
        for (size_t at; (at = text.find(name)) != std::string::npos;) text.replace(at, name.size(), by);
      };
      replace("SPACE", space);
      replace("CELL", cell);
      replace("WAY", std::to_string(way));
      replace("OLD", "%olds+" + std::to_string(way * all * 16));
      return text;
    };
    std::string text =
        ".version 8.4\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 own[64];\n"
        ".visible .entry k(.param .u64 cells, .param .u64 oldValues)\n{\n.reg .pred %p<20>; .reg .b16 "
        "%h<20>; .reg .b32 %r<20>; .reg .b64 %rd<30>, %cells, %olds, %shared; .reg .b128 %q<9>;\n" +
        registers + R"(
      ld.param.u64 %cells, [cells]; ld.param.u64 %olds, [oldValues];
      mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;
      mad.lo.u32 %r1, %r3, 64, %r2;                 // of all threads
      mad.wide.u32 %olds, %r1, 16, %olds;
      mov.u32 %r4, own; cvta.shared.u64 %shared, own;
      setp.lt.u32 %p1, %r2, 4;
      mad.wide.u32 %rd3, %r3, 64, %cells;
      ld.global.v2.u64 {%rd1, %rd2}, [%rd3+64];     // its cells hold the initial value so far
      mad.lo.u32 %r5, %r2, 16, %r4;
      @%p1 st.shared.v2.u64 [%r5], {%rd1, %rd2};
      bar.sync 0;
)" + before +
        with(".global", "%cells", 0) + with("", "%cells+32", 1) + "mov.u32 %r1, %r2;\n" + before +
        with(".shared", "own", 2) + with("", "%shared+32", 3) + R"(
      bar.sync 0;
      @%p1 ld.shared.v2.u64 {%rd1, %rd2}, [%r5];
      mad.lo.u32 %r5, %r3, 4, %r2; mad.wide.u32 %rd3, %r5, 16, %cells;
      @%p1 st.global.v2.u64 [%rd3+64], {%rd1, %rd2};
      ret;
}
)";
    Buffer cells(*device, cellCount * 16), olds(*device, 4 * all * 16);
    for (uint32_t i = 0; i < cellCount; i++) {
      cells.as<uint64_t>()[2 * i] = low;
      cells.as<uint64_t>()[2 * i + 1] = high;
    }
    Launch launch;
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.add(cells.address()).add(olds.address());
    runPtx(text, launch, profile);
    return {{cells.as<uint8_t>(), cells.as<uint8_t>() + cellCount * 16},
            {olds.as<uint64_t>(), olds.as<uint64_t>() + 4 * all * 2}};
  }
};

TEST_F(AtomicPtx, GiveTheSameInAnyOrderInEverySpace) {
  for (const Case& each : cases) {
    std::string name = each.name, type = registerType(name);
    uint32_t bytes = type.ends_with("64") ? 8 : type.ends_with("16") ? 2 : 4;
    for (const TargetProfile& profile : profilesFor(bytes, name.find('f') != std::string::npos)) {
      std::string use =
          "atomSPACE." + name + " %old, [CELL], %x;\nst.global.b" + std::to_string(8 * bytes) + " [OLD], %old;\n";
      std::string reduce = "redSPACE." + name + " [CELL], %x;\n";
      Result result = runCells(profile, ".reg ." + type + " %x, %old;", each.value, use, each.initial, 0, reduce);
      if (HasFatalFailure()) return;
      for (uint32_t cell = 0; cell < cellCount; cell += 2)
        EXPECT_EQ(result.cell(cell, bytes), each.expected(cell < 4 ? all : threads))
            << profile.name << ", " << name << ", cell " << cell;
      // The thread that came first saw the initial value.
      bool sawInitial = false;
      for (uint32_t thread = 0; thread < all; thread++) sawInitial |= result.olds[2 * thread] == each.initial;
      EXPECT_TRUE(sawInitial) << profile.name << ", " << name;
    }
  }
}

// Every value that was put in comes out once, or stays.
TEST_F(AtomicPtx, ExchangeLosesNothing) {
  for (uint32_t bytes : {4u, 8u, 16u}) {
    for (const TargetProfile& profile : profilesFor(bytes, false)) {
      std::string type = "b" + std::to_string(8 * bytes);
      std::string make =
          bytes == 4 ? "add.u32 %x, %r1, 1;" : "add.u32 %r9, %r1, 1; mul.wide.u32 %rd9, %r9, 0x10001001;";
      if (bytes == 8) make += "mov.b64 %x, %rd9;";
      if (bytes == 16) make += "not.b64 %rd8, %rd9; mov.b128 %x, {%rd9, %rd8};";
      std::string use = "atomSPACE.exch." + type + " %old, [CELL], %x;\nst.global." + type + " [OLD], %old;\n";
      Result result = runCells(profile, ".reg ." + type + " %x, %old;", make, use, 0, ~0ull);
      if (HasFatalFailure()) return;
      auto check = [&](uint32_t cell, uint32_t way, uint32_t first, uint32_t count) {
        auto value = [&](uint32_t n) { return bytes == 4 ? uint64_t(n) : uint64_t(n) * 0x10001001; };
        std::vector<uint64_t> expected, seen{result.cell(cell, bytes)};
        for (uint32_t i = 0; i <= count; i++) expected.push_back(value(i));
        for (uint32_t i = first; i < first + count; i++) {
          const uint64_t* old = &result.olds[(way * all + i) * 2];
          seen.push_back(old[0]);
          if (bytes == 16) {
            EXPECT_EQ(old[1], ~old[0]) << "torn, " << profile.name;
          }
        }
        std::ranges::sort(seen);
        std::ranges::sort(expected);
        EXPECT_EQ(seen, expected) << profile.name << ", " << type << ", way " << way;
      };
      check(0, 0, 0, all);
      check(2, 1, 0, all);
      for (uint32_t block = 0; block < blocks; block++) {
        check(4 + 4 * block, 2, block * threads, threads);
        check(6 + 4 * block, 3, block * threads, threads);
      }
    }
  }
}

// Additions by compare and swap, the value first read by a strong load, which must never see half of a change.
TEST_F(AtomicPtx, CompareAndSwapCounts) {
  for (uint32_t bytes : {2u, 4u, 8u, 16u}) {
    for (const TargetProfile& profile : profilesFor(bytes, false)) {
      std::string bits = std::to_string(8 * bytes), type = "b" + bits, use;
      if (bytes < 16) {
        use = "TRYWAY: ld.relaxed.gpuSPACE." + type + " %expected, [CELL];\nadd.u" + bits +
              " %desired, %expected, 1;\natom.relaxed.gpuSPACE.cas." + type +
              " %old, [CELL], %expected, %desired;\nsetp.ne." + type + " %p2, %old, %expected;\n@%p2 bra TRYWAY;\n";
      } else {  // the upper half is the complement of the lower
        use = R"(TRYWAY: ld.relaxed.gpuSPACE.b128 %expected, [CELL];
          mov.b128 {%rd10, %rd11}, %expected;
          not.b64 %rd12, %rd10; setp.ne.u64 %p3, %rd11, %rd12; @%p3 trap;
          add.u64 %rd10, %rd10, 1; not.b64 %rd11, %rd10; mov.b128 %desired, {%rd10, %rd11};
          atom.relaxed.gpuSPACE.cas.b128 %old, [CELL], %expected, %desired;
          mov.b128 {%rd13, %rd14}, %expected; mov.b128 {%rd15, %rd16}, %old;
          setp.ne.u64 %p2, %rd13, %rd15; setp.ne.or.u64 %p2, %rd14, %rd16, %p2;
          @%p2 bra TRYWAY;
)";
      }
      Result result = runCells(profile, ".reg ." + type + " %expected, %desired, %old;", "", use, 0, ~0ull);
      if (HasFatalFailure()) return;
      EXPECT_EQ(error.error, 0u) << "torn, " << profile.name;
      for (uint32_t cell = 0; cell < cellCount; cell += 2)
        EXPECT_EQ(result.cell(cell, bytes), cell < 4 ? all : threads) << profile.name << ", " << type << ", " << cell;
    }
  }
}

TEST_F(AtomicPtx, StrongStoresOfAllBitsAreOneStep) {
  for (const TargetProfile& profile : profilesFor(16, false)) {
    std::string use = R"(
        mov.u32 %r9, 0;
      AGAINWAY:
        mad.lo.u32 %r10, %r9, 4000, %r1; cvt.u64.u32 %rd10, %r10; not.b64 %rd11, %rd10;
        mov.b128 %x, {%rd10, %rd11};
        st.release.gpuSPACE.b128 [CELL], %x;
        ld.acquire.gpuSPACE.b128 %x, [CELL];
        mov.b128 {%rd10, %rd11}, %x;
        not.b64 %rd12, %rd10; setp.ne.u64 %p3, %rd11, %rd12; @%p3 trap;
        add.u32 %r9, %r9, 1; setp.lt.u32 %p4, %r9, 20; @%p4 bra AGAINWAY;
)";
    runCells(profile, ".reg .b128 %x;", "", use, 0, ~0ull);
    if (HasFatalFailure()) return;
    EXPECT_EQ(error.error, 0u) << "torn, " << profile.name;
  }
}

// Only those in device memory flush.
TEST_F(AtomicPtx, SumsOfDenormalsInSharedMemoryAreKept) {
  for (const TargetProfile& profile : profiles()) {
    const std::vector<uint32_t> words = wordsOf(profile, R"(
      cvta.shared.u64 %rd1, cell;
      mov.b32 %f1, 0x00000003;
      st.shared.b32 [cell], %f1; st.global.b32 [%out], %f1;
      setp.eq.u32 %p1, %t, 1;
      selp.b64 %rd1, %out, %rd1, %p1;
      red.add.f32 [%rd1], %f1;
      ld.shared.b32 %r1, [cell];
      @!%p1 st.global.b32 [%out], %r1;)",
                                                1, 1, ".shared .align 4 .b32 cell;");
    if (IsSkipped() || HasFatalFailure()) return;
    EXPECT_EQ(words, std::vector<uint32_t>{6}) << profile.name;
  }
}

TEST_F(AtomicPtx, VectorsAreAddedLaneByLane) {
  for (const TargetProfile& profile : profiles()) {
    Buffer cells(*device, 64);
    std::string text = R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cells)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %h<9>;
  ld.param.u64 %rd1, [cells];
  atom.global.add.v2.f32 {%f1, %f2}, [%rd1], {0f3F800000, 0f40000000};
  red.add.v4.f32 [%rd1+16], {0f3F800000, 0f40000000, 0fBF800000, 0f3F000000};
  mov.u32 %r1, %tid.x; cvt.rn.bf16x2.f32 %r2, 0f3F800000, 0f40000000;
  cvt.rn.f32.u32 %f3, %r1; cvt.rn.bf16x2.f32 %r3, %f3, %f3;
  red.global.max.noftz.v2.bf16x2 [%rd1+32], {%r2, %r3};
  mov.b16 %h1, 0xC000; mov.b16 %h2, 0x3C00;
  atom.global.add.noftz.v4.f16 {%h3, %h4, %h5, %h6}, [%rd1+48], {%h1, %h2, %h2, %h1};
  ret;
}
)";
    Launch launch;
    launch.block[0] = threads;
    launch.add(cells.address());
    runPtx(text, launch, profile);
    const float* floats = cells.as<float>();
    EXPECT_EQ(floats[0], 64.f) << profile.name;
    EXPECT_EQ(floats[1], 128.f) << profile.name;
    EXPECT_EQ(floats[4], 64.f) << profile.name;
    EXPECT_EQ(floats[5], 128.f) << profile.name;
    EXPECT_EQ(floats[6], -64.f) << profile.name;
    EXPECT_EQ(floats[7], 32.f) << profile.name;
    const uint32_t* words = cells.as<uint32_t>();
    EXPECT_EQ(words[8], 0x3F804000u) << profile.name;
    EXPECT_EQ(words[9], 0x427C427Cu) << profile.name;   // 63
    EXPECT_EQ(words[12], 0x5400D800u) << profile.name;  // {-128, 64}
    EXPECT_EQ(words[13], 0xD8005400u) << profile.name;
  }
}

}  // namespace
}  // namespace mulciber::test
