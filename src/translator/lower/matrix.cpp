// Products of matrices: mma, mma.sp and wmma.mma, on any device, by shuffles and plain arithmetic. Each lane computes
// its elements of D from rows of A and columns of B that the lanes of their quads hold.
#include <array>

#include "translator/lower/families.h"
#include "translator/lower/matrix_shape.h"
#include "translator/lower/matrix_units.h"
#include "translator/lower/matrix_words.h"
#include "translator/lower/warp_tools.h"

namespace mulciber::lower {

using ptx::Mod;
using ptx::Type;

namespace {

class MatrixProduct {
 public:
  MatrixProduct(FunctionLowering& lowering, const ptx::Instruction& which)
      : f(lowering),
        b(lowering.b),
        instruction(which),
        shape_(matrixShape(which)),
        // wmma.mma of f16 names the types of D and C alone.
        types_(which.typeCount == 2 ? Types{which.type(0), Type::F16, Type::F16, which.type(1)}
                                    : Types{which.type(0), which.type(1), which.type(2), which.type(3)}),
        words_(lowering, which, types_.a, types_.b),
        warp_(WarpTools::ofWholeWarp(lowering)),
        lane_(lowering.laneId()) {}

  void lower() {
    const bool isOfQuadPairs = instruction.opcode == ptx::Opcode::Mma && shape_.k == 4 && types_.a == Type::F16;
    if (isOfQuadPairs) return multiplyByQuadPairs();
    const bool sumsHalves = types_.c == Type::F16 && types_.d == Type::F16;
    std::optional<MatrixUnit> unit;
    if (!isSparse()) {
      if (sumsHalves) unit = MatrixUnit::find(f.profile(), types_.a, types_.b, ir::F16);
      if (!unit) unit = MatrixUnit::find(f.profile(), types_.a, types_.b, words_.sumType());
    }
    return unit ? multiplyOn(*unit) : multiply();
  }

 private:
  struct Types {
    Type d, a, b, c;
  };

  bool isSparse() const { return instruction.has(Mod::sp) || instruction.has(Mod::sp_ordered_metadata); }
  Value atLane(Value base, unsigned more) { return b.add(base, b.i32(more)); }

  std::vector<Value> readWords(const ptx::Operand& operand) {
    std::vector<Value> result;
    for (const ptx::Operand& element : fragment(operand)) result.push_back(f.value(element, words_.type()));
    return result;
  }

  void multiplyOn(const MatrixUnit& unit) {
    const unsigned inner = shape_.k / (4 * packedValues(types_.a));
    std::vector<Value> a = readWords(instruction.operands[1]), columns = readWords(instruction.operands[2]);
    a.resize(inner * shape_.rowBlocks());  // fragments of wmma repeat what they hold
    columns.resize(inner * shape_.columnBlocks());
    std::vector<Value> c = words_.readSums(instruction.operands[3], types_.c, unit.sumType());
    const bool isSaturating = words_.sumType() == ir::I32 && instruction.has(Mod::satfinite);
    std::vector<Value> sums = isSaturating ? std::vector<Value>(c.size(), b.i32(0)) : c;
    unit.addProducts(b, shape_, words_.unitWordsOfA(a, shape_.rowBlocks()), words_.unitWordsOfB(columns), sums);
    for (size_t i = 0; isSaturating && i < c.size(); i++) sums[i] = words_.addSaturated(c[i], sums[i]);
    words_.writeSums(instruction.operands[0], types_.d, sums);
  }

  // In step s each lane takes from lane s of a quad what that holds of a row of A and of a column of B.
  void multiply() {
    const unsigned innerOfA = shape_.k / (4 * packedValues(types_.a)) / (isSparse() ? 2 : 1);
    const std::vector<Value> a = readWords(instruction.operands[1]), columns = readWords(instruction.operands[2]);
    std::vector<Value> c = words_.readSums(instruction.operands[3], types_.c);
    const bool isSaturating = words_.sumType() == ir::I32 && instruction.has(Mod::satfinite);
    std::vector<ir::VariableId> sums;
    for (Value value : c) {
      sums.push_back(b.function().addVariable(words_.sumType(), "sum"));
      b.write(sums.back(), isSaturating ? b.i32(0) : value);
    }
    readMetadata(innerOfA);
    // Each product of f64 is rounded, and hardware adds them by ascending k.
    const unsigned together = types_.a == Type::F64 ? 1 : innerOfA;
    for (unsigned inner = 0; inner < innerOfA; inner += together) addBlocks(a, columns, sums, inner, inner + together);
    for (size_t i = 0; i < c.size(); i++)
      c[i] = isSaturating ? words_.addSaturated(c[i], b.read(sums[i])) : b.read(sums[i]);
    words_.writeSums(instruction.operands[0], types_.d, c);
  }

