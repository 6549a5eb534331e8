// The variables behind the address spaces: shared arrays, the private frame, push constants.
#include <algorithm>
#include <bit>

#include "mulciber/kernel_abi.h"
#include "translator/analyses/push_constants.h"
#include "translator/spirv/memory.h"

namespace mulciber::spirv {
namespace {

uint32_t keyOf(ir::Type type) { return static_cast<uint32_t>(type.kind) << 16 | uint32_t{type.bits} << 8 | type.lanes; }

// The push constants' header as struct members: offset and size of each.
struct HeaderMember {
  uint32_t offset, bytes;
};
constexpr HeaderMember header[] = {
    {offsetof(abi::PushHeader, launchState), 8}, {offsetof(abi::PushHeader, moduleData), 8},
    {offsetof(abi::PushHeader, gridDim), 4},     {offsetof(abi::PushHeader, gridDim) + 4, 4},
    {offsetof(abi::PushHeader, gridDim) + 8, 4}, {offsetof(abi::PushHeader, firstBlockX), 4},
};
constexpr unsigned headerMembers = std::size(header);

}  // namespace

uint32_t constantBlockBytes(const ir::Program& program) {
  return (static_cast<uint32_t>(program.constantBytes) + 15) / 16 * 16;
}

bool MemoryEmitter::hasNative(ir::Space space, unsigned bytes) const {
  const TargetProfile& profile = e_.profile;
  switch (space) {
    case ir::Space::Global: return bytes == 1 ? profile.storage8 : bytes == 2 ? profile.storage16 : true;
    case ir::Space::Shared:
      if (!profile.sharedExplicitLayout) return bytes == 4;
      return bytes == 1 ? profile.sharedExplicitLayout8 : bytes == 2 ? profile.sharedExplicitLayout16 : true;
    case ir::Space::Constant: return bytes == 1 ? profile.uniform8 : bytes == 2 ? profile.uniform16 : true;
    case ir::Space::Param: return bytes == 4 || (bytes == 8 && !parametersAreWords_);
    default: return bytes == 4;
  }
}

// Narrow integers lie in memory as themselves even where they are computed with as words.
Id MemoryEmitter::elementType(ir::Type element) {
  if (!e_.isNative(element)) {
    Id scalar = e_.module.intType(element.bits);
    return element.lanes == 1 ? scalar : e_.module.vectorType(scalar, element.lanes);
  }
  return e_.type(element);
}

// Base and offset are divided apart, so that the offset stays an immediate. The base alone may be negative (an array
// indexed by `i - 1`, with the rest in the offset): hence the arithmetic shifts. Only near offsets: with a far one, the
// sum of base and offset may be what it is because it wraps at 2^32.
Id MemoryEmitter::index(Address address, unsigned bytes) {
  auto shift = static_cast<uint32_t>(std::countr_zero(bytes));
  if (address.base == 0) return e_.constant(ir::I32, address.offset >> shift);
  Id base = address.base;
  auto after = static_cast<uint32_t>(static_cast<int32_t>(address.offset) >> shift);
  constexpr uint32_t farthest = 1u << 24;  // beyond any shared, local or constant memory
  if (address.offset % bytes != 0 || address.offset + farthest > 2 * farthest) {
    base = e_.op(spv::Op::OpIAdd, ir::I32, {base, e_.constant(ir::I32, address.offset)});
    after = 0;
  }
  if (shift != 0) base = e_.op(spv::Op::OpShiftRightArithmetic, ir::I32, {base, e_.constant(ir::I32, shift)});
  return after == 0 ? base : e_.op(spv::Op::OpIAdd, ir::I32, {base, e_.constant(ir::I32, after)});
}

Id MemoryEmitter::sharedArray(ir::Type element) {
  Id& variable = sharedArrays_[keyOf(element)];
  if (variable != 0) return variable;
  ModuleBuilder& module = e_.module;
  if (sharedBytes_ == 0) {
    // Never empty: a kernel that gets no dynamic shared memory may still name it.
    constexpr uint32_t unit = 16;
    uint32_t fixed = std::max(unit, (e_.program.sharedBytes + unit - 1) / unit * unit);
    Id most = module.specOperation(spv::Op::OpIAdd, e_.u32(),
                                   {module.constant32(fixed + unit - 1), e_.input(ir::InputKind::DynamicSharedSize)});
    sharedBytes_ = module.specOperation(spv::Op::OpBitwiseAnd, e_.u32(), {most, module.constant32(~(unit - 1))});
  }
  uint32_t bytes = element.totalBits() / 8;
  Id count = bytes == 1 ? sharedBytes_
                        : module.specOperation(spv::Op::OpUDiv, e_.u32(), {sharedBytes_, module.constant32(bytes)});
  std::string name = "shared_" + ir::toString(element.scalar());
  if (element.isVector()) name += "x" + std::to_string(element.lanes);
  if (!e_.profile.sharedExplicitLayout) {
    Id array = module.sizedArrayType(elementType(element), count);
    return variable = module.globalVariable(spv::StorageClass::Workgroup, array, name);
  }
  module.capability(spv::Capability::WorkgroupMemoryExplicitLayoutKHR);
  if (element.bits == 8) module.capability(spv::Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR);
  if (element.bits == 16) module.capability(spv::Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR);
  module.extension("SPV_KHR_workgroup_memory_explicit_layout");
  Id array = module.layoutArrayType(elementType(element), count, bytes);
  Id block = module.blockType(std::array{array}, std::array{0u});
  variable = module.globalVariable(spv::StorageClass::Workgroup, block, name);
  module.decorate(variable, spv::Decoration::Aliased);
  return variable;
}

// The whole buffer as elements of one type: several such variables share its binding.
Id MemoryEmitter::constantArray(ir::Type element) {
  Id& variable = constantArrays_[keyOf(element)];
  if (variable != 0) return variable;
  ModuleBuilder& module = e_.module;
  if (element.bits == 8) module.capability(spv::Capability::UniformAndStorageBuffer8BitAccess);
  if (element.bits == 16) module.capability(spv::Capability::UniformAndStorageBuffer16BitAccess);
  const uint32_t bytes = element.totalBits() / 8;
  Id count = module.constant32(constantBlockBytes(e_.program) / bytes);
  Id block = module.blockType(std::array{module.layoutArrayType(elementType(element), count, bytes)}, std::array{0u});
  std::string name = "constants_" + ir::toString(element.scalar());
  if (element.isVector()) name += "x" + std::to_string(element.lanes);
  variable = module.globalVariable(spv::StorageClass::Uniform, block, name);
  module.decorate(variable, spv::Decoration::DescriptorSet, {abi::constantSet});
  module.decorate(variable, spv::Decoration::Binding, {abi::constantBinding});
  return variable;
}

Id MemoryEmitter::localArray() {
  if (localArray_ == 0) {
    uint32_t words = std::max(1u, (e_.function.localBytes + 3) / 4), stacks = e_.function.stackCount;
    ModuleBuilder& module = e_.module;
    Id type = module.plainArrayType(e_.u32(), words);
    if (stacks != 0) {
      Id stack = module.specOperation(spv::Op::OpIMul, e_.u32(),
                                      {e_.input(ir::InputKind::StackBytes), module.constant32(stacks)});
      Id stackWords = module.specOperation(spv::Op::OpUDiv, e_.u32(), {stack, module.constant32(4)});
      type = module.sizedArrayType(
          e_.u32(), module.specOperation(spv::Op::OpIAdd, e_.u32(), {stackWords, module.constant32(words)}));
    }
    localArray_ = module.functionVariable(type, "local");
  }
  return localArray_;
}

Id MemoryEmitter::globalAddress(Address address) {
  if (address.base == 0) return e_.constant(ir::I64, address.offset);
  if (address.offset == 0) return address.base;
  return e_.op(spv::Op::OpIAdd, ir::I64, {address.base, e_.constant(ir::I64, address.offset)});
}

Id MemoryEmitter::pointer(ir::Type element, ir::Space space, Address address) {
  ModuleBuilder& module = e_.module;
  unsigned bytes = element.totalBits() / 8;
  switch (space) {
    case ir::Space::Global: {
      if (element.bits == 8) module.capability(spv::Capability::StorageBuffer8BitAccess);
      if (element.bits == 16) module.capability(spv::Capability::StorageBuffer16BitAccess);
      Id type = module.pointerType(spv::StorageClass::PhysicalStorageBuffer, elementType(element));
      return module.emit(spv::Op::OpConvertUToPtr, type, {globalAddress(address)});
    }
    case ir::Space::Shared: {
      Id variable = sharedArray(element);
      Id type = module.pointerType(spv::StorageClass::Workgroup, elementType(element));
      Id at = index(address, bytes);
      if (!e_.profile.sharedExplicitLayout) return module.emit(spv::Op::OpAccessChain, type, {variable, at});
      return module.emit(spv::Op::OpAccessChain, type, {variable, module.constant32(0), at});
    }
    case ir::Space::Constant: {
      Id type = module.pointerType(spv::StorageClass::Uniform, elementType(element));
      return module.emit(spv::Op::OpAccessChain, type,
                         {constantArray(element), module.constant32(0), index(address, bytes)});
    }
    default: {
      Id type = module.pointerType(spv::StorageClass::Function, e_.u32());
      return module.emit(spv::Op::OpAccessChain, type, {localArray(), index(address, bytes)});
    }
  }
}

Id MemoryEmitter::pointerBefore(Address address, Id count) {
  constexpr ir::Type row = ir::I32.withLanes(4);
  Id type = e_.module.pointerType(spv::StorageClass::Workgroup, elementType(row));
  Id at = e_.op(spv::Op::OpISub, ir::I32, {index(address, 16), count});
  return e_.module.emit(spv::Op::OpAccessChain, type, {sharedArray(row), e_.module.constant32(0), at});
}

MemoryEmitter::SubWord MemoryEmitter::subWord(ir::Space space, Address address) {
  auto bitOf = [&](Id byteAddress) {
    Id byte = e_.op(spv::Op::OpBitwiseAnd, ir::I32, {byteAddress, e_.constant(ir::I32, 3)});
    return e_.op(spv::Op::OpShiftLeftLogical, ir::I32, {byte, e_.constant(ir::I32, 3)});
  };
  if (space == ir::Space::Global) {
    Id whole = globalAddress(address);
    Id aligned = e_.op(spv::Op::OpBitwiseAnd, ir::I64, {whole, e_.constant(ir::I64, ~uint64_t{3})});
    return {pointer(ir::I32, space, {aligned, 0}), bitOf(e_.low(whole))};
  }
  if (address.base == 0) {
    return {pointer(ir::I32, space, {0, address.offset & ~3u}), e_.constant(ir::I32, address.offset % 4 * 8)};
  }
  Id whole = address.base;
  if (address.offset != 0) whole = e_.op(spv::Op::OpIAdd, ir::I32, {whole, e_.constant(ir::I32, address.offset)});
  return {pointer(ir::I32, space, {whole, 0}), bitOf(whole)};
}

// Parameters at constant offsets become members of their own width, so that a load is one load. A kernel that computes
// parameter addresses gets an array of words instead.
void MemoryEmitter::declarePushConstants() {
  ModuleBuilder& module = e_.module;
  std::vector<Id> members;
  std::vector<uint32_t> offsets;
  auto add = [&](uint32_t offset, uint32_t bytes) {
    members.push_back(bytes == 8 ? e_.u64() : e_.u32());
    offsets.push_back(offset);
  };
  for (const HeaderMember& member : header) add(member.offset, member.bytes);

  uint32_t carried = e_.program.parameterBytes;
  if (const size_t words = e_.program.carriedWords.size(); words != 0)
    carried = e_.program.carriedOffset() + static_cast<uint32_t>(words * sizeof(uint32_t));
  uint32_t slots = (carried + 7) / 8;
  std::vector<bool> isUsed(slots), isWhole(slots, true);  // by eight bytes
  parametersAreWords_ = e_.program.hasGenericParam;
  for (const ir::Block* block : e_.function.blocks) {
    for (const ir::Instruction* i : block->instructions) {
      if (i->op != ir::Op::Load || i->memory.space != ir::Space::Param) continue;
      const ir::Instruction* address = i->operands[0];
      if (!address->isConstant() || address->payload + i->type.totalBits() / 8 > carried) {
        parametersAreWords_ = true;
        break;
      }
      bool whole = i->type.bits == 64 && address->payload % 8 == 0;
      for (uint64_t byte = address->payload; byte < address->payload + i->type.totalBits() / 8; ++byte) {
        isUsed[byte / 8] = true;
        if (!whole) isWhole[byte / 8] = false;
      }
    }
  }
  parametersInBuffer_ = analyses::parametersInBuffer(e_.program, e_.profile);
  if (parametersInBuffer_) {
    parametersAreWords_ = false;
    add(abi::parameterOffset, 8);
    for (uint32_t n = 0; n < e_.program.carriedWords.size(); ++n) {
      pushMembers_.push_back({e_.program.carriedOffset() + n * 4, 4, static_cast<unsigned>(members.size())});
      add(abi::parameterOffset + 8 + n * 4, 4);
    }
  } else if (parametersAreWords_) {
    uint32_t words = std::max(1u, (carried + 3) / 4);
    members.push_back(module.layoutArrayType(e_.u32(), module.constant32(words), 4));
    offsets.push_back(abi::parameterOffset);
  } else {
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (!isUsed[slot]) continue;
      for (uint32_t part = 0; part < (isWhole[slot] ? 1u : 2u); ++part) {
        PushMember member{slot * 8 + part * 4, isWhole[slot] ? 8u : 4u, static_cast<unsigned>(members.size())};
        if (member.offset >= ((carried + 3) & ~3u)) continue;
        pushMembers_.push_back(member);
        add(abi::parameterOffset + member.offset, member.bytes);
      }
    }
  }
  pushBlock_ = module.blockType(members, offsets);
  module.name(pushBlock_, "Launch");
  pushVariable_ = module.globalVariable(spv::StorageClass::PushConstant, pushBlock_, "launch");
}

