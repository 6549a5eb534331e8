// conformance: records what a GPU gives for every instruction form, and compares a device with such a recording.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>

#include "conformance/suite/compare.h"
#include "conformance/suite/device.h"

namespace mulciber::conformance {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string library = "libcuda.so.1", recording, results, known, forms, unlisted, verdicts, pattern = "*", command;
  std::vector<std::string> merged;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency()), processes = 1, every = 1, rows = 6, seconds = 0;
  RunOptions run;
  bool verbose = false, isQuiet = false;
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

RunOptions runOptions(const Options& options) {
  RunOptions run = options.run;
  run.threads = options.threads;
  const std::string shard = run.shards == 1 ? "" : "shard " + std::to_string(run.shard) + ": ";
  if (!options.isQuiet) run.progress = [shard](const std::string& line) { std::cerr << shard + line + '\n'; };
  return run;
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
  const auto isAlone = [](const Case&) { return false; };
  runCases(*device, chosen(cases, options), runOptions(options), isAlone, [&](const Case& one, const Outcome& outcome) {
    recording.add(one, outcome, makeInputs(one.inputs));
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

// A file of verdicts, from which the process that started this one reads what it found.
void writeVerdict(std::ostream& file, const Judgement& judgement) {
  std::string detail = judgement.detail;
  std::replace(detail.begin(), detail.end(), '\n', '\x1');
  file << judgement.one->key() << ' ' << static_cast<unsigned>(judgement.verdict) << ' ' << detail << std::endl;
}

void readVerdicts(const std::string& path, const std::vector<Case>& cases, Comparison& comparison) {
  std::unordered_map<uint64_t, const Case*> byKey;
  for (const Case& one : cases) byKey[one.key()] = &one;
  std::ifstream file(path);
  uint64_t key = 0;
  unsigned verdict = 0;
  for (std::string detail; file >> key >> verdict && std::getline(file.ignore(1), detail);) {
    std::replace(detail.begin(), detail.end(), '\x1', '\n');
    if (byKey.contains(key) && verdict < kVerdicts) comparison.add({byKey[key], static_cast<Verdict>(verdict), detail});
  }
}

// Runs this program once for each shard. What hangs or kills a driver costs no more than the rest of its shard.
void runShards(const Options& options, const std::vector<Case>& cases, Comparison& comparison) {
  const std::string verdicts = fs::temp_directory_path() / ("conformance-" + std::to_string(getpid()) + '-');
  std::vector<pid_t> children;
  for (unsigned shard = 0; shard < options.processes; ++shard) {
    std::vector<std::string> words = {"/proc/self/exe",
                                      "compare",
                                      options.recording,
                                      "--shard",
                                      std::to_string(shard),
                                      "--shards",
                                      std::to_string(options.processes),
                                      "--verdicts",
                                      verdicts + std::to_string(shard),
                                      "--library",
                                      options.library,
                                      "--cases",
                                      options.pattern,
                                      "--every",
                                      std::to_string(options.every),
                                      "--rows",
                                      std::to_string(options.rows),
                                      "--threads",
                                      std::to_string(std::max(1u, options.threads / options.processes))};
    if (!options.known.empty()) words.insert(words.end(), {"--known", options.known});
    if (!options.results.empty()) words.insert(words.end(), {"--results", options.results});
    if (options.isQuiet) words.push_back("--quiet");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0) children.push_back(child);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
  for (size_t shard = 0; shard < children.size(); ++shard) {
    int status = 0;
    while (waitpid(children[shard], &status, WNOHANG) == 0) {
      if (options.seconds != 0 && std::chrono::steady_clock::now() > end) kill(children[shard], SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (!WIFEXITED(status))
      std::cout << "shard " << shard << " did not end: the last lines it wrote say where it was\n";
    readVerdicts(verdicts + std::to_string(shard), cases, comparison);
    fs::remove(verdicts + std::to_string(shard));
  }
}

void runHere(const Options& options, Device& device, const std::vector<const Case*>& cases, Comparison& comparison) {
  std::optional<ResultsFile> results;
  if (!options.results.empty()) results.emplace(options.results);
  std::ofstream verdicts(options.verdicts);
  comparison.setShownRows(options.rows);
  const auto isAlone = [&](const Case& one) {
    const KnownDifference* known = comparison.find(one);
    return known && known->bound == "refused";
  };
  runCases(device, cases, runOptions(options), isAlone, [&](const Case& one, const Outcome& outcome) {
    const std::vector<uint64_t> native = results ? results->find(one) : std::vector<uint64_t>();
    comparison.judge(one, outcome, makeInputs(one.inputs), native.empty() ? nullptr : &native);
    if (verdicts.is_open()) writeVerdict(verdicts, comparison.judgements().back());
  });
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
  Comparison comparison(recording, std::move(known));
  comparison.setDevice(device->name(), device->driver());
  std::vector<const Case*> comparable = chosen(cases, options);
  std::erase_if(comparable, [&](const Case* one) { return !comparison.isComparable(*one); });
  if (!options.merged.empty()) {
    for (const std::string& verdicts : options.merged) readVerdicts(verdicts, cases, comparison);
  } else if (options.processes > 1) runShards(options, cases, comparison);
  else runHere(options, *device, comparable, comparison);
  if (!options.verdicts.empty()) return 0;

  for (const Judgement& j : comparison.judgements()) {
    if (j.verdict == Verdict::Exact || (!options.verbose && j.verdict != Verdict::Wrong)) continue;
    std::cout << nameOf(j.verdict) << ": " << j.one->name << ": " << j.detail << (j.detail.ends_with('\n') ? "" : "\n");
  }
  std::cout << "device: " << device->name() << ", " << device->driver() << "\nrecorded on:\n"
            << recording.description << comparison.table();
  if (const size_t missing = comparable.size() - comparison.judgements().size())
    std::cout << missing << " cases have no result\n";
  for (const KnownDifference& k : comparison.passing(cases))
    std::cout << options.known << ':' << k.line << ": no difference any more: " << k.form << '\n';
  if (!options.forms.empty()) std::ofstream(options.forms) << comparison.formTable();
  if (!options.unlisted.empty())
    std::ofstream(options.unlisted) << comparison.unlisted(device->name().substr(0, device->name().find(' ')));
  return comparison.count(Verdict::Wrong) == 0 && comparison.passing(cases).empty() ? 0 : 1;
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
    command->add_option("--every", options.every, "only one case in this many")->check(CLI::PositiveNumber);
    command->add_option("--library", options.library, "the CUDA driver to use")->capture_default_str();
    command->add_option("--threads", options.threads, "threads that run cases");
    command->add_option("--results", options.results, "complete results: written by record, read by compare");
    command->add_flag("-v,--verbose", options.verbose, "name every case that is not exact, or refused natively");
    command->add_flag("-q,--quiet", options.isQuiet, "no progress on standard error");
    return command;
  };
  CLI::App* recordCommand = common(app.add_subcommand("record", "run the cases natively and write a recording"));
  CLI::App* compareCommand = common(app.add_subcommand("compare", "run the cases and compare with a recording"));
  for (CLI::App* command : {recordCommand, compareCommand})
    command->add_option("RECORDING", options.recording)->required();
  compareCommand->add_option("--rows", options.rows, "differing rows to show of a case")->capture_default_str();
  compareCommand->add_option("--known", options.known, "the list of known differences");
  compareCommand->add_option("--forms", options.forms, "write a table of all forms to this file");
  compareCommand->add_option("--unlisted", options.unlisted,
                             "write lines for the list of known differences to this file");
  compareCommand->add_option("--processes", options.processes, "run in this many processes");
  compareCommand->add_option("--seconds", options.seconds, "with processes: end those that take longer");
  compareCommand->add_option("--shard", options.run.shard, "which part of the kernels to run");
  compareCommand->add_option("--shards", options.run.shards, "in how many parts")->check(CLI::PositiveNumber);
  compareCommand->add_option("--verdicts", options.verdicts,
                             "write what was found to this file, for the process that merges");
  compareCommand->add_option("--merge", options.merged, "run nothing: what parts found, from their files of verdicts");
  CLI::App* listCommand = common(app.add_subcommand("list", "name the cases"));
  CLI::App* ptxCommand = common(app.add_subcommand("ptx", "print kernels of the cases"));
  CLI11_PARSE(app, argc, argv);
  for (int i = 0; i < argc; ++i) options.command += std::string(i ? " " : "") + (i ? argv[i] : "conformance");
  if (recordCommand->parsed()) return record(options);
  if (compareCommand->parsed()) return compare(options);
  return list(options, ptxCommand->parsed() && !listCommand->parsed());
}