  // Adds the products of the blocks of k from `begin` to `end`, as registers of A hold them.
  void addBlocks(const std::vector<Value>& a, const std::vector<Value>& columns,
                 const std::vector<ir::VariableId>& sums, unsigned begin, unsigned end) {
    // Products of f64 that share rows or columns share these shuffles too, where no loop keeps them apart.
    if (types_.a == Type::F64 && f.profile().hasWarps()) {
      for (unsigned step = 0; step < 4; step++) addStep(a, columns, sums, begin, end, b.i32(step));
      return;
    }
    ir::VariableId steps = b.function().addVariable(ir::I32, "step");
    b.write(steps, b.i32(0));
    f.beginLoop();
    Value step = b.read(steps);
    addStep(a, columns, sums, begin, end, step);
    Value next = b.add(step, b.i32(1));
    b.write(steps, next);
    f.endLoop(b.compare(ir::Op::ULt, next, b.i32(4)));
  }

  void addStep(const std::vector<Value>& a, const std::vector<Value>& columns, const std::vector<ir::VariableId>& sums,
               unsigned begin, unsigned end, Value step) {
    const unsigned rowBlocks = shape_.rowBlocks(), innerOfB = shape_.k / (4 * packedValues(types_.a));
    Value quad = b.bitAnd(lane_, b.i32(28)), first = b.shl(b.bitAnd(lane_, b.i32(3)), b.i32(3));
    std::vector<MatrixWords::Parts> rows;
    for (unsigned i = rowBlocks * begin; i < rowBlocks * end; i++)
      rows.push_back(words_.partsOfA(warp_.shuffle(a[i], b.add(quad, step))));
    for (unsigned i = 0; i < 2 * shape_.columnBlocks(); i++) {
      const unsigned block = i / 2;
      Value lanes = atLane(first, 4 * (i % 2));  // of a column
      for (unsigned j = begin; j < end; j++) {
        const size_t at = block * innerOfB + (isSparse() ? 2 * j : j);
        std::vector<MatrixWords::Parts> column;  // one for each block of rows
        if (isSparse()) column = compressed(columns[at], columns[at + 1], lanes, step, j);
        else column.assign(rowBlocks, words_.partsOfB(warp_.shuffle(columns[at], b.add(lanes, step))));
        for (unsigned r = 0; r < rowBlocks; r++) {
          ir::VariableId sum = sums[2 * (block * rowBlocks + r) + i % 2];
          b.write(sum, words_.addProducts(b.read(sum), rows[(j - begin) * rowBlocks + r], column[r]));
        }
      }
    }
  }

  // A of a sparse product has half of every four 16-bit or 8-bit pieces along k, and the metadata says which. A row's
  // bits for one register of A lie in 16 bits of one lane, where rows g and g + 8 share a word, or in a word of their
  // own; the selector says which lanes of each quad have them.
  void readMetadata(unsigned innerOfA) {
    if (!isSparse()) return;
    const unsigned words = words_.pieceBits() == 16 ? 1 : 2;
    Value metadata = f.value(instruction.operands[4], ir::I32);
    const auto begin = static_cast<unsigned>(instruction.operands[5].bits) * words * innerOfA;
    Value quad = b.bitAnd(lane_, b.i32(28));
    for (unsigned i = 0; i < words * innerOfA; i++)
      metadata_.push_back(warp_.shuffle(metadata, atLane(quad, begin + i)));
  }

  std::vector<MatrixWords::Parts> compressed(Value even, Value odd, Value lanes, Value step, unsigned inner) {
    // Two neighbouring registers of the dense column's lanes go with one of A.
    Value word = b.select(b.compare(ir::Op::ULt, step, b.i32(2)), even, odd);
    Value from = b.add(lanes, b.shl(b.bitAnd(step, b.i32(1)), b.i32(1)));
    Value low = warp_.shuffle(word, from), high = warp_.shuffle(word, atLane(from, 1));
    std::vector<MatrixWords::Parts> result;
    for (unsigned r = 0; r < shape_.rowBlocks(); r++) {
      const bool isShared = words_.pieceBits() == 16;
      Value bits = isShared ? b.lshr(metadata_[inner], b.i32(16 * r)) : metadata_[2 * inner + r];
      Value which = b.lshr(bits, b.shl(step, b.i32(isShared ? 2 : 3)));
      result.push_back(words_.partsOfB(words_.compress(low, high, which)));
    }
    return result;
  }

