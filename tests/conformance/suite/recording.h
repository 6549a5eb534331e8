// What a GPU gave for the cases: a hash for each block of rows, and some rows in full to show differences by.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/suite/engine.h"

namespace mulciber::conformance {

inline constexpr unsigned kSampleRows = 16;

struct RecordedCase {
  bool isRefused = false;  // by NVIDIA's assembler
  std::vector<uint32_t> blockHashes;
  uint32_t essence = 0;           // a hash of all rows that no NaN's bits and no skipped row go into
  std::vector<uint64_t> samples;  // kSampleRows of the first column, then of the next
};

class Recording {
 public:
  std::string description;  // lines: device, driver, date, command

  static RecordedCase summarize(const Case& one, const Outcome& outcome, const InputTable& inputs);
  void add(const Case& one, const Outcome& outcome, const InputTable& inputs) {
    cases_[one.key()] = summarize(one, outcome, inputs);
  }
  const RecordedCase* find(const Case& one) const;
  size_t size() const { return cases_.size(); }

  // Files are compressed by zstd. Both give an empty string, or what went wrong.
  std::string write(const std::string& path) const;
  std::string read(const std::string& path);

 private:
  std::unordered_map<uint64_t, RecordedCase> cases_;
};

// The row that sample number `i` shows.
inline unsigned sampleRow(unsigned i, unsigned rows) {
  return static_cast<unsigned>(uint64_t(i) * rows / kSampleRows + i * 5 % 64);
}

}  // namespace mulciber::conformance
