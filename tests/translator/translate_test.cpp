// From PTX text to SPIR-V through the public interface.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mulciber/translator.h"
#include "translator/spirv/validation.h"

namespace mulciber {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* saxpy = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<5>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r1, %r2;
  @%p1 bra $done;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd5, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f4;
$done:
  ret;
}
)";

struct Translated {
  std::optional<Kernel> kernel;
  std::string messages;
};

Translated translateText(std::string_view text, std::string_view kernel, const TargetProfile& profile,
                         TranslateOptions options = {}) {
  Diagnostics diagnostics;
  Translated result;
  options.validate = true;
  if (auto module = parseModule(text, "k.ptx", diagnostics))
    result.kernel = translate(*module, kernel, profile, options, diagnostics);
  result.messages = diagnostics.toString();
  return result;
}

TEST(Translate, GivesValidSpirvForEveryBuiltinProfile) {
  for (const char* name : {"vulkan1.3", "lavapipe", "nvidia"}) {
    Translated result = translateText(saxpy, "saxpy", *builtinProfile(name));
    ASSERT_TRUE(result.kernel) << result.messages;
    EXPECT_EQ(spirv::validate(result.kernel->spirv), "");
  }
}

TEST(Translate, DescribesTheKernel) {
  Translated result = translateText(saxpy, "saxpy", *builtinProfile("nvidia"));
  ASSERT_TRUE(result.kernel) << result.messages;
  const KernelInfo& info = result.kernel->info;
  EXPECT_EQ(info.name, "saxpy");
  EXPECT_EQ(info.parameterBytes, 24u);
  ASSERT_EQ(info.parameters.size(), 4u);
  EXPECT_EQ(info.parameters[2].offset, 16u);
  EXPECT_EQ(info.parameters[3].offset, 20u);
  EXPECT_FALSE(info.parametersInBuffer);
  EXPECT_FALSE(info.usesPrintf);
  EXPECT_FALSE(info.usesWarpOperations);
  EXPECT_EQ(info.staticSharedBytes, 0u);
}

TEST(Translate, CountsSharedMemoryAsPtxasDoes) {
  const auto counted = [](const std::string& declarations) {
    const Translated result = translateText(".version 8.0\n.target sm_90\n.address_size 64\n" + declarations + R"(
.visible .entry k() { .reg .b32 %r1; mov.u32 %r1, cells; st.shared.u32 [%r1], %r1; ret; })",
                                            "k", *builtinProfile("nvidia"));
    return result.kernel ? result.kernel->info.staticSharedBytes : 0;
  };
  const std::string cells = ".shared .align 4 .b8 cells[40];";
  EXPECT_EQ(counted(cells), 40u);
  EXPECT_EQ(counted(cells + ".extern .shared .align 4 .b8 more[];"), 48u);
  EXPECT_EQ(counted(cells + ".extern .shared .align 128 .b8 more[];"), 128u);
}

// The validator that Mulciber builds with does not know them.
TEST(Translate, DoesNotValidateMatricesOfBrainFloats) {
  TranslateOptions options;
  options.validate = true;
  Translated translated = translateText(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .f32 %f<4>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%out];
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%out];
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
    {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%f0, %f1, %f2, %f3};
  st.global.v4.f32 [%out], {%f0, %f1, %f2, %f3};
  ret;
}
)",
                                        "k", *builtinProfile("nvidia"), options);
  ASSERT_TRUE(translated.kernel) << translated.messages;
  EXPECT_TRUE(translated.kernel->info.usesMatrixUnits);
}

// The quotient of a constant whose reciprocal is denormal, which hardware flushes and NVIDIA's compiler does not.
TEST(Translate, DividesByHugeConstantsAsHardwareDoes) {
  Translated translated = translateText(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .f32 %f<2>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  ld.global.f32 %f0, [%out];
  div.approx.f32 %f1, %f0, 0fFF7FFFFF;
  st.global.f32 [%out], %f1;
  ret;
}
)",
                                        "k", *builtinProfile("nvidia"));
  ASSERT_TRUE(translated.kernel) << translated.messages;
  EXPECT_EQ(spirv::disassemble(translated.kernel->spirv).find("OpFDiv"), std::string::npos);
}

