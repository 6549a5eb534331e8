// The command line of mulciberc++: Clang's options, and nvcc's spellings of some of them.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace mulciber::compiler {

// What is wrong with the command line, in one sentence.
struct WrongUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Product { Program, Object, Ptx };

struct Options {
  std::vector<std::string> sources;  // CUDA C++, compiled for the device and for the host
  std::vector<std::string> both;     // options of both compilations
  std::vector<std::string> host;     // options of the host's compilation alone
  std::vector<std::string> link;     // objects, libraries and other sources, in their order, and the linker's options
  std::vector<std::string> device;   // options of the device's compilation alone
  std::string output, clang;
  Product product = Product::Program;
  unsigned architecture = 80;
  bool isFused = true;  // products and sums may be rounded once
  bool isDryRun = false, isHelp = false, isVersion = false;
};

Options parse(const std::vector<std::string>& arguments);  // throws WrongUsage

}  // namespace mulciber::compiler
