// Links that fail: the code of each step, and what the error log says.
//
// An H200 gave the codes of missing and repeated names and of inputs of the wrong kind (tests/replay/orders.cpp). What
// nvlink refuses is refused here too; its codes in a driver are not known.
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "api/api_test.h"

namespace mulciber::test {
namespace {

const std::string head = ".version 8.0\n.target sm_70\n.address_size 64\n";
const std::string kernel = ".visible .entry k() { ret; }\n";

struct Input {
  CUjitInputType type;
  std::string content;  // after the PTX header where it begins with a directive that is not .version
};

struct BadLink {
  const char* name;
  std::vector<Input> inputs;
  CUresult added;      // the last input
  CUresult completed;  // the link
  const char* said;
};

Input ptx(const std::string& lines) { return {CU_JIT_INPUT_PTX, lines}; }

class Link : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log_, reinterpret_cast<void*>(sizeof(log_))};
    ASSERT_EQ(cuLinkCreate(2, options, values, &link_), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (link_) {
      EXPECT_EQ(cuLinkDestroy(link_), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }
  CUresult add(const Input& input) {
    std::string content = input.content;
    if (content.starts_with(".") && !content.starts_with(".version")) content = head + content;
    return cuLinkAddData(link_, input.type, content.data(), content.size() + 1, "part", 0, nullptr, nullptr);
  }
  CUresult complete() {
    void* image = nullptr;
    size_t bytes = 0;
    return cuLinkComplete(link_, &image, &bytes);
  }
  bool says(const std::string& words) const { return std::string(log_).find(words) != std::string::npos; }

  CUlinkState link_ = nullptr;
  char log_[4096] = {};
};

class FailingLink : public Link, public ::testing::WithParamInterface<BadLink> {};

TEST_P(FailingLink, HasACodeAndAReason) {
  const BadLink& bad = GetParam();
  CUresult added = CUDA_SUCCESS;
  for (const Input& input : bad.inputs) {
    EXPECT_EQ(added, CUDA_SUCCESS) << "an input before the last one";
    added = add(input);
  }
  EXPECT_EQ(added, bad.added) << log_;
  if (added != CUDA_SUCCESS) {
    EXPECT_TRUE(says(bad.said)) << log_;
  }
  EXPECT_EQ(complete(), bad.completed) << log_;
  EXPECT_TRUE(says(bad.said)) << log_;
}

const std::string called = ".extern .func f(.param .b32 a);\n.visible .entry k() { call f, (1); ret; }\n";
const std::string read = ".visible .entry k() { .reg .b64 %d; mov.u64 %d, g; st.global.u32 [%d], 1; ret; }\n";

INSTANTIATE_TEST_SUITE_P(
    All, FailingLink,
    ::testing::Values(
        // What is missing.
        BadLink{"Function", {ptx(called)}, CUDA_SUCCESS, CUDA_ERROR_INVALID_SOURCE, "undefined reference to 'f'"},
        BadLink{"FunctionAsAValue",
                {ptx(".extern .func f();\n.visible .global .u64 p = f;\n" + kernel)},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "undefined reference to 'f'"},
        BadLink{"Variable",
                {ptx(".extern .global .u32 g;\n" + read)},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "undefined reference to 'g'"},
        BadLink{"VariableUnused",
                {ptx(".extern .global .u32 g;\n" + kernel)},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "undefined reference to 'g'"},
        BadLink{"FunctionAndVariable",
                {ptx(".extern .global .u32 g;\n" + called)},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "undefined reference to 'f'"},
        // What does not fit together.
        BadLink{"FunctionTwice",
                {ptx(".visible .func f() { ret; }\n"), ptx(".visible .func f() { ret; }\n")},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'f' is defined more than once"},
        BadLink{"KernelTwice",
                {ptx(kernel), ptx(kernel)},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'k' is defined more than once"},
        BadLink{"FunctionAndVariableOfOneName",
                {ptx(".visible .func g() { ret; }\n"), ptx(".visible .global .u32 g;\n")},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'g' is a variable here and a function in another module"},
        BadLink{"MoreParameters",
                {ptx(called), ptx(".visible .func f(.param .b32 a, .param .b32 b) { ret; }\n")},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'f' is not declared here as in another module"},
        BadLink{"KernelThatIsCalled",
                {ptx(".extern .func k();\n.visible .entry m() { call k; ret; }\n"), ptx(kernel)},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'k' is not declared here as in another module"},
        BadLink{"VariableOfAnotherSize",
                {ptx(".extern .global .u32 g;\n" + read), ptx(".visible .global .u64 g;\n")},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'g' is not declared here as in another module"},
        BadLink{"VariableInAnotherSpace",
                {ptx(".extern .global .u32 g;\n" + read), ptx(".visible .const .u32 g = 1;\n")},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'g' is not declared here as in another module"},
        BadLink{"CommonVariableLargerThanItsValue",
                {ptx(".common .global .u64 g;\n"), ptx(".visible .global .u32 g = 1;\n")},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "'g' is not declared here as in another module"},
        BadLink{"AddressesOfTwoSizes",
                {ptx(kernel), ptx(".version 7.0\n.target sm_70\n.address_size 32\n")},
                CUDA_SUCCESS,
                CUDA_ERROR_INVALID_SOURCE,
                "this module has 32-bit addresses"},
        // Inputs that are wrong by themselves; the link continues without them, but for some.
        BadLink{"Syntax", {ptx(".entry k() { ret }\n")}, CUDA_ERROR_INVALID_PTX, CUDA_SUCCESS, "expected an operand"},
        BadLink{"Instruction",
                {ptx(".entry k() { frobnicate.u32; }\n")},
                CUDA_ERROR_INVALID_PTX,
                CUDA_SUCCESS,
                "unknown instruction 'frobnicate'"},
        BadLink{"Target",
                {ptx(".version 8.0\n.target sm_999\n")},
                CUDA_ERROR_INVALID_PTX,
                CUDA_SUCCESS,
                "'sm_999' is not one of the targets"},
        BadLink{"NoText", {ptx("frobnicate")}, CUDA_ERROR_INVALID_IMAGE, CUDA_SUCCESS, ""},
        BadLink{"TextAsMachineCode",
                {{CU_JIT_INPUT_CUBIN, kernel}},
                CUDA_ERROR_INVALID_IMAGE,
                CUDA_ERROR_INVALID_IMAGE,
                ""},
        BadLink{"TextAsAnObject", {{CU_JIT_INPUT_OBJECT, kernel}}, CUDA_ERROR_UNKNOWN, CUDA_SUCCESS, ""},
        BadLink{
            "NoObject", {{CU_JIT_INPUT_OBJECT, "frobnicate"}}, CUDA_ERROR_INVALID_IMAGE, CUDA_SUCCESS, "neither PTX"},
        BadLink{"NoFatBinary",
                {{CU_JIT_INPUT_FATBINARY, "frobnicate"}},
                CUDA_ERROR_INVALID_IMAGE,
                CUDA_SUCCESS,
                "neither PTX"},
        BadLink{"CodeOfTheCompiler",
                {{CU_JIT_INPUT_NVVM, kernel}},
                CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
                CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
                ""}),
    [](const auto& test) { return std::string(test.param.name); });

// As an H200 answered the same links without a log (tests/replay).
TEST_F(Link, WithoutALogOnlyMissingFunctionsAreAWrongSource) {
  const auto codeOf = [](const std::string& body) {
    CUlinkState link = nullptr;
    EXPECT_EQ(cuLinkCreate(0, nullptr, nullptr, &link), CUDA_SUCCESS);
    std::string text = head + body;
    EXPECT_EQ(cuLinkAddData(link, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "part", 0, nullptr, nullptr),
              CUDA_SUCCESS);
    void* image = nullptr;
    size_t bytes = 0;
    const CUresult result = cuLinkComplete(link, &image, &bytes);
    EXPECT_EQ(cuLinkDestroy(link), CUDA_SUCCESS);
    return result;
  };
  EXPECT_EQ(codeOf(called), CUDA_ERROR_INVALID_SOURCE);
  EXPECT_EQ(codeOf(".extern .global .u32 g;\n" + read), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(codeOf(kernel), CUDA_SUCCESS);
}

// What stands in a file is checked as what stands in memory is: when it is added.
TEST_F(Link, FilesAreAddedAsMemoryIs) {
  const std::string path = ::testing::TempDir() + "link_test_" + std::to_string(getpid()) + ".ptx";
  const auto addFile = [&](CUjitInputType type, const std::string& content) {
    std::ofstream(path) << content;
    const CUresult result = cuLinkAddFile(link_, type, path.c_str(), 0, nullptr, nullptr);
    std::remove(path.c_str());
    return result;
  };
  EXPECT_EQ(addFile(CU_JIT_INPUT_PTX, head + ".entry k() { frobnicate.u32; }\n"), CUDA_ERROR_INVALID_PTX);
  EXPECT_TRUE(says("unknown instruction 'frobnicate'")) << log_;
  EXPECT_TRUE(says(path)) << log_;
  EXPECT_EQ(addFile(CU_JIT_INPUT_OBJECT, head + kernel), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(addFile(CU_JIT_INPUT_PTX, ""), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(addFile(CU_JIT_INPUT_PTX, head + called), CUDA_SUCCESS);
  EXPECT_EQ(addFile(CU_JIT_INPUT_FATBINARY, head + ".visible .func f(.param .b32 a) { ret; }\n"), CUDA_SUCCESS);
  EXPECT_EQ(cuLinkAddFile(link_, CU_JIT_INPUT_PTX, "/no/such/file", 0, nullptr, nullptr), CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT_TRUE(says("/no/such/file: No such file")) << log_;
  EXPECT_EQ(complete(), CUDA_SUCCESS) << log_;
}

}  // namespace
}  // namespace mulciber::test
