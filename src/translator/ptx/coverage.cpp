#include "translator/ptx/coverage.h"

#include <vector>

#include "translator/ptx/target.h"

namespace mulciber::ptx {
namespace {

std::string versionText(const Form& form) {
  auto number = [](uint8_t version) { return std::to_string(version / 10) + '.' + std::to_string(version % 10); };
  std::string text = number(form.requires_.version);
  if (form.requires_.earlyVersion != 0)
    text += " (" + number(form.requires_.earlyVersion) + " for " + describeRule(form.requires_.earlyTarget()) + ')';
  if (form.removed.version != 0) text += ", before " + number(form.removed.version);
  if (form.removed.rule != 0) text += " on " + describeRule(form.removed.target());
  return text;
}

// | and line ends would end a cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

}  // namespace

std::string coverageTable(const TranslatedColumn& translated) {
  std::string text =
      "# Instructions of PTX\n\n"
      "Every form that the parser and the verifier know, with the ISA version and the target that it needs; single\n"
      "modifiers may need more. Written by `ptx-coverage` from `src/translator/ptx/instruction_table.txt`, whose head\n"
      "explains the notation.\n";
  if (translated)
    text +=
        "\n`Translated` was found by lowering instances of the form, each modifier in turn, for a device that offers\n"
        "everything: `in part` where some are refused. What is not translated is refused by its name and line.\n";
  std::vector<std::string_view> chapters;
  for (const Form& form : allForms()) {
    bool known = false;
    for (std::string_view chapter : chapters) known |= chapter == form.chapter;
    if (!known) chapters.push_back(form.chapter);
  }
  for (std::string_view chapter : chapters) {
    text += "\n## " + std::string(chapter) + "\n\n| Form | Version | Target |";
    text += translated ? " Translated |\n| --- | --- | --- | --- |\n" : "\n| --- | --- | --- |\n";
    for (const Form& form : allForms()) {
      if (form.chapter != chapter) continue;
      std::string target = form.requires_.rule == 0 ? "any" : describeRule(form.requires_.target());
      text += "| `" + cell(form.text) + "` | " + versionText(form) + " | " + target + " |";
      if (translated) text += ' ' + cell(translated(form)) + " |";
      text += '\n';
    }
  }
  return text;
}

}  // namespace mulciber::ptx
