// Texture and surface references: names in a module that instructions use in place of objects. The host binds objects
// to them, and each launch passes the handles of the objects that are bound at that time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mulciber/translator.h"

namespace mulciber {

struct Reference {
  std::string name;
  bool isSurface;
};

// Behind its own parameters every kernel of the module takes the handles of all of them (texture_abi.h), in this order,
// at the next multiple of their size.
inline constexpr uint32_t referenceBytes = 8;
std::vector<Reference> references(const ParsedModule& module);

}  // namespace mulciber
