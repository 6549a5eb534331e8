#include "translator/passes/legalize_floats.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "translator/analyses/float_ranges.h"
#include "translator/ir/builder.h"
#include "translator/passes/fma_repair.h"
#include "translator/passes/hidden_values.h"
#include "translator/passes/rounded_arithmetic.h"

namespace mulciber::passes {
namespace {

using ir::F16;
using ir::F32;
using ir::F64;
using ir::Family;
using ir::FloatControl;
using ir::Instruction;
using ir::Op;
using ir::Rounding;

bool isArithmetic(Op op) {
  switch (op) {
    case Op::FAdd:
    case Op::FSub:
    case Op::FMul:
    case Op::FDiv:
    case Op::Fma:
    case Op::FSqrt:
    case Op::FRcp: return true;
    default: return false;
  }
}
bool isFunction(Op op) { return ir::family(op) == Family::FloatFunction; }
bool isApproximation(const Instruction& i) {
  return isFunction(i.op) || (i.fp.approximate && (i.op == Op::FRcp || i.op == Op::FSqrt));
}
bool isFloatOperation(const Instruction& i) {
  switch (ir::family(i.op)) {
    case Family::FloatComparison:
    case Family::FloatClass:
    case Family::FloatArithmetic:
    case Family::FloatFunction:
    case Family::FloatRounding:
    case Family::FloatConversion: return true;
    default: return false;
  }
}

bool involvesSingle(const Instruction& i) {
  return i.type.scalar() == F32 || (!i.operands.empty() && i.operands[0]->type.scalar() == F32);
}

class Rewriter {
 public:
  Rewriter(ir::Function& function, PassContext& context, Repair repair)
      : function_(function),
        context_(context),
        repair_(repair),
        profile_(context.profile),
        options_(context.options),
        b_(function),
        arithmetic_(b_, context.profile),
        ranges_(function),
        hidden_(function) {}

  // Preserve as soon as one operation could tell denormals from zeros and is not .ftz.
  ir::Denormals mode() const {
    const auto flushed = flushedSigns();
    bool keeps = false, flushes = false;
    for (const ir::Block* block : function_.blocks)
      for (const Instruction* i : block->instructions)
        if (seesDenormals(*i) && flushed.count(i) == 0) (i->fp.flush ? flushes : keeps) = true;
    if (keeps) return ir::Denormals::Preserve;
    return flushes ? ir::Denormals::Flush : ir::Denormals::Default;
  }

  bool run(ir::Denormals mode) {
    deviceFlushes_ = mode == ir::Denormals::Flush ? profile_.denormFlush32 || !profile_.denormsByDefault32
                                                  : !(profile_.denormPreserve32 || profile_.denormsByDefault32);
    fmaFlushes_ = !deviceFlushes_ && profile_.fusedFma32 && !profile_.exactFma32;
    bool changed = false;
    // Blocks that are split off on the way come behind these, and hold nothing that is left to do.
    for (size_t n = 0, count = function_.blocks.size(); n < count; n++) changed |= rewriteBlock(function_.blocks[n]);
    if (!replaced_.empty()) replaceUses();
    hidden_.apply();
    repairMultiplyAdds(function_, context_, repair_, flushingSums_);
    return changed || !flushingSums_.empty();
  }

 private:
  static bool isSign(const Instruction& i) { return i.op == Op::FNeg || i.op == Op::FAbs; }

  // Changes of signs without .ftz whose users all take denormals for zeros.
  std::unordered_set<const Instruction*> flushedSigns() const {
    std::unordered_set<const Instruction*> kept, flushed;
    for (auto block = function_.blocks.rbegin(); block != function_.blocks.rend(); ++block)
      for (auto at = (*block)->instructions.rbegin(); at != (*block)->instructions.rend(); ++at) {
        const Instruction& i = **at;
        if (isSign(i) && !i.fp.flush && kept.count(&i) == 0) flushed.insert(&i);
        const bool compares = ir::family(i.op) == Family::FloatComparison;
        if (i.fp.flush || flushed.count(&i) != 0 || (compares && !seesDenormals(i))) continue;
        for (const Instruction* operand : i.operands)
          if (isSign(*operand)) kept.insert(operand);
      }
    for (const Instruction* i : kept) flushed.erase(i);  // a user's block may stand before the value's
    return flushed;
  }

