// A process that runs programs one after the other, so that what a program does to its process costs no more than that.
#pragma once

#include <sys/types.h>

#include <string>

#include "random_ptx/runner/verdict.h"

namespace mulciber::random_ptx {

// Judges the programs that lines of standard input name, by seeds and edits or by files, until it ends. What it
// answers: `Worker::ask`.
int serve(const std::string& library, const ProgramOptions& programs);

struct WorkerOptions {
  std::string library = "libcuda.so.1";
  ProgramOptions programs;
  unsigned seconds = 60;  // of processor time, for one program
  unsigned wait = 600;    // seconds without an answer: where a device does the work, a process uses no processor time
};

class Worker {
 public:
  explicit Worker(WorkerOptions options) : options_(std::move(options)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Outcome ask(uint64_t seed, const Edits& edits);
  Outcome askForFile(const std::string& path);

 private:
  Outcome request(const std::string& what);
  bool start();
  void stop();

  WorkerOptions options_;
  pid_t child_ = 0;
  int toChild_ = -1, fromChild_ = -1;
};

// "-3,4 /5 =6": nodes that are removed, unwrapped, simplified.
std::string textOf(const Edits& edits);
Edits editsFrom(const std::string& text);

}  // namespace mulciber::random_ptx
