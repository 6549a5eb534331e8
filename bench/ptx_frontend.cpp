// How fast PTX text becomes a verified syntax tree, and how much memory that takes.
//
//   ptx_frontend [FILE.ptx ...]     without files: a generated module of 10 MB
//
// Prints MB/s on one core, bytes of memory for each byte of text (the tree's, and at the peak), and, where ptxas is
// installed, how many times longer that takes for the same text (of a generated module's first tenth).
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "translator/ptx/parser.h"
#include "translator/ptx/verifier.h"

namespace {

using mulciber::Diagnostics;

// Processor time, ours and that of commands we waited for: what else runs on the machine does not count.
double processorSeconds() {
  double total = 0;
  for (int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      total += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  }
  return total;
}

double seconds(const std::function<void()>& work) {
  const double start = processorSeconds();
  work();
  return processorSeconds() - start;
}

size_t peakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) * 1024;
}

// Kernels of the instructions that are common in nvcc's output, as many as make up the size.
std::string generate(size_t size) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n\n";
  text.reserve(size + 4096);
  for (unsigned kernel = 0; text.size() < size; ++kernel) {
    const std::string name = "_Z6kernelPfiS_" + std::to_string(kernel);
    text += "\n.visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0,\n\t.param .u32 " + name +
            "_param_1\n)\n{\n\t.reg .pred \t%p<9>;\n\t.reg .f32 \t%f<1000>;\n\t.reg .b32 \t%r<1000>;\n\t.reg .b64 "
            "\t%rd<1000>;\n\n"
            "\tld.param.u64 \t%rd1, [" +
            name + "_param_0];\n\tld.param.u32 \t%r1, [" + name +
            "_param_1];\n\tcvta.to.global.u64 \t%rd2, %rd1;\n\tmov.u32 \t%r2, %ctaid.x;\n\tmov.u32 \t%r3, %tid.x;\n"
            "\tmov.f32 \t%f1, 0f3F800000;\n";
    for (unsigned i = 4; i < 400; ++i) {
      const std::string n = std::to_string(i), before = std::to_string(i - 1);
      text += "\tmad.lo.s32 \t%r" + n + ", %r2, %r" + before + ", %r3;\n\tmul.wide.s32 \t%rd" + n + ", %r" + n +
              ", 4;\n\tadd.s64 \t%rd" + std::to_string(i + 400) + ", %rd2, %rd" + n + ";\n\tld.global.f32 \t%f" +
              std::to_string(i + 400) + ", [%rd" + std::to_string(i + 400) + "+" + std::to_string(i * 4) +
              "];\n\tfma.rn.f32 \t%f" + n + ", %f" + std::to_string(i + 400) + ", 0f40490FDB, %f" +
              (i == 4 ? "1" : before) + ";\n";
      if (i % 8 == 0) {
        text += "\tsetp.ge.s32 \t%p1, %r" + n + ", %r1;\n\t@%p1 bra \t$L__BB" + std::to_string(kernel) + "_" + n +
                ";\n\tst.global.f32 \t[%rd" + std::to_string(i + 400) + "], %f" + n + ";\n$L__BB" +
                std::to_string(kernel) + "_" + n + ":\n";
      }
    }
    text += "\tst.global.f32 \t[%rd2], %f399;\n\tret;\n\n}\n";
  }
  return text;
}

// Seconds that ptxas takes; negative when it is not here or fails.
double ptxasTime(const std::string& text) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("ptx_frontend_" + std::to_string(rand()) + ".ptx");
  std::ofstream(file) << text;
  const size_t target = text.find("sm_");
  const std::string arch =
      target == text.npos ? "sm_80" : text.substr(target, text.find_first_of(",\n ", target) - target);
  const std::string command = "PATH=$PATH:/usr/local/cuda/bin ptxas -c -O3 -arch " + arch + " -o /dev/null " +
                              file.string() + " >/dev/null 2>&1";
  int status = 0;
  const double time = seconds([&] { status = std::system(command.c_str()); });
  std::filesystem::remove(file);
  return status == 0 ? time : -1;
}

struct Times {
  double parse = 1e9, verify = 1e9;
  size_t treeBytes = 0;
};

Times frontEnd(const std::string& text, const std::string& name) {
  Times best;
  for (int run = 0; run < 5; ++run) {
    Diagnostics diagnostics;
    std::unique_ptr<mulciber::ptx::ModuleHolder> holder;
    best.parse = std::min(best.parse, seconds([&] { holder = mulciber::ptx::parse(text, name, diagnostics); }));
    bool isGood = holder != nullptr;
    if (isGood) {
      best.verify = std::min(
          best.verify, seconds([&] { isGood = mulciber::ptx::verify(holder->module, holder->source, diagnostics); }));
    }
    if (!isGood) {
      std::fputs(diagnostics.toString().c_str(), stderr);
      std::exit(1);
    }
    best.treeBytes = holder->arena->bytes();
  }
  return best;
}

void measure(const std::string& text, const std::string& name, bool isGenerated) {
  const double size = static_cast<double>(text.size());
  const size_t before = peakBytes();
  const Times times = frontEnd(text, name);
  const double total = times.parse + times.verify;
  const double peak = static_cast<double>(peakBytes() - before);
  std::printf(
      "%s: %.2f MB, parsed and verified at %.1f MB/s (parsed at %.1f); %.1f bytes of tree and %.1f at the peak for "
      "each byte of text",
      name.c_str(), size / 1e6, size / total / 1e6, size / times.parse / 1e6,
      static_cast<double>(times.treeBytes) / size, peak / size);
  const std::string sample = isGenerated ? generate(text.size() / 10) : text;
  const double theirs = ptxasTime(sample);
  if (theirs < 0) {
    std::printf("; ptxas is not here or does not take it\n");
  } else {
    const Times ours = frontEnd(sample, name);
    std::printf("; ptxas -O3 takes %.0f times as long\n", theirs / (ours.parse + ours.verify));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) measure(generate(10'000'000), "generated", true);
  for (int i = 1; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    measure(text, std::filesystem::path(argv[i]).filename().string(), false);
  }
}
