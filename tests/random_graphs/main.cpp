// random_graphs: runs random programs with graphs on libcuda.so.1 and compares all memory with a model that does one
// thing after the other. A program that is wrong is made small and printed. Exits with 77 when there is no device.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <random>

#include <CLI/CLI.hpp>

#include "runner.h"

namespace {

using namespace mulciber::random_graphs;

volatile uint64_t current = 0;  // the seed that runs

// A crash, or a program that does not end.
void tellSeed(int signal) {
  char text[96];
  const int length = std::snprintf(text, sizeof(text), "signal %d in the program of seed %llu\n", signal,
                                   static_cast<unsigned long long>(current));
  if (write(STDOUT_FILENO, text, static_cast<size_t>(length)) < 0) _exit(2);
  _exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t seed = std::random_device{}();
  unsigned count = 100, limit = 60;
  double duration = 0;
  bool keepsWhole = false, isPrinted = false;
  CLI::App app("Runs random programs with CUDA graphs and compares them with a model");
  app.add_option("--seed", seed, "of the first program; those after it count on");
  app.add_option("--count", count, "programs to run");
  app.add_option("--duration", duration, "seconds after which no more programs are begun; 0: no limit");
  app.add_option("--limit", limit, "seconds that one program may take");
  app.add_flag("--whole", keepsWhole, "do not make programs that are wrong small");
  app.add_flag("--print", isPrinted, "print each program before it runs");
  CLI11_PARSE(app, argc, argv);
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGALRM}) std::signal(signal, tellSeed);

  int devices = 0;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&devices) != CUDA_SUCCESS || devices == 0) {
    std::cout << "skipped: there is no device\n";
    return 77;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  Device device;
  unsigned done = 0, wrong = 0;
  for (; done < count && (duration <= 0 || seconds() < duration); ++done) {
    current = seed + done;
    alarm(limit);
    const Program program = makeProgram(current);
    if (isPrinted) std::cout << "seed " << current << '\n' << textOf(program) << std::flush;
    const std::string fault = run(device, program);
    if (fault.empty()) continue;
    ++wrong;
    std::cout << "seed " << current << ": " << fault << std::endl;
    if (keepsWhole) continue;
    alarm(20 * limit);
    const Program small = shrink(device, program);
    std::cout << textOf(small) << "now: " << run(device, small) << std::endl;
  }
  alarm(0);
  std::cout << done << " programs from seed " << seed << " in " << seconds() << " s, " << wrong << " wrong"
            << std::endl;
  return wrong == 0 ? 0 : 1;
}
