// What the fat binaries of a program or library hold.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "runtime/fatbin/elf.h"

namespace mulciber::tool {

struct DeviceCode {
  size_t ptxModules = 0;
  size_t registeredPtxModules = 0;   // of those: in the sections whose contents a CUDA runtime registers
  std::set<std::string> ptxTargets;  // "compute_75"
  // What is in modules without any PTX.
  size_t functionsWithoutPtx = 0;
  std::string example;
  std::set<std::string> otherTargets;  // "sm_90", "lto_90"
  std::string problem;                 // why the fat binaries cannot be read

  bool isThere() const { return ptxModules + functionsWithoutPtx != 0; }
};

DeviceCode deviceCodeOf(const fatbin::Elf& elf);

}  // namespace mulciber::tool
