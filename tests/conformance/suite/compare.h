// Judges what a device gave by a recording, by PTX's bounds for approximate instructions, and by the known differences.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suite/recording.h"

namespace mulciber::conformance {

enum class Verdict : uint8_t {
  Exact,        // bit for bit
  WithinBound,  // an approximate instruction within the error that PTX states
  Known,        // listed
  Wrong,
  Refused,      // by Mulciber, with a reason
};

// A line of known_differences.txt: instruction | device | driver | bound | reason.
struct KnownDifference {
  std::string instruction;  // of a case, * for anything
  std::string device;       // part of its name, * for any
  std::string driver;       // part of its version, * for any
  std::string bound;        // what the difference is at most, in words
  std::string reason;
  int line = 0;
};

// Empty and `error` set when the file cannot be understood.
std::vector<KnownDifference> readKnownDifferences(const std::string& path, std::string& error);
bool matches(const std::string& pattern, const std::string& text);

struct Judgement {
  const Case* one;
  Verdict verdict;
  std::string detail;  // the first rows that differ, or why it was refused
};

class Comparison {
 public:
  Comparison(const Recording& recording, std::vector<KnownDifference> known) : recording_(recording), known_(std::move(known)) {}

  // How many differing rows a judgement shows.
  void setShownRows(unsigned rows) { shownRows_ = rows; }
  // Only the lines that apply to this device count.
  void setDevice(const std::string& name, const std::string& driver);
  bool isKnown(const Case& one) const { return find(one) != nullptr; }

  // Nothing when the recording has no results for the case. `native` are its complete results, where there are any.
  void judge(const Case& one, const Outcome& outcome, const InputTable& inputs, const std::vector<uint64_t>* native);

  const std::vector<Judgement>& judgements() const { return judgements_; }
  // Listed differences that were tested and are none.
  std::vector<KnownDifference> passing() const;
  // Counts for each chapter of the manual, and in all.
  std::string table() const;
  size_t count(Verdict verdict) const;
  size_t unrecorded() const { return unrecorded_; }

 private:
  const KnownDifference* find(const Case& one) const;

  const Recording& recording_;
  std::vector<KnownDifference> known_;
  std::map<int, std::pair<bool, bool>> seen_;  // line: tested, and found to differ
  std::vector<Judgement> judgements_;
  size_t unrecorded_ = 0;
  unsigned shownRows_ = 6;
};

}  // namespace mulciber::conformance
