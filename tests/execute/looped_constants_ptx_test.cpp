// Vectors and double words of a variable and a constant that loops store. Compilers of devices keep them in
// neighbouring registers, and may set the one of the constant in front of the loop.
#include <random>

#include "execute/ptx_test.h"
#include "execute/text.h"

namespace mulciber::test {
namespace {

constexpr uint32_t threads = 64;
constexpr unsigned most = 4;            // words that a thread stores
constexpr uint32_t constant = 0x50000;  // C in the texts

// Stores at %rd2 or %rd5, which is generic; {x} is a variable of 32 bits.
struct Store {
  const char* text;
  std::vector<int> words;  // -1: the variable; else what is stored
};
const Store stores[] = {
    {"st.global.v2.b32 [%rd2], {{x}, C};", {-1, constant}},
    {"st.global.v2.b32 [%rd2], {C, {x}};", {constant, -1}},
    {"st.global.v4.b32 [%rd2], {{x}, C, 0, C};", {-1, constant, 0, constant}},
    {"st.global.v4.b32 [%rd2], {{x}, {x}, C, 7};", {-1, -1, constant, 7}},
    {"st.global.v2.b32 [%rd2], {3, C};", {3, constant}},
    {"mov.b64 %rd6, {{x}, C}; st.global.b64 [%rd2], %rd6;", {-1, constant}},
    {"cvt.u64.u32 %rd6, {x}; or.b64 %rd6, %rd6, 0x5000000000000; st.global.b64 [%rd2], %rd6;", {-1, constant}},
    {"mov.b64 %rd6, {C, {x}}; st.global.v2.b64 [%rd2], {%rd6, 0x5000000000007};", {constant, -1, 7, constant}},
    {"mov.b32 %r9, {%rs1, 5}; st.global.v2.b32 [%rd2], {{x}, C};", {-1, constant}},
    {"st.v2.b32 [%rd5], {{x}, C};", {-1, constant}},
    {"st.shared.v2.b32 [%rd4], {{x}, C}; ld.shared.b64 %rd6, [%rd4]; st.global.b64 [%rd2], %rd6;", {-1, constant}},
    {"mov.b64 %rd6, {{x}, C}; atom.global.exch.b64 %rd7, [%rd2], %rd6;", {-1, constant}},
};

// What {x} is.
struct Variable {
  const char *text, *name;
  std::function<uint32_t(uint32_t lane, uint32_t loaded, uint32_t round)> value;
};
const Variable variables[] = {
    {"", "%r3", [](uint32_t, uint32_t loaded, uint32_t) { return loaded; }},
    {"", "%r1", [](uint32_t lane, uint32_t, uint32_t) { return lane; }},
    {"add.u32 %r8, %r3, %r5;", "%r8", [](uint32_t, uint32_t loaded, uint32_t round) { return loaded + round; }},
};

// Around the stores, with %p1 and %p2 for lanes that are even and a multiple of 3; `rounds` says with which %r5 the
// last store of a lane is made: 0 if it makes none.
struct Shape {
  const char *before, *behind;
  std::function<uint32_t(bool, bool)> rounds;
};
const Shape shapes[] = {
    // A loop that is entered from two places, as a random program had it.
    {"@%p1 bra end; mov.u32 %r5, 4; sub.s32 %r5, %r5, 1; setp.le.s32 %p3, %r5, 0; @%p3 bra end; @!%p2 bra again;"
     "sub.s32 %r5, %r5, 1; setp.le.s32 %p3, %r5, 0; @%p3 bra end;\nagain:\n",
     "sub.s32 %r5, %r5, 1; setp.le.s32 %p3, %r5, 0; @%p3 bra end; @!%p2 bra again;\nend:\n",
     [](bool even, bool third) { return even    ? 0
                                        : third ? 2
                                                : 1; }},
    {"mov.u32 %r5, 3; @!%p2 bra again; mov.u32 %r5, 2;\nagain:\n",
     "sub.s32 %r5, %r5, 1; setp.gt.s32 %p3, %r5, 0; @%p3 bra again;\n", [](bool, bool) { return 1; }},
    {"@%p1 bra end; mov.u32 %r5, 3; @!%p2 bra again; mov.u32 %r5, 2;\nagain:\n",
     "sub.s32 %r5, %r5, 1; setp.le.s32 %p3, %r5, 0; @%p3 bra end; @!%p2 bra again;\nend:\n",
     [](bool even, bool third) { return even    ? 0
                                        : third ? 2
                                                : 1; }},
    {"@%p1 bra end; mov.u32 %r5, 3;\nagain:\n",
     "sub.s32 %r5, %r5, 1; setp.le.s32 %p3, %r5, 0; @%p3 bra end; @!%p2 bra again;\nend:\n",
     [](bool even, bool third) { return even    ? 0
                                        : third ? 3
                                                : 1; }},
    {"mov.u32 %r5, 3;\nagain:\n", "sub.s32 %r5, %r5, 1; setp.gt.s32 %p3, %r5, 0; @%p3 bra again;\n",
     [](bool, bool) { return 1; }},
    {"mov.u32 %r5, 3; @!%p2 bra same; mov.u32 %r5, 2;\nsame: @%p1 bra end;\n", "end:\n",
     [](bool even, bool third) { return even    ? 0
                                        : third ? 2
                                                : 3; }},
};

class LoopedConstantsPtx : public PtxTest {
 protected:
  void expectWords(const TargetProfile& profile) {
    std::mt19937 random(9);
    Buffer in(*device, threads * 4);
    for (uint32_t i = 0; i < threads; ++i) in.as<uint32_t>()[i] = static_cast<uint32_t>(random());
    for (const Shape& shape : shapes)
      for (const Variable& variable : variables)
        for (const Store& store : stores)
          for (const char* behind : {"", "st.global.u64 [%rd8], 0;\n", "st.global.v2.u32 [%rd8], {7, %r1};\n"}) {
            if (isLeftOut(13)) continue;
            const std::string text =
                replaced(replaced(store.text, "{x}", variable.name), "C", std::to_string(constant));
            Buffer out(*device, threads * (most * 4 + 8));
            Launch launch;
            launch.block[0] = threads;
            launch.add(in.address()).add(out.address());
            const std::string body =
                std::string(shape.before) + variable.text + " " + text + "\n" + shape.behind + behind;
            runPtx(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .b16 %rs<3>; .reg .b32 %r<11>; .reg .b64 %rd<10>; .reg .pred %p<4>; .shared .align 16 .b8 s[2048];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u64 %rd8, %rd2; mov.u32 %r1, %tid.x; mov.u64 %rd4, s;
  mad.wide.u32 %rd1, %r1, 4, %rd1; mad.wide.u32 %rd2, %r1, 16, %rd2; mad.wide.u32 %rd4, %r1, 16, %rd4;
  cvta.global.u64 %rd5, %rd2; ld.global.u32 %r3, [%rd1]; cvt.u16.u32 %rs1, %r3;
  mad.wide.u32 %rd8, %r1, 8, %rd8; add.u64 %rd8, %rd8, 1024;
  and.b32 %r6, %r1, 1; setp.eq.u32 %p1, %r6, 0; rem.u32 %r6, %r1, 3; setp.eq.u32 %p2, %r6, 0;
)" + body + "ret;\n}\n",
                   launch, profile);
            for (uint32_t i = 0; i < threads; ++i) {
              const uint32_t round = shape.rounds(i % 2 == 0, i % 3 == 0);
              if (round == 0) continue;
              for (size_t word = 0; word < store.words.size(); ++word) {
                const uint32_t right = store.words[word] < 0 ? variable.value(i, in.as<uint32_t>()[i], round)
                                                             : static_cast<uint32_t>(store.words[word]);
                EXPECT_EQ(out.as<uint32_t>()[i * most + word], right) << "word " << word << " of lane " << i << "\n"
                                                                      << body;
              }
            }
          }
  }
};

TEST_F(LoopedConstantsPtx, AreStoredBesideVariables) { expectWords(device->profile()); }

TEST_F(LoopedConstantsPtx, HiddenOnesAreTheSame) {
  TargetProfile profile = device->profile();
  profile.misplacesLoopedConstants = true;
  expectWords(profile);
}

}  // namespace
}  // namespace mulciber::test
