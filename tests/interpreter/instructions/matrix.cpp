// Matrices whose values lie in the registers of a warp.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "interpreter/instructions/families.h"
#include "interpreter/instructions/number.h"
#include "interpreter/syntax/lexer.h"

namespace mulciber::interpreter {
namespace {

struct Shape {
  unsigned m = 0, n = 0, k = 0;
};

Shape shapeOf(const Instruction& i) {
  for (const std::string& word : i.modifiers) {
    Shape shape;
    const char *at = word.c_str(), *const end = at + word.size();
    auto take = [&](char letter, unsigned& size) {
      if (at == end || *at != letter) return false;
      const auto read = std::from_chars(at + 1, end, size);
      at = read.ptr;
      return read.ec == std::errc();
    };
    if (*at++ == '.' && take('m', shape.m) && take('n', shape.n) && take('k', shape.k) && at == end) return shape;
  }
  Decoder::unknown(i);
}

struct Place {
  unsigned row, column;
};
enum class Matrix : uint8_t { A, B, C };

// The fragments of a product of matrices: value i of a lane is that of a row and a column.
struct Layout {
  Shape shape;
  bool isOfWmma = false;
  bool isOfQuadPairs = false;  // m8n8k4 of f16
  bool isARow = true, isBRow = false;

  // What of the values in the given number of registers is no repetition.
  unsigned count(Matrix matrix, unsigned values) const {
    const unsigned rows = matrix == Matrix::B ? shape.k : shape.m, columns = matrix == Matrix::A ? shape.k : shape.n;
    return isOfWmma ? rows * columns / kWarpLanes : values;
  }

  Place of(Matrix matrix, unsigned bits, unsigned lane, unsigned i) const {
    if (isOfWmma) return ofBlocks(matrix, bits, lane, i);
    if (isOfQuadPairs) return ofQuadPair(matrix, bits, lane, i);
    const unsigned group = lane / 4, thread = lane % 4, packed = bits >= 32 ? 1 : 32 / bits;
    const unsigned word = i / packed, rest = i % packed;
    if (matrix == Matrix::C) return {group + 8 * (i / 2), 2 * thread + i % 2};
    if (matrix == Matrix::B) return {(4 * word + thread) * packed + rest, group};
    if (shape.m == 8) return {group, (4 * word + thread) * packed + rest};
    return {group + 8 * (word % 2), (4 * (word / 2) + thread) * packed + rest};
  }

 private:
  // PTX leaves fragments of wmma open. These are those of mma, one block of eight rows or columns after the other.
  Place ofBlocks(Matrix matrix, unsigned bits, unsigned lane, unsigned i) const {
    const unsigned perBlock = matrix == Matrix::C ? 2 : shape.k / 4, block = i / perBlock;
    const unsigned blocks = (matrix == Matrix::B ? shape.n : shape.m) / 8;
    Place place = Layout{{8, 8, shape.k}}.of(matrix, bits, lane, i % perBlock);
    if (matrix == Matrix::C) place.column += block / blocks * 8;
    (matrix == Matrix::B ? place.column : place.row) += block % blocks * 8;
    return place;
  }

