// Every instruction form against the recording of a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <thread>

#include "conformance/suite/bounds.h"
#include "conformance/suite/compare.h"
#include "conformance/suite/device.h"
#include "support/test_data.h"

namespace mulciber::conformance {
namespace {

namespace fs = std::filesystem;

fs::path driverLibrary() { return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "lib/libcuda.so.1"; }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = allCases();
  return all;
}

Recording h200() {
  Recording recording;
  EXPECT_EQ(recording.read(test::dataFolder() / "h200.rec"), "");
  return recording;
}

TEST(Conformance, EqualsTheRecordedGpu) {
  std::string error;
  const std::unique_ptr<Device> device = Device::open(driverLibrary(), error);
  if (!device) GTEST_SKIP() << "skipped: no device: " << error;
  const Recording recording = h200();
  std::vector<KnownDifference> known = readKnownDifferences(test::dataFolder() / "known_differences.txt", error);
  ASSERT_EQ(error, "");
  Comparison comparison(recording, std::move(known));
  comparison.setDevice(device->name(), device->driver());

  const char* wish = std::getenv("MULCIBER_CONFORMANCE");
  const bool isSlow = device->name().find("llvmpipe") != std::string::npos;
  const bool complete = wish ? std::string(wish) == "complete" : !isSlow;
  const std::vector<const Case*> some = sample(cases(), comparison, complete ? 1 : 64);
  RunOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  if (complete) options.progress = [](const std::string& line) { std::cerr << line + '\n'; };
  const auto isAlone = [&](const Case& one) {
    const KnownDifference* listed = comparison.find(one);
    return listed && listed->bound == "refused";
  };
  runCases(*device, some, options, isAlone, [&](const Case& one, const Outcome& outcome) {
    comparison.judge(one, outcome, makeInputs(one.inputs), nullptr);
  });

  std::cout << device->name() << ", " << device->driver()
            << (complete ? "" : "; a sample, MULCIBER_CONFORMANCE=complete runs all") << "\ncompared with\n"
            << recording.description << comparison.table();
  for (const Judgement& judgement : comparison.judgements())
    if (judgement.verdict == Verdict::Wrong) ADD_FAILURE() << judgement.one->name << ": " << judgement.detail;
  for (const KnownDifference& k : comparison.passing(cases()))
    ADD_FAILURE() << "known_differences.txt:" << k.line << ": no difference any more: " << k.form;
}

TEST(Cases, AllAreRecorded) {
  const Recording recording = h200();
  size_t missing = 0;
  for (const Case& one : cases()) missing += recording.find(one) == nullptr;
  EXPECT_EQ(missing, 0u) << "cases have changed: record them again, see docs/conformance.md";
}

TEST(Cases, InputsHaveWhatMatters) {
  const std::vector<uint64_t> floats = specialValues(Values::F32);
  for (uint64_t bits : {0x00000000u, 0x80000000u, 0x00000001u, 0x007FFFFFu, 0x00800000u, 0x7F7FFFFFu, 0x7F800000u,
                        0xFF800000u, 0x7F800001u, 0x7FC00000u, 0x7FFFFFFFu, 0x4F000000u, 0x4EFFFFFFu, 0x5F800000u})
    EXPECT_TRUE(std::find(floats.begin(), floats.end(), bits) != floats.end()) << std::hex << bits;
  const InputTable halves = makeInputs({{ptx::Type::B16, Values::F16}});
  EXPECT_EQ(std::set<uint64_t>(halves.columns[0].begin(), halves.columns[0].end()).size(), 65536u);
  const InputTable once = makeInputs({{ptx::Type::F32, Values::F32}, {ptx::Type::F32, Values::F32}});
  const InputTable again = makeInputs({{ptx::Type::F32, Values::F32}, {ptx::Type::F32, Values::F32}});
  EXPECT_EQ(once.columns, again.columns);
}

TEST(Recordings, AreReadAsWritten) {
  Case one;
  one.name = "add";
  one.results = {ptx::Type::B32, ptx::Type::Pred};
  one.formats = {Values::Int32, Values::Bit};
  one.inputs = {{ptx::Type::B32, Values::Int32}};
  Outcome outcome;
  const InputTable inputs = makeInputs(one.inputs);
  const unsigned rows = inputs.rows;
  for (unsigned i = 0; i < 2 * rows; ++i) outcome.values.push_back(i * 2654435761u);
  Recording written;
  written.description = "device: none\n";
  written.add(one, outcome, inputs);
  const fs::path file = fs::temp_directory_path() / ("mulciber-" + std::to_string(getpid()) + ".rec");
  ASSERT_EQ(written.write(file), "");
  Recording read;
  EXPECT_EQ(read.read(file), "");
  EXPECT_EQ(read.description, written.description);
  ASSERT_NE(read.find(one), nullptr);
  EXPECT_EQ(read.find(one)->blockHashes, written.find(one)->blockHashes);
  EXPECT_EQ(read.find(one)->samples, written.find(one)->samples);
  EXPECT_EQ(read.find(one)->essence, written.find(one)->essence);
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_NE(Recording().read(file), "");
  fs::remove(file);
}

TEST(Bounds, HoldOnTheRecordedGpu) {
  const Recording recording = h200();
  unsigned approximations = 0;
  for (const Case& one : cases()) {
    const RecordedCase* recorded = recording.find(one);
    if (boundOf(one).empty() || !recorded || recorded->isRefused) continue;
    ++approximations;
    const InputTable inputs = makeInputs(one.inputs);
    std::vector<unsigned> rows;
    for (unsigned i = 0; i < kSampleRows; ++i) rows.push_back(sampleRow(i, inputs.rows));
    EXPECT_EQ(beyondBound(one, inputs, recorded->samples, rows), "") << one.name;
  }
  EXPECT_GT(approximations, 100u);
}

TEST(Bounds, KnowWhatIsTooFarOff) {
  auto judge = [](const char* name, uint64_t argument, uint64_t result) {
    Case one;
    one.name = std::string(name) + " %d0, %a0";
    one.inputs = {{ptx::Type::F32, Values::F32}};
    return beyondBound(one, {1, {{argument}}}, {result}) == "";
  };
  EXPECT_TRUE(judge("rcp.approx.f32", 0x40400000, 0x3EAAAAAA));
  EXPECT_FALSE(judge("rcp.approx.f32", 0x40400000, 0x3EAAAAA8));
  EXPECT_TRUE(judge("rcp.approx.ftz.f32", 0x00000001, 0x7F800000));
  EXPECT_FALSE(judge("rcp.approx.f32", 0x80000000, 0x7F800000));
  EXPECT_FALSE(judge("rcp.approx.ftz.f32", 0x7F000000, 0x00200000));  // a denormal result
  EXPECT_TRUE(judge("rcp.approx.ftz.f32", 0x7F000000, 0x00000000));
  EXPECT_TRUE(judge("rsqrt.approx.f32", 0xBF800000, 0x7FFFFFFF));
  EXPECT_FALSE(judge("rsqrt.approx.f32", 0xBF800000, 0x3F800000));
  EXPECT_TRUE(judge("lg2.approx.f32", 0x3F800000, 0x34000000));  // 2^-23 for 0
  EXPECT_FALSE(judge("lg2.approx.f32", 0x3F800000, 0x35000000));
  EXPECT_TRUE(judge("lg2.approx.f32", 0x00000001, 0xC3150000));
  EXPECT_FALSE(judge("lg2.approx.f32", 0x00000001, 0xC2FE0000));
  EXPECT_TRUE(judge("ex2.approx.f32", 0x44000000, 0x7F800000));
  EXPECT_FALSE(judge("ex2.approx.f32", 0x44000000, 0x7F7FFFFF));
  EXPECT_TRUE(judge("tanh.approx.f32", 0x00000001, 0x00000001));
  EXPECT_FALSE(judge("tanh.approx.f32", 0x00000001, 0x33000000));
  EXPECT_FALSE(judge("ex2.approx.f16", 0x5019, 0x7BFF));
  EXPECT_FALSE(judge("sin.approx.f32", 0x7F800000, 0x00000000));
  EXPECT_FALSE(judge("add.f32", 0, 0));  // not approximate
}

class KnownDifferences : public testing::Test {
 protected:
  KnownDifferences() : inputs(makeInputs({{ptx::Type::F32, Values::F32}})) {
    one.name = "sqrt.f32 %d0, %a0";
    one.results = {ptx::Type::F32};
    one.formats = {Values::F32};
    one.inputs = {{ptx::Type::F32, Values::F32}};
    native.values.assign(inputs.rows, 0x3F800000);
    native.values[5] = 0x7FFFFFFF;
    recording.add(one, native, inputs);
  }
  Verdict judge(const KnownDifference& line, size_t row, uint64_t value) {
    Outcome different = native;
    different.values[row] = value;
    Comparison comparison(recording, {line});
    comparison.setDevice("A GPU", "1.0.3");
    comparison.judge(one, different, inputs, nullptr);
    isPassing = !comparison.passing({one}).empty();
    return comparison.judgements().front().verdict;
  }

