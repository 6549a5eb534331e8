// What a command found, one line each, with what to do about it.
#pragma once

#include <string>
#include <vector>

namespace mulciber::tool {

enum class Verdict { Good, Note, Bad };

struct Finding {
  Verdict verdict;
  const char* subject;
  std::string text;
  std::string remedy;  // empty when there is nothing to do
};

bool hasBad(const std::vector<Finding>& findings);
void print(const std::vector<Finding>& findings);
std::string toJson(const std::vector<Finding>& findings);  // a list

}  // namespace mulciber::tool
