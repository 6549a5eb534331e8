// Fragments of matrices to and from memory, and from lane to lane: ldmatrix, stmatrix, movmatrix, wmma.load,
// wmma.store.
#include "translator/lower/families.h"
#include "translator/lower/matrix_shape.h"
#include "translator/lower/matrix_words.h"
#include "translator/lower/memory_access.h"
#include "translator/lower/warp_tools.h"

namespace mulciber::lower {

using ptx::Mod;
using Address = FunctionLowering::Address;

namespace {

Value loadBits(ir::Builder& b, const Address& address, unsigned bits) {
  Value loaded = b.load(ir::intType(bits), address.value, plainAccess(address, bits / 8));
  return bits < 32 ? b.convert(ir::Op::ZExt, ir::I32, loaded) : loaded;
}

void storeBits(ir::Builder& b, const Address& address, Value word, unsigned bits) {
  Value stored = bits < 32 ? b.convert(ir::Op::Trunc, ir::intType(bits), word) : word;
  b.store(address.value, stored, plainAccess(address, bits / 8));
}

// ldmatrix and stmatrix of 8x8 matrices of 16 bits. Lane 8 * j + i has the address of row i of matrix j. Lane 4 * g + t
// has the values 2 * t and 2 * t + 1 of row g, or with .trans of column g.
class SharedMatrices {
 public:
  SharedMatrices(FunctionLowering& lowering, const ptx::Instruction& which)
      : f(lowering), b(lowering.b), instruction(which), warp_(WarpTools::ofWholeWarp(lowering)) {}

  void load() {
    std::span<const ptx::Operand> registers = prepare(instruction.operands[0], instruction.operands[1]);
    std::vector<Value> words;
    if (loadsRows() && registers.size() > 1) {
      const Address rows{rows_, ir::Space::Shared, 16};
      Value loaded = b.emit(ir::Op::LoadRows, ir::I32.withLanes(static_cast<uint8_t>(registers.size())), {rows_},
                            instruction.has(Mod::trans));
      loaded->memory = plainAccess(rows, 16);
      for (unsigned j = 0; j < registers.size(); j++) f.write(registers[j], b.extract(loaded, j));
      return;
    }
    for (unsigned j = 0; j < registers.size(); j++) {
      std::vector<Address> places = placesOf(j);
      Value word = loadBits(b, places[0], 32 / static_cast<unsigned>(places.size()));
      if (places.size() == 2) word = b.bitOr(word, b.shl(loadBits(b, places[1], 16), b.i32(16)));
      words.push_back(word);
    }
    for (size_t j = 0; j < words.size(); j++) f.write(registers[j], words[j]);
  }

  void store() {
    std::span<const ptx::Operand> registers = prepare(instruction.operands[1], instruction.operands[0]);
    for (unsigned j = 0; j < registers.size(); j++) {
      Value word = f.value(registers[j], ir::I32);
      std::vector<Address> places = placesOf(j);
      storeBits(b, places[0], word, 32 / static_cast<unsigned>(places.size()));
      if (places.size() == 2) storeBits(b, places[1], b.lshr(word, b.i32(16)), 16);
    }
  }

 private:
  bool loadsRows() const {
    const TargetProfile& profile = f.profile();
    return profile.loadsMatrixRows && profile.hasWarps() && profile.float16 && profile.sharedExplicitLayout;
  }

  std::span<const ptx::Operand> prepare(const ptx::Operand& registers, const ptx::Operand& address) {
    // A generic address is one of shared memory.
    rows_ = resize(b, f.address(address, stateSpace(instruction)).value, ir::I32, false);
    Value lane = f.laneId();
    g_ = b.lshr(lane, b.i32(2));
    t_ = b.bitAnd(lane, b.i32(3));
    return fragment(registers);
  }

