// What is known of a module beside its kernels' code: all that loading it needs. The cache keeps it, so that PTX is
// parsed only where a kernel must be translated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mulciber/references.h"
#include "mulciber/translator.h"

namespace mulciber::core {

class ByteReader;
class ByteWriter;

struct ModuleIndex {
  ModuleData data;
  std::vector<Reference> references;
  uint32_t architecture = 0;  // the one that the PTX was made for: 90 for sm_90
  std::vector<std::string> kernels;
};

ModuleIndex indexOf(const ParsedModule& module);
void write(ByteWriter& writer, const ModuleIndex& index);
void read(ByteReader& reader, ModuleIndex& index);

}  // namespace mulciber::core
