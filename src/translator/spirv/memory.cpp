#include "translator/spirv/memory.h"

#include <algorithm>

#include "mulciber/kernel_abi.h"
#include "translator/analyses/address_parts.h"

namespace mulciber::spirv {
namespace {

using Mask = spv::MemoryAccessMask;
constexpr uint32_t bit(Mask mask) { return static_cast<uint32_t>(mask); }
constexpr uint32_t bit(spv::MemorySemanticsMask mask) { return static_cast<uint32_t>(mask); }

bool isStrong(const ir::MemoryAccess& access) { return access.order != ir::Order::Weak || access.isVolatile; }
bool acquires(ir::Order order) {
  return order != ir::Order::Weak && order != ir::Order::Relaxed && order != ir::Order::Release;
}
bool releases(ir::Order order) {
  return order != ir::Order::Weak && order != ir::Order::Relaxed && order != ir::Order::Acquire;
}
bool isShareable(ir::Space space) { return space == ir::Space::Global || space == ir::Space::Shared; }

// A load has nothing to release, a store nothing to acquire.
ir::Order loadOrder(ir::Order order) { return acquires(order) ? ir::Order::Acquire : ir::Order::Relaxed; }
ir::Order storeOrder(ir::Order order) { return releases(order) ? ir::Order::Release : ir::Order::Relaxed; }

// The scope of an access that must be seen by others; a volatile access means everyone.
ir::Scope scopeFor(const ir::MemoryAccess& access, ir::Space space) {
  ir::Scope scope = access.isVolatile ? ir::Scope::System : access.scope;
  return space == ir::Space::Shared ? std::min(scope, ir::Scope::Block) : scope;
}

}  // namespace

uint32_t scopeOf(ir::Scope scope) {
  switch (scope) {
    case ir::Scope::Thread: return static_cast<uint32_t>(spv::Scope::Invocation);
    case ir::Scope::Warp: return static_cast<uint32_t>(spv::Scope::Subgroup);
    case ir::Scope::Block: return static_cast<uint32_t>(spv::Scope::Workgroup);
    // Vulkan has nothing wider than the device: host memory is coherent with it.
    case ir::Scope::Device:
    case ir::Scope::System: break;
  }
  return static_cast<uint32_t>(spv::Scope::Device);
}

uint32_t semanticsOf(ir::Order order, bool isVolatile) {
  using Semantics = spv::MemorySemanticsMask;
  uint32_t result = isVolatile ? bit(Semantics::Volatile) : 0;
  bool acquire = acquires(order), release = releases(order);
  if (!acquire && !release) return result;
  result |= bit(Semantics::UniformMemory) | bit(Semantics::WorkgroupMemory);
  if (acquire) result |= bit(Semantics::MakeVisible);
  if (release) result |= bit(Semantics::MakeAvailable);
  return result | bit(acquire && release ? Semantics::AcquireRelease
                      : acquire          ? Semantics::Acquire
                                         : Semantics::Release);
}

Address MemoryEmitter::addressOf(ir::Instruction* address, ir::Space space) {
  if (space == ir::Space::Global || space == ir::Space::Generic) return {e_.value(address), 0};
  const auto [base, offset] = analyses::splitAddress(address);
  return {base ? e_.value(base) : 0, static_cast<uint32_t>(offset)};
}

Id MemoryEmitter::dispatchGeneric(ir::Type result, Address address,
                                  const std::function<Id(ir::Space, Address)>& access) {
  struct Window {
    bool exists;
    ir::Space space;
    uint64_t tag;
  };
  const Window windows[] = {
      {e_.program.hasGenericShared, ir::Space::Shared, abi::sharedWindow},
      {e_.program.hasGenericLocal, ir::Space::Local, abi::localWindow},
      {e_.program.hasGenericParam, ir::Space::Param, abi::paramWindow},
  };
  if (std::ranges::none_of(windows, &Window::exists)) return access(ir::Space::Global, address);

  Id whole = globalAddress(address);
  Id low = e_.low(whole);
  Id tag = e_.op(spv::Op::OpBitwiseAnd, ir::I32, {e_.high(whole), e_.constant(ir::I32, abi::windowMask >> 32)});
  std::function<Id(size_t)> tryFrom = [&](size_t first) -> Id {
    while (first < std::size(windows) && !windows[first].exists) ++first;
    if (first == std::size(windows)) return access(ir::Space::Global, {whole, 0});
    const Window& window = windows[first];
    Id inWindow = e_.op(spv::Op::OpIEqual, ir::Bool, {tag, e_.constant(ir::I32, window.tag >> 32)});
    Emitter::If branch = e_.beginIf(inWindow, true);
    Id there = access(window.space, {low, 0});
    e_.beginElse(branch);
    Id elsewhere = tryFrom(first + 1);
    e_.endIf(branch);
    return result.isVoid() ? 0 : e_.merged(branch, result, there, elsewhere);
  };
  return tryFrom(0);
}

Id MemoryEmitter::loadMemory(ir::Type element, Id pointer, ir::Space space, const ir::MemoryAccess& access) {
  ModuleBuilder& module = e_.module;
  if (!isShareable(space)) return module.emit(spv::Op::OpLoad, elementType(element), {pointer});
  uint32_t mask = 0;
  std::vector<uint32_t> words{pointer, 0};
  if (space == ir::Space::Global) {
    mask |= bit(Mask::Aligned);
    words.push_back(std::max<uint32_t>(access.alignment, element.bits / 8u));
  }
  if (!access.isReadOnly) mask |= bit(Mask::NonPrivatePointer);
  if (access.isVolatile) mask |= bit(Mask::Volatile);
  if (isStrong(access)) {
    mask |= bit(Mask::MakePointerVisible);
    words.push_back(module.constant32(scopeOf(scopeFor(access, space))));
  }
  words[1] = mask;
  return module.emit(spv::Op::OpLoad, elementType(element), words);
}

void MemoryEmitter::storeMemory(ir::Type element, Id pointer, Id value, ir::Space space,
                                const ir::MemoryAccess& access) {
  ModuleBuilder& module = e_.module;
  if (!isShareable(space)) return module.emitVoid(spv::Op::OpStore, {pointer, value});
  uint32_t mask = bit(Mask::NonPrivatePointer);
  std::vector<uint32_t> words{pointer, value, 0};
  if (space == ir::Space::Global) {
    mask |= bit(Mask::Aligned);
    words.push_back(std::max<uint32_t>(access.alignment, element.bits / 8u));
  }
  if (access.isVolatile) mask |= bit(Mask::Volatile);
  if (isStrong(access)) {
    mask |= bit(Mask::MakePointerAvailable);
    words.push_back(module.constant32(scopeOf(scopeFor(access, space))));
  }
  words[2] = mask;
  module.emitVoid(spv::Op::OpStore, words);
}

// NVIDIA's driver takes volatile and atomic accesses of shared memory for plain ones: it moves loads out of loops that
// wait by them, or takes such loops away. A barrier for the warp alone costs it no instruction and keeps them in place.
void MemoryEmitter::keepInPlace(ir::Space space, const ir::MemoryAccess& access) {
  if (e_.profile.movesSharedAccesses && space == ir::Space::Shared && isStrong(access))
    e_.fence(ir::Order::AcquireRelease, ir::Scope::Warp);
}

// The largest piece that the alignment and the space allow; 0 when each lane is narrower than any.
unsigned MemoryEmitter::pieceBytes(ir::Type type, ir::Space space, const ir::MemoryAccess& access) const {
  unsigned total = type.totalBits() / 8, lane = type.bits / 8u;
  unsigned aligned = std::max<unsigned>(access.alignment, lane);
  if (space == ir::Space::Param && lane == 8) return parametersAreWords_ ? 4 : 8;
  if (space == ir::Space::Param) return lane == 4 || (total % 4 == 0 && aligned % 4 == 0) ? 4 : 0;
  for (unsigned bytes : {16u, 8u, 4u, 2u, 1u})
    if (bytes <= total && bytes <= aligned && total % bytes == 0 && hasNative(space, bytes)) return bytes;
  return lane == 8 ? 4 : 0;
}

Id MemoryEmitter::loadPiece(ir::Type piece, ir::Space space, Address address, const ir::MemoryAccess& access) {
  if (space == ir::Space::Param) return loadParameterPiece(piece, address);
  // A word that other threads write at the same time has to be read in one go.
  bool isAtomic =
      isStrong(access) && isShareable(space) && !piece.isVector() && piece.bits >= 32 && e_.hasAtomics(piece, space);
  if (isAtomic) {
    return e_.module.emit(spv::Op::OpAtomicLoad, e_.type(piece),
                          {pointer(piece, space, address), e_.module.constant32(scopeOf(scopeFor(access, space))),
                           e_.module.constant32(semanticsOf(loadOrder(access.order), access.isVolatile))});
  }
  Id value = loadMemory(piece, pointer(piece, space, address), space, access);
  if (acquires(access.order) && isShareable(space)) e_.fence(access.order, scopeFor(access, space));
  return e_.isNative(piece) ? value : e_.module.emit(spv::Op::OpUConvert, e_.type(piece), {value});
}

void MemoryEmitter::storePiece(ir::Type piece, ir::Space space, Address address, Id value,
                               const ir::MemoryAccess& access) {
  bool isAtomic =
      isStrong(access) && isShareable(space) && !piece.isVector() && piece.bits >= 32 && e_.hasAtomics(piece, space);
  if (isAtomic) {
    e_.module.emitVoid(spv::Op::OpAtomicStore,
                       {pointer(piece, space, address), e_.module.constant32(scopeOf(scopeFor(access, space))),
                        e_.module.constant32(semanticsOf(storeOrder(access.order), access.isVolatile)), value});
    return;
  }
  if (releases(access.order) && isShareable(space)) e_.fence(access.order, scopeFor(access, space));
  if (!e_.isNative(piece)) value = e_.module.emit(spv::Op::OpUConvert, elementType(piece), {value});
  storeMemory(piece, pointer(piece, space, address), value, space, access);
}

Id MemoryEmitter::load(ir::Type type, ir::Space space, Address address, ir::MemoryAccess access) {
  if (space == ir::Space::Param) {
    if (pushVariable_ == 0) declarePushConstants();
    const bool isCarried =
        !e_.program.carriedWords.empty() && address.base == 0 && address.offset >= e_.program.carriedOffset();
    if (parametersInBuffer_ && !isCarried) {
      Id offset = e_.constant(ir::I64, address.offset);
      if (address.base != 0) {  // the offset may be negative: the sum is one of 32 bits
        Id sum = address.base;
        if (address.offset != 0) sum = e_.op(spv::Op::OpIAdd, ir::I32, {sum, e_.constant(ir::I32, address.offset)});
        offset = e_.op(spv::Op::OpUConvert, ir::I64, {sum});
      }
      access.isReadOnly = true;
      Id at = e_.op(spv::Op::OpIAdd, ir::I64, {parameterAddress(), offset});
      return load(type, ir::Space::Global, {at, 0}, access);
    }
  }
  if (space == ir::Space::Generic) {
    return dispatchGeneric(type, address, [&](ir::Space actual, Address at) { return load(type, actual, at, access); });
  }

  keepInPlace(space, access);
  unsigned bytes = pieceBytes(type, space, access), lane = type.bits / 8u;
  if (bytes == 0) return loadNarrow(type, space, address, access);
  unsigned total = type.totalBits() / 8;
  // Device memory holds any type as it is.
  if (space == ir::Space::Global && bytes == total && type.lanes <= 4 && e_.isNative(type) && !isStrong(access))
    return loadMemory(type, pointer(type, space, address), space, access);

  ir::Type piece = bytes == 16 ? ir::I32.withLanes(4) : ir::intType(bytes * 8);
  std::vector<Id> lanes;
  for (unsigned at = 0; at < total; at += std::max(bytes, lane)) {
    Address there{address.base, address.offset + at};
    Id value = loadPiece(piece, space, there, access);
    if (bytes < lane) {  // two words of a 64-bit lane
      Id upper = loadPiece(piece, space, {there.base, there.offset + 4}, access);
      lanes.push_back(e_.bitcast(e_.join(value, upper), ir::I64, type.scalar()));
    } else if (bytes == total) {
      return e_.bitcast(value, piece, type);
    } else {
      ir::Type part = type.withLanes(static_cast<uint8_t>(bytes / lane));
      value = e_.bitcast(value, piece, part);
      for (unsigned k = 0; k < part.lanes; ++k)
        lanes.push_back(part.isVector() ? e_.extract(value, type.scalar(), k) : value);
    }
  }
  return e_.construct(type, lanes);
}

void MemoryEmitter::store(ir::Type type, ir::Space space, Address address, Id value, ir::MemoryAccess access) {
  if (space == ir::Space::Param) return e_.refuse("it writes to its parameters");
  if (space == ir::Space::Generic) {
    dispatchGeneric(ir::Void, address, [&](ir::Space actual, Address at) {
      // Parameters cannot be written: such an address faults on a GPU, and here does nothing.
      if (actual != ir::Space::Param) store(type, actual, at, value, access);
      return Id{0};
    });
    return;
  }
  keepInPlace(space, access);
  unsigned bytes = pieceBytes(type, space, access), lane = type.bits / 8u;
  if (bytes == 0) return storeNarrow(type, space, address, value, access);
  unsigned total = type.totalBits() / 8;
  if (space == ir::Space::Global && bytes == total && type.lanes <= 4 && e_.isNative(type) && !isStrong(access))
    return storeMemory(type, pointer(type, space, address), value, space, access);

  ir::Type piece = bytes == 16 ? ir::I32.withLanes(4) : ir::intType(bytes * 8);
  if (bytes == total) return storePiece(piece, space, address, e_.bitcast(value, type, piece), access);
  auto laneValue = [&](unsigned k) { return type.isVector() ? e_.extract(value, type.scalar(), k) : value; };
  for (unsigned k = 0; k < type.lanes;) {
    Address there{address.base, address.offset + k * lane};
    if (bytes < lane) {
      Id whole = e_.bitcast(laneValue(k++), type.scalar(), ir::I64);
      storePiece(piece, space, there, e_.low(whole), access);
      storePiece(piece, space, {there.base, there.offset + 4}, e_.high(whole), access);
      continue;
    }
    ir::Type part = type.withLanes(static_cast<uint8_t>(bytes / lane));
    std::vector<Id> lanes;
    for (unsigned n = 0; n < part.lanes; ++n) lanes.push_back(laneValue(k++));
    storePiece(piece, space, there, e_.bitcast(e_.construct(part, lanes), part, piece), access);
  }
}

Id MemoryEmitter::loadNarrow(ir::Type type, ir::Space space, Address address, const ir::MemoryAccess& access) {
  ir::Type lane = ir::intType(type.bits);
  std::vector<Id> lanes;
  for (unsigned k = 0; k < type.lanes; ++k) {
    Address at{address.base, address.offset + k * (type.bits / 8u)};
    Id word = 0, shift = 0;
    if (space == ir::Space::Param) {
      Id whole = at.base == 0 ? e_.constant(ir::I32, at.offset)
                              : e_.op(spv::Op::OpIAdd, ir::I32, {at.base, e_.constant(ir::I32, at.offset)});
      word = loadParameterPiece(ir::I32, at.base == 0 ? Address{0, at.offset & ~3u} : Address{whole, 0});
      Id byte = e_.op(spv::Op::OpBitwiseAnd, ir::I32, {whole, e_.constant(ir::I32, 3)});
      shift = e_.op(spv::Op::OpShiftLeftLogical, ir::I32, {byte, e_.constant(ir::I32, 3)});
    } else {
      SubWord there = subWord(space, at);
      shift = there.shift;
      ir::MemoryAccess wordAccess = access;
      wordAccess.alignment = 4;
      word = loadMemory(ir::I32, there.pointer, space, wordAccess);
    }
    Id bits = e_.op(spv::Op::OpBitFieldUExtract, ir::I32, {word, shift, e_.constant(ir::I32, type.bits)});
    lanes.push_back(e_.bitcast(e_.isNative(lane) ? e_.narrow(bits, lane) : bits, lane, type.scalar()));
  }
  if (acquires(access.order) && isShareable(space)) e_.fence(access.order, scopeFor(access, space));
  return e_.construct(type, lanes);
}

void MemoryEmitter::storeNarrow(ir::Type type, ir::Space space, Address address, Id value,
                                const ir::MemoryAccess& access) {
  if (releases(access.order) && isShareable(space)) e_.fence(access.order, scopeFor(access, space));
  ir::Type lane = ir::intType(type.bits);
  for (unsigned k = 0; k < type.lanes; ++k) {
    Id part = type.isVector() ? e_.extract(value, type.scalar(), k) : value;
    Id bits = e_.widen(e_.bitcast(part, type.scalar(), lane), lane, false);
    SubWord there = subWord(space, {address.base, address.offset + k * (type.bits / 8u)});
    auto change = [&](Id old) {
      if (type.bits == 16) return e_.insertHalf(old, bits, there.shift);
      return e_.op(spv::Op::OpBitFieldInsert, ir::I32, {old, bits, there.shift, e_.constant(ir::I32, type.bits)});
    };
    if (isShareable(space)) {
      ir::Scope scope = space == ir::Space::Shared ? ir::Scope::Block : ir::Scope::Device;
      compareExchangeLoop(e_, ir::I32, there.pointer, scopeOf(scope), 0, change);
    } else {
      storeMemory(ir::I32, there.pointer, change(loadMemory(ir::I32, there.pointer, space, access)), space, access);
    }
  }
}

Id emitMemory(Emitter& e, const ir::Instruction& i) {
  MemoryEmitter& memory = e.memory();
  Address address = memory.addressOf(i.operands[0], i.memory.space);
  if (i.op == ir::Op::Load) return memory.load(i.type, i.memory.space, address, i.memory);
  memory.store(i.operands[1]->type, i.memory.space, address, e.operand(i, 1), i.memory);
  return 0;
}

}  // namespace mulciber::spirv
