#include "translator/lower/surface_access.h"

#include <algorithm>

#include "translator/lower/atomic_locks.h"

namespace mulciber::lower {

using abi::ImageShape;
using ir::Op;

SurfaceAccess::SurfaceAccess(FunctionLowering& f, const TextureRecord& record, const SurfacePlace& place,
                             SurfaceBoundary boundary, unsigned bytes)
    : f_(f), b_(f.b), record_(record), place_(place), bytes_(bytes) {
  image_ = record.word(offsetof(abi::TextureRecord, storageImage));
  texelBytes_ = record.word(offsetof(abi::TextureRecord, texelBytes));
  locate(boundary);
}

// An H200 ends kernels whose bytes are no multiple of the access's size, and takes places beyond a surface that traps
// for illegal addresses. An access lies within the surface with all its bytes or not at all.
void SurfaceAccess::locate(SurfaceBoundary boundary) {
  const Value rawShape = record_.word(offsetof(abi::TextureRecord, rawShape));
  isInside_ = b_.bitAnd(record_.isKind(abi::TextureKind::Surface),
                        b_.compare(Op::IEq, rawShape, b_.i32(static_cast<uint32_t>(place_.shape))));
  const bool clamps = boundary == SurfaceBoundary::Clamp;
  auto limit = [&](Value& coordinate, Value last) {
    if (clamps) {
      coordinate = b_.binary(Op::SMax, b_.binary(Op::SMin, coordinate, last), b_.i32(0));
    } else {
      isInside_ = b_.bitAnd(isInside_, b_.compare(Op::ULe, coordinate, last));
    }
  };
  auto lastOf = [&](size_t extent) { return b_.sub(record_.word(extent), b_.i32(1)); };
  if (place_.isFormatted) {
    column_ = place_.x;
    limit(column_, lastOf(offsetof(abi::TextureRecord, width)));
  } else {
    const Value rowBytes = b_.mul(record_.word(offsetof(abi::TextureRecord, width)), texelBytes_);
    // A row may have fewer bytes than the access.
    if (bytes_ > 1) isInside_ = b_.bitAnd(isInside_, b_.compare(Op::ULe, b_.i32(bytes_), rowBytes));
    if (bytes_ > 1) {
      f_.beginIf(b_.compare(Op::INe, b_.bitAnd(place_.x, b_.i32(bytes_ - 1)), b_.i32(0)));
      f_.fail(KernelFault::Misaligned);
      f_.endIf();
    }
    limit(place_.x, b_.bitAnd(b_.sub(rowBytes, b_.i32(bytes_)), b_.i32(~(bytes_ - 1))));
    // Texels have 1, 2, 4, 8 or 16 bytes.
    column_ = b_.lshr(place_.x, b_.emit(Op::FindLsb, ir::I32, {texelBytes_}));
  }
  if (place_.dimensions > 1) limit(place_.y, lastOf(offsetof(abi::TextureRecord, height)));
  if (place_.dimensions > 2) limit(place_.z, lastOf(offsetof(abi::TextureRecord, depth)));
  if (place_.isLayered) {
    place_.z = b_.bitAnd(place_.z, b_.i32(0xFFFF));  // an H200 looks at no more
    limit(place_.z, lastOf(offsetof(abi::TextureRecord, layers)));
  }
  if (boundary == SurfaceBoundary::Trap) {
    f_.beginIf(b_.bitNot(isInside_));
    f_.fail(KernelFault::IllegalAddress);
    f_.endIf();
  }
}

Value SurfaceAccess::isTexelSize(unsigned bytes) { return b_.compare(Op::IEq, texelBytes_, b_.i32(bytes)); }

std::vector<Value> SurfaceAccess::coordinates(Value column) const {
  if (place_.shape == ImageShape::Lines) return {image_, column, place_.z};
  return {image_, column, place_.y, place_.z};
}

Value SurfaceAccess::texelAt(Value column) {
  Value texel = b_.emit(Op::ImageRead, ir::I32.withLanes(4), {}, static_cast<uint64_t>(place_.shape));
  texel->operands = coordinates(column);
  if (isShared_) texel->memory.order = ir::Order::Relaxed, texel->memory.scope = ir::Scope::Device;
  return texel;
}

void SurfaceAccess::storeTexel(Value column, const Words& words) {
  Words texel = words;
  texel.resize(4, b_.i32(0));
  const Value value = b_.vector(texel);
  Value write = b_.emit(Op::ImageWrite, ir::Void, {}, static_cast<uint64_t>(place_.shape));
  write->operands = coordinates(column);
  write->operands.push_back(value);
  if (isShared_) write->memory.order = ir::Order::Relaxed, write->memory.scope = ir::Scope::Device;
}

// The texels of an access that takes several, each with its offset in the access.
void SurfaceAccess::forEachTexel(const std::function<void(Value column, Value offset)>& body) {
  const ir::VariableId columnVariable = b_.function().addVariable(ir::I32, "column");
  const ir::VariableId offsetVariable = b_.function().addVariable(ir::I32, "offset");
  b_.write(columnVariable, column_);
  b_.write(offsetVariable, b_.i32(0));
  f_.beginLoop();
  const Value column = b_.read(columnVariable), offset = b_.read(offsetVariable);
  body(column, offset);
  b_.write(columnVariable, b_.add(column, b_.i32(1)));
  const Value next = b_.add(offset, texelBytes_);
  b_.write(offsetVariable, next);
  f_.endLoop(b_.compare(Op::ULt, next, b_.i32(bytes_)));
}

Words SurfaceAccess::readBytes() {
  const unsigned count = std::max(bytes_ / 4, 1u);
  std::vector<ir::VariableId> variables(count);
  for (ir::VariableId& variable : variables) variable = b_.function().addVariable(ir::I32, "word");

  f_.beginIf(b_.compare(Op::ULe, b_.i32(bytes_), texelBytes_));
  const Value texel = texelAt(column_);
  const Value first = b_.bitAnd(place_.x, b_.sub(texelBytes_, b_.i32(1)));  // the byte within the texel
  const Value firstWord = b_.lshr(first, b_.i32(2));
  for (unsigned i = 0; i < count; ++i) {
    Value word = b_.extract(texel, i);
    for (unsigned skipped = count; skipped + i < 4; skipped += count)
      word = b_.select(b_.compare(Op::IEq, firstWord, b_.i32(skipped)), b_.extract(texel, skipped + i), word);
    if (bytes_ < 4) word = b_.lshr(word, b_.shl(b_.bitAnd(first, b_.i32(3)), b_.i32(3)));
    b_.write(variables[i], word);
  }
  if (bytes_ > 1) {
    f_.beginElse();
    for (const ir::VariableId variable : variables) b_.write(variable, b_.i32(0));
    forEachTexel([&](Value column, Value offset) {
      const Value part = texelAt(column);  // up to eight bytes
      const Value shift = b_.shl(b_.bitAnd(offset, b_.i32(3)), b_.i32(3)), word = b_.lshr(offset, b_.i32(2));
      for (unsigned i = 0; i < count; ++i) {
        const Value isFirst = b_.compare(Op::IEq, word, b_.i32(i));
        Value added = b_.select(isFirst, b_.shl(b_.extract(part, 0), shift), b_.i32(0));
        if (i > 0) {
          const Value isSecond = b_.bitAnd(isTexelSize(8), b_.compare(Op::IEq, word, b_.i32(i - 1)));
          added = b_.select(isSecond, b_.extract(part, 1), added);
        }
        b_.write(variables[i], b_.bitOr(b_.read(variables[i]), added));
      }
    });
  }
  f_.endIf();
  Words words;
  for (const ir::VariableId variable : variables) words.push_back(b_.read(variable));
  return words;
}

// The bytes of one texel that the access has, in the others what was there.
void SurfaceAccess::writePart(const Words& words) {
  const Value texel = texelAt(column_);
  const Value first = b_.bitAnd(place_.x, b_.sub(texelBytes_, b_.i32(1)));
  const Value firstWord = b_.lshr(first, b_.i32(2));
  const auto count = static_cast<unsigned>(words.size());
  Words merged;
  for (unsigned i = 0; i < 4; ++i) {
    const Value old = b_.extract(texel, i);
    Value written = words[i % count];
    if (bytes_ < 4) {
      const Value bit = b_.shl(b_.bitAnd(first, b_.i32(3)), b_.i32(3));
      written = b_.emit(Op::BitInsert, ir::I32, {old, written, bit, b_.i32(8 * bytes_)});
    }
    const Value isMeant = b_.compare(Op::IEq, firstWord, b_.i32(i / count * count));
    merged.push_back(b_.select(isMeant, written, old));
  }
  storeTexel(column_, merged);
}

void SurfaceAccess::writeBytes(const Words& words) {
  f_.beginIf(isTexelSize(bytes_));
  storeTexel(column_, words);
  f_.beginElse();
  if (bytes_ < 16) {
    f_.beginIf(b_.compare(Op::ULt, b_.i32(bytes_), texelBytes_));
    if (isShared_) writePart(words);
    else withLock([&] { writePart(words); });
    if (bytes_ > 1) f_.beginElse();
  }
  if (bytes_ > 1)
    forEachTexel([&](Value column, Value offset) {
      const Value word = b_.lshr(offset, b_.i32(2)), isPair = isTexelSize(8);
      Value low = words[0], high = b_.i32(0);
      for (unsigned i = 1; i < words.size(); ++i) {
        low = b_.select(b_.compare(Op::IEq, word, b_.i32(i)), words[i], low);
        high = b_.select(b_.bitAnd(isPair, b_.compare(Op::IEq, word, b_.i32(i - 1))), words[i], high);
      }
      low = b_.lshr(low, b_.shl(b_.bitAnd(offset, b_.i32(3)), b_.i32(3)));
      const Value bits = b_.binary(Op::UMin, b_.shl(texelBytes_, b_.i32(3)), b_.i32(32));
      storeTexel(column, {b_.emit(Op::BitExtractU, ir::I32, {low, b_.i32(0), bits}), high});
    });
  if (bytes_ < 16) f_.endIf();
  f_.endIf();
}

// One thread at a time for each texel; what one of them writes the next one reads.
void SurfaceAccess::withLock(const std::function<void()>& body) {
  auto fence = [&] {
    Value instruction = b_.emit(Op::Fence, ir::Void, {});
    instruction->memory.order = ir::Order::AcquireRelease;
    instruction->memory.scope = ir::Scope::Device;
  };
  Value number = b_.add(column_, b_.mul(image_, b_.i32(89)));
  for (const Value coordinate : {place_.y, place_.z}) number = b_.add(b_.mul(number, b_.i32(33)), coordinate);
  isShared_ = true;
  runLocked(f_, number, [&] {
    fence();
    body();
    fence();
  });
  isShared_ = false;
}

Words SurfaceAccess::read() {
  const unsigned count = std::max(bytes_ / 4, 1u);
  std::vector<ir::VariableId> variables(count);
  for (ir::VariableId& variable : variables) {
    variable = b_.function().addVariable(ir::I32, "word");
    b_.write(variable, b_.i32(0));
  }
  f_.beginIf(isInside_);
  const Words words = readBytes();
  for (unsigned i = 0; i < count; ++i) b_.write(variables[i], words[i]);
  f_.endIf();
  Words result;
  for (const ir::VariableId variable : variables) result.push_back(b_.read(variable));
  return result;
}

void SurfaceAccess::write(const Words& words) {
  f_.beginIf(isInside_);
  writeBytes(words);
  f_.endIf();
}

void SurfaceAccess::writeTexel(const Words& words) {
  f_.beginIf(isInside_);
  storeTexel(column_, words);
  f_.endIf();
}

void SurfaceAccess::update(Op atomic, Value operand, const Update& update) {
  auto locked = [&] { withLock([&] { writeBytes(update(readBytes())); }); };
  f_.beginIf(isInside_);
  if (bytes_ != 4) {
    locked();
  } else {
    f_.beginIf(isTexelSize(4));
    Value changed = b_.emit(atomic, ir::I32, {}, static_cast<uint64_t>(place_.shape));
    changed->operands = coordinates(column_);
    changed->operands.push_back(operand);
    f_.beginElse();
    locked();
    f_.endIf();
  }
  f_.endIf();
}

}  // namespace mulciber::lower