  static bool seesDenormals(const Instruction& i) {
    if (!involvesSingle(i)) return false;
    bool compares = ir::family(i.op) == Family::FloatComparison || i.op == Op::FMin || i.op == Op::FMax;
    // A number that is not zero compares with denormals as it does with zeros.
    if ((i.op == Op::FMin || i.op == Op::FMax) && i.fp.approximate) return false;
    if (compares)
      return !i.type.isBool() || std::none_of(i.operands.begin(), i.operands.end(), [](const Instruction* x) {
        return x->isConstant() && (x->payload & 0x7FFF'FFFF) >= 0x0080'0000;
      });
    if (isSign(i)) return true;  // NVIDIA's driver makes additions of them, which may flush
    if (i.op == Op::AtomicFAdd) return true;
    // Without .ftz approximations are given denormals, scaled.
    if (isApproximation(i) && i.op != Op::FSin && i.op != Op::FCos && !i.fp.flush) return i.type == F32;
    if (i.op == Op::FConvert) return !takesDenormalsForZeros(i);
    if (i.op == Op::FFloor || i.op == Op::FCeil) return true;  // the floor of a negative denormal is -1
    return isArithmetic(i.op) && !i.fp.approximate;
  }

  // An f32 denormal is less than half of the smallest f16, and every f16 becomes a normal f32 or zero.
  static bool takesDenormalsForZeros(const Instruction& conversion) {
    const Rounding rounding = conversion.fp.rounding;
    return (rounding == Rounding::NearestEven || rounding == Rounding::TowardZero) &&
           (conversion.type.scalar() == ir::F16 || conversion.operands[0]->type.scalar() == ir::F16);
  }

  bool rewriteBlock(ir::Block* block) {
    std::vector<Instruction*> old = std::move(block->instructions);
    ir::Terminator end = std::move(block->terminator);
    block->instructions.clear();
    block->terminator = {};
    b_.setBlock(block);
    bool changed = false;
    for (Instruction* i : old) {
      Instruction* result = nullptr;
      if (isFloatOperation(*i)) {
        b_.setSource(i->source);
        for (Instruction*& operand : i->operands)
          if (auto found = replaced_.find(operand); found != replaced_.end()) operand = found->second;
        result = rewrite(*i);
      }
      if (result) {
        replaced_[i] = result;
        changed = true;
      } else {
        b_.block()->instructions.push_back(i);
      }
    }
    b_.block()->terminator = std::move(end);
    return changed;
  }

  void replaceUses() {
    auto replace = [&](Instruction*& use) {
      for (auto found = replaced_.find(use); found != replaced_.end(); found = replaced_.find(use)) use = found->second;
    };
    for (ir::Block* block : function_.blocks) {
      for (Instruction* i : block->instructions)
        for (Instruction*& operand : i->operands) replace(operand);
      if (block->terminator.value) replace(block->terminator.value);
    }
  }

  // Null: the instruction stays, its control cleared of what the target does by itself.
  Instruction* rewrite(Instruction& i) {
    if (isSign(i)) return rewriteSign(i);
    if (i.op == Op::FIsNan || i.op == Op::FIsInf) {
      i.fp.flush = false;
      return nullptr;
    }
    Instruction* result = nullptr;
    bool isVector = i.type.isVector();
    if (!isVector) {
      result = rewriteScalar(i);
    } else if (needsRewrite(i)) {
      std::vector<Instruction*> lanes;
      for (unsigned lane = 0; lane < i.type.lanes; lane++) {
        Instruction part = i;
        part.type = i.type.scalar();
        for (Instruction*& operand : part.operands) operand = b_.extract(operand, lane);
        lanes.push_back(rewriteScalar(part));
        if (!lanes.back()) lanes.back() = emitPlain(part, {part.operands.begin(), part.operands.end()});
      }
      result = b_.vector(lanes);
    }
    if (!result) {
      if (needsRepair(i)) noteSum(i);
      i.fp.flush = false;
      i.fp.rounding = Rounding::NearestEven;
    }
    return result;
  }

  // NVIDIA's hardware changes signs by an addition, which makes its one NaN of any.
  Instruction* rewriteSign(Instruction& i) {
    bool flush = std::exchange(i.fp.flush, false) && i.type.isFloat();
    bool unites = flushable(i.type.scalar()) && options_.exactDenormals && (flush || !profile_.nvidiaNan);
    if (!flush && !unites) return nullptr;
    auto lane = [&](Instruction* x) {
      Instruction* result = b_.unary(i.op, flush ? flushed(x) : x);
      return unites ? arithmetic_.oneNan(result) : result;
    };
    if (!i.type.isVector()) return lane(i.operands[0]);
    std::vector<Instruction*> lanes;
    for (unsigned n = 0; n < i.type.lanes; n++) lanes.push_back(lane(b_.extract(i.operands[0], n)));
    return b_.vector(lanes);
  }

  // The device flushes f32 by itself where the operation asks for that.
  bool flushesNatively(const Instruction& i) const {
    if (i.operands[0]->type != F32) return false;
    if (i.op == Op::Fma && profile_.fusedFma32 && !profile_.exactFma32) return true;
    return deviceFlushes_ && (isArithmetic(i.op) || isFunction(i.op));
  }

  bool isNative(const Instruction& i) const {
    ir::Type type = i.type.scalar();
    if (i.fp.approximate) return true;
    switch (i.op) {
      case Op::Fma:
        if (type == F16) return profile_.exactFma16;
        if (type == F64) return profile_.exactFma64;
        return profile_.exactFma32 || profile_.fusedFma32;
      case Op::FDiv:
      case Op::FSqrt:
      case Op::FRcp: return type == F64 ? profile_.exactDivSqrt64 : type == F16 || profile_.exactDivSqrt32;
      default: return true;
    }
  }

  bool needsRewrite(const Instruction& i) const {
    return needsRepair(i) || i.fp.flush || i.fp.rounding != Rounding::NearestEven || !isNative(i) || i.op == Op::FMin ||
           i.op == Op::FMax || unitesNans(i);
  }

  // The device passes NaNs on, where NVIDIA's hardware makes one of all.
  bool unitesNans(const Instruction& i) const {
    return options_.exactDenormals && !profile_.nvidiaNan && flushable(i.type.scalar()) &&
           (isArithmetic(i.op) || isFunction(i.op) || ir::family(i.op) == Family::FloatRounding);
  }

  // An operation on constants whose result is a NaN: compilers of devices make another one of it than their hardware.
  static bool isNan(const Instruction& x) {
    if (!x.isConstant() || !flushable(x.type)) return false;
    uint64_t sign = uint64_t(1) << (x.type.bits - 1), infinity = x.type == F16 ? 0x7C00 : 0x7F80'0000;
    return (x.payload & (sign - 1)) > infinity;
  }
  // Compilers that compute with constants have been seen to pass signalling NaNs on, or to make infinities of them.
  Instruction* quiet(Instruction* x) {
    const uint64_t infinity = 0x7FF0'0000'0000'0000, quietBit = uint64_t(1) << 51;
    if (!x->isConstant() || x->type != F64 || (x->payload & ~(uint64_t(1) << 63)) <= infinity) return x;
    return x->payload & quietBit ? x : b_.constant(F64, x->payload | quietBit);
  }
  // A device that flushes has a compiler which computes with constants and does not.
  Instruction* flushedConstant(Instruction* x) {
    const auto bits = ranges_.constantOf(x);
    const bool isDenormal = bits && (*bits & 0x7F80'0000) == 0 && (*bits & 0x007F'FFFF) != 0;
    return isDenormal ? b_.constant(F32, *bits & 0x8000'0000) : x;
  }
  // An operation whose result is an operand or its negative but for denormals. Drivers leave such operations out, those
  // that negate where two of them meet, and the denormals stay.
  struct Move {
    Instruction* operand = nullptr;
    bool isNegated = false;
  };
  Move moveOf(const Instruction& i) const {
    const auto& x = i.operands;
    const auto is = [&](size_t n, uint64_t bits) { return ranges_.constantOf(x[n]) == bits; };
    const uint64_t one = 0x3F80'0000, sign = 0x8000'0000;
    const auto moveOfProduct = [&]() -> Move {
      for (const size_t n : {1, 0})
        if (is(n, one) || is(n, sign | one)) return {x[1 - n], is(n, sign | one)};
      return {};
    };
    if (i.op == Op::FMul) return moveOfProduct();
    if (i.fp.rounding == Rounding::Down) return {};  // a zero changes its sign where one of the other sign is added
    switch (i.op) {
      case Op::FAdd: return {is(1, sign) ? x[0] : is(0, sign) ? x[1] : nullptr};
      case Op::FSub:
        if (is(1, 0)) return {x[0]};
        return {is(0, sign) ? x[1] : nullptr, true};
      case Op::Fma: return is(2, sign) ? moveOfProduct() : Move{};
      default: return {};
    }
  }
  static bool givesNan(const Instruction& i) {
    if ((!isArithmetic(i.op) && !isFunction(i.op)) || !flushable(i.type)) return false;
    if (std::any_of(i.operands.begin(), i.operands.end(), [](const Instruction* x) { return isNan(*x); })) return true;
    const Instruction& x = *i.operands[0];
    if (!x.isConstant() || i.type != F32) return false;
    if (i.op == Op::FSin || i.op == Op::FCos) return (x.payload & 0x7FFF'FFFF) == 0x7F80'0000;
    uint64_t smallest = i.fp.flush ? 0x8080'0000 : 0x8000'0001;
    return (i.op == Op::FSqrt || i.op == Op::FRsqrt || i.op == Op::FLog2) && x.payload >= smallest;
  }

  Instruction* emitPlain(const Instruction& i, const std::vector<Instruction*>& operands) {
    Instruction* copy = b_.emit(i.op, i.type, {}, i.payload);
    copy->operands = operands;
    copy->fp = {Rounding::NearestEven, false, i.fp.approximate};
    if (needsRepair(i)) noteSum(*copy);
    return copy;
  }

  // A multiply-add that the device does in one step, but with zeros for denormals that it should keep.
  bool needsRepair(const Instruction& i) const {
    return options_.exactDenormals && profile_.fusedFma32 && !profile_.exactFma32 && i.op == Op::Fma &&
           i.type.scalar() == F32 && i.fp.rounding == Rounding::NearestEven && !i.fp.flush && !i.fp.approximate;
  }

  void noteSum(Instruction& sum) {
    sum.fp.isDot = options_.dotProducts && profile_.exactDot32;
    if (!sum.fp.isDot) flushingSums_.insert(&sum);
  }

  static bool flushable(ir::Type type) { return type == F32 || type == F16; }

  Instruction* rewriteScalar(Instruction& i) {
    if (ir::family(i.op) == Family::FloatConversion) {
      i.operands[0] = quiet(i.operands[0]);
      return rewriteConversion(i);
    }
    if (givesNan(i)) return b_.constant(i.type, i.type == F16 ? 0x7FFF : 0x7FFF'FFFF);
    for (Instruction*& operand : i.operands) operand = quiet(operand);
    if (i.fp.flush && flushesNatively(i))
      for (Instruction*& operand : i.operands) operand = flushedConstant(operand);
    std::vector<Instruction*> operands(i.operands.begin(), i.operands.end());
    bool flush = i.fp.flush && flushable(i.operands[0]->type) && !flushesNatively(i);
    if (i.fp.flush && i.type == F32)
      if (const Move move = moveOf(i); move.operand) {
        Instruction* moved = arithmetic_.flush(move.operand);
        return arithmetic_.oneNan(move.isNegated ? b_.unary(Op::FNeg, moved) : moved);
      }
    if (flush && fmaFlushes_)
      if (Instruction* sum = flushingMultiplyAdd(i)) return sum;
    bool isFlushingApproximation = profile_.approximationsFlush32 && i.type == F32 && isApproximation(i);
    // The reciprocal's scaling for denormal divisors is the driver's.
    if (flush && (!isFlushingApproximation || i.op == Op::FRcp))
      for (Instruction*& operand : operands)
        if (!ranges_.isNeverDenormal(operand)) operand = flushed(operand);

    Instruction* result = nullptr;
    if (i.op == Op::FMin || i.op == Op::FMax) result = rewriteMinMax(i, operands);
    else if (isApproximation(i)) result = rewriteFunction(i, operands);
    else if (isArithmetic(i.op) && (i.fp.rounding != Rounding::NearestEven || !isNative(i)))
      result = correct(i, operands);
    if (!result && !flush && !unitesNans(i)) return nullptr;
    if (!result) result = emitPlain(i, operands);
    if (unitesNans(i)) result = arithmetic_.oneNan(result);
    return flush && !isFlushingApproximation ? flushResult(i, operands, result) : result;
  }

  // In a kernel that keeps denormals a multiply-add may be the one operation that the device flushes by itself. Drivers
  // would make sums and products of it if they knew the number one and the zero.
  Instruction* multiplyAdd(Instruction* x, Instruction* y, Instruction* z) {
    return b_.floating(Op::Fma, {}, {x, y, z});
  }
  Instruction* hiddenOne() { return hidden_.constant(F32, 0x3F80'0000); }
  Instruction* hiddenNegativeZero() { return hidden_.constant(F32, 0x8000'0000); }

  Instruction* flushingMultiplyAdd(const Instruction& i) {
    if (i.type != F32 || i.fp.rounding != Rounding::NearestEven) return nullptr;
    std::vector<Instruction*> x;
    for (Instruction* operand : i.operands) x.push_back(flushedConstant(operand));
    switch (i.op) {
      case Op::FAdd: return multiplyAdd(x[0], hiddenOne(), x[1]);
      case Op::FSub: return multiplyAdd(b_.unary(Op::FNeg, x[1]), hiddenOne(), x[0]);
      case Op::FMul: return multiplyAdd(x[0], x[1], hiddenNegativeZero());
      default: return nullptr;
    }
  }
  // A number with denormals made zeros. A NaN may become the hardware's.
  Instruction* flushed(Instruction* x) {
    if (!fmaFlushes_ || x->type != F32 || x->isConstant()) return arithmetic_.flush(x);
    return multiplyAdd(x, hiddenOne(), hiddenNegativeZero());
  }

  Instruction* flushResult(const Instruction& i, const std::vector<Instruction*>& operands, Instruction* result) {
    if (!isArithmetic(i.op) && i.op != Op::FExp2) return result;
    const bool isProduct = i.op == Op::FMul || i.op == Op::Fma, isQuotient = i.op == Op::FDiv || i.op == Op::FRcp;
    const bool isNearest = i.fp.rounding == Rounding::NearestEven;
    const bool mayRoundUp = isProduct || (isQuotient && !isNearest);
    Instruction* flushed = arithmetic_.flush(result);
    if (!mayRoundUp || i.fp.approximate || !options_.exactDenormals) return flushed;
    Instruction* isTiny = arithmetic_.isTiny(i.op, i.fp.rounding, isNearest && isNative(i), operands, result);
    const ir::Type bits = result->type.asInt();
    Instruction* sign = b_.constant(bits, uint64_t(1) << (bits.bits - 1));
    return b_.select(isTiny, b_.bitcast(result->type, b_.bitAnd(b_.bitcast(bits, result), sign)), flushed);
  }

  Instruction* correct(const Instruction& i, const std::vector<Instruction*>& operands) {
    Instruction* result = quickResult(i, operands);
    return result ? result : exactResult(i, operands);
  }

  Instruction* rewriteMinMax(const Instruction& i, const std::vector<Instruction*>& operands) {
    if (isNan(*operands[0])) return operands[1];
    if (isNan(*operands[1])) return operands[0];
    if (profile_.exactMinMax) return nullptr;
    bool isMin = i.op == Op::FMin;
    Instruction* x = operands[0];
    Instruction* y = operands[1];
    if (x->isConstant()) std::swap(x, y);
    uint64_t sign = uint64_t(1) << (i.type.bits - 1);
    if (y->isConstant() && (y->payload & ~sign) != 0) return nullptr;  // no two zeros can meet
    if (y->isConstant() && y->payload == 0 && !isMin)                  // 0 for a NaN and for -0, as it must be
      return b_.select(b_.compare(Op::FLt, y, x), x, y);
    return arithmetic_.minMax(isMin, x, y);
  }

  // The approximations of NVIDIA's hardware read denormals as zeros: ptxas scales them, when not .ftz, as here.
  Instruction* rewriteFunction(const Instruction& i, const std::vector<Instruction*>& operands) {
    if (i.type != F32) return nullptr;
    Instruction* x = operands[0];
    if (i.op == Op::FExp2 && !profile_.accurateExp2) return arithmetic_.power(x);
    if (i.op == Op::FTanh && !profile_.accurateTanh) {
      Instruction* isSmall = b_.compare(Op::FLt, b_.unary(Op::FAbs, x), b_.f32(0x1p-6f));
      return b_.select(isSmall, x, emitPlain(i, operands));
    }
    const bool isRight = profile_.denormsByDefault32 && (i.op != Op::FLog2 || profile_.denormalLog2);
    if (i.fp.flush || isRight) return nullptr;
    auto power = [&](int n) { return b_.constant(F32, uint64_t(127 + n) << 23); };
    auto times = [&](Instruction* value, Instruction* factor) { return b_.binary(Op::FMul, value, factor); };
    if (i.op == Op::FExp2) {  // the square of half the power
      Instruction* isSmall = b_.compare(Op::FLt, x, b_.f32(-126));
      Instruction* result = emitPlain(i, {times(x, b_.select(isSmall, b_.f32(0.5f), b_.f32(1)))});
      return b_.select(isSmall, times(result, result), result);
    }
    if (i.op != Op::FLog2 && i.op != Op::FRsqrt && i.op != Op::FSqrt && i.op != Op::FRcp) return nullptr;
    if (ranges_.isNeverDenormal(x)) return nullptr;
    Instruction* isSmall = arithmetic_.isDenormal(x);
    Instruction* raise = b_.select(isSmall, power(24), b_.f32(1));
    if (i.op == Op::FRcp) {  // of the largest numbers the reciprocal is denormal
      Instruction* isLarge = b_.compare(Op::FLt, power(126), b_.unary(Op::FAbs, x));
      Instruction* factor = b_.select(isLarge, b_.f32(0.25f), raise);
      return times(emitPlain(i, {times(x, factor)}), factor);
    }
    Instruction* result = emitPlain(i, {times(x, raise)});
    if (i.op == Op::FLog2) return b_.binary(Op::FSub, result, b_.select(isSmall, b_.f32(24), b_.f32(0)));
    return times(result, b_.select(isSmall, power(i.op == Op::FRsqrt ? 12 : -12), b_.f32(1)));
  }

  // By additions and fused multiply-adds, except for operands or results of unusual size.
  Instruction* quickResult(const Instruction& i, const std::vector<Instruction*>& x) {
    const Rounding rounding = i.fp.rounding;
    auto exact = [&] { return exactResult(i, x); };
    if (rounding == Rounding::ToOdd) {
      const bool isBfloat = i.op == Op::Fma && i.type == F32 && std::all_of(x.begin(), x.end(), fitsBfloat);
      return isBfloat && !deviceFlushes_ ? unlessRare(arithmetic_.quickBfloatFma(x[0], x[1], x[2]), exact) : nullptr;
    }
    if (rounding != Rounding::NearestEven) {
      Instruction* result = quickDirected(i, x);
      return result && i.type == F32 && !profile_.nvidiaNan ? arithmetic_.oneNan(result) : result;
    }
    if (i.type != F32 || !(profile_.exactFma32 || profile_.fusedFma32)) return nullptr;
    switch (i.op) {
      case Op::FDiv: return unlessRare(arithmetic_.quickQuotient({x[0], rangeOf(i, 0)}, {x[1], rangeOf(i, 1)}), exact);
      case Op::FRcp: return unlessRare(arithmetic_.quickReciprocal({x[0], rangeOf(i, 0)}), exact);
      case Op::FSqrt: return unlessRare(arithmetic_.quickRoot(x[0]), exact);
      default: return nullptr;
    }
  }

  Instruction* quickDirected(const Instruction& i, const std::vector<Instruction*>& x) {
    const Rounding rounding = i.fp.rounding;
    auto exact = [&] { return exactResult(i, x); };
    if (i.type == F32 && (i.op == Op::FAdd || i.op == Op::FSub)) {
      Instruction* y = i.op == Op::FSub ? b_.unary(Op::FNeg, x[1]) : x[1];
      return unlessRare(arithmetic_.quickSum(rounding, x[0], y, deviceFlushes_), exact);
    }
    const bool isFused = i.type == F64 ? profile_.exactFma64 : profile_.exactFma32 || profile_.fusedFma32;
    if (!isFused) return nullptr;
    if (i.op == Op::FMul && i.type == F32) return unlessRare(arithmetic_.quickProduct(rounding, x[0], x[1]), exact);
    if (i.op != Op::Fma || i.type == F16) return nullptr;
    auto fma = [&](Instruction* z) { return unlessRare(arithmetic_.quickFma(rounding, x[0], x[1], z), exact); };
    if (const auto addend = i.type == F32 ? ranges_.constantOf(x[2]) : std::nullopt) {
      Instruction* z = b_.constant(F32, *addend);
      if (auto guess = arithmetic_.quickFmaNear(rounding, x[0], x[1], z, rangeOfProduct(i)))
        return unlessRare(*guess, [&] { return fma(z); });
    }
    // The device may flush in its fma, but not in what is subtracted from that.
    return fma(i.fp.flush && !deviceFlushes_ ? arithmetic_.flush(x[2]) : x[2]);
  }

  // As lowering widens bf16: the lower half is zero.
  static bool fitsBfloat(const Instruction* x) {
    if (x->op == Op::Bitcast) x = x->operands[0];
    if (x->isConstant()) return (x->payload & 0xFFFF) == 0;
    if ((x->op != Op::Shl && x->op != Op::And) || !x->operands[1]->isConstant()) return false;
    const uint64_t operand = x->operands[1]->payload;
    return x->op == Op::Shl ? operand >= 16 : (operand & 0xFFFF) == 0;
  }

  // Of operands before they are flushed, which leaves them there.
  analyses::FloatRange rangeOf(const Instruction& i, size_t operand) const {
    return ranges_.rangeOf(i.operands[operand]);
  }
  analyses::FloatRange rangeOfProduct(const Instruction& i) const {
    return ranges_.rangeOfProduct(i.operands[0], i.operands[1]);
  }

  // One rounding by longer ways, which may lead through f64 and its NaNs.
  Instruction* exactResult(const Instruction& i, const std::vector<Instruction*>& operands) {
    std::vector<Instruction*> x = operands;
    // Where it is the device that flushes, steps in another format or in integers do not.
    const bool flush = i.fp.flush && flushesNatively(i);
    if (flush)
      for (Instruction*& operand : x) operand = arithmetic_.flush(operand);
    Instruction* result = arithmetic_.compute(i.op, i.fp.rounding, x);
    if (flushable(i.type)) result = arithmetic_.oneNan(result);
    return flush ? flushResult(i, x, result) : result;
  }

  // The guess, or in a branch of its own the exact result.
  template <typename Exact>
  Instruction* unlessRare(RoundedArithmetic::Guess guess, const Exact& exact) {
    if (!guess.isRare) return guess.result;
    ir::VariableId variable = function_.addVariable(guess.result->type, "exact");
    b_.write(variable, guess.result);
    ir::Block* slow = function_.addBlock();
    ir::Block* join = function_.addBlock();
    b_.branch(guess.isRare, slow, join);
    b_.setBlock(slow);
    if (guess.closer) {
      const RoundedArithmetic::Closer closer = guess.closer();
      b_.write(variable, unlessRare({closer.result, closer.isRare}, exact));
    } else {
      b_.write(variable, exact());
    }
    b_.branch(join);
    b_.setBlock(join);
    return b_.read(variable);
  }

  Instruction* rewriteConversion(Instruction& i) {
    Instruction* x = i.operands[0];
    Rounding rounding = i.fp.rounding;
    if (i.op == Op::UToF || i.op == Op::SToF) {
      if (rounding == Rounding::NearestEven || i.type == F16) return nullptr;
      return arithmetic_.fromInteger(i.type, x, i.op == Op::SToF, rounding);
    }
    if (i.op != Op::FConvert) return nullptr;
    bool flush = i.fp.flush && x->type == F32;
    bool flushResult = i.fp.flush && i.type == F32;
    const bool unites = options_.exactDenormals && !profile_.nvidiaNan && i.type == F32 && x->type == F16;
    if (unites) return arithmetic_.oneNan(b_.convert(Op::FConvert, F32, x));
    bool narrows = i.type.bits < x->type.bits;
    bool needsSteps = narrows && (rounding != Rounding::NearestEven || (x->type == F64 && i.type == F16));
    if (!flush && !flushResult && !needsSteps) return nullptr;
    if (flush) x = arithmetic_.flush(x);
    Instruction* result = arithmetic_.convert(i.type, x, rounding);
    return flushResult ? arithmetic_.flush(result) : result;
  }

  ir::Function& function_;
  PassContext& context_;
  const Repair repair_;
  const TargetProfile& profile_;
  const TranslateOptions& options_;
  ir::Builder b_;
  RoundedArithmetic arithmetic_;
  analyses::FloatRanges ranges_;
  HiddenValues hidden_;
  bool deviceFlushes_ = false, fmaFlushes_ = false;
  std::unordered_map<Instruction*, Instruction*> replaced_;
  std::unordered_set<const Instruction*> flushingSums_;
};

}  // namespace

bool LegalizeFloats::run(ir::Function& function, PassContext& context) {
  Rewriter rewriter(function, context, repair_);
  ir::Denormals mode = rewriter.mode();
  context.program.denormals32 = mode;
  return rewriter.run(mode);
}

}  // namespace mulciber::passes
