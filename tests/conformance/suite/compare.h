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
  Refused,  // by Mulciber, with a reason
};

inline constexpr unsigned kVerdicts = 5;
const char* nameOf(Verdict verdict);

// A line of known_differences.txt: form | device | driver | bound | reason.
struct KnownDifference {
  std::string form;    // as Case::listedAs() says it
  std::string device;  // part of its name, * for any
  std::string driver;  // part of its version, * for any
  // What the difference is at most: "refused", "NaN bits", "skipped rows" (whose guard is false), "N units" (in the
  // last place, of the rows recorded in full). All four are checked; "anything" is not.
  std::string bound;
  std::string reason;
  int line = 0;
};

// Empty and `error` set when the file cannot be understood.
std::vector<KnownDifference> readKnownDifferences(const std::string& path, std::string& error);
// With * for anything.
bool matches(const std::string& pattern, const std::string& text);

struct Judgement {
  const Case* one;
  Verdict verdict;
  std::string detail;  // the first rows that differ, or why it was refused
};

class Comparison {
 public:
  Comparison(const Recording& recording, std::vector<KnownDifference> known)
      : recording_(recording), known_(std::move(known)) {}

  // How many differing rows a judgement shows.
  void setShownRows(unsigned rows) { shownRows_ = rows; }
  // Only the lines that apply to this device count.
  void setDevice(const std::string& name, const std::string& driver);
  const KnownDifference* find(const Case& one) const;

  // Whether there is something to compare with: neither unrecorded nor refused where it was recorded.
  bool isComparable(const Case& one) const;
  // `native` are the complete results of the recorded device, where there are any.
  void judge(const Case& one, const Outcome& outcome, const InputTable& inputs, const std::vector<uint64_t>* native);
  // What another process found.
  void add(Judgement judgement) { judgements_.push_back(std::move(judgement)); }

  const std::vector<Judgement>& judgements() const { return judgements_; }
  // Listed differences that are none. Of forms of which not all cases were tested nothing is said.
  std::vector<KnownDifference> passing(const std::vector<Case>& all) const;
  // For each chapter of the manual, and in all: how many forms, by the worst of their cases, and how many cases.
  std::string table() const;
  // A line for each form: opcode, modifiers and types.
  std::string formTable() const;
  // Lines for known_differences.txt: what is wrong or refused and not in it.
  std::string unlisted(const std::string& device) const;
  size_t count(Verdict verdict) const;

 private:
  bool isWithin(const KnownDifference& known, const Case& one, const RecordedCase& ours,
                const RecordedCase& native) const;

  const Recording& recording_;
  std::vector<KnownDifference> known_;
  std::vector<Judgement> judgements_;
  unsigned shownRows_ = 6;
};

// Of the cases that can be compared one of each form of the instruction table, and a sample of all.
std::vector<const Case*> sample(const std::vector<Case>& cases, const Comparison& comparison, unsigned every);

}  // namespace mulciber::conformance
