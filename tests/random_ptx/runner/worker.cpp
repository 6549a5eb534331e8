#include "random_ptx/runner/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>

namespace mulciber::random_ptx {
namespace {

// Processor time from here on.
void allow(unsigned seconds) {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  rlimit limit{};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds;
  setrlimit(RLIMIT_CPU, &limit);
}

constexpr char kFileMark = '@';

// "SEED EDITS", or "@PATH".
std::optional<Program> programFor(const std::string& name, const ProgramOptions& options) {
  if (name.starts_with(kFileMark)) {
    std::ifstream file(name.substr(1));
    return readProgram({std::istreambuf_iterator<char>(file), {}});
  }
  std::istringstream words(name);
  uint64_t seed = 0;
  std::string edits;
  words >> seed;
  std::getline(words, edits);
  Program program = makeProgram(seed, options);
  program.apply(editsFrom(edits));
  return program;
}

}  // namespace

std::string textOf(const Edits& edits) {
  std::string text;
  for (unsigned id : edits.removed) text += cat(" -", id);
  for (unsigned id : edits.unwrapped) text += cat(" /", id);
  for (unsigned id : edits.simplified) text += cat(" =", id);
  return text.empty() ? text : text.substr(1);
}

Edits editsFrom(const std::string& text) {
  Edits edits;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto id = static_cast<unsigned>(std::stoul(word.substr(1)));
    (word[0] == '-' ? edits.removed : word[0] == '/' ? edits.unwrapped : edits.simplified).insert(id);
  }
  return edits;
}

int serve(const std::string& library, const ProgramOptions& programs) {
  // What a driver prints is not an answer.
  const int answers = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::string error;
  const std::unique_ptr<test::CudaDriver> cu = test::CudaDriver::open(library, error);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    unsigned seconds = 0;
    std::string name;
    words >> seconds >> std::ws;
    std::getline(words, name);
    allow(seconds);
    Outcome outcome{Verdict::Fails, error};
    if (cu) {
      const std::optional<Program> program = programFor(name, programs);
      outcome = program ? judge(*cu, *program) : Outcome{Verdict::Fails, "not a program that was reported"};
    }
    std::replace(outcome.detail.begin(), outcome.detail.end(), '\n', '\x1');
    const std::string answer = cat(static_cast<unsigned>(outcome.verdict), ' ', outcome.detail, '\n');
    if (write(answers, answer.data(), answer.size()) < 0) return 1;
  }
  return 0;
}

bool Worker::start() {
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) return false;
  child_ = fork();
  if (child_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    std::vector<const char*> words = {"random_ptx", "serve", "--library", options_.library.c_str()};
    if (!options_.programs.hasSplitBarriers) words.push_back("--no-split-barriers");
    if (options_.programs.kind) words.insert(words.end(), {"--kind", nameOf(*options_.programs.kind)});
    words.push_back(nullptr);
    execv("/proc/self/exe", const_cast<char* const*>(words.data()));
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  toChild_ = in[1];
  fromChild_ = out[0];
  return child_ > 0;
}

void Worker::stop() {
  if (child_ <= 0) return;
  close(toChild_);
  close(fromChild_);
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  child_ = 0;
}

Outcome Worker::ask(uint64_t seed, const Edits& edits) { return request(cat(seed, ' ', textOf(edits))); }

Outcome Worker::askForFile(const std::string& path) { return request(kFileMark + path); }

Outcome Worker::request(const std::string& what) {
  if (child_ <= 0 && !start()) return {Verdict::Fails, "no process to run it in"};
  const std::string line = cat(options_.seconds, ' ', what, '\n');
  std::string answer;
  bool isWaiting = write(toChild_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  bool isLate = false;
  while (isWaiting && !answer.ends_with('\n')) {
    pollfd wait{fromChild_, POLLIN, 0};
    isLate = poll(&wait, 1, static_cast<int>(options_.wait) * 1000) == 0;
    std::array<char, 4096> part{};
    const ssize_t size = isLate ? 0 : read(fromChild_, part.data(), part.size());
    if (size <= 0) break;
    answer.append(part.data(), static_cast<size_t>(size));
  }
  if (answer.ends_with('\n')) {
    answer.pop_back();
    std::replace(answer.begin(), answer.end(), '\x1', '\n');
    const auto verdict = static_cast<Verdict>(answer[0] - '0');
    if (verdict == Verdict::Fails) stop();  // an error may stay with its process
    return {verdict, answer.substr(2)};
  }
  if (isLate) {
    stop();
    return {Verdict::Hangs, cat("no answer for ", options_.wait, " s")};
  }
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = 0;
  close(toChild_);
  close(fromChild_);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return {Verdict::Hangs, cat("more than ", options_.seconds, " s of processor time")};
  return {Verdict::Crashes,
          WIFSIGNALED(status) ? cat("the process ended by signal ", WTERMSIG(status), ", ", strsignal(WTERMSIG(status)))
                              : cat("the process ended with status ", WEXITSTATUS(status))};
}

}  // namespace mulciber::random_ptx
