// conformance: records what a GPU gives for every instruction form, and compares a device with such a recording.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>
#include <mutex>
#include <thread>

#include "conformance/suite/compare.h"

namespace mulciber::conformance {
namespace {

struct Options {
  std::string library = "libcuda.so.1", recording, results, known, pattern = "*", command;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency()), every = 1, rows = 6;
  bool verbose = false;
};

std::vector<const Case*> chosen(const std::vector<Case>& cases, const Options& options) {
  std::vector<const Case*> list;
  for (const Case& one : cases)
    if (matches(options.pattern, one.name) && one.key() % options.every == 0) list.push_back(&one);
  return list;
}

// Complete results on disk: too large to keep, for comparing on the machine where they were made.
class ResultsFile {
 public:
  static void append(std::ostream& file, const Case& one, const Outcome& outcome) {
    const uint64_t head[2] = {one.key(), outcome.values.size()};
    file.write(reinterpret_cast<const char*>(head), sizeof(head));
    file.write(reinterpret_cast<const char*>(outcome.values.data()),
               static_cast<std::streamsize>(outcome.values.size() * sizeof(uint64_t)));
  }
  explicit ResultsFile(const std::string& path) : file_(path, std::ios::binary) {
    uint64_t head[2];
    while (file_.read(reinterpret_cast<char*>(head), sizeof(head))) {
      places_[head[0]] = {file_.tellg(), head[1]};
      file_.seekg(static_cast<std::streamoff>(head[1] * sizeof(uint64_t)), std::ios::cur);
    }
    file_.clear();
  }
  std::vector<uint64_t> find(const Case& one) {
    const auto found = places_.find(one.key());
    if (found == places_.end()) return {};
    std::vector<uint64_t> values(found->second.second);
    file_.seekg(found->second.first);
    file_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(uint64_t)));
    return values;
  }

 private:
  std::ifstream file_;
  std::unordered_map<uint64_t, std::pair<std::streampos, uint64_t>> places_;
};

std::unique_ptr<Device> open(const Options& options) {
  std::string error;
  std::unique_ptr<Device> device = Device::open(options.library, error);
  if (!device) std::cerr << "conformance: " << error << '\n';
  return device;
}

int record(const Options& options) {
  const std::unique_ptr<Device> device = open(options);
  if (!device) return 1;
  const std::vector<Case> cases = allCases();
  Recording recording;
  std::array<char, 32> date{};
  const std::time_t now = std::time(nullptr);
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::gmtime(&now));
  recording.description = "device: " + device->name() + "\ndriver: " + device->driver() + "\ndate: " + date.data() +
                          "\ncommand: " + options.command + '\n';
  std::ofstream results;
  if (!options.results.empty()) results.open(options.results, std::ios::binary);
  size_t refused = 0;
  runCases(*device, chosen(cases, options), options.threads, [&](const Case& one, const Outcome& outcome) {
    recording.add(one, outcome, rowsOf(one.inputs));
    if (results.is_open()) ResultsFile::append(results, one, outcome);
    if (outcome.message.empty()) return;
    ++refused;
    if (options.verbose) std::cout << one.name << ": " << outcome.message << '\n';
  });
  std::cout << recording.description << recording.size() << " cases recorded, " << refused << " of them refused\n";
  const std::string error = recording.write(options.recording);
  if (!error.empty()) std::cerr << "conformance: " << error << '\n';
  return error.empty() ? 0 : 1;
}