  Place ofQuadPair(Matrix matrix, unsigned bits, unsigned lane, unsigned i) const {
    const unsigned upper = lane >= 16 ? 4 : 0, thread = lane % 4;
    switch (matrix) {
      case Matrix::A: return isARow ? Place{thread + upper, i} : Place{i + upper, thread};
      case Matrix::B: return isBRow ? Place{thread, i + upper} : Place{i, thread + upper};
      default: break;
    }
    if (bits == 16) return {thread + upper, i};
    return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
  }
};

struct Types {
  Type d, a, b, c;
};

// wmma.mma of f16 names the types of D and C alone.
Types typesOf(const Instruction& i) {
  if (i.types.size() == 2) return {i.types[0], Type::F16, Type::F16, i.types[1]};
  if (i.types.size() != 4) Decoder::unknown(i);
  return {i.types[0], i.types[1], i.types[2], i.types[3]};
}

unsigned packedIn(Type type) { return bitsOf(type) >= 32 ? 1 : 32 / bitsOf(type); }

// The lists of registers of d, a, b and c follow each other.
const std::vector<uint32_t>& registersOf(const Thread& thread, const Op& op, unsigned which) {
  return thread.frames.back().code->lists[op.target + which];
}

uint64_t valueOf(const Thread& thread, const std::vector<uint32_t>& registers, Type type, unsigned i) {
  const unsigned bits = bitsOf(type), packed = packedIn(type);
  const uint64_t word = thread.registers[registers[i / packed]];
  if (bits >= 64) return word;
  return word >> (i % packed * bits) & ((uint64_t(1) << bits) - 1);
}

int64_t integerOf(uint64_t bits, Type type) {
  const unsigned unused = 64 - bitsOf(type);
  return isSigned(type) ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits);
}

// Where the values of sparse rows come from: of every four pieces of 16 or 8 bits two are there, and two bits of the
// metadata say which each is. A row has 16 bits in each of some lanes of its quad, beside row + 8, or whole words.
class Metadata {
 public:
  Metadata(const Warp& warp, const Op& op, Type type, const Shape& shape)
      : bits_(bitsOf(type)), piece_(bits_ > 8 ? 16 : 8) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) words_[lane] = get<uint32_t>(*warp.lanes[lane], op.a);
    const unsigned bitsOfRow = shape.k * bits_ / piece_;
    lanes_ = piece_ == 16 ? bitsOfRow / 16 : bitsOfRow / 32 * 2;
    first_ = static_cast<unsigned>(op.immediate) * lanes_;
  }

  unsigned columnOf(unsigned row, unsigned stored) const {
    const unsigned place = stored * bits_ / piece_, chunk = place / 2;
    const unsigned index = bitsAt(row, 4 * chunk + 2 * (place % 2));
    return (4 * chunk + index) * piece_ / bits_ + (bits_ < piece_ ? stored % (piece_ / bits_) : 0);
  }

 private:
  unsigned bitsAt(unsigned row, unsigned at) const {
    const unsigned group = row % 8 * 4 + first_, isUpper = row / 8;
    if (piece_ == 16) return words_[group + at / 16] >> (16 * isUpper + at % 16) & 3;
    return words_[group + isUpper + at / 32 * 2] >> at % 32 & 3;
  }

  std::array<uint32_t, kWarpLanes> words_{};
  unsigned bits_, piece_, lanes_ = 0, first_ = 0;
};

Number factorOf(Type type, uint64_t bits) {
  return type == Type::TF32 ? unpack(kF32, bits & ~uint64_t(0x1FFF)) : unpack(formatOf(type), bits);
}

// One element of D: products by k, of A the values that are stored.
struct Factor {
  unsigned k;
  uint64_t bits;
};

uint64_t elementOf(const Op& op, const Types& types, const std::vector<Factor>& row,
                   const std::vector<uint64_t>& column, uint64_t c) {
  const Instruction& instruction = *op.source;
  const bool isClamped = instruction.has(".satfinite");
  if (!isFloat(types.a)) {
    int64_t total = static_cast<int32_t>(c);
    for (const auto& [k, bits] : row) {
      if (types.a != Type::B1) total += integerOf(bits, types.a) * integerOf(column[k], types.b);
      else total += static_cast<int64_t>(instruction.has(".xor") ? bits ^ column[k] : bits & column[k]);
    }
    if (isClamped) total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(total);
  }
  const Format& sumFormat = types.a == Type::F64 ? kF64 : kF32;
  Number total = unpack(formatOf(types.c), c);
  for (const auto& [k, bits] : row) {
    const Number next = sum(product(factorOf(types.a, bits), factorOf(types.b, column[k])), total, op.rounding);
    total = unpack(sumFormat, pack(sumFormat, next, {op.rounding}));
  }
  if (isClamped && total.isNan()) return 0;
  return pack(formatOf(types.d), total, {op.rounding, false, false, isClamped});
}

struct Operands {
  std::array<std::vector<Factor>, 32> rows;
  std::array<std::vector<uint64_t>, 32> columns;
};