TEST(Translate, GivesMultiplyAddsAsDotProductsWhereThatIsAskedFor) {
  const auto textOf = [](const char* flush) {
    return fmt::format(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .f32 %f<4>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  ld.global.v2.f32 {{%f0, %f1}}, [%out];
  mul.rn{0}.f32 %f2, %f0, 0f40400000;
  fma.rn{0}.f32 %f3, %f2, %f1, %f0;
  st.global.f32 [%out], %f3;
  ret;
}}
)",
                       flush);
  };
  const auto countOf = [](std::string_view word, const Translated& translated) {
    const std::string text = spirv::disassemble(translated.kernel->spirv);
    size_t count = 0;
    for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++count;
    return count;
  };
  TargetProfile target = *builtinProfile("nvidia");
  target.exactDot32 = true;
  TranslateOptions options;
  options.dotProducts = true;
  const Translated dots = translateText(textOf(""), "k", target, options);
  ASSERT_TRUE(dots.kernel) << dots.messages;
  EXPECT_TRUE(dots.kernel->info.usesDotProducts);
  EXPECT_EQ(countOf(" OpDot ", dots), 2u);
  EXPECT_EQ(countOf(" OpFMul ", dots) + countOf(" Fma ", dots), 0u);
  EXPECT_EQ(spirv::validate(dots.kernel->spirv), "");

  const Translated repaired = translateText(textOf(""), "k", target),
                   flushed = translateText(textOf(".ftz"), "k", target, options);
  for (const Translated* other : {&repaired, &flushed}) {
    ASSERT_TRUE(other->kernel) << other->messages;
    EXPECT_FALSE(other->kernel->info.usesDotProducts);
    EXPECT_EQ(countOf(" OpDot ", *other), 0u);
    EXPECT_GE(countOf(" Fma ", *other), 1u);
  }
}

// A warp of less than 32 threads has no cooperative matrices.
TEST(Translate, KeepsMatrixUnitsToWholeWarps) {
  constexpr std::string_view text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<2>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %r0;
  mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r1}, {%r0}, {%r1}, {%r0, %r1};
  st.global.v2.u32 [%out], {%r0, %r1};
  ret;
}
)";
  Translated whole = translateText(text, "k", *builtinProfile("nvidia"));
  ASSERT_TRUE(whole.kernel) << whole.messages;
  EXPECT_TRUE(whole.kernel->info.usesMatrixUnits);
  EXPECT_EQ(spirv::validate(whole.kernel->spirv), "");
  TranslateOptions options;
  options.partialWarps = true;
  Translated partial = translateText(text, "k", *builtinProfile("nvidia"), options);
  ASSERT_TRUE(partial.kernel) << partial.messages;
  EXPECT_FALSE(partial.kernel->info.usesMatrixUnits);
}