int compare(const Options& options) {
  Recording recording;
  std::string error = recording.read(options.recording);
  std::vector<KnownDifference> known;
  if (error.empty() && !options.known.empty()) known = readKnownDifferences(options.known, error);
  if (!error.empty()) {
    std::cerr << "conformance: " << error << '\n';
    return 1;
  }
  const std::unique_ptr<Device> device = open(options);
  if (!device) return 1;
  const std::vector<Case> cases = allCases();
  std::optional<ResultsFile> results;
  if (!options.results.empty()) results.emplace(options.results);
  Comparison comparison(recording, std::move(known));
  comparison.setShownRows(options.rows);
  comparison.setDevice(device->name(), device->driver());
  runCases(*device, chosen(cases, options), options.threads, [&](const Case& one, const Outcome& outcome) {
    const std::vector<uint64_t> native = results ? results->find(one) : std::vector<uint64_t>();
    comparison.judge(one, outcome, makeInputs(one.inputs), native.empty() ? nullptr : &native);
    const Judgement* last = comparison.judgements().empty() ? nullptr : &comparison.judgements().back();
    if (!last || last->one != &one || last->verdict == Verdict::Exact || !options.verbose) return;
    static constexpr std::array<const char*, 5> kNames = {"exact", "within bound", "known", "WRONG", "refused"};
    std::cout << kNames[static_cast<size_t>(last->verdict)] << ": " << one.name << ": " << last->detail
              << (last->detail.ends_with('\n') ? "" : "\n");
  });
  std::cout << "device: " << device->name() << ", " << device->driver() << "\nrecorded on:\n"
            << recording.description << comparison.table();
  if (comparison.unrecorded() != 0) std::cout << comparison.unrecorded() << " cases are not in the recording\n";
  for (const KnownDifference& k : comparison.passing())
    std::cout << options.known << ':' << k.line << ": no difference any more: " << k.instruction << '\n';
  return comparison.count(Verdict::Wrong) == 0 && comparison.passing().empty() ? 0 : 1;
}

int list(const Options& options, bool asPtx) {
  const std::vector<Case> cases = allCases();
  const std::vector<const Case*> some = chosen(cases, options);
  if (!asPtx) {
    for (const Case* one : some) std::cout << one->name << '\n';
    std::cerr << some.size() << " cases\n";
    return 0;
  }
  for (const Batch& batch : makeBatches(some, 1u << 20))
    std::cout << kernelText(batch, rowsOf(batch.front()->inputs)) << "// ====\n";
  return 0;
}

}  // namespace
}  // namespace mulciber::conformance

int main(int argc, char** argv) {
  using namespace mulciber::conformance;
  Options options;
  CLI::App app("What a GPU gives for every instruction form of PTX, recorded and compared");
  app.require_subcommand(1);
  auto common = [&](CLI::App* command) {
    command->add_option("--cases", options.pattern, "only cases of this name, * for anything");
    command->add_option("--every", options.every, "only one case in so many")->check(CLI::PositiveNumber);
    command->add_option("--library", options.library, "the CUDA driver to use")->capture_default_str();
    command->add_option("--threads", options.threads, "threads that run cases");
    command->add_option("--results", options.results, "complete results: written by record, read by compare");
    command->add_flag("-v,--verbose", options.verbose, "name every case that is not exact");
    return command;
  };
  CLI::App* recordCommand = common(app.add_subcommand("record", "run the cases natively and write a recording"));
  CLI::App* compareCommand = common(app.add_subcommand("compare", "run the cases and compare with a recording"));
  for (CLI::App* command : {recordCommand, compareCommand})
    command->add_option("RECORDING", options.recording)->required();
  compareCommand->add_option("--rows", options.rows, "differing rows to show of a case")->capture_default_str();
  compareCommand->add_option("--known", options.known, "the list of known differences");
  CLI::App* listCommand = common(app.add_subcommand("list", "name the cases"));
  CLI::App* ptxCommand = common(app.add_subcommand("ptx", "print kernels of the cases"));
  CLI11_PARSE(app, argc, argv);
  for (int i = 0; i < argc; ++i) options.command += std::string(i ? " " : "") + (i ? argv[i] : "conformance");
  if (recordCommand->parsed()) return record(options);
  if (compareCommand->parsed()) return compare(options);
  return list(options, ptxCommand->parsed() && !listCommand->parsed());
}