// Each element of D is computed by the lane that gets it, from what the lanes of its group hold: all, or for m8n8k4 of
// f16 those of two quads.
void multiply(Warp& warp, uint32_t members) {
  if (members != ~uint32_t(0)) throw Fault(Status::Undefined, "not all lanes take part");
  const Op& op = *warp.lanes[0]->waitingAt;
  const Types types = typesOf(*op.source);
  Layout layout{shapeOf(*op.source), op.source->opcode == "wmma"};
  layout.isOfQuadPairs = !layout.isOfWmma && layout.shape.k == 4 && types.a == Type::F16;
  bool isSparse = false, isOfA = true;
  for (const std::string& word : op.source->modifiers) {
    isSparse |= word.starts_with(".sp");
    if (word != ".row" && word != ".col") continue;
    (isOfA ? layout.isARow : layout.isBRow) = word == ".row";
    isOfA = false;
  }
  const Metadata metadata(warp, op, types.a, layout.shape);
  auto countOf = [&](unsigned which, Type type) {
    const size_t values = registersOf(*warp.lanes[0], op, which).size() * packedIn(type);
    const Matrix matrix = which == 1 ? Matrix::A : which == 2 ? Matrix::B : Matrix::C;
    return layout.count(matrix, static_cast<unsigned>(values));
  };
  std::array<std::vector<uint64_t>, kWarpLanes> results;
  for (unsigned pair = 0; pair < (layout.isOfQuadPairs ? 4 : 1); ++pair) {
    auto isInGroup = [&](unsigned lane) { return !layout.isOfQuadPairs || lane % 16 / 4 == pair; };
    Operands operands;
    for (std::vector<uint64_t>& column : operands.columns) column.resize(layout.shape.k);
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      if (!isInGroup(lane)) continue;
      const Thread& thread = *warp.lanes[lane];
      for (unsigned i = 0; i < countOf(1, types.a); ++i) {
        const Place place = layout.of(Matrix::A, bitsOf(types.a), lane, i);
        const unsigned k = isSparse ? metadata.columnOf(place.row, place.column) : place.column;
        operands.rows[place.row].push_back({k, valueOf(thread, registersOf(thread, op, 1), types.a, i)});
      }
      for (unsigned i = 0; i < countOf(2, types.b); ++i) {
        const Place place = layout.of(Matrix::B, bitsOf(types.b), lane, i);
        operands.columns[place.column][place.row] = valueOf(thread, registersOf(thread, op, 2), types.b, i);
      }
    }
    for (std::vector<Factor>& row : operands.rows)
      std::sort(row.begin(), row.end(), [](const Factor& x, const Factor& y) { return x.k < y.k; });
    // C may lie in another layout than D.
    std::array<std::array<uint64_t, 32>, 32> c{};
    auto forEachSum = [&](unsigned which, Type type, const auto& visit) {
      for (unsigned lane = 0; lane < kWarpLanes; ++lane)
        for (unsigned i = 0; isInGroup(lane) && i < countOf(which, type); ++i)
          visit(lane, i, layout.of(Matrix::C, bitsOf(type), lane, i));
    };
    forEachSum(3, types.c, [&](unsigned lane, unsigned i, Place place) {
      c[place.row][place.column] = valueOf(*warp.lanes[lane], registersOf(*warp.lanes[lane], op, 3), types.c, i);
    });
    forEachSum(0, types.d, [&](unsigned lane, unsigned, Place place) {
      results[lane].push_back(
          elementOf(op, types, operands.rows[place.row], operands.columns[place.column], c[place.row][place.column]));
    });
  }
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const std::vector<uint32_t>& registers = registersOf(*warp.lanes[lane], op, 0);
    const unsigned packed = packedIn(types.d);
    for (size_t i = 0; i < registers.size(); ++i) {
      uint64_t word = 0;
      for (unsigned part = 0; part < packed; ++part)
        word |= results[lane][i * packed + part] << (part * bitsOf(types.d));
      warp.lanes[lane]->registers[registers[i]] = word;
    }
  }
}

// 8x8 matrices of 16 bits: lane 4 * g + t holds values 2 * t and 2 * t + 1 of row g, or of column g.
uint8_t* rowAt(Warp& warp, unsigned row) {
  Thread& thread = *warp.lanes[row];
  const Op& op = *thread.waitingAt;
  return thread.block->resolve(thread, op.space, addressOf(thread, op), 16);
}

template <bool isLoad>
void moveShared(Warp& warp, uint32_t members) {
  if (members != ~uint32_t(0)) throw Fault(Status::Undefined, "not all lanes take part");
  const bool isTransposed = warp.lanes[0]->waitingAt->source->has(".trans");
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    Thread& thread = *warp.lanes[lane];
    const Op& op = *thread.waitingAt;
    const std::vector<uint32_t>& registers = registersOf(thread, op, 0);
    for (unsigned matrix = 0; matrix < registers.size(); ++matrix) {
      uint64_t word = isLoad ? 0 : thread.registers[registers[matrix]];
      for (unsigned half = 0; half < 2; ++half) {
        const unsigned group = lane / 4, value = lane % 4 * 2 + half;
        uint8_t* const at =
            rowAt(warp, 8 * matrix + (isTransposed ? value : group)) + 2 * (isTransposed ? group : value);
        uint16_t bits = static_cast<uint16_t>(word >> (16 * half));
        if (isLoad) std::memcpy(&bits, at, 2), word |= uint64_t(bits) << (16 * half);
        else std::memcpy(at, &bits, 2);
      }
      if (isLoad) thread.registers[registers[matrix]] = word;
    }
  }
}

void transpose(Warp& warp, uint32_t members) {
  if (members != ~uint32_t(0)) throw Fault(Status::Undefined, "not all lanes take part");
  std::array<std::array<uint64_t, 8>, 8> matrix{};
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    for (unsigned half = 0; half < 2; ++half) {
      const Thread& thread = *warp.lanes[lane];
      matrix[lane / 4][lane % 4 * 2 + half] = thread.registers[thread.waitingAt->a] >> (16 * half) & 0xFFFF;
    }
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    Thread& thread = *warp.lanes[lane];
    const unsigned row = lane % 4 * 2, column = lane / 4;
    thread.registers[thread.waitingAt->d] = matrix[row][column] | matrix[row + 1][column] << 16;
  }
}