  // m8n8k4 of f16: four products, each of two quads, 16 lanes apart. In .row of A and .col of B lane l of a quad holds
  // row or column l, in the upper quad l + 4, in two registers.
  void multiplyByQuadPairs() {
    std::vector<Value> rows = readWords(instruction.operands[1]), columns = readWords(instruction.operands[2]);
    bool isOfA = true;
    for (Mod modifier : instruction.modifiers) {
      if (modifier != Mod::row && modifier != Mod::col) continue;
      if (modifier != (isOfA ? Mod::row : Mod::col)) transpose(isOfA ? rows : columns);
      isOfA = false;
    }
    const bool isSingle = types_.d == Type::F32;
    const ptx::Operand& c = instruction.operands[3];
    std::vector<Value> sums = isSingle && types_.c == Type::F16 ? spread(c) : words_.readSums(c, types_.c);
    Value quad = b.bitAnd(lane_, b.i32(28));
    // Of f16 a lane has its own row of D; of f32 two rows, two columns apart each.
    std::array<MatrixWords::Parts, 2> row[2];
    for (unsigned i = 0; i < (isSingle ? 2u : 1u); i++) {
      Value from = atLane(b.bitOr(quad, b.bitAnd(lane_, b.i32(1))), 2 * i);
      for (unsigned j = 0; j < 2; j++) row[i][j] = words_.partsOfA(isSingle ? warp_.shuffle(rows[j], from) : rows[j]);
    }
    Value base = b.bitAnd(lane_, b.i32(isSingle ? 14 : 12));
    const std::vector<unsigned> offsets =
        isSingle ? std::vector<unsigned>{0, 1, 4, 5} : std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7};
    for (unsigned offset : offsets) {
      Value from = atLane(base, offset % 4 + offset / 4 * 16);
      for (unsigned j = 0; j < 2; j++) {
        MatrixWords::Parts column = words_.partsOfB(warp_.shuffle(columns[j], from));
        for (unsigned i = 0; i < (isSingle ? 2u : 1u); i++) {
          Value& sum = sums[offset + 2 * i];
          sum = words_.addProducts(sum, row[i][j], column);
        }
      }
    }
    words_.writeSums(instruction.operands[0], types_.d, sums);
  }

  // Lane l of a quad has four values, of k = l; it gets the values l of all four lanes.
  void transpose(std::vector<Value>& words) {
    Value quad = b.bitAnd(lane_, b.i32(28)), isHigh = b.compare(ir::Op::INe, b.bitAnd(lane_, b.i32(2)), b.i32(0));
    Value shift = b.shl(b.bitAnd(lane_, b.i32(1)), b.i32(4));
    std::array<Value, 4> values;
    for (unsigned k = 0; k < 4; k++) {
      Value low = warp_.shuffle(words[0], atLane(quad, k)), high = warp_.shuffle(words[1], atLane(quad, k));
      values[k] = b.bitAnd(b.lshr(b.select(isHigh, high, low), shift), b.i32(0xFFFF));
    }
    for (unsigned j = 0; j < 2; j++) words[j] = b.bitOr(values[2 * j], b.shl(values[2 * j + 1], b.i32(16)));
  }

  // C of f16, as f32's D lies.
  std::vector<Value> spread(const ptx::Operand& operand) {
    std::vector<Value> sums(8), words;
    for (const ptx::Operand& element : fragment(operand)) words.push_back(f.value(element, ir::I32));
    Value isHigh = b.compare(ir::Op::INe, b.bitAnd(lane_, b.i32(2)), b.i32(0));
    for (unsigned i = 0; i < 2; i++) {
      Value from = atLane(b.bitAnd(lane_, b.i32(29)), 2 * i);
      for (unsigned j = 0; j < 2; j++) {
        Value low = warp_.shuffle(words[2 * j], from), high = warp_.shuffle(words[2 * j + 1], from);
        Value halves = b.bitcast(ir::F16.withLanes(2), b.select(isHigh, high, low));
        for (unsigned h = 0; h < 2; h++)
          sums[4 * j + 2 * i + h] = b.convert(ir::Op::FConvert, ir::F32, b.extract(halves, h));
      }
    }
    return sums;
  }

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
  MatrixShape shape_;
  Types types_;
  MatrixWords words_;
  WarpTools warp_;
  Value lane_;
  std::vector<Value> metadata_;
};

}  // namespace

void lowerMatrixProduct(FunctionLowering& f, const ptx::Instruction& instruction) {
  for (Mod modifier : {Mod::kind_f8f6f4, Mod::kind_mxf8f6f4, Mod::kind_mxf4, Mod::kind_mxf4nvf4})
    if (instruction.has(modifier))
      return f.refuse(instruction, "matrices of less than 8 bits with a scale are not supported");
  MatrixProduct(f, instruction).lower();
}

}  // namespace mulciber::lower
