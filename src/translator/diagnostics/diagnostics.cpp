#include "mulciber/translator.h"

namespace mulciber {
namespace {

const char* name(Diagnostics::Severity severity) {
  switch (severity) {
    case Diagnostics::Severity::Note: return "note";
    case Diagnostics::Severity::Warning: return "warning";
    case Diagnostics::Severity::Error: return "error";
  }
  return "error";
}

const char* colourOf(Diagnostics::Severity severity) {
  switch (severity) {
    case Diagnostics::Severity::Note: return "\033[1;36m";
    case Diagnostics::Severity::Warning: return "\033[1;35m";
    case Diagnostics::Severity::Error: return "\033[1;31m";
  }
  return "";
}

void appendPlace(std::string& out, const Diagnostics::Message& message) {
  if (message.file.empty()) return;
  out += message.file;
  if (message.line != 0) {
    out += ':' + std::to_string(message.line);
    if (message.column != 0) out += ':' + std::to_string(message.column);
  }
  out += ": ";
}

// The source line, and below it a caret and underline. Tabs are repeated so that the caret stands where it should.
void appendExcerpt(std::string& out, const Diagnostics::Message& message, bool colour) {
  const std::string& line = message.sourceLine;
  if (line.empty()) return;
  out += line;
  out += '\n';
  for (uint32_t i = 0; i < message.caret; ++i) out += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  if (colour) out += "\033[1;32m";
  out += '^';
  if (message.length > 1) out.append(message.length - 1, '~');
  if (colour) out += "\033[0m";
  out += '\n';
}

}  // namespace

void Diagnostics::add(Message message) {
  if (isFull()) return;
  if (message.severity == Severity::Error && ++errorCount_ > kMaxErrors) {
    messages_.push_back({Severity::Error, {}, 0, 0, "too many errors, the rest is not shown", {}, 1, 0});
    return;
  }
  messages_.push_back(std::move(message));
}

std::string Diagnostics::toString(bool colour) const {
  std::string out;
  for (const Message& message : messages_) {
    if (colour) out += "\033[1m";
    appendPlace(out, message);
    if (colour) out += colourOf(message.severity);
    out += name(message.severity);
    out += ": ";
    if (colour) out += "\033[0m\033[1m";
    out += message.text;
    if (colour) out += "\033[0m";
    out += '\n';
    appendExcerpt(out, message, colour);
  }
  return out;
}

}  // namespace mulciber
