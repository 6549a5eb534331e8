#include <unordered_set>

#include "conformance/suite/case.h"
#include "conformance/suite/inputs.h"

namespace mulciber::conformance {

std::string Case::signature() const {
  std::string text;
  for (const Input& input : inputs)
    text += std::string(ptx::spelling(input.type)) + '/' + std::to_string(static_cast<int>(input.values)) + ' ';
  return text;
}

std::string Case::instruction() const {
  const size_t begin = name[0] == '@' ? name.find(' ') + 1 : 0;
  return name.substr(begin, name.find(' ', begin) - begin);
}

std::string Case::listedAs() const {
  return (guard >= 0 ? "@" : "") + instruction() + (hasConstant ? " constant" : "");
}

uint64_t Case::key() const {
  std::string text = code + '|' + signature() + '|' + declarations + '|' + std::to_string(rowsOf(inputs));
  for (ptx::Type type : results) text += std::string(ptx::spelling(type)) + ' ';
  return hashOf(text);
}

std::vector<Case> allCases() {
  std::vector<Case> made;
  addValueCases(made);
  addMemoryCases(made);
  addWarpCases(made);
  addMatrixCases(made);
  std::vector<Case> cases;
  std::unordered_set<uint64_t> seen;
  for (Case& one : made)
    if (seen.insert(one.key()).second) cases.push_back(std::move(one));
  return cases;
}

}  // namespace mulciber::conformance
