#include "translator/lower/lop3.h"

#include <array>
#include <vector>

namespace mulciber::lower {
namespace {

enum class Form : uint8_t { Unknown, Constant, A, B, C, Not, And, Or, Xor };

struct Expression {
  Form form = Form::Unknown;
  uint8_t left = 0, right = 0;  // truth tables of the operands
  uint8_t cost = 0;
};
using Table = std::array<Expression, 256>;

// Expressions by rising cost: every table is entered when it is first met, so by its cheapest form.
Table search() {
  Table table{};
  std::vector<std::vector<uint8_t>> byCost(1);
  unsigned known = 0;
  auto enter = [&](uint8_t truth, Expression expression) {
    if (table[truth].form != Form::Unknown) return;
    table[truth] = expression;
    byCost[expression.cost].push_back(truth);
    known++;
  };
  enter(0x00, {Form::Constant, 0, 0, 0});
  enter(0xFF, {Form::Constant, 0, 0, 0});
  enter(0xF0, {Form::A, 0, 0, 0});
  enter(0xCC, {Form::B, 0, 0, 0});
  enter(0xAA, {Form::C, 0, 0, 0});
  uint8_t cost = 0;
  while (known < 256) {
    ++cost;
    byCost.emplace_back();
    for (uint8_t truth : byCost[cost - 1u]) enter(static_cast<uint8_t>(~truth), {Form::Not, truth, 0, cost});
    for (unsigned leftCost = 0; 2 * leftCost + 1 <= cost; leftCost++) {
      for (uint8_t left : byCost[leftCost]) {
        for (uint8_t right : byCost[cost - 1u - leftCost]) {
          enter(left & right, {Form::And, left, right, cost});
          enter(left | right, {Form::Or, left, right, cost});
          enter(left ^ right, {Form::Xor, left, right, cost});
        }
      }
    }
  }
  return table;
}

const Table& expressions() {
  static const Table table = search();
  return table;
}

}  // namespace

ir::Instruction* emitTruthTable(ir::Builder& b, uint8_t table, ir::Instruction* x, ir::Instruction* y,
                                ir::Instruction* z) {
  const Expression& e = expressions()[table];
  auto operand = [&](uint8_t truth) { return emitTruthTable(b, truth, x, y, z); };
  switch (e.form) {
    case Form::A: return x;
    case Form::B: return y;
    case Form::C: return z;
    case Form::Not: return b.bitNot(operand(e.left));
    case Form::And: return b.bitAnd(operand(e.left), operand(e.right));
    case Form::Or: return b.bitOr(operand(e.left), operand(e.right));
    case Form::Xor: return b.bitXor(operand(e.left), operand(e.right));
    default: return b.constant(x->type, table ? ~uint64_t(0) : 0);
  }
}

}  // namespace mulciber::lower