// Not where shared memory lies in device memory, of which there are no such loads.
TEST(Translate, LoadsRowsOfMatricesFromSharedMemoryAlone) {
  auto countOfLoads = [](uint32_t sharedBytes, bool sharedInScratch) {
    const std::string text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b8 rows[)" +
                             std::to_string(sharedBytes) +
                             R"(];
  .reg .b32 %r<6>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  mov.u32 %r4, %tid.x;
  mov.u32 %r5, rows;
  mad.lo.u32 %r5, %r4, 16, %r5;
  st.shared.v4.b32 [%r5], {%r4, %r4, %r4, %r4};
  bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r0, %r1, %r2, %r3}, [%r5 + 16];
  st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%r5];
  st.global.v2.b32 [%out + 16], {%r0, %r1};
  ret;
}
)";
    TargetProfile profile = *builtinProfile("nvidia");
    profile.loadsMatrixRows = true;
    TranslateOptions options;
    options.validate = true;
    options.sharedInScratch = sharedInScratch;
    Translated translated = translateText(text, "k", profile, options);
    EXPECT_TRUE(translated.kernel) << translated.messages;
    const std::string code = translated.kernel ? spirv::disassemble(translated.kernel->spirv) : "";
    int found = 0;
    for (size_t at = 0; (at = code.find("OpCooperativeMatrixLoadKHR", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(countOfLoads(2048, false), 2);
  EXPECT_EQ(countOfLoads(2048, true), 0);
  EXPECT_EQ(countOfLoads(65536, false), 0);
}

// A component of a matrix of halves brings two bytes at once. Validators know no such cast.
TEST(Translate, CastsMatricesOfHalvesToBytesWhereTheDeviceDoes) {
  constexpr std::string_view text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<10>;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%out];
  ld.global.v2.b32 {%r4, %r5}, [%out];
  ld.global.v4.b32 {%r6, %r7, %r8, %r9}, [%out];
  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
    {%r6, %r7, %r8, %r9}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7, %r8, %r9};
  st.global.v4.b32 [%out], {%r6, %r7, %r8, %r9};
  ret;
}
)";
  TargetProfile profile = *builtinProfile("nvidia");
  TranslateOptions options;
  options.validate = true;
  auto count = [&](std::string_view op) {
    Translated translated = translateText(text, "k", profile, options);
    EXPECT_TRUE(translated.kernel) << translated.messages;
    const std::string code = translated.kernel ? spirv::disassemble(translated.kernel->spirv) : "";
    int found = 0;
    for (size_t at = 0; (at = code.find(op, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const int bytes = count("OpUConvert"), insertions = count("OpCompositeInsert"), casts = count("OpBitcast");
  EXPECT_EQ(bytes, 24);
  profile.castsMatrices = true;
  EXPECT_EQ(count("OpUConvert"), 0);
  EXPECT_EQ(count("OpCompositeInsert"), insertions - 12);
  EXPECT_EQ(count("OpBitcast"), casts + 6 + 2);  // words to halves, and matrices
}

TEST(Translate, SameInputGivesSameBytes) {
  Translated first = translateText(saxpy, "saxpy", *builtinProfile("nvidia"));
  Translated second = translateText(saxpy, "saxpy", *builtinProfile("nvidia"));
  ASSERT_TRUE(first.kernel && second.kernel);
  EXPECT_EQ(first.kernel->spirv, second.kernel->spirv);
}

// What stands around a sample asks nothing of denormals: else kernels that keep them would compute each flush, and
// those that flush would have to keep them.
TEST(Translate, SamplesLeaveTheChoiceOfDenormalsToTheKernel) {
  for (const std::string sum : {"add.f32", "add.ftz.f32"})
    for (const std::string read : {"tex.3d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %x, %x, %x}]",
                                   "tex.a2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%i, %x, %x, %x}]",
                                   "tex.2d.v4.f32.f32 {%r0, %r1, %r2, %r3}, [%h, {%x, %x}]"}) {
      const std::string text =
          ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 h, .param "
          ".u64 out) {\n.reg .b64 %h, %o; .reg .f32 %x, %r<4>; .reg .b32 %i;\nld.param.u64 %h, [h]; "
          "ld.param.u64 %o, [out]; mov.u32 %i, %tid.x; ld.global.f32 %x, [%o];\n" +
          read + ";\n" + sum + " %r0, %r0, %x; st.global.f32 [%o], %r0; ret; }\n";
      std::string ending;
      TranslateOptions options;
      options.dumpUser = &ending;
      options.dump = [](void* user, std::string_view stage, std::string_view dumped) {
        if (stage == "dce") *static_cast<std::string*>(user) = dumped;
      };
      const Translated translated = translateText(text, "k", *builtinProfile("nvidia"), options);
      ASSERT_TRUE(translated.kernel) << translated.messages;
      EXPECT_EQ(ending.find("const i32 0x80000000"), std::string::npos) << "flushes: " << ending;
    }
}

TEST(Translate, DumpsEveryStage) {
  std::vector<std::string> stages;
  TranslateOptions options;
  options.dumpUser = &stages;
  options.dump = [](void* user, std::string_view stage, std::string_view text) {
    EXPECT_FALSE(text.empty()) << stage;
    static_cast<std::vector<std::string>*>(user)->emplace_back(stage);
  };
  translateText(saxpy, "saxpy", *builtinProfile("nvidia"), options);
  EXPECT_THAT(stages, testing::IsSupersetOf({"ptx", "ir", "structurize", "ssa", "spirv"}));
  EXPECT_EQ(stages.back(), "spirv");
}

// How many products and sums of a module become one operation.
size_t fusedIn(const ParsedModule& module) {
  std::string text;
  TranslateOptions options;
  options.dumpUser = &text;
  options.dump = [](void* user, std::string_view stage, std::string_view dumped) {
    if (stage == "contraction") *static_cast<std::string*>(user) = dumped;
  };
  Diagnostics diagnostics;
  size_t count = 0;
  for (const std::string& kernel : kernelNames(module)) {
    EXPECT_TRUE(translate(module, kernel, *builtinProfile("nvidia"), options, diagnostics)) << diagnostics.toString();
    for (size_t at = text.find(" fma "); at != std::string::npos; at = text.find(" fma ", at + 1)) ++count;
  }
  return count;
}

// As ptxas of CUDA 13.0 does with these options.
TEST(Translate, OptionsOfTheAssemblerSayWhetherProductsAndSumsAreRoundedOnce) {
  constexpr const char* text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry NAME(.param .u64 p)
{
  .reg .b64 %rd1;
  .reg .f32 %f<5>;
  ld.param.u64 %rd1, [p];
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
  mul.f32 %f1, %f1, %f2;
  add.f32 %f1, %f1, %f3;
  st.global.f32 [%rd1], %f1;
  ret;
}
)";
  auto named = [&](const char* name) { return std::string(text).replace(std::string(text).find("NAME"), 4, name); };
  Diagnostics diagnostics;
  const std::pair<const char*, size_t> expected[] = {{"", 1},
                                                     {" --fmad true ", 1},
                                                     {" --fmad false ", 0},
                                                     {"-fmad=false", 0},
                                                     {"-v -fmad false -O3", 0},
                                                     {"--fmad false --fmad true", 1},
                                                     {"-O1 -v", 1},
                                                     {"-O0", 0},
                                                     {"-O0 -O2", 1},
                                                     {"-O=0", 0},
                                                     {"--opt-level 0", 0},
                                                     {"--opt-level=1", 1},
                                                     {"-g --dont-merge-basicblocks --return-at-end", 0},
                                                     {"--generate-line-info", 1}};
  for (const auto& [options, count] : expected)
    EXPECT_EQ(fusedIn(*parseModule(named("k"), "k.ptx", diagnostics, options)), count) << options;

  // Each part of a program keeps its own, also as text.
  const ModulePtr fused = parseModule(named("fused"), "a.ptx", diagnostics),
                  separate = parseModule(named("separate"), "b.ptx", diagnostics, "--fmad false"),
                  linked = linkModules({fused.get(), separate.get()}, diagnostics);
  EXPECT_EQ(fusedIn(*linked), 1u);
  EXPECT_EQ(fusedIn(*parseModule(printModule(*linked), "linked.ptx", diagnostics)), 1u);
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.toString();
}

// The compiler of a device that flushes does not where it computes with constants.
TEST(Translate, DenormalConstantsOfFlushingOperationsAreZeros) {
  constexpr const char* text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd1;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  mov.f32 %f2, 0f00000001;
  mul.ftz.f32 %f1, %f1, %f2;
  add.rz.ftz.f32 %f1, %f1, 0f00000001;
  st.global.f32 [%rd1], %f1;
  ret;
}
)";
  const Translated result = translateText(text, "k", *builtinProfile("nvidia"));
  ASSERT_TRUE(result.kernel) << result.messages;
  EXPECT_THAT(spirv::disassemble(result.kernel->spirv), Not(HasSubstr("0x1p-149")));
}

