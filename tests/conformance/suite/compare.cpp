#include "conformance/suite/compare.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>

#include "conformance/suite/bounds.h"

namespace mulciber::conformance {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::string hex(uint64_t value) {
  std::ostringstream text;
  text << std::hex << value;
  return text.str();
}

// "a0 a1 -> ours, not native" for one row.
std::string describeRow(const Case& one, const InputTable& inputs, unsigned row, const std::vector<uint64_t>& ours,
                        const std::vector<uint64_t>& native) {
  std::string text = "   ";
  for (size_t i = 0; i < one.inputs.size(); ++i) text += ' ' + hex(inputs.columns[i][row]);
  text += " ->";
  for (uint64_t value : ours) text += ' ' + hex(value);
  text += ", not";
  for (uint64_t value : native) text += ' ' + hex(value);
  return text + '\n';
}

}  // namespace

bool matches(const std::string& pattern, const std::string& text) {
  size_t p = 0, t = 0, star = std::string::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') star = p++, resume = t;
    else if (p < pattern.size() && pattern[p] == text[t]) ++p, ++t;
    else if (star != std::string::npos) p = star + 1, t = ++resume;
    else return false;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<KnownDifference> readKnownDifferences(const std::string& path, std::string& error) {
  std::vector<KnownDifference> all;
  std::ifstream file(path);
  if (!file) error = "cannot read " + path;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, '|');) fields.push_back(trimmed(field));
    if (fields.size() != 5 || std::find(fields.begin(), fields.end(), "") != fields.end()) {
      error = path + ':' + std::to_string(number) + ": a line is: instruction | device | driver | bound | reason";
      return {};
    }
    all.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], number});
  }
  return all;
}

void Comparison::setDevice(const std::string& name, const std::string& driver) {
  std::erase_if(known_, [&](const KnownDifference& k) {
    return !matches('*' + k.device + '*', name) || !matches('*' + k.driver + '*', driver);
  });
}

const KnownDifference* Comparison::find(const Case& one) const {
  for (const KnownDifference& k : known_)
    if (matches(k.instruction, one.name)) return &k;
  return nullptr;
}

void Comparison::judge(const Case& one, const Outcome& outcome, const InputTable& inputs,
                       const std::vector<uint64_t>* native) {
  const RecordedCase* recorded = recording_.find(one);
  if (!recorded) {
    ++unrecorded_;
    return;
  }
  if (recorded->isRefused) return;
  const KnownDifference* known = find(one);
  if (known) seen_[known->line].first = true;
  if (!outcome.message.empty()) {
    if (known) seen_[known->line].second = true;
    judgements_.push_back({&one, Verdict::Refused, outcome.message});
    return;
  }
  const RecordedCase ours = Recording::summarize(one, outcome, inputs.rows);
  if (ours.blockHashes == recorded->blockHashes) {
    judgements_.push_back({&one, Verdict::Exact, ""});
    return;
  }
  const unsigned columns = columnsOf(one);
  std::string detail;
  unsigned shown = 0, differing = 0, blocks = 0;
  for (size_t i = 0; i < ours.blockHashes.size(); ++i) blocks += ours.blockHashes[i] != recorded->blockHashes[i];
  auto look = [&](unsigned row, const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    if (a == b) return;
    ++differing;
    if (shown++ < shownRows_) detail += describeRow(one, inputs, row, a, b);
  };
  std::vector<uint64_t> a(columns), b(columns);
  for (unsigned i = 0; i < (native ? inputs.rows : kSampleRows); ++i) {
    const unsigned row = native ? i : sampleRow(i, inputs.rows);
    for (unsigned column = 0; column < columns; ++column) {
      a[column] = outcome.values[size_t(column) * inputs.rows + row];
      b[column] = native ? (*native)[size_t(column) * inputs.rows + row] : recorded->samples[column * kSampleRows + i];
    }
    look(row, a, b);
  }
  detail = std::to_string(blocks) + " of " + std::to_string(ours.blockHashes.size()) + " blocks, " +
           std::to_string(differing) + (native ? " rows\n" : " of the recorded samples\n") + detail;
  const std::optional<std::string> beyond = beyondBound(one, inputs, outcome.values);
  if (beyond && beyond->empty()) {
    judgements_.push_back({&one, Verdict::WithinBound, detail});
    return;
  }
  if (beyond) detail += "    beyond the bound: " + *beyond + '\n';
  if (known) seen_[known->line].second = true;
  judgements_.push_back({&one, known ? Verdict::Known : Verdict::Wrong, detail});
}

std::vector<KnownDifference> Comparison::passing() const {
  std::vector<KnownDifference> list;
  for (const KnownDifference& k : known_)
    if (const auto found = seen_.find(k.line); found != seen_.end() && !found->second.second) list.push_back(k);
  return list;
}

size_t Comparison::count(Verdict verdict) const {
  return static_cast<size_t>(
      std::count_if(judgements_.begin(), judgements_.end(), [&](const Judgement& j) { return j.verdict == verdict; }));
}

std::string Comparison::table() const {
  struct Row {
    std::set<const ptx::Form*> forms;
    std::array<size_t, 5> counts{};
  };
  std::map<std::string, Row> chapters;
  for (const Judgement& j : judgements_)
    for (const std::string& name : {std::string(j.one->form->chapter), std::string("~")}) {
      Row& row = chapters[name];
      row.forms.insert(j.one->form);
      ++row.counts[static_cast<size_t>(j.verdict)];
    }
  std::ostringstream text;
  text << "| chapter | forms | cases | exact | within bound | known | wrong | refused "
          "|\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, row] : chapters) {
    size_t all = 0;
    for (size_t count : row.counts) all += count;
    text << "| " << (name == "~" ? "all" : name) << " | " << row.forms.size() << " | " << all;
    for (size_t count : row.counts) text << " | " << count;
    text << " |\n";
  }
  return text.str();
}

}  // namespace mulciber::conformance