Id MemoryEmitter::pushConstant(unsigned member) {
  if (pushVariable_ == 0) declarePushConstants();
  Id& value = pushValues_[member];
  if (value == 0) {
    Id type = member < headerMembers && header[member].bytes == 4 ? e_.u32() : e_.u64();
    Id pointerType = e_.module.pointerType(spv::StorageClass::PushConstant, type);
    Id at = e_.module.prologue(spv::Op::OpAccessChain, pointerType, {pushVariable_, e_.module.constant32(member)});
    value = e_.module.prologueLoad(type, at);
  }
  return value;
}

Id MemoryEmitter::parameterAddress() { return pushConstant(headerMembers); }

Id MemoryEmitter::loadParameterPiece(ir::Type piece, Address address) {
  ModuleBuilder& module = e_.module;
  Id pointerType = module.pointerType(spv::StorageClass::PushConstant, e_.type(piece));
  if (parametersAreWords_) {
    Id at = module.emit(spv::Op::OpAccessChain, pointerType,
                        {pushVariable_, module.constant32(headerMembers), index(address, 4)});
    return module.emit(spv::Op::OpLoad, e_.type(piece), {at});
  }
  unsigned bytes = piece.bits / 8;
  for (const PushMember& member : pushMembers_) {
    if (address.offset < member.offset || address.offset >= member.offset + member.bytes) continue;
    ir::Type whole = ir::intType(member.bytes * 8);
    Id type = e_.type(whole);
    Id at = module.emit(spv::Op::OpAccessChain, module.pointerType(spv::StorageClass::PushConstant, type),
                        {pushVariable_, module.constant32(member.index)});
    Id value = module.emit(spv::Op::OpLoad, type, {at});
    if (member.bytes == bytes) return value;
    if (bytes == 8) return e_.join(value, loadParameterPiece(ir::I32, {0, address.offset + 4}));
    return address.offset == member.offset ? e_.low(value) : e_.high(value);
  }
  return e_.zero(piece);  // padding after the last parameter
}

}  // namespace mulciber::spirv