// A word behind a kernel's own shared memory says whether any number in it is small. Dynamic shared memory is there.
TEST(Translate, LeavesDynamicSharedMemoryToTheKernel) {
  const auto looksWhereItStores = [](const std::string& declaration, const std::string& address) {
    const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n" + declaration + R"(
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd1;
  .reg .b32 %r1;
  .reg .f32 %f<6>;
  ld.param.u64 %rd1, [p];
  ld.global.f32 %f1, [%rd1];
  )" + address + R"(
  st.shared.f32 [%r1], %f1;
  ld.shared.v4.f32 {%f2, %f3, %f4, %f5}, [%r1];
  fma.rn.f32 %f1, %f2, %f3, %f4;
  fma.rn.f32 %f1, %f1, %f5, %f2;
  st.global.f32 [%rd1], %f1;
  ret;
}
)";
    const Translated result = translateText(text, "k", *builtinProfile("nvidia"));
    EXPECT_TRUE(result.kernel) << result.messages;
    // The word is written, and a barrier comes, before the kernel begins.
    return result.kernel && spirv::disassemble(result.kernel->spirv).find("OpControlBarrier") != std::string::npos;
  };
  EXPECT_TRUE(looksWhereItStores(".shared .align 16 .b8 words[64];", "mov.u32 %r1, words;"));
  const std::string dynamic = ".extern .shared .align 16 .b8 words[];";
  EXPECT_FALSE(looksWhereItStores(dynamic, "mov.u32 %r1, words;"));
  EXPECT_FALSE(looksWhereItStores(dynamic, "mov.u32 %r1, words; add.u32 %r1, %r1, 16;"));
  EXPECT_FALSE(looksWhereItStores(dynamic + "\n.shared .align 16 .b8 own[64];",
                                  "mov.u32 %r1, words; st.shared.f32 [own], %f1;"));
  EXPECT_FALSE(looksWhereItStores("", "mov.u32 %r1, 1024;"));
}

