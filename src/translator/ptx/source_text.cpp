#include "translator/ptx/source_text.h"

#include <algorithm>
#include <cstring>

namespace mulciber::ptx {
namespace {

bool isWordCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

// The length of the word at the beginning of `text`: at least 1.
uint32_t wordLength(std::string_view text) {
  size_t length = text.empty() ? 1 : 1 + (text.size() > 1 && text.starts_with("::"));
  if (text.empty() || !(isWordCharacter(text[0]) || text[0] == '.')) return static_cast<uint32_t>(length);
  while (length < text.size() && isWordCharacter(text[length])) ++length;
  return static_cast<uint32_t>(length);
}

}  // namespace

SourceOffset SourceText::add(std::string_view text, std::string_view file) {
  // One past the end belongs to each file too: that is where an unfinished one is complained about.
  const auto begin = static_cast<SourceOffset>(size());
  files_.push_back({text, file, begin});
  return begin;
}

SourceOffset SourceText::append(const SourceText& other) {
  const auto shift = static_cast<SourceOffset>(size());
  for (const File& file : other.files_) files_.push_back({file.text, file.name, file.begin + shift});
  return shift;
}

size_t SourceText::size() const { return files_.empty() ? 0 : files_.back().begin + files_.back().text.size() + 1; }

bool SourceText::contains(std::string_view word) const {
  return std::any_of(files_.begin(), files_.end(),
                     [&](const File& file) { return file.text.find(word) != file.text.npos; });
}

const SourceText::File* SourceText::find(SourceOffset where) const {
  auto after = std::upper_bound(files_.begin(), files_.end(), where,
                                [](SourceOffset offset, const File& file) { return offset < file.begin; });
  if (after == files_.begin()) return nullptr;
  const File& file = *std::prev(after);
  return where - file.begin <= file.text.size() ? &file : nullptr;
}

std::string_view SourceText::textAt(SourceOffset where) const {
  const File* file = find(where);
  return file ? file->text.substr(where - file->begin) : std::string_view();
}

SourceText::Place SourceText::place(SourceOffset where) const {
  const File* file = find(where);
  if (!file) return {};
  Place place{file->name, file->text, where - file->begin, 1, 1};
  std::string_view before = file->text.substr(0, place.offset);
  place.line += static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n'));
  size_t lineStart = before.rfind('\n');
  place.column = place.offset - static_cast<uint32_t>(lineStart == before.npos ? 0 : lineStart + 1) + 1;
  return place;
}

void SourceText::report(Diagnostics& diagnostics, Diagnostics::Severity severity, SourceOffset where, std::string text,
                        uint32_t length) const {
  if (diagnostics.isFull()) return;
  Place at = place(where);
  Diagnostics::Message message{severity, std::string(at.file), at.line, at.column, std::move(text), {}, 1, 0};
  if (at.line != 0) {
    size_t lineStart = at.offset - (at.column - 1);
    std::string_view line =
        at.text.substr(lineStart, std::min(at.text.find('\n', at.offset), at.text.size()) - lineStart);
    if (line.ends_with('\r')) line.remove_suffix(1);
    // Of a very long line only the surroundings are shown.
    constexpr size_t kBefore = 100, kShown = 160;
    size_t cut = at.column - 1 > kBefore + 20 ? at.column - 1 - kBefore : 0;
    std::string_view shown = line.substr(std::min(cut, line.size())).substr(0, kShown);
    message.caret = static_cast<uint32_t>(at.column - 1 - cut);
    if (cut != 0) {
      message.sourceLine = "...";
      message.caret += 3;
    }
    message.sourceLine += shown;
    if (cut + shown.size() < line.size()) message.sourceLine += "...";
    for (char& c : message.sourceLine)
      if (static_cast<unsigned char>(c) < ' ' && c != '\t') c = '?';
    message.length = length != 0 ? length : wordLength(textAt(where));
    size_t room = message.sourceLine.size() > message.caret ? message.sourceLine.size() - message.caret : 1;
    message.length = static_cast<uint32_t>(std::min<size_t>(message.length, room));
  }
  diagnostics.add(std::move(message));
}

}  // namespace mulciber::ptx
