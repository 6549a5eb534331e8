// Addresses that are made of variables, registers and constants in many steps: each has to lead to its word. The random
// ones go through every space and leave it on the way. MULCIBER_FUZZ_COUNT sets how many kernels of them there are,
// MULCIBER_FUZZ_SEED the first seed.
#include <array>
#include <cstdlib>
#include <random>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 32, wordCount = 64;

enum class Space : uint8_t { Shared, Local, Global, Const, Param };
constexpr std::array spaceNames{"shared", "local", "global", "const", "param"};

// What word `index` of a space holds; local memory differs by thread.
uint32_t wordOf(Space space, uint32_t index, uint32_t thread) {
  return (static_cast<uint32_t>(space) + 1) << 24 | index << 8 | (space == Space::Local ? thread : 0);
}

std::string listOf(Space space) {
  std::string list;
  for (uint32_t i = 0; i < wordCount; ++i) list += (i ? ", " : "") + std::to_string(wordOf(space, i, 0));
  return " = {" + list + "};\n";
}

// The variables of all spaces; the words of shared and local memory, which the kernel writes first. %rd0 is where the
// thread's results go, %t its number.
std::string kernel(const std::string& body) {
  std::string text =
      ".version 8.7\n.target sm_90\n.address_size 64\n"
      ".global .align 16 .u32 in_global[64]" +
      listOf(Space::Global) + ".const .align 16 .u32 in_const[64]" + listOf(Space::Const) +
      ".visible .entry k(.param .u64 out, .param .u64 numbers, .param .align 16 .b8 in_param[256])\n{\n"
      ".shared .align 16 .u32 in_shared[64]; .local .align 16 .u32 in_local[64]; .reg .pred %p<4>; .reg .b16 %rs<20>;"
      ".reg .b32 %r<20>, %t; .reg .b64 %rd<20>;\n"
      "mov.u32 %t, %tid.x; ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %t, 64, %rd0; ld.param.u64 %rd9, [numbers];\n"
      "mov.u32 %r0, 0; mov.u32 %r1, in_local; mov.u32 %r2, in_shared;\nFILL:\n"
      "shl.b32 %r3, %r0, 8; or.b32 %r4, %r3, 0x1000000; or.b32 %r3, %r3, 0x2000000; or.b32 %r3, %r3, %t;\n"
      "st.local.u32 [%r1], %r3; st.shared.u32 [%r2], %r4; add.u32 %r1, %r1, 4; add.u32 %r2, %r2, 4;\n"
      "add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 64; @%p0 bra FILL; bar.sync 0;\n";
  return text + body + "ret;\n}\n";
}

// One pointer that starts at some place and ends at word `target` + thread, written as PTX. %rd1 holds it.
class Walk {
 public:
  Walk(std::mt19937_64& random, std::vector<uint64_t>& numbers) : random_(random), numbers_(numbers) {}

  std::string text;
  Space space{};
  uint32_t target = 0;

  void generate(unsigned result) {
    space = static_cast<Space>(pick(5));
    target = pick(wordCount - threads);
    const std::string name = std::string("in_") + spaceNames[static_cast<size_t>(space)];
    left_ = target * 4;
    text = "mov.u64 %rd1, " + name + "; ";
    if (space != Space::Global || pick(2))
      line(std::string("cvta.") + spaceNames[static_cast<size_t>(space)] + ".u64 %rd1, %rd1");
    const unsigned threadStep = pick(4);
    for (unsigned step = 0; step < 4; ++step) {
      if (step == threadStep) line("mad.wide.u32 %rd1, %t, 4, %rd1");
      this->step();
    }
    const int64_t last = pick(2) ? static_cast<int32_t>(random_()) : static_cast<int64_t>(pick(64)) * 4 - 128;
    add(left_ - static_cast<uint64_t>(last));
    line("ld.u32 %r1, [%rd1+" + std::to_string(last) + "]");
    line("st.global.u32 [%rd0+" + std::to_string(result * 4) + "], %r1");
  }