  // Where the lane's two values of matrix j are: side by side, or in two rows.
  std::vector<Address> placesOf(unsigned j) {
    // Rows are aligned, which drivers do not know.
    auto row = [&](Value which) { return b.bitAnd(warp_.shuffle(rows_, b.add(which, b.i32(8 * j))), b.i32(~15u)); };
    auto at = [&](Value begin, Value index, unsigned bytes) {
      return Address{b.add(begin, b.mul(index, b.i32(bytes))), ir::Space::Shared, 1};
    };
    if (!instruction.has(Mod::trans)) return {at(row(g_), t_, 4)};
    Value first = b.shl(t_, b.i32(1));
    return {at(row(first), g_, 2), at(row(b.add(first, b.i32(1))), g_, 2)};
  }

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
  WarpTools warp_;
  Value rows_ = nullptr, g_ = nullptr, t_ = nullptr;
};

bool isOfHalves(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (instruction.has(Mod::m8n8)) return true;
  f.refuse(instruction, "matrices of 8-bit and smaller values are not supported here");
  return false;
}

void lowerLdmatrix(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (isOfHalves(f, instruction)) SharedMatrices(f, instruction).load();
}

void lowerStmatrix(FunctionLowering& f, const ptx::Instruction& instruction) {
  if (isOfHalves(f, instruction)) SharedMatrices(f, instruction).store();
}

// An 8x8 matrix of 16 bits: row g of the result is column g of what the lanes have.
void lowerMovmatrix(FunctionLowering& f, const ptx::Instruction& instruction) {
  ir::Builder& b = f.b;
  WarpTools warp = WarpTools::ofWholeWarp(f);
  Value lane = f.laneId(), word = f.value(instruction.operands[1], ir::I32);
  Value shift = b.bitAnd(b.shl(lane, b.i32(2)), b.i32(16));  // 16 where g is odd
  Value from = b.bitOr(b.shl(b.bitAnd(lane, b.i32(3)), b.i32(3)), b.lshr(lane, b.i32(3)));
  Value low = b.lshr(warp.shuffle(word, from), shift), high = b.lshr(warp.shuffle(word, b.add(from, b.i32(4))), shift);
  f.write(instruction.operands[0], b.bitOr(b.bitAnd(low, b.i32(0xFFFF)), b.shl(high, b.i32(16))));
}

// wmma.load and wmma.store. Where a fragment of PTX has several times the registers that ours needs, it is repeated.
class WmmaFragment {
 public:
  WmmaFragment(FunctionLowering& lowering, const ptx::Instruction& which, const ptx::Operand& address)
      : f(lowering),
        b(lowering.b),
        instruction(which),
        shape_(matrixShape(which)),
        bits_(ptx::bitWidth(which.type())),
        base_(lowering.address(address, stateSpace(which))) {
    const bool isByRows = which.has(Mod::row), isOfA = which.has(Mod::a), isOfB = which.has(Mod::b);
    const unsigned rows = isOfB ? shape_.k : shape_.m, columns = isOfA ? shape_.k : shape_.n;
    stride_ = index(which.operands.size() > 2 ? f.value(which.operands[2], ir::I32) : b.i32(isByRows ? columns : rows));
    isAlongLine_ = isByRows != isOfB;
    places(isOfA, isOfB);
  }

  void load(std::span<const ptx::Operand> registers) {
    std::vector<Value> words;
    for (const Place& place : places_) words.push_back(loadWord(place));
    for (size_t i = 0; i < registers.size(); i++) f.write(registers[i], words[i % words.size()]);
  }

  void store(std::span<const ptx::Operand> registers) {
    for (size_t i = 0; i < places_.size(); i++) storeWord(places_[i], f.value(registers[i], wordType()));
  }

 private:
  // The first value of a register: its row of A or C, or column of B; and how far along that it is.
  struct Place {
    Value across, along;
  };