  Case one;
  InputTable inputs;
  Outcome native;
  Recording recording;
  bool isPassing = false;
};

TEST_F(KnownDifferences, ListedOnesMustDiffer) {
  const KnownDifference line{"sqrt.f32", "GPU", "1.0", "1 units", "for the test", 7};
  EXPECT_EQ(judge(line, 0, 0x3F800001), Verdict::Known);
  EXPECT_FALSE(isPassing);
  EXPECT_EQ(judge(line, 0, 0x3F800000), Verdict::Exact);
  EXPECT_TRUE(isPassing);
  EXPECT_EQ(judge({"sqrt.f32", "Another", "1.0", "1 units", "for the test", 7}, 0, 0x3F800001), Verdict::Wrong);
  EXPECT_EQ(judge({"sqrt.ftz.f32", "GPU", "1.0", "1 units", "for the test", 7}, 0, 0x3F800001), Verdict::Wrong);
}

TEST_F(KnownDifferences, MayNotBeLargerThanListed) {
  EXPECT_EQ(judge({"sqrt.f32", "*", "*", "1 units", "for the test", 7}, 0, 0x3F800002), Verdict::Wrong);
  const KnownDifference nan{"sqrt.f32", "*", "*", "NaN bits", "for the test", 7};
  EXPECT_EQ(judge(nan, 5, 0xFFC00000), Verdict::Known);
  EXPECT_EQ(judge(nan, 5, 0x7F800000), Verdict::Wrong);
}

}  // namespace
}  // namespace mulciber::conformance
