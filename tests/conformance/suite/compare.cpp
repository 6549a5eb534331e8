#include "conformance/suite/compare.h"

#include <algorithm>
#include <array>
#include <cstdlib>
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

// How many floats lie between two.
uint64_t unitsBetween(Values format, uint64_t a, uint64_t b) {
  if (format == Values::F16x2 || format == Values::Bf16x2) {
    const Values element = format == Values::F16x2 ? Values::F16 : Values::Bf16;
    return std::max(unitsBetween(element, a & 0xFFFF, b & 0xFFFF), unitsBetween(element, a >> 16, b >> 16));
  }
  const unsigned bits = format == Values::F64 ? 64 : format == Values::F32 ? 32 : 16;
  auto place = [&](uint64_t x) {
    const uint64_t sign = uint64_t(1) << (bits - 1), magnitude = x & (sign - 1);
    return x & sign ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  };
  const int64_t x = place(a), y = place(b);
  return x < y ? static_cast<uint64_t>(y) - static_cast<uint64_t>(x)
               : static_cast<uint64_t>(x) - static_cast<uint64_t>(y);
}

using Counts = std::array<size_t, kVerdicts>;

// The forms of which some cases were judged, by name.
std::map<std::string, Counts> countsByForm(const std::vector<Judgement>& judgements) {
  std::map<std::string, Counts> forms;
  for (const Judgement& j : judgements) ++forms[j.one->instruction()][static_cast<size_t>(j.verdict)];
  return forms;
}

// Of verdicts in order: exact, within bound, known, wrong, refused.
size_t worstOf(const Counts& counts) {
  size_t worst = 0;
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != 0) worst = i;
  return worst;
}

}  // namespace

const char* nameOf(Verdict verdict) {
  static constexpr std::array<const char*, kVerdicts> kNames = {"exact", "within bound", "known", "wrong", "refused"};
  return kNames[static_cast<size_t>(verdict)];
}

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
      error = path + ':' + std::to_string(number) + ": a line is: form | device | driver | bound | reason";
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
  std::sort(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.form < b.form; });
}

const KnownDifference* Comparison::find(const Case& one) const {
  const std::string form = one.listedAs();
  const auto found = std::lower_bound(known_.begin(), known_.end(), form,
                                      [](const KnownDifference& k, const std::string& name) { return k.form < name; });
  return found == known_.end() || found->form != form ? nullptr : &*found;
}

bool Comparison::isComparable(const Case& one) const {
  const RecordedCase* recorded = recording_.find(one);
  return recorded && !recorded->isRefused;
}

bool Comparison::isWithin(const KnownDifference& known, const Case& one, const RecordedCase& ours,
                          const RecordedCase& native) const {
  if (known.bound == "NaN bits" || known.bound == "skipped rows") return ours.essence == native.essence;
  if (known.bound == "anything") return true;
  if (!known.bound.ends_with(" units")) return false;
  const uint64_t most = std::strtoull(known.bound.c_str(), nullptr, 10);
  size_t sample = 0;
  for (size_t i = 0; i < one.results.size(); ++i)
    for (unsigned word = 0; word < (one.results[i] == ptx::Type::B128 ? 2u : 1u); ++word)
      for (unsigned n = 0; n < kSampleRows; ++n, ++sample) {
        const uint64_t a = withOneNan(one.formats[i], ours.samples[sample]),
                       b = withOneNan(one.formats[i], native.samples[sample]);
        if (a != b && unitsBetween(one.formats[i], a, b) > most) return false;
      }
  return true;
}

void Comparison::judge(const Case& one, const Outcome& outcome, const InputTable& inputs,
                       const std::vector<uint64_t>* native) {
  const RecordedCase* recorded = recording_.find(one);
  const KnownDifference* known = find(one);
  if (!outcome.message.empty()) {
    const bool isKnown = known && known->bound == "refused";
    judgements_.push_back({&one, isKnown ? Verdict::Refused : Verdict::Wrong, "refused: " + outcome.message});
    return;
  }
  const RecordedCase ours = Recording::summarize(one, outcome, inputs);
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
           std::to_string(differing) + (native ? " rows" : " of the recorded samples") +
           (ours.essence == recorded->essence ? one.guard >= 0 ? ", skipped rows\n" : ", NaN bits\n" : "\n") + detail;
  const std::optional<std::string> beyond = beyondBound(one, inputs, outcome.values);
  if (beyond && beyond->empty()) {
    judgements_.push_back({&one, Verdict::WithinBound, detail});
    return;
  }
  if (beyond) detail += "    beyond the bound: " + *beyond + '\n';
  const bool isKnown = known && isWithin(*known, one, ours, *recorded);
  if (known && !isKnown) detail += "    beyond the listed bound: " + known->bound + '\n';
  judgements_.push_back({&one, isKnown ? Verdict::Known : Verdict::Wrong, detail});
}

