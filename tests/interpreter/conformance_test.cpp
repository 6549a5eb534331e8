// Every instruction form that the interpreter runs against the recording of a GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <thread>

#include "conformance/suite/bounds.h"
#include "conformance/suite/compare.h"
#include "interpreter/interpreter.h"
#include "support/test_data.h"

namespace mulciber::interpreter {
namespace {

using conformance::Case;

// Runs the cases' kernels as a driver would.
class InterpreterEngine : public conformance::Engine {
 public:
  std::string launch(const conformance::Batch& batch, const conformance::InputTable& inputs,
                     std::vector<uint64_t>& results) override {
    constexpr uint64_t kInputs = uint64_t(1) << 40, kResults = uint64_t(2) << 40, kMemory = uint64_t(3) << 40;
    Module module;
    if (const Result loaded = module.load(conformance::kernelText(batch, inputs.rows)); !loaded)
      return messageOf(loaded);
    const size_t column = size_t(inputs.rows) * 8;
    std::vector<uint8_t> values(column * std::max<size_t>(inputs.columns.size(), 1));
    for (size_t i = 0; i < inputs.columns.size(); ++i)
      std::memcpy(&values[i * column], inputs.columns[i].data(), column);
    Memory memory;
    memory.set(kInputs, std::move(values));
    memory.set(kResults, std::vector<uint8_t>(column * conformance::columnsOf(batch)));
    memory.set(kMemory, std::vector<uint8_t>(size_t(inputs.rows) * conformance::kThreadBytes));
    Launch launch;
    launch.kernel = "cases";
    launch.grid = {inputs.rows / conformance::kBlockThreads, 1, 1};
    launch.block = {conformance::kBlockThreads, 1, 1};
    launch.arguments.resize(32 + conformance::kExtraBytes);
    for (size_t i = 0; i < 3; ++i) {
      const uint64_t address = std::array{kInputs, kResults, kMemory}[i];
      std::memcpy(&launch.arguments[i * 8], &address, 8);
    }
    const auto extra = conformance::extraBytes();
    std::memcpy(&launch.arguments[32], extra.data(), extra.size());
    if (const Result ran = module.run(launch, memory); !ran) return messageOf(ran);
    const std::span<uint8_t> bytes = memory.buffer(kResults);
    results.resize(bytes.size() / 8);
    std::memcpy(results.data(), bytes.data(), bytes.size());
    return "";
  }

 private:
  static std::string messageOf(const Result& result) {
    return std::string(nameOf(result.status)) + ", line " + std::to_string(result.line) + ": " + result.message;
  }
};

TEST(InterpreterConformance, EqualsTheRecordedGpu) {
  const std::filesystem::path folder = test::dataFolder();
  conformance::Recording recording;
  ASSERT_EQ(recording.read(folder.parent_path() / "conformance" / "h200.rec"), "");
  std::string error;
  auto known = conformance::readKnownDifferences(folder / "known_differences.txt", error);
  ASSERT_EQ(error, "");
  conformance::Comparison comparison(recording, std::move(known));
  comparison.setDevice("interpreter", "");
  const char* wish = std::getenv("MULCIBER_CONFORMANCE");
  const bool complete = wish && std::string(wish) == "complete";
  const std::vector<Case> cases = conformance::allCases();
  InterpreterEngine engine;
  conformance::RunOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  if (complete) options.progress = [](const std::string& line) { std::cerr << line + '\n'; };
  const auto isAlone = [](const Case&) { return false; };
  size_t approximations = 0;
  runCases(engine, conformance::sample(cases, comparison, complete ? 1 : 64), options, isAlone,
           [&](const Case& one, const conformance::Outcome& outcome) {
             const bool isRefused = outcome.message.starts_with(nameOf(Status::Approximate));
             if (isRefused && !conformance::boundOf(one).empty()) ++approximations;
             else comparison.judge(one, outcome, conformance::makeInputs(one.inputs), nullptr);
           });
  std::cout << (complete ? "" : "a sample, MULCIBER_CONFORMANCE=complete runs all; ") << "compared with\n"
            << recording.description << comparison.table() << approximations << " cases are approximations\n";
  for (const conformance::Judgement& judgement : comparison.judgements())
    if (judgement.verdict == conformance::Verdict::Wrong)
      ADD_FAILURE() << judgement.one->name << ": " << judgement.detail;
  for (const conformance::KnownDifference& k : comparison.passing(cases))
    ADD_FAILURE() << "known_differences.txt:" << k.line << ": no difference any more: " << k.form;
}

}  // namespace
}  // namespace mulciber::interpreter
