// random_ptx: runs random PTX programs on a CUDA driver and compares what they give with the interpreter's results.
#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "random_ptx/runner/shrinker.h"
#include "random_ptx/runner/worker.h"

namespace mulciber::random_ptx {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  WorkerOptions worker;
  std::string edits;
  fs::path folder = fs::temp_directory_path() / "random_ptx";
  std::vector<uint64_t> only;
  std::vector<std::string> files;
  uint64_t seed = 0;
  unsigned count = 100, workers = std::max(1u, std::thread::hardware_concurrency());
  double duration = 0;  // seconds after which no more programs are begun
  bool keepsWhole = false, isVerbose = false;
};

Program programOf(const Options& options, uint64_t seed, const Edits& edits) {
  Program program = makeProgram(seed, options.worker.programs);
  program.apply(edits);
  return program;
}

class Runner {
 public:
  explicit Runner(const Options& options) : options_(options), begin_(Clock::now()) {}

  int run() {
    std::vector<std::thread> pool;
    for (unsigned i = 0; i < options_.workers; ++i) pool.emplace_back([this] { work(); });
    for (std::thread& thread : pool) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    unsigned all = 0;
    for (unsigned count : counts_) all += count;
    std::cout << all << " programs in " << static_cast<unsigned>(seconds) << " s:";
    for (unsigned i = 0; i < kVerdicts; ++i)
      if (counts_[i] != 0) std::cout << ' ' << counts_[i] << ' ' << nameOf(static_cast<Verdict>(i));
    std::cout << std::endl;
    return all == counts_[0] ? 0 : 1;
  }

 private:
  void work() {
    Worker worker(options_.worker);
    if (!options_.files.empty()) return workOnFiles(worker);
    const size_t count = options_.only.empty() ? options_.count : options_.only.size();
    for (size_t i = next_++; i < count; i = next_++) {
      if (options_.duration > 0 && std::chrono::duration<double>(Clock::now() - begin_).count() > options_.duration)
        return;
      const uint64_t seed = options_.only.empty() ? options_.seed + i : options_.only[i];
      const Edits edits = editsFrom(options_.edits);
      const Outcome outcome = worker.ask(seed, edits);
      {
        const std::lock_guard lock(mutex_);
        ++counts_[static_cast<size_t>(outcome.verdict)];
        if (options_.isVerbose) std::cout << seed << ' ' << nameOf(outcome.verdict) << std::endl;
      }
      if (outcome.verdict != Verdict::Agrees) report(worker, seed, edits, outcome);
    }
  }

  void workOnFiles(Worker& worker) {
    for (size_t i = next_++; i < options_.files.size(); i = next_++) {
      const Outcome outcome = worker.askForFile(options_.files[i]);
      const std::lock_guard lock(mutex_);
      ++counts_[static_cast<size_t>(outcome.verdict)];
      if (options_.isVerbose || outcome.verdict != Verdict::Agrees)
        std::cout << options_.files[i] << ' ' << nameOf(outcome.verdict) << ' ' << outcome.detail << std::endl;
    }
  }

  // The failing program, made small, goes to the folder and to standard output.
  void report(Worker& worker, uint64_t seed, Edits edits, Outcome outcome) {
    if (!options_.keepsWhole && edits.count() == 0)
      edits = shrink(programOf(options_, seed, {}), [&](const Edits& attempt) {
        Outcome again = worker.ask(seed, attempt);
        if (again.verdict != outcome.verdict) return false;
        outcome.detail = std::move(again.detail);
        return true;
      });
    const Program program = programOf(options_, seed, edits);
    const std::string text =
        cat(firstLine(program), ", edits \"", textOf(edits), "\": ", nameOf(outcome.verdict), "\n", program.text());
    const std::lock_guard lock(mutex_);
    fs::create_directories(options_.folder);
    std::ofstream(options_.folder / cat(seed, ".ptx")) << text;
    std::ofstream(options_.folder / cat(seed, ".txt")) << nameOf(outcome.verdict) << '\n' << outcome.detail << '\n';
    std::cout << text << outcome.detail << "\nThis is " << (options_.folder / cat(seed, ".ptx")).string()
              << ". The whole program again: random_ptx --only " << seed << std::endl;
  }

  const Options& options_;
  const Clock::time_point begin_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  std::array<unsigned, kVerdicts> counts_{};
};

}  // namespace
}  // namespace mulciber::random_ptx

int main(int argc, char** argv) {
  using namespace mulciber::random_ptx;
  Options options;
  bool isPrinted = false;
  CLI::App app("Runs random PTX programs and compares their results with those of an interpreter");
  app.add_option("--library", options.worker.library, "the CUDA driver to use")->capture_default_str();
  CLI::Option* seed = app.add_option("--seed", options.seed, "of the first program; a new one each time if left out");
  app.add_option("--count", options.count, "programs, of this seed and those after it")->capture_default_str();
  app.add_option("--only", options.only, "the programs of these seeds");
  app.add_option("--files", options.files, "the programs of these files, as --folder has them");
  app.add_option("--edits", options.edits, "of the programs, as a file of a small program names them");
  app.add_option("--duration", options.duration, "begin no more programs after this many seconds");
  app.add_option("--seconds", options.worker.seconds, "processor time that a program may take")->capture_default_str();
  app.add_option("--wait", options.worker.wait, "seconds that a program may give no answer")->capture_default_str();
  app.add_option("-j,--jobs", options.workers, "processes")->check(CLI::PositiveNumber);
  app.add_option("--folder", options.folder, "where programs that fail are written")->capture_default_str();
  const char* noSplit = "no barriers that lanes of one warp wait for at different places";
  const std::map<std::string, Kind> kinds = {{nameOf(Kind::General), Kind::General},
                                             {nameOf(Kind::MultiplyAdds), Kind::MultiplyAdds}};
  const auto kind = CLI::CheckedTransformer(kinds).description("general|multiply-adds");
  app.add_flag("!--no-split-barriers", options.worker.programs.hasSplitBarriers, noSplit);
  app.add_option("--kind", options.worker.programs.kind, "of the programs; all kinds if left out")->transform(kind);
  app.add_flag("--whole", options.keepsWhole, "do not make them small");
  app.add_flag("--print", isPrinted, "print the programs instead of running them");
  app.add_flag("-v,--verbose", options.isVerbose, "name every program");
  CLI::App* child = app.add_subcommand("serve", "judge what standard input asks for: the processes of -j");
  child->group("");
  child->add_option("--library", options.worker.library);
  child->add_flag("!--no-split-barriers", options.worker.programs.hasSplitBarriers);
  child->add_option("--kind", options.worker.programs.kind)->transform(kind);
  CLI11_PARSE(app, argc, argv);
  if (child->parsed()) return serve(options.worker.library, options.worker.programs);
  if (seed->count() == 0) options.seed = uint64_t(std::random_device{}()) << 20;
  if (isPrinted) {
    if (options.only.empty())
      for (unsigned i = 0; i < options.count; ++i) options.only.push_back(options.seed + i);
    for (uint64_t one : options.only)
      std::cout << programOf(options, one, editsFrom(options.edits)).text() << "// ====\n";
    return 0;
  }
  if (options.only.empty() && options.files.empty()) std::cout << "seed " << options.seed << std::endl;
  return Runner(options).run();
}
