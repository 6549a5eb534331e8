#include "translator/ptx/instruction_table.h"

#include <algorithm>
#include <iterator>

namespace mulciber::ptx {
namespace {

#include "instruction_table.inc"

}  // namespace

std::string_view Requirement::target() const { return kTargetRules[rule]; }
std::string_view Requirement::earlyTarget() const { return kTargetRules[earlyRule]; }
std::span<const std::string_view> targetRules() { return kTargetRules; }

std::span<const Form> allForms() { return kForms; }

std::span<const Form> formsOf(Opcode opcode) {
  auto less = [](const Form& form, Opcode wanted) { return form.opcode < wanted; };
  const Form* begin = std::lower_bound(std::begin(kForms), std::end(kForms), opcode, less);
  const Form* end = begin;
  while (end != std::end(kForms) && end->opcode == opcode) ++end;
  return {begin, end};
}

unsigned countOf(FormCount kind, Mod mod) {
  std::string_view word = spelling(mod);
  auto numberAt = [&](size_t position) {
    unsigned number = 0;
    for (; position < word.size() && word[position] >= '0' && word[position] <= '9'; ++position)
      number = number * 10 + static_cast<unsigned>(word[position] - '0');
    return number;
  };
  switch (kind) {
    case FormCount::Vector: return mod == Mod::v2 || mod == Mod::v4 || mod == Mod::v8 ? numberAt(1) : 0;
    case FormCount::Matrices: return word[0] == 'x' ? numberAt(1) : 0;
    case FormCount::WgmmaColumns: return word.starts_with("m64n") ? numberAt(4) : 0;
    case FormCount::TensorCoordinates:
    case FormCount::Im2colOffsets: {
      unsigned dimensions = word.size() == 2 && word[1] == 'd' ? numberAt(0) : 0;
      if (kind == FormCount::TensorCoordinates || dimensions < 3) return dimensions;
      return dimensions - 2;
    }
    case FormCount::Coordinates:
    case FormCount::Gradients:
    case FormCount::Offsets: {
      static constexpr struct {
        Mod mod;
        uint8_t coordinates, gradients, offsets;
      } kGeometries[] = {{Mod::_1d, 1, 1, 1},   {Mod::_2d, 2, 2, 2},   {Mod::_3d, 4, 4, 4},
                         {Mod::a1d, 2, 1, 1},   {Mod::a2d, 4, 2, 2},   {Mod::cube, 4, 4, 0},
                         {Mod::acube, 4, 4, 0}, {Mod::_2dms, 4, 0, 2}, {Mod::a2dms, 4, 0, 2}};
      for (const auto& geometry : kGeometries)
        if (geometry.mod == mod)
          return kind == FormCount::Coordinates ? geometry.coordinates
                 : kind == FormCount::Gradients ? geometry.gradients
                                                : geometry.offsets;
      return 0;
    }
    case FormCount::Scalar:
    case FormCount::Fixed: return 0;
  }
  return 0;
}

}  // namespace mulciber::ptx
