// The texts a module came from. A SourceOffset counts through all of them, so that one number names a place also in
// a module linked from several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mulciber/translator.h"
#include "translator/ptx/ast.h"

namespace mulciber::ptx {

class SourceText {
 public:
  struct Place {
    std::string_view file, text;    // text: of the whole file
    uint32_t offset = 0;            // in it
    uint32_t line = 0, column = 0;  // 1-based; columns count bytes
  };

  // Neither view is copied. Returns the SourceOffset of the text's first byte.
  SourceOffset add(std::string_view text, std::string_view file);

  // Adds all texts of another; returns by how much its offsets are moved.
  SourceOffset append(const SourceText& other);
  bool contains(std::string_view word) const;
  size_t size() const;  // of all texts

  Place place(SourceOffset where) const;              // takes time linear in the text: for messages only
  std::string_view textAt(SourceOffset where) const;  // from there to the end of its file

  // Adds a message that points at `where`. The underlined piece is `length` bytes, or with 0 the word that begins
  // there.
  void report(Diagnostics& diagnostics, Diagnostics::Severity severity, SourceOffset where, std::string text,
              uint32_t length = 0) const;
  void error(Diagnostics& diagnostics, SourceOffset where, std::string text, uint32_t length = 0) const {
    report(diagnostics, Diagnostics::Severity::Error, where, std::move(text), length);
  }

 private:
  struct File {
    std::string_view text, name;
    SourceOffset begin;
  };
  const File* find(SourceOffset where) const;

  std::vector<File> files_;  // by begin
};

}  // namespace mulciber::ptx