TEST(Translate, RefusesAnUnknownKernelByName) {
  Translated result = translateText(saxpy, "daxpy", *builtinProfile("nvidia"));
  EXPECT_FALSE(result.kernel);
  EXPECT_THAT(result.messages, HasSubstr("the module has no kernel 'daxpy'"));
}

TEST(Translate, RefusesWhatTheDeviceLacksByKernelLineAndReason) {
  constexpr const char* text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .f64 %fd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.f64 %fd1, [%rd1];
  add.f64 %fd1, %fd1, %fd1;
  st.global.f64 [%rd1], %fd1;
  ret;
}
)";
  Translated result = translateText(text, "k", *builtinProfile("vulkan1.3"));
  EXPECT_FALSE(result.kernel);
  EXPECT_THAT(result.messages, HasSubstr("k.ptx:9"));
  EXPECT_THAT(result.messages, HasSubstr("kernel 'k' cannot be translated: the device has no 64-bit floats"));
}

TEST(Translate, ListsKernelsAndPrintsTheModule) {
  Diagnostics diagnostics;
  auto module = parseModule(saxpy, "k.ptx", diagnostics);
  ASSERT_TRUE(module) << diagnostics.toString();
  EXPECT_THAT(kernelNames(*module), testing::ElementsAre("saxpy"));
  EXPECT_EQ(targetArchitecture(*module), 90u);
  EXPECT_THAT(printModule(*module), HasSubstr("fma.rn.f32"));
}

// The kernel k as it is where it runs in rounds, if it does.
std::string roundsOf(const std::string& text, const char* profile) {
  std::string rounds;
  TranslateOptions options;
  options.dumpUser = &rounds;
  options.dump = [](void* user, std::string_view stage, std::string_view ir) {
    if (stage == "block_rounds") *static_cast<std::string*>(user) = ir;
  };
  const Translated result = translateText(text, "k", *builtinProfile(profile), options);
  EXPECT_TRUE(result.kernel) << result.messages;
  return rounds;
}

TEST(Translate, AReturnBeforeABarrierRunsInRoundsWhereDevicesWaitForExitedThreads) {
  auto stages = [](const char* index, const char* barrier, const char* profile) {
    std::string text = std::string(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .pred %p;
  .reg .b32 %r<3>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, )") + index +
                       ";\n  setp.ge.u32 %p, %r2, %r1;\n  @%p ret;\n  " + barrier +
                       "\n  st.global.u32 [%rd], %r2;\n  ret;\n}\n";
    return roundsOf(text, profile);
  };
  EXPECT_THAT(stages("%tid.x", "bar.sync 0;", "vulkan1.3"), HasSubstr("meeting"));
  for (const char* profile : {"nvidia", "lavapipe"})
    EXPECT_THAT(stages("%tid.x", "bar.sync 0;", profile), Not(HasSubstr("meeting"))) << profile;
  EXPECT_THAT(stages("%tid.x", "", "vulkan1.3"), Not(HasSubstr("meeting")));
  EXPECT_THAT(stages("%ctaid.x", "bar.sync 0;", "vulkan1.3"), Not(HasSubstr("meeting")));
}