std::vector<KnownDifference> Comparison::passing(const std::vector<Case>& all) const {
  std::map<std::string, size_t> tested, of;
  std::set<std::string> differs;
  for (const Judgement& j : judgements_) {
    const std::string form = j.one->listedAs();
    ++tested[form];
    if (j.verdict != Verdict::Exact && j.verdict != Verdict::WithinBound) differs.insert(form);
  }
  for (const Case& one : all)
    if (isComparable(one)) ++of[one.listedAs()];
  std::vector<KnownDifference> list;
  for (const KnownDifference& k : known_)
    if (!differs.contains(k.form) && tested[k.form] == of[k.form]) list.push_back(k);
  return list;
}

std::vector<const Case*> sample(const std::vector<Case>& cases, const Comparison& comparison, unsigned every) {
  std::set<const ptx::Form*> forms;
  std::vector<const Case*> list;
  for (const Case& one : cases) {
    if (!comparison.isComparable(one)) continue;
    // A CPU driver compiles a matrix instruction for many seconds.
    const bool isMatrix = every > 1 && one.form->chapter == "Matrix";
    const bool isFirst = !isMatrix && forms.insert(one.form).second;
    if (one.key() % (isMatrix ? every * 4 : every) == 0 || isFirst) list.push_back(&one);
  }
  return list;
}

size_t Comparison::count(Verdict verdict) const {
  return static_cast<size_t>(
      std::count_if(judgements_.begin(), judgements_.end(), [&](const Judgement& j) { return j.verdict == verdict; }));
}

std::string Comparison::table() const {
  struct Row {
    Counts forms{}, cases{};
  };
  std::map<std::string, Row> chapters;
  const std::map<std::string, Counts> forms = countsByForm(judgements_);
  std::set<std::string> counted;
  for (const Judgement& j : judgements_)
    for (const std::string& name : {std::string(j.one->form->chapter), std::string("~")}) {
      Row& row = chapters[name];
      ++row.cases[static_cast<size_t>(j.verdict)];
      if (const std::string form = j.one->instruction(); counted.insert(name + form).second)
        ++row.forms[worstOf(forms.at(form))];
    }
  std::ostringstream text;
  text << "| chapter | forms |";
  for (unsigned i = 0; i < kVerdicts; ++i) text << ' ' << nameOf(static_cast<Verdict>(i)) << " |";
  text << " cases | exact |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, row] : chapters) {
    size_t all = 0, cases = 0;
    for (size_t count : row.forms) all += count;
    for (size_t count : row.cases) cases += count;
    text << "| " << (name == "~" ? "all" : name) << " | " << all;
    for (size_t count : row.forms) text << " | " << count;
    text << " | " << cases << " | " << row.cases[0] << " |\n";
  }
  return text.str();
}

std::string Comparison::formTable() const {
  std::ostringstream text;
  text << "| form | cases |";
  for (unsigned i = 0; i < kVerdicts; ++i) text << ' ' << nameOf(static_cast<Verdict>(i)) << " |";
  text << "\n|---|---|---|---|---|---|---|\n";
  for (const auto& [name, counts] : countsByForm(judgements_)) {
    size_t all = 0;
    for (size_t count : counts) all += count;
    text << "| " << name << " | " << all;
    for (size_t count : counts) text << " | " << count;
    text << " |\n";
  }
  return text.str();
}

std::string Comparison::unlisted(const std::string& device) const {
  std::map<std::string, std::string> bounds;
  for (const Judgement& j : judgements_) {
    if (j.verdict != Verdict::Wrong) continue;
    std::string bound = "?";
    for (const char* known : {"refused", "NaN bits", "skipped rows"})
      if (j.detail.substr(0, j.detail.find('\n')).find(known) != std::string::npos) bound = known;
    std::string& all = bounds[j.one->listedAs()];
    all = all.empty() || all == bound ? bound : "?";
  }
  std::string text;
  for (const auto& [form, bound] : bounds) text += form + " | " + device + " | * | " + bound + " | ?\n";
  return text;
}

}  // namespace mulciber::conformance
