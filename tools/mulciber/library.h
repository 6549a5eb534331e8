// The parts of a library of kernels: what `mulciber translate --library` writes for a C or C++ program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mulciber/offline.h"

namespace mulciber::tool {

struct LibraryKernel {
  std::string name;        // in PTX
  std::string identifier;  // in C
  std::string signature;   // for the reader: as the CUDA source has it
  KernelInfo info;
  std::vector<ParameterKind> kinds;
};

struct Library {
  std::string identifier;  // begins each of its names in C
  std::string source;      // that it was made of
  std::vector<LibraryKernel> kernels;
};

// Gives kernels their names in C, which are those of their functions where these are all different.
void nameKernels(Library& library);
std::string identifierFrom(std::string_view text);

std::string headerOf(const Library& library);
// A source of C and C++ that holds the bytes.
std::string embed(const Library& library, const std::vector<uint8_t>& bytes);

std::string describe(const KernelInfo& info);  // as JSON

}  // namespace mulciber::tool
