// Every instruction form against the recording of a GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "conformance/suite/compare.h"
#include "support/test_data.h"

namespace mulciber::conformance {
namespace {

namespace fs = std::filesystem;

// Bit for bit means the exact mode. Set before the driver is loaded.
[[maybe_unused]] const int exactMode = setenv("MULCIBER_EXACT_DENORMALS", "1", 1);

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

// Some of each form, and one in so many of all.
std::vector<const Case*> sample(const Comparison& comparison, unsigned every) {
  std::set<const ptx::Form*> forms;
  std::map<const ptx::Form*, unsigned> known;
  std::vector<const Case*> list;
  for (const Case& one : cases())
    if (forms.insert(one.form).second || one.key() % every == 0 || (comparison.isKnown(one) && known[one.form]++ < 4))
      list.push_back(&one);
  return list;
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
  const std::vector<const Case*> some = sample(comparison, complete ? 1 : 64);
  runCases(*device, some, std::max(1u, std::thread::hardware_concurrency()),
           [&](const Case& one, const Outcome& outcome) {
             comparison.judge(one, outcome, makeInputs(one.inputs), nullptr);
           });

  std::cout << device->name() << ", " << device->driver()
            << (complete ? "" : "; a sample, MULCIBER_CONFORMANCE=complete runs all") << "\ncompared with\n"
            << recording.description << comparison.table();
  for (const Judgement& judgement : comparison.judgements()) {
    if (judgement.verdict == Verdict::Wrong) ADD_FAILURE() << judgement.one->name << ": " << judgement.detail;
    if (judgement.verdict == Verdict::Refused && !comparison.isKnown(*judgement.one))
      ADD_FAILURE() << judgement.one->name << " is refused: " << judgement.detail;
  }
  for (const KnownDifference& k : comparison.passing())
    ADD_FAILURE() << "known_differences.txt:" << k.line << ": no difference any more: " << k.instruction;
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
  one.inputs = {{ptx::Type::B32, Values::Int32}};
  Outcome outcome;
  const unsigned rows = rowsOf(one.inputs);
  for (unsigned i = 0; i < 2 * rows; ++i) outcome.values.push_back(i * 2654435761u);
  Recording written;
  written.description = "device: none\n";
  written.add(one, outcome, rows);
  const fs::path file = fs::temp_directory_path() / ("mulciber-" + std::to_string(getpid()) + ".rec");
  ASSERT_EQ(written.write(file), "");
  Recording read;
  EXPECT_EQ(read.read(file), "");
  EXPECT_EQ(read.description, written.description);
  ASSERT_NE(read.find(one), nullptr);
  EXPECT_EQ(read.find(one)->blockHashes, written.find(one)->blockHashes);
  EXPECT_EQ(read.find(one)->samples, written.find(one)->samples);
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_NE(Recording().read(file), "");
  fs::remove(file);
}

TEST(KnownDifferences, ListedOnesMustDiffer) {
  Case one;
  one.name = "add.u32 %d0, %a0, %a1";
  one.results = {ptx::Type::B32};
  one.inputs = {{ptx::Type::B32, Values::Int32}};
  const InputTable inputs = makeInputs(one.inputs);
  Outcome native, different;
  native.values.assign(inputs.rows, 1);
  different.values = native.values;
  different.values.back() = 2;
  Recording recording;
  recording.add(one, native, inputs.rows);
  const KnownDifference line{"add.*", "GPU", "1.0", "one row", "for the test", 7};

  Comparison listed(recording, {line});
  listed.setDevice("A GPU", "1.0.3");
  listed.judge(one, different, inputs, nullptr);
  EXPECT_EQ(listed.count(Verdict::Known), 1u);
  EXPECT_TRUE(listed.passing().empty());

  Comparison passes(recording, {line});
  passes.setDevice("A GPU", "1.0.3");
  passes.judge(one, native, inputs, nullptr);
  EXPECT_EQ(passes.count(Verdict::Exact), 1u);
  EXPECT_EQ(passes.passing().size(), 1u);

  Comparison elsewhere(recording, {line});
  elsewhere.setDevice("Another", "1.0.3");
  elsewhere.judge(one, different, inputs, nullptr);
  EXPECT_EQ(elsewhere.count(Verdict::Wrong), 1u);
}

}  // namespace
}  // namespace mulciber::conformance