  void places(bool isOfA, bool isOfB) {
    Value lane = f.laneId(), g = index(b.lshr(lane, b.i32(2))), t = index(b.bitAnd(lane, b.i32(3)));
    auto atBlock = [&](Value base, unsigned first) { return b.add(base, b.constant(base->type, first)); };
    if (!isOfA && !isOfB) {
      perWord_ = bits_ == 16 ? 2 : 1;
      for (unsigned j = 0; j < shape_.columnBlocks(); j++)
        for (unsigned i = 0; i < shape_.rowBlocks(); i++)
          for (unsigned h = 0; h < 2; h += perWord_)
            places_.push_back({atBlock(g, 8 * i), atBlock(b.shl(t, b.i32(1)), 8 * j + h)});
      return;
    }
    perWord_ = packedValues(instruction.type());
    const unsigned inner = shape_.k / (4 * perWord_), blocks = isOfA ? shape_.rowBlocks() : shape_.columnBlocks();
    for (unsigned i = 0; i < blocks * inner; i++) {
      const unsigned block = isOfA ? i % blocks : i / inner, j = isOfA ? i / blocks : i % inner;
      Value along = b.mul(t, b.constant(t->type, perWord_));
      places_.push_back({atBlock(g, 8 * block), atBlock(along, 4 * j * perWord_)});
    }
  }

  ir::Type wordType() const { return bits_ == 64 ? ir::I64 : ir::I32; }
  Value index(Value number) { return resize(b, number, base_.value->type, false); }

  // Of the value that comes `more` after the first of a register.
  Address at(const Place& place, unsigned more) {
    Value along = b.add(place.along, b.constant(place.along->type, more));
    Value line = isAlongLine_ ? place.across : along, column = isAlongLine_ ? along : place.across;
    Value position = b.add(b.mul(line, stride_), column);
    Value bytes = bits_ < 8 ? b.lshr(position, b.i32(bits_ == 1 ? 3 : 1))
                            : b.mul(position, b.constant(position->type, bits_ / 8));
    return {b.add(base_.value, bytes), base_.space, 1};
  }

  Value loadWord(const Place& place) {
    if (isAlongLine_ || perWord_ == 1) return loadBits(b, at(place, 0), wordType().bits);
    Value word = nullptr;
    for (unsigned i = 0; i < perWord_; i++) {
      Value part = loadBits(b, at(place, i), bits_);
      word = word ? b.bitOr(word, b.shl(part, b.i32(i * bits_))) : part;
    }
    return word;
  }

  void storeWord(const Place& place, Value word) {
    if (isAlongLine_ || perWord_ == 1) return storeBits(b, at(place, 0), word, wordType().bits);
    for (unsigned i = 0; i < perWord_; i++) storeBits(b, at(place, i), b.lshr(word, b.i32(i * bits_)), bits_);
  }

  FunctionLowering& f;
  ir::Builder& b;
  const ptx::Instruction& instruction;
  MatrixShape shape_;
  unsigned bits_, perWord_ = 1;
  Address base_;
  Value stride_ = nullptr;
  bool isAlongLine_ = true;  // a register's values are neighbours in memory
  std::vector<Place> places_;
};

void lowerWmma(FunctionLowering& f, const ptx::Instruction& instruction) {
  std::span<const ptx::Operand> operands = instruction.operands;
  if (instruction.has(Mod::load)) WmmaFragment(f, instruction, operands[1]).load(fragment(operands[0]));
  else if (instruction.has(Mod::store)) WmmaFragment(f, instruction, operands[0]).store(fragment(operands[1]));
  else lowerMatrixProduct(f, instruction);
}

constexpr Lowering rows[] = {
    {ptx::Opcode::Ldmatrix, lowerLdmatrix, Effect::Effects},   {ptx::Opcode::Stmatrix, lowerStmatrix, Effect::Effects},
    {ptx::Opcode::Movmatrix, lowerMovmatrix, Effect::Effects}, {ptx::Opcode::Wmma, lowerWmma, Effect::Effects},
    {ptx::Opcode::Mma, lowerMatrixProduct, Effect::Effects},
};

}  // namespace

std::span<const Lowering> matrixLowerings() { return rows; }

}  // namespace mulciber::lower
