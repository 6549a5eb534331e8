// Runs the cases. One that ends the process or leaves the context unusable is followed by a fresh process.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "texels.h"

namespace mulciber::texels {
namespace {

constexpr int noDevice = 3, wantsFreshProcess = 42;
constexpr unsigned mostSeconds = 60;

struct Options {
  std::string only;
  size_t step = 1, shard = 0, shards = 1;
  bool isList = false, showsBytes = false;

  // Neighbours share kernels: 32 of them stay together.
  bool has(size_t number) const {
    return number % step == 0 && number / 32 % shards == shard && cases()[number].name.find(only) != std::string::npos;
  }
};

[[noreturn]] void runFrom(size_t first, const Options& options, int report) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS) std::_Exit(noDevice);
  if (cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS || cuCtxSetCurrent(context) != CUDA_SUCCESS)
    std::_Exit(noDevice);
  for (size_t i = first; i < cases().size(); ++i) {
    if (!options.has(i)) continue;
    alarm(mostSeconds);
    Notes notes;
    cases()[i].run(notes);
    alarm(0);
    std::string line = cases()[i].name + "\t" + notes.text() + "\n";
    if (options.showsBytes) {
      for (size_t at = 0; at + 4 <= notes.all().size(); at += 4) {
        uint32_t word = 0;
        std::memcpy(&word, &notes.all()[at], 4);
        char text[16];
        std::snprintf(text, sizeof text, " %08x", word);
        line.insert(line.size() - 1, text);
      }
    }
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
    const uint64_t done = i + 1;
    (void)!write(report, &done, sizeof done);
    if (cuCtxSynchronize() != CUDA_SUCCESS) std::_Exit(wantsFreshProcess);
  }
  std::_Exit(0);
}

int runAll(const Options& options) {
  for (size_t next = 0; next < cases().size();) {
    while (next < cases().size() && !options.has(next)) ++next;
    if (next == cases().size()) break;
    int report[2];
    if (pipe(report) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
      close(report[0]);
      runFrom(next, options, report[1]);
    }
    close(report[1]);
    uint64_t done = next;
    for (uint64_t value = 0; read(report[0], &value, sizeof value) == sizeof value;) done = value;
    close(report[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == noDevice) return noDevice;
    next = done;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    if (WIFEXITED(status) && WEXITSTATUS(status) == wantsFreshProcess) continue;
    while (next < cases().size() && !options.has(next)) ++next;
    if (next == cases().size()) break;
    const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    std::printf("%s\t%s\n", cases()[next].name.c_str(), hung ? "hang" : "crash");
    ++next;
  }
  return 0;
}

}  // namespace
}  // namespace mulciber::texels

int main(int count, char** arguments) {
  using namespace mulciber::texels;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Options options;
  CLI::App app("Reads and writes textures and surfaces, and prints a line for each case");
  app.add_flag("--list", options.isList, "Print the names of the cases");
  app.add_option("--only", options.only, "Run the cases that have this text in their name");
  app.add_option("--step", options.step, "Run one case of this many")->check(CLI::PositiveNumber);
  app.add_option("--shards", options.shards, "Share the cases among this many runs")->check(CLI::PositiveNumber);
  app.add_option("--shard", options.shard, "Which of these runs this is");
  app.add_flag("--bytes", options.showsBytes, "Print all bytes that came of a case, as words in hexadecimal");
  app.add_flag("!--ordinary", hasSpecialPlaces, "Leave out coordinates that are no numbers or beyond 32 bits");
  CLI11_PARSE(app, count, arguments);
  addTextures();
  addSurfaces();
  addQueries();
  if (!options.isList) return runAll(options);
  for (const Case& one : cases()) std::printf("%s\n", one.name.c_str());
  return 0;
}
