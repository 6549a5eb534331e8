#include "conformance/suite/bounds.h"

namespace mulciber::conformance {

std::optional<std::string> beyondBound(const Case&, const InputTable&, const std::vector<uint64_t>&) {
  return std::nullopt;
}

}  // namespace mulciber::conformance