// Each side of a branch among lanes prints in a loop: neither waits for what the other adds to printf's buffer. Rounds
// of single threads made one kernel 20 times as large.
TEST(Translate, LanesThatPrintDoNotWaitForEachOther) {
  const std::string print = R"(
  mov.u64 %rd, format;
  cvta.global.u64 %rd, %rd;
  { .param .b64 a; .param .b64 b; .param .b32 r;
    st.param.b64 [a], %rd; st.param.b64 [b], 0; call (r), vprintf, (a, b); }
)";
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.global .align 1 .b8 format[3] = {104, 105, 0};
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.visible .entry k(.param .u64 out)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd, %out;
  ld.param.u64 %out, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, 0;
  and.b32 %r2, %r1, 1;
  setp.ne.u32 %p, %r2, 0;
  @%p bra ODD;
EVEN:)" + print + R"(
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, %r1;
  @%p bra EVEN;
  bra DONE;
ODD:)" + print + R"(
  add.u32 %r3, %r3, 2;
  setp.lt.u32 %p, %r3, %r1;
  @%p bra ODD;
DONE:
  shfl.sync.bfly.b32 %r1, %r3, 1, 31, -1;
  st.global.u32 [%out], %r1;
  ret;
}
)";
  for (const char* profile : {"nvidia", "lavapipe"}) {
    const std::string rounds = roundsOf(text, profile);
    EXPECT_THAT(rounds, Not(HasSubstr("meeting"))) << profile;
  }
}

constexpr const char* withLines = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "saxpy.cu"
.file 2 "inline.h"
.visible .entry k(.param .u64 p)
{
  .reg .b64 %rd<3>;
  .reg .f64 %fd<2>;
  .reg .b32 %r<4>;
  .loc 1 12 5
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  .loc 2 7 1, function_name $L__info_string0, inlined_at 1 12 5
  add.u32 %r2, %r1, 5;
  .loc 1 13 3
  st.global.u32 [%rd1], %r2;
  add.f64 %fd1, %fd1, %fd1;
  st.global.f64 [%rd1], %fd1;
  ret;
}
.section .debug_str
{
$L__info_string0:
.b8 102,0
}
)";

TEST(Translate, DebugInformationNamesLinesAndRegisters) {
  TranslateOptions options;
  options.debugInfo = true;
  Translated with = translateText(withLines, "k", *builtinProfile("nvidia"), options);
  ASSERT_TRUE(with.kernel) << with.messages;
  std::string text = spirv::disassemble(with.kernel->spirv);
  for (const char* expected :
       {"OpString \"saxpy.cu\"", "OpString \"inline.h\"", " 12 5", " 7 1", " 13 3", "\"%r1\"", "\"%r2\""})
    EXPECT_THAT(text, HasSubstr(expected));
  Translated without = translateText(withLines, "k", *builtinProfile("nvidia"));
  ASSERT_TRUE(without.kernel) << without.messages;
  EXPECT_THAT(spirv::disassemble(without.kernel->spirv), Not(HasSubstr("OpLine")));
}

TEST(Translate, RefusalsNameTheLineOfTheCudaSource) {
  Translated result = translateText(withLines, "k", *builtinProfile("vulkan1.3"));
  EXPECT_FALSE(result.kernel);
  EXPECT_THAT(result.messages, HasSubstr("(saxpy.cu:13)"));
}

TEST(Translate, ALoopUntilABarriersReductionIsFalseEndsForTheWholeBlock) {
  constexpr const char* text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  mov.u32 %r1, %tid.x;
again:
  sub.u32 %r1, %r1, 1;
  setp.gt.s32 %p1, %r1, 0;
  bar.red.or.pred %p2, 0, %p1;
  @%p2 bra again;
  st.global.u32 [%rd], %r1;
  ret;
}
)";
  Translated result = translateText(text, "k", *builtinProfile("vulkan1.3"));
  EXPECT_TRUE(result.kernel) << result.messages;
}

}  // namespace
}  // namespace mulciber
