// Arithmetic of matrix instructions on registers that hold several values: products, and sums of products.
#pragma once

#include "translator/lower/float_formats.h"

namespace mulciber::lower {

class MatrixWords {
 public:
  // The types of A and B; of single bits `.and` or `.xor` is the product.
  MatrixWords(FunctionLowering& lowering, const ptx::Instruction& which, ptx::Type ofA, ptx::Type ofB)
      : f(lowering), b(lowering.b), instruction(which), a_(ofA), b_(ofB) {}

  ir::Type type() const { return a_ == ptx::Type::F64 ? ir::F64 : ir::I32; }  // of a register
  ir::Type sumType() const;

  // A register's values as they are multiplied: single floats, or words of four bytes or of 32 bits.
  using Parts = std::vector<Value>;
  Parts partsOfA(Value word) { return parts(word, a_); }
  Parts partsOfB(Value word) { return parts(word, b_); }
  // The sum and all products of the two registers' values. Products are exact but for f64's; each sum is rounded.
  Value addProducts(Value sum, const Parts& x, const Parts& y);

  // Of every four 16-bit or 8-bit pieces of B in the words the two that the metadata names: its lowest four bits for
  // the first four, the next ones for what follows.
  Value compress(Value low, Value high, Value metadata);
  unsigned pieceBits() const { return ptx::bitWidth(a_) > 8 ? 16 : 8; }

  // Registers of A, of `rows` blocks of rows, and of B as a matrix unit takes them: 4 bytes along k in each word. Those
  // of four bits become bytes; A and B in the same order. A number of tf32 becomes two of bf16, whose sum it is.
  std::vector<Value> unitWordsOfA(const std::vector<Value>& registers, unsigned rows);
  std::vector<Value> unitWordsOfB(const std::vector<Value>& registers);

  // C and D as they are summed in: of f16, one register holds two.
  std::vector<Value> readSums(const ptx::Operand& operand, ptx::Type type) {
    return readSums(operand, type, sumType());
  }
  std::vector<Value> readSums(const ptx::Operand& operand, ptx::Type type, ir::Type sum);
  void writeSums(const ptx::Operand& operand, ptx::Type type, const std::vector<Value>& sums);
  Value addSaturated(Value sum, Value products);

 private:
  Parts parts(Value word, ptx::Type type);
  struct BrainFloats;
  BrainFloats split(Value number);
  Value saturateFinite(Value sum, ptx::Type type);

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
  ptx::Type a_, b_;
};

// The registers of a fragment, {a, b, ...} or one without braces.
std::span<const ptx::Operand> fragment(const ptx::Operand& operand);

// mma, mma.sp and wmma.mma.
void lowerMatrixProduct(FunctionLowering& f, const ptx::Instruction& instruction);

}  // namespace mulciber::lower