// wmma.load and wmma.store: op.b is the distance of lines, in elements.
template <bool isLoad>
void moveFragment(Thread& thread, const Op& op) {
  const Instruction& instruction = *op.source;
  const Matrix matrix = instruction.has(".a") ? Matrix::A : instruction.has(".b") ? Matrix::B : Matrix::C;
  const Layout layout{shapeOf(instruction), true};
  const unsigned bits = bitsOf(op.type), packed = packedIn(op.type);
  const std::vector<uint32_t>& registers = registersOf(thread, op, 0);
  const unsigned count = layout.count(matrix, 0);
  if (isLoad)
    for (const uint32_t place : registers) thread.registers[place] = 0;
  const size_t values = isLoad ? registers.size() * packed : count;
  for (unsigned i = 0; i < values; ++i) {
    const Place place = layout.of(matrix, bits, thread.lane, i % count);
    const bool isByRows = instruction.has(".row");
    const uint64_t line = isByRows ? place.row : place.column, rest = isByRows ? place.column : place.row;
    const uint64_t at = line * get<uint32_t>(thread, op.b) + rest;
    const unsigned bytes = std::max(bits / 8, 1u), shift = i % packed * bits;
    uint8_t* const memory = thread.block->resolve(thread, op.space, addressOf(thread, op) + at * bits / 8, bytes);
    uint64_t& word = thread.registers[registers[i / packed]];
    uint64_t value = word >> shift;
    if (!isLoad) {
      std::memcpy(memory, &value, bytes);
      continue;
    }
    value = 0;
    std::memcpy(&value, memory, bytes);
    if (bits < 8) value = value >> at * bits % 8 & ((1u << bits) - 1);
    word |= value << shift;
  }
}

void together(Decoder& decoder, Op& op, Together what) {
  op.together = what;
  op.execute = waitForLanes;
  op.e = decoder.constant(~uint32_t(0));
}

bool decodeProduct(Decoder& decoder, const Instruction& i, Op& op) {
  const Types types = typesOf(i);
  shapeOf(i);
  for (const std::string& word : i.modifiers)
    if (word.starts_with(".kind")) return false;
  if (i.operands.size() < 4) return false;
  op.target = decoder.list(i.operands[0], types.d, true);
  decoder.list(i.operands[1], types.a, false);
  decoder.list(i.operands[2], types.b, false);
  decoder.list(i.operands[3], types.c, false);
  if (i.operands.size() > 4) {
    op.a = decoder.source(i.operands[4], Type::B32);
    op.immediate = i.operands.at(5).bits;
  }
  op.rounding = roundingIn(i);
  together(decoder, op, multiply);
  return true;
}

bool decodeTransfer(Decoder& decoder, const Instruction& i, Op& op, bool isLoad) {
  op.space = spaceIn(i);
  decoder.address(i.operands.at(isLoad ? 1 : 0), op);
  op.target = decoder.list(i.operands.at(isLoad ? 0 : 1), op.type, isLoad);
  return true;
}

}  // namespace

bool decodeMatrix(Decoder& decoder, const Instruction& i, Op& op) {
  if (i.opcode == "mma") return decodeProduct(decoder, i, op);
  if (i.opcode == "movmatrix") {
    decoder.operands(i, op, Type::B32);
    together(decoder, op, transpose);
    return true;
  }
  if (i.opcode == "ldmatrix" || i.opcode == "stmatrix") {
    if (!i.has(".m8n8")) return false;
    const bool isLoad = i.opcode == "ldmatrix";
    decodeTransfer(decoder, i, op, isLoad);
    together(decoder, op, isLoad ? moveShared<true> : moveShared<false>);
    return true;
  }
  if (i.opcode != "wmma") return false;
  if (i.has(".mma")) return decodeProduct(decoder, i, op);
  const bool isLoad = i.has(".load");
  const Shape shape = shapeOf(i);
  const bool isOfA = i.has(".a"), isOfB = i.has(".b");
  const unsigned rows = isOfB ? shape.k : shape.m, columns = isOfA ? shape.k : shape.n;
  decodeTransfer(decoder, i, op, isLoad);
  op.b = i.operands.size() > 2 ? decoder.source(i.operands[2], Type::U32)
                               : decoder.constant(i.has(".row") ? columns : rows);
  op.execute = isLoad ? moveFragment<true> : moveFragment<false>;
  return true;
}

}  // namespace mulciber::interpreter
