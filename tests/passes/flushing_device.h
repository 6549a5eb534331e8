// What the tests of repaired multiply-adds share: a device whose f32 fma is fused but flushes, and small kernels.
#pragma once

#include <string>

#include "mulciber/translator.h"

namespace mulciber::test {

inline TargetProfile flushingDevice() {
  TargetProfile profile;
  profile.float64 = profile.fusedFma32 = profile.denormPreserve32 = profile.exactFma64 = profile.nvidiaNan = true;
  return profile;
}

inline size_t count(const std::string& text, const std::string& what) {
  size_t result = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) result++;
  return result;
}

// Registers 0 to 3 hold floats; the body is one block.
inline std::string kernelOfFloats(const std::string& body) {
  return "kernel @k {\n  var v0 f32\n  var v1 f32\n  var v2 f32\n  var v3 f32\nb0:\n  %0 = read f32 v0\n  %1 = read "
         "f32 v1\n"
         "  %2 = read f32 v2\n" +
         body + "  ret\n}\n";
}

}  // namespace mulciber::test
