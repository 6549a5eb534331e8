// What the interpreter does beyond single instructions: memory, control flow, calls, and its errors.
#include "interpreter/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>

namespace mulciber::interpreter {
namespace {

constexpr uint64_t kOutput = 0x10000;

// A kernel `k` with one parameter, the address of `count` words, that are `words` afterwards.
struct Execution {
  Result result;
  std::vector<uint32_t> words;
};

Execution execute(const std::string& body, size_t count, Launch launch = {}, const std::string& module = "") {
  Execution made;
  Module loaded;
  made.result = loaded.load(".version 9.0\n.target sm_90\n.address_size 64\n" + module +
                            ".visible .entry k(.param .u64 out) {\n.reg .pred %p<9>;\n.reg .b32 %r<9>;\n"
                            ".reg .b64 %rd<9>;\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\n"
                            "mad.wide.u32 %rd1, %r0, 4, %rd0;\n" +
                            body + "ret;\n}\n");
  if (!made.result) return made;
  Memory memory;
  memory.set(kOutput, std::vector<uint8_t>(count * 4));
  launch.kernel = "k";
  launch.arguments.resize(8);
  std::memcpy(launch.arguments.data(), &kOutput, 8);
  made.result = loaded.run(launch, memory);
  made.words.resize(count);
  std::memcpy(made.words.data(), memory.buffer(kOutput).data(), count * 4);
  return made;
}

TEST(Interpreter, CountsInALoop) {
  const Execution made = execute(
      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nagain:\nadd.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, 1;\n"
      "max.u32 %r3, %r1, %r0;\nsub.u32 %r3, %r3, %r1;\nmin.u32 %r3, %r3, 1;\nst.global.u32 [%rd1], %r2;\n"
      "{\n.reg .b32 %r3;\nmov.u32 %r3, 7;\n}\nmov.b64 %rd2, {%r3, %r3};\n"
      "brx.idx %r3, targets;\ntargets: .branchtargets done, again;\ndone:\n",
      4, {.block = {4, 1, 1}});
  EXPECT_TRUE(made.result) << made.result.message;
  EXPECT_EQ(made.words, (std::vector<uint32_t>{0, 0, 1, 3}));
}

}  // namespace
}  // namespace mulciber::interpreter