 private:
  uint32_t pick(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  void line(const std::string& instruction) { text += instruction + ";\n"; }

  // A distance: near, beyond the beginning, beyond 32 bits, or any.
  uint64_t distance() {
    constexpr std::array<unsigned, 5> bits{8, 16, 33, 48, 64};
    const unsigned shift = 64 - bits[pick(5)];
    return static_cast<uint64_t>(static_cast<int64_t>(random_()) >> shift);
  }

  void add(uint64_t number) {
    line("add.s64 %rd1, %rd1, " + std::to_string(static_cast<int64_t>(number)));
    left_ -= number;
  }

  // A register with a number that only memory knows.
  void loadNumber(const char* type, const char* destination, uint64_t number) {
    line(std::string("ld.global.") + type + " " + destination + ", [%rd9+" + std::to_string(numbers_.size() * 8) + "]");
    numbers_.push_back(number);
  }

  void step() {
    const uint64_t number = distance();
    switch (pick(16)) {
      case 0:
      case 1:
      case 2: return add(number);
      case 3:
        line("sub.s64 %rd1, %rd1, " + std::to_string(static_cast<int64_t>(number)));
        left_ += number;
        return;
      case 4:
        loadNumber("u64", "%rd2", number);
        line(pick(2) ? "add.s64 %rd1, %rd1, %rd2" : "add.s64 %rd1, %rd2, %rd1");
        left_ -= number;
        return;
      case 5: {  // an index
        const auto index = static_cast<int32_t>(pick(2000)) - 1000;
        const uint32_t size = 4 + pick(60);
        loadNumber("u32", "%r1", static_cast<uint32_t>(index));
        line("mad.wide.s32 %rd1, %r1, " + std::to_string(size) + ", %rd1");
        left_ -= static_cast<uint64_t>(int64_t{index} * size);
        return;
      }
      case 6: return line("mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd1, {%r1, %r2}");
      case 7:
        return line(
            "cvt.u32.u64 %r1, %rd1; shr.u64 %rd2, %rd1, 32; cvt.u32.u64 %r2, %rd2; cvt.u64.u32 %rd3, %r1; "
            "cvt.u64.u32 %rd2, %r2; shl.b64 %rd2, %rd2, 32; or.b64 %rd1, %rd2, %rd3");
      case 8: {  // its bytes, from the top
        line("mov.u64 %rd2, 0");
        for (int shift = 56; shift >= 0; shift -= 8)
          line("shr.u64 %rd3, %rd1, " + std::to_string(shift) +
               "; and.b64 %rd3, %rd3, 255; shl.b64 %rd2, %rd2, 8; or.b64 %rd2, %rd2, %rd3");
        return line("mov.u64 %rd1, %rd2");
      }
      case 9: {
        const std::string mask = std::to_string(random_());
        return line("xor.b64 %rd1, %rd1, " + mask + "; xor.b64 %rd1, %rd1, " + mask);
      }
      case 10: {  // one of two pointers
        const bool isFirst = pick(2);
        loadNumber("u32", "%r1", isFirst);
        return line(std::string("setp.ne.u32 %p1, %r1, 0; mov.u64 %rd2, in_") + (pick(2) ? "shared" : "local") +
                    "; cvta.shared.u64 %rd2, %rd2; selp.b64 %rd1, " + (isFirst ? "%rd1, %rd2" : "%rd2, %rd1") +
                    ", %p1");
      }
      case 11: return line("st.global.u64 [%rd0+56], %rd1; ld.global.u64 %rd1, [%rd0+56]");
      case 12: {  // step by step
        const uint32_t steps = 1 + pick(5);
        const std::string label = "WALK" + std::to_string(numbers_.size());
        loadNumber("u32", "%r1", steps);
        line(label + ": add.s64 %rd1, %rd1, " + std::to_string(static_cast<int64_t>(number)) +
             "; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra " + label);
        left_ -= number * steps;
        return;
      }
      case 13: return line("neg.s64 %rd1, %rd1; neg.s64 %rd1, %rd1; not.b64 %rd1, %rd1; not.b64 %rd1, %rd1");
      case 14:
        return line(
            "and.b64 %rd2, %rd1, 4095; shr.u64 %rd1, %rd1, 12; shl.b64 %rd1, %rd1, 12; or.b64 %rd1, "
            "%rd1, %rd2");
      default: {  // a sum whose first part is no address
        loadNumber("u32", "%r1", pick(1u << 20));
        const uint64_t known = numbers_.back();
        line("cvt.u64.u32 %rd2, %r1; add.s64 %rd2, %rd2, " + std::to_string(static_cast<int64_t>(number)) +
             "; add.s64 %rd1, %rd2, %rd1");
        left_ -= number + known;
        return;
      }
    }
  }

  std::mt19937_64& random_;
  std::vector<uint64_t>& numbers_;
  uint64_t left_ = 0;  // from the pointer to its target, but for the thread
};

uint64_t numberFrom(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

class AddressesPtx : public PtxTest {
 protected:
  // The results of `threads` threads, 16 words each.
  std::vector<uint32_t> results(const std::string& body, const std::vector<uint64_t>& numbers = {}) {
    Buffer out(*device, threads * 64), table(*device, numbers.size() * 8 + 8);
    std::ranges::copy(numbers, table.as<uint64_t>());
    Launch launch;
    launch.block[0] = threads;
    launch.add(out.address()).add(table.address());
    for (uint32_t i = 0; i < wordCount; ++i) launch.add(wordOf(Space::Param, i, 0));
    runPtx(kernel(body), launch, device->profile());
    return {out.as<uint32_t>(), out.as<uint32_t>() + threads * 16};
  }
};

TEST_F(AddressesPtx, RandomGenericPointersLeadToTheirWords) {
  constexpr unsigned walks = 12;
  const uint64_t first = numberFrom("MULCIBER_FUZZ_SEED", 1), count = numberFrom("MULCIBER_FUZZ_COUNT", 12);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<uint64_t> numbers;
    std::vector<Walk> made;
    std::string body;
    for (unsigned i = 0; i < walks; ++i) {
      made.emplace_back(random, numbers).generate(i);
      body += made.back().text;
    }
    const std::vector<uint32_t> found = results(body, numbers);
    for (uint32_t thread = 0; thread < threads; ++thread)
      for (unsigned i = 0; i < walks; ++i)
        ASSERT_EQ(found[thread * 16 + i], wordOf(made[i].space, made[i].target + thread, thread))
            << "thread " << thread << "\n"
            << made[i].text;
  }
}

// The last word of shared memory from its end, through a generic pointer.
TEST_F(AddressesPtx, AConstantBelowTheWindow) {
  const auto found = results(R"(
    mov.u64 %rd1, in_shared; cvta.shared.u64 %rd1, %rd1; mov.u32 %r1, %ntid.x; mul.wide.u32 %rd2, %r1, 8;
    add.s64 %rd1, %rd1, %rd2; ld.u32 %r1, [%rd1+-4]; st.global.u32 [%rd0], %r1;
  )");
  EXPECT_EQ(found[0], wordOf(Space::Shared, 63, 0));
}

// 32-bit addresses wrap, however the sum is divided.
TEST_F(AddressesPtx, SharedAndLocalAddressesWrapAt32Bits) {
  std::string body;
  std::vector<uint64_t> numbers;
  const std::array<int64_t, 7> offsets{8, -8, 0x7FFFFFF0, -0x80000000ll, 0x40000000, -0x40000000, 0x1000000};
  for (const char* space : {"shared", "local"}) {
    for (int64_t offset : offsets) {
      const std::string base = std::string("in_") + space;
      body += "ld.global.u32 %r1, [%rd9+" + std::to_string(numbers.size() * 8) + "]; mov.u32 %r2, " + base +
              "; add.u32 %r1, %r1, %r2; shl.b32 %r3, %t, 2; add.u32 %r1, %r1, %r3; ld." + space + ".u32 %r1, [%r1+" +
              std::to_string(offset) + "]; st.global.u32 [%rd0+" + std::to_string(numbers.size() * 4) + "], %r1;\n";
      numbers.push_back(static_cast<uint32_t>(-offset) + 12);
    }
  }
  const auto found = results(body, numbers);
  for (uint32_t thread = 0; thread < threads; ++thread)
    for (uint32_t i = 0; i < numbers.size(); ++i)
      ASSERT_EQ(found[thread * 16 + i], wordOf(i < offsets.size() ? Space::Shared : Space::Local, 3 + thread, thread))
          << "thread " << thread << ", place " << i;
}

// Parameters that fit into push constants and those that do not, up to the most that PTX allows: by number, and through
// registers with constants on both sides.
TEST_F(AddressesPtx, ParametersOfEverySize) {
  for (uint32_t bytes : {96u, 200u, 240u, 4088u, 4092u, 4096u, 4097u, 8000u, 20000u, 32752u, 32756u}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes");
    const uint32_t last = bytes / 4 - 1;
    const std::string text =
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .align 4 .b8 p[" +
        std::to_string(bytes) +
        "])\n{\n.reg .b32 %r<9>, %t; .reg .b64 %rd<9>;\n"
        "mov.u32 %t, %tid.x; ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %t, 64, %rd0; mov.b64 %rd1, p;\n"
        "mad.lo.u32 %r0, %t, " +
        std::to_string(last / threads) +
        ", 1; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd2, %rd2, %rd1;\n"
        "ld.param.u32 %r1, [p+" +
        std::to_string(last * 4) +
        "]; st.global.u32 [%rd0], %r1;\n"
        "ld.param.u32 %r1, [%rd2]; st.global.u32 [%rd0+4], %r1;\n"
        "ld.param.u32 %r1, [%rd2+-4]; st.global.u32 [%rd0+8], %r1;\n"
        "add.u64 %rd3, %rd2, 65536; ld.param.u8 %r1, [%rd3+-65535]; st.global.u32 [%rd0+12], %r1;\n"
        "cvta.param.u64 %rd3, %rd2; ld.u32 %r1, [%rd3+-4]; st.global.u32 [%rd0+16], %r1;\n"
        "sub.u64 %rd3, %rd1, 4; mul.wide.u32 %rd4, %r0, 4; add.u64 %rd3, %rd3, %rd4; ld.param.u32 %r1, [%rd3+4];\n"
        "st.global.u32 [%rd0+20], %r1; ret;\n}\n";
    Buffer out(*device, threads * 64);
    Launch launch;
    launch.block[0] = threads;
    launch.add(out.address());
    std::vector<uint32_t> words(bytes / 4 + 1);
    for (uint32_t i = 0; i < words.size(); ++i) words[i] = i * 2654435761u + 12345;
    const auto* data = reinterpret_cast<const uint8_t*>(words.data());
    launch.parameters.insert(launch.parameters.end(), data, data + bytes);
    runPtx(text, launch, device->profile());
    for (uint32_t t = 0; t < threads; ++t) {
      const uint32_t i = t * (last / threads) + 1;
      const uint32_t* found = out.as<uint32_t>() + t * 16;
      EXPECT_EQ(
          std::vector<uint32_t>(found, found + 6),
          (std::vector<uint32_t>{words[last], words[i], words[i - 1], words[i] >> 8 & 255, words[i - 1], words[i]}))
          << "thread " << t;
    }
  }
}

// variable[register + n] counts elements; ptxas computes the distance in 32 bits.
TEST_F(AddressesPtx, IndexedVariables) {
  const auto found = results(R"(
    .reg .s16 %s; .reg .u16 %u;
    ld.global.u32 %r1, in_global[%t]; st.global.u32 [%rd0], %r1;
    ld.const.u32 %r1, in_const[%t+5]; st.global.u32 [%rd0+4], %r1;
    ld.shared.u32 %r1, in_shared[%t+30]; st.global.u32 [%rd0+8], %r1;
    cvt.u64.u32 %rd1, %t; or.b64 %rd1, %rd1, 0x500000000; add.u64 %rd1, %rd1, 2;
    ld.local.u32 %r1, in_local[%rd1+-2]; st.global.u32 [%rd0+12], %r1;
    ld.global.u32 %r1, in_global[7]; st.global.u32 [%rd0+16], %r1;
    ld.global.u32 %r1, in_global[0x40000003]; st.global.u32 [%rd0+20], %r1;
    mov.u64 %rd1, in_global[%t+1]; ld.global.u32 %r1, [%rd1+4]; st.global.u32 [%rd0+24], %r1;
    cvta.shared.u64 %rd1, in_shared[%t+9]; ld.u32 %r1, [%rd1]; st.global.u32 [%rd0+28], %r1;
    cvt.u16.u32 %u, %t; ld.global.u32 %r1, in_global[%u+1]; st.global.u32 [%rd0+32], %r1;
    cvt.s16.u32 %s, %t; neg.s16 %s, %s; ld.shared.u32 %r1, in_shared[%s+40]; st.global.u32 [%rd0+36], %r1;
    ld.global.u8 %r1, in_global[%t]; st.global.u32 [%rd0+40], %r1;
    add.u32 %r2, %t, %t; ld.shared.v2.u32 {%r3, %r1}, in_shared[%r2]; st.global.u32 [%rd0+44], %r1;
    ld.param.u8 %r1, in_param[%t]; st.global.u32 [%rd0+48], %r1;
    st.local.u32 in_local[%t+3], %t; ld.local.u32 %r1, in_local[%t+3]; st.global.u32 [%rd0+52], %r1;
    mov.u32 %r2, 0xFFFFFFFE; ld.local.u32 %r1, in_local[%r2+12]; st.global.u32 [%rd0+56], %r1;
  )");
  for (uint32_t t = 0; t < threads; ++t) {
    const std::vector<uint32_t> expected{wordOf(Space::Global, t, t),
                                         wordOf(Space::Const, t + 5, t),
                                         wordOf(Space::Shared, t + 30, t),
                                         wordOf(Space::Local, t, t),
                                         wordOf(Space::Global, 7, t),
                                         wordOf(Space::Global, 3, t),
                                         wordOf(Space::Global, t + 2, t),
                                         wordOf(Space::Shared, t + 9, t),
                                         wordOf(Space::Global, t + 1, t),
                                         wordOf(Space::Shared, 40 - t, t),
                                         0,
                                         wordOf(Space::Shared, 2 * t + 1, t),
                                         wordOf(Space::Param, t / 4, t) >> (t % 4 * 8) & 255,
                                         t,
                                         t + 3 == 10 ? t : wordOf(Space::Local, 10, t)};
    EXPECT_EQ(std::vector<uint32_t>(found.begin() + t * 16, found.begin() + t * 16 + 15), expected) << "thread " << t;
  }
}

// Lavapipe's compiler takes what push constants hold at a thread's own place for the same in all threads once an
// address is made of it. Few parameters: many come in a buffer anyway.
TEST_F(AddressesPtx, AddressesMadeOfParametersAtAPlaceOfTheThreads) {
  const std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 table[16] = {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115};
.visible .entry k(.param .u64 out, .param .align 16 .b8 numbers[64]) {
  .reg .b32 %r<5>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %d1, %r1, 4, %d1; ld.global.u32 %r2, [%d1];
  mov.b64 %d3, numbers; mad.wide.u32 %d3, %r2, 4, %d3; ld.param.b32 %r3, [%d3];
  mov.u64 %d4, table; mad.wide.u32 %d4, %r3, 4, %d4; ld.global.u32 %r4, [%d4];
  st.global.u32 [%d1], %r4; ret;
})";
  Buffer out(*device, threads * 4);
  for (uint32_t t = 0; t < threads; ++t) out.as<uint32_t>()[t] = t * 7 % 16;
  Launch launch;
  launch.block[0] = threads;
  launch.add(out.address()).add(uint64_t{0});
  for (uint32_t i = 0; i < 16; i += 2) launch.add(uint64_t{(i * 5 + 3) % 16} | uint64_t{((i + 1) * 5 + 3) % 16} << 32);
  runPtx(text, launch, device->profile());
  for (uint32_t t = 0; t < threads; ++t)
    EXPECT_EQ(out.as<uint32_t>()[t], 100 + (t * 7 % 16 * 5 + 3) % 16) << "thread " << t;
}

// A register and a number as one operand: their sum in the register's width.
TEST_F(AddressesPtx, RegistersPlusNumbers) {
  const auto found = results(R"(
    mov.u32 %r1, 0xFFFFFFFE; mov.u64 %rd1, 0xFFFFFFFE; mov.u16 %rs1, 65535;
    mov.u32 %r2, %r1+3; st.global.u32 [%rd0], %r2;
    add.u32 %r2, %t+1, %t; st.global.u32 [%rd0+4], %r2;
    st.global.u32 [%rd0+8], %t+-3;
    add.u64 %rd2, %rd1+4294967299, 1; st.global.v2.u32 [%rd0+16], {%r0, %r0}; st.global.u64 [%rd0+16], %rd2;
    cvt.u32.u16 %r2, %rs1+2; st.global.u32 [%rd0+24], %r2;
    cvt.u64.u32 %rd2, %r1+3; st.global.u64 [%rd0+32], %rd2;
    setp.eq.u32 %p1, %t+5, 9; selp.u32 %r2, %t+7, 3, %p1; st.global.u32 [%rd0+40], %r2;
  )");
  for (uint32_t t = 0; t < threads; ++t) {
    const uint32_t* words = found.data() + t * 16;
    EXPECT_EQ(words[0], 1u);
    EXPECT_EQ(words[1], 2 * t + 1);
    EXPECT_EQ(words[2], t - 3);
    EXPECT_EQ(words[4], 2u);
    EXPECT_EQ(words[5], 2u);
    EXPECT_EQ(words[6], 1u);
    EXPECT_EQ(words[8], 1u);
    EXPECT_EQ(words[9], 0u);
    EXPECT_EQ(words[10], t == 4 ? 11u : 3u);
  }
}

}  // namespace
}  // namespace mulciber::test
