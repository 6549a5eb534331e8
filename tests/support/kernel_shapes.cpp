#include "support/kernel_shapes.h"

#include <fmt/format.h>

namespace mulciber::test {
namespace {

constexpr std::string_view header = ".version 8.0\n.target sm_80\n.address_size 64\n";

// In the body %rd1 is the address of a thread's word, %r1 the word, and %f1 a number. Threads whose word is zero do
// nothing, so that a kernel can be had without the time it takes to run.
std::string kernel(std::string_view body, std::string_view declarations = "") {
  return fmt::format(
      "{}{}.visible .entry k(.param .u64 array)\n{{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<8>;\n"
      "mov.u32 %r0, %tid.x;\nld.param.u64 %rd1, [array];\nmul.wide.u32 %rd2, %r0, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
      "ld.global.u32 %r1, [%rd1];\ncvt.rn.f32.u32 %f1, %r1;\nsetp.eq.u32 %p3, %r1, 0;\n@%p3 bra DONE;\n{}"
      "DONE:\nst.global.u32 [%rd1], %r1;\nret;\n}}\n",
      header, declarations, body);
}

template <class Part>
std::string repeat(unsigned count, Part part) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += part(i);
  return text;
}

std::string straightLine(unsigned count) {
  return kernel(repeat(count, [](unsigned i) {
    return fmt::format("mad.lo.u32 %r1, %r1, {}, %r0;\nfma.rn.f32 %f1, %f1, %f1, %f1;\nxor.b32 %r1, %r1, {};\n",
                       2 * i + 3, i);
  }));
}

// Sums of products whose factors are chosen between sums.
std::string chosenSums(unsigned count) {
  const auto sum = [](unsigned i) {
    return fmt::format(
        "setp.gt.u32 %p1, %r1, {};\nfma.rn.f32 %f2, %f1, 0f{:08X}, %f2;\n"
        "fma.rn.f32 %f3, %f2, %f1, %f3;\n@%p1 mov.f32 %f1, %f3;\n",
        i, 0x3F000000 + 77 * i);
  };
  return kernel("mov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\n" + repeat(count, sum) +
                "add.rn.f32 %f1, %f1, %f3;\ncvt.rzi.u32.f32 %r1, %f1;\n");
}

std::string diamonds(unsigned count) {
  return kernel(repeat(count, [](unsigned i) {
    return fmt::format(
        "and.b32 %r2, %r1, {};\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra ELSE{};\nadd.u32 %r1, %r1, {};\nbra END{};\n"
        "ELSE{}:\nmul.lo.u32 %r1, %r1, 3;\nEND{}:\n",
        1 << i % 31, i, i, i, i, i);
  }));
}

std::string earlyExits(unsigned count) {
  return kernel(repeat(count, [](unsigned i) {
    return fmt::format("add.u32 %r1, %r1, {};\nsetp.eq.u32 %p1, %r1, {};\n@%p1 bra DONE;\n", i, 77 * i);
  }));
}

std::string function(unsigned number, std::string_view body) {
  return fmt::format(
      ".func (.param .b32 result) f{}(.param .b32 value)\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<8>;\n"
      "ld.param.u32 %r1, [value];\n{}st.param.b32 [result], %r1;\nret;\n}}\n",
      number, body);
}

std::string call(unsigned number) {
  return fmt::format(
      "{{\n.param .b32 in;\n.param .b32 out;\nst.param.b32 [in], %r1;\ncall.uni (out), f{}, (in);\n"
      "ld.param.b32 %r1, [out];\n}}\n",
      number);
}

// Each function calls the next.
std::string callChain(unsigned count) {
  std::string functions;
  for (unsigned i = count; i-- > 0;)
    functions += function(i, fmt::format("mad.lo.u32 %r1, %r1, %r1, {};\n", i) + (i + 1 < count ? call(i + 1) : ""));
  return kernel(call(0), functions);
}

// Each function calls two of its own.
std::string callTree(unsigned count) {
  std::string functions;
  for (unsigned i = count; i-- > 0;) {
    std::string body = fmt::format("mad.lo.u32 %r1, %r1, %r1, {};\n", i);
    for (const unsigned callee : {2 * i + 1, 2 * i + 2})
      if (callee < count) body += call(callee);
    functions += function(i, body);
  }
  return kernel(call(0), functions);
}

// Each function of some size calls the next twice: inlined, there would be twice as many with each.
std::string doublingCalls(unsigned count) {
  std::string functions;
  for (unsigned i = count; i-- > 0;) {
    std::string body = repeat(600, [i](unsigned j) { return fmt::format("mad.lo.u32 %r1, %r1, %r1, {};\n", j + i); });
    functions += function(i, body + (i + 1 < count ? call(i + 1) + call(i + 1) : ""));
  }
  return kernel(call(0), functions);
}

// One in the other.
std::string nestedLoops(unsigned count) {
  const std::string declarations = repeat(count, [](unsigned i) { return fmt::format(".reg .b32 %n{};\n", i); });
  return kernel(
      "{\n" + declarations +
      repeat(count,
             [](unsigned i) { return fmt::format("mov.u32 %n{}, 0;\nLOOP{}:\nadd.u32 %r1, %r1, {};\n", i, i, i); }) +
      repeat(count,
             [count](unsigned k) {
               const unsigned i = count - 1 - k;
               return fmt::format("add.u32 %n{}, %n{}, 1;\nsetp.lt.u32 %p1, %n{}, 2;\n@%p1 bra LOOP{};\n", i, i, i, i);
             }) +
      "}\n");
}

// Loops of four levels, one after the other.
std::string loops(unsigned count) {
  return kernel(repeat(count, [](unsigned i) {
    std::string text;
    for (unsigned level = 0; level < 4; ++level)
      text += fmt::format("mov.u32 %r{}, 0;\nLOOP{}_{}:\nadd.u32 %r1, %r1, {};\n", level + 2, i, level, level);
    for (unsigned level = 4; level-- > 0;)
      text += fmt::format("add.u32 %r{0}, %r{0}, 1;\nsetp.lt.u32 %p1, %r{0}, %r1;\n@%p1 bra LOOP{1}_{2};\n", level + 2,
                          i, level);
    return text;
  }));
}

// One switch with the given number of cases.
std::string switchCases(unsigned count) {
  std::string targets = "targets: .branchtargets ";
  for (unsigned i = 0; i < count; ++i) targets += fmt::format("{}CASE{}", i == 0 ? "" : ", ", i);
  return kernel(fmt::format("rem.u32 %r2, %r1, {};\n{};\nbrx.idx %r2, targets;\n", count, targets) +
                repeat(count, [](unsigned i) {
                  return fmt::format("CASE{}:\nmad.lo.u32 %r1, %r1, {}, %r0;\nbra DONE;\n", i, i + 2);
                }));
}

// A block's threads hand words on to each other.
std::string barriers(unsigned count) {
  return kernel(
      "mov.u32 %r4, words;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r3, %r4;\n" +
          repeat(count,
                 [](unsigned i) {
                   return fmt::format(
                       "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nld.shared.u32 %r2, [%r3+{}];\nadd.u32 %r1, %r1, %r2;\n"
                       "st.global.u32 [%rd1+{}], %r1;\nbar.sync 0;\n",
                       i % 64 * 4, i % 64 * 4);
                 }),
      ".shared .align 4 .b8 words[8192];\n");
}

// Each read and written at an index that only the thread knows.
std::string localArrays(unsigned count) {
  return kernel(
      "{\n" + repeat(count, [](unsigned i) { return fmt::format(".local .align 4 .b8 a{}[16];\n", i); }) +
      "and.b32 %r2, %r1, 3;\nshl.b32 %r2, %r2, 2;\n" +
      repeat(count,
             [](unsigned i) {
               return fmt::format(
                   "mov.u32 %r3, a{};\nadd.u32 %r3, %r3, %r2;\nst.local.u32 [%r3], %r1;\nxor.b32 %r4, %r2, 4;\n"
                   "mov.u32 %r3, a{};\nadd.u32 %r3, %r3, %r4;\nld.local.u32 %r5, [%r3];\nadd.u32 %r1, %r1, %r5;\n",
                   i, i);
             }) +
      "}\n");
}

// Loops with two entries, one after the other.
std::string irreducible(unsigned count) {
  return kernel(repeat(count, [](unsigned i) {
    return fmt::format(
        "setp.gt.u32 %p1, %r1, {0};\n@%p1 bra B{0};\nA{0}:\nadd.u32 %r1, %r1, 5;\nB{0}:\nshr.u32 %r1, %r1, 1;\n"
        "setp.gt.u32 %p1, %r1, 100;\n@%p1 bra A{0};\n",
        i);
  }));
}

// Calls of a function that stores and loads volatile words, in a kernel whose threads also wait for one.
std::string volatileCalls(unsigned count) {
  const std::string body = repeat(16, [](unsigned i) {
    return fmt::format(
        "st.volatile.shared.u32 [words+{}], %v;\nld.volatile.shared.u32 %w, [words+{}];\nadd.u32 %v, %v, %w;\n", 4 * i,
        4 * i + 4);
  });
  return kernel("WAIT:\nld.volatile.shared.u32 %r2, [words];\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra WAIT;\n" +
                    repeat(count,
                           [](unsigned i) {
                             return fmt::format(
                                 "and.b32 %r2, %r1, {};\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra B{};\ncall (%r1), f, "
                                 "(%r1);\nB{}:\n",
                                 1u << i % 20, i, i);
                           }),
                ".shared .align 4 .b8 words[8192];\n.func (.reg .b32 y) f(.reg .b32 x) {\n.reg .b32 %v, %w;\n"
                "mov.u32 %v, x;\n" +
                    body + "mov.u32 y, %v;\nret;\n}\n");
}

// Threads wait for one word again and again.
std::string waits(unsigned count) {
  return kernel(repeat(count,
                       [](unsigned i) {
                         return fmt::format(
                             "WAIT{0}:\nld.volatile.shared.u32 %r2, [word];\nsetp.ne.u32 %p1, %r2, {0};\n"
                             "@%p1 bra WAIT{0};\nst.volatile.shared.u32 [word], {1};\n",
                             i, i + 1);
                       }),
                ".shared .align 4 .b32 word;\n");
}

constexpr KernelShape shapes[] = {
    {"straight line", straightLine, 2000}, {"chosen sums", chosenSums, 1000},     {"diamonds", diamonds, 1000},
    {"early exits", earlyExits, 1000},     {"call chain", callChain, 1000},       {"call tree", callTree, 1000},
    {"doubling calls", doublingCalls, 8},  {"nested loops", nestedLoops, 50},     {"loops", loops, 250},
    {"switch cases", switchCases, 2000},   {"barriers", barriers, 1000},          {"local arrays", localArrays, 1000},
    {"irreducible", irreducible, 500},     {"volatile calls", volatileCalls, 30}, {"waits", waits, 60},
};

}  // namespace

std::span<const KernelShape> kernelShapes() { return shapes; }

}  // namespace mulciber::test
