#include "translator/lower/atomic_locks.h"

#include <cstddef>

#include "mulciber/kernel_abi.h"
#include "translator/lower/memory_access.h"

namespace mulciber::lower {

using Address = FunctionLowering::Address;

ir::Instruction* isShared(ir::Builder& b, ir::Instruction* address) {
  return b.compare(ir::Op::IEq, b.bitAnd(address, b.i64(abi::windowMask)), b.i64(abi::sharedWindow));
}

namespace {

class Locked {
 public:
  Locked(FunctionLowering& lowering, const Address& where, ir::Type what)
      : f(lowering), b(lowering.b), address(where), type(what), words(what.totalBits() / 32) {}

  // body(), run by one thread at a time for this address.
  void run(const std::function<void()>& body) { runLocked(f, lockNumber(), body); }

  ir::Instruction* load() {
    std::vector<ir::Instruction*> parts;
    for (unsigned i = 0; i < words; i++) parts.push_back(b.load(ir::I32, place(i), wordAccess()));
    return b.bitcast(type, b.vector(parts));
  }

  void store(ir::Instruction* value) {
    ir::Instruction* parts = b.bitcast(ir::I32.withLanes(static_cast<uint8_t>(words)), value);
    for (unsigned i = 0; i < words; i++) b.store(place(i), b.extract(parts, i), wordAccess());
  }

 private:
  ir::Instruction* place(unsigned word) { return f.offset(address, 4 * word).value; }

  ir::MemoryAccess wordAccess() {
    ir::MemoryAccess access = plainAccess(address, 4);
    access.order = ir::Order::Relaxed;
    access.scope = ir::Scope::Device;
    return access;
  }

  // Shared memory has the same addresses in every block: there the block's number counts too.
  ir::Instruction* lockNumber() {
    bool isWide = address.value->type == ir::I64;
    ir::Instruction* low = isWide ? b.convert(ir::Op::Trunc, ir::I32, address.value) : address.value;
    ir::Instruction* number = b.lshr(low, b.i32(4));
    number = b.bitXor(number, b.lshr(low, b.i32(14)));
    if (address.space == ir::Space::Shared) number = b.add(number, blockNumber());
    if (address.space == ir::Space::Generic)
      number = b.add(number, b.select(isShared(b, address.value), blockNumber(), b.i32(0)));
    return number;
  }

  ir::Instruction* blockNumber() {
    ir::Instruction* x = b.input(ir::InputKind::BlockIdX);
    return b.mul(b.add(x, b.input(ir::InputKind::BlockIdY)), b.i32(67));
  }

  FunctionLowering& f;
  ir::Builder& b;
  Address address;
  ir::Type type;
  unsigned words;
};

ir::MemoryAccess at(const Address& address, ir::MemoryAccess access) {
  access.space = address.space;
  return access;
}

}  // namespace

// A lane that gets the lock gives it back before the others of its warp try again.
void runLocked(FunctionLowering& f, ir::Instruction* number, const std::function<void()>& body) {
  ir::Builder& b = f.b;
  auto access = [](ir::Order order) {
    ir::MemoryAccess result;
    result.order = order;
    result.scope = ir::Scope::Device;
    return result;
  };
  ir::Instruction* place = b.bitAnd(number, b.i32(abi::lockCount - 1));
  ir::Instruction* offset = b.convert(ir::Op::ZExt, ir::I64, b.shl(place, b.i32(2)));
  const Address lock{b.add(f.launchState(offsetof(abi::LaunchState, locks)), offset), ir::Space::Global, 4};
  f.beginLoop();
  ir::Instruction* seen = atomic(f, ir::Op::AtomicCas, lock, access(ir::Order::Acquire), {b.i32(0), b.i32(1)});
  f.beginIf(b.compare(ir::Op::IEq, seen, b.i32(0)));
  body();
  atomic(f, ir::Op::AtomicExchange, lock, access(ir::Order::Release), {b.i32(0)});
  f.endIf();
  f.endLoop(b.compare(ir::Op::INe, seen, b.i32(0)));
}

bool hasAtomics(const TargetProfile& profile, ir::Space space, unsigned bits) {
  if (bits <= 32) return true;
  if (bits > 64) return false;
  bool inShared = profile.atomicSharedInt64 && profile.sharedExplicitLayout;
  if (space == ir::Space::Generic) return inShared && profile.atomicInt64;
  return space == ir::Space::Shared ? inShared : profile.atomicInt64;
}

ir::Instruction* byAbility(FunctionLowering& f, const Address& address, ir::Type type, const Access& access) {
  unsigned bits = type.totalBits();
  bool inShared = hasAtomics(f.profile(), ir::Space::Shared, bits);
  if (address.space != ir::Space::Generic || inShared == hasAtomics(f.profile(), ir::Space::Global, bits))
    return access(address);
  ir::Builder& b = f.b;
  ir::VariableId result = b.function().addVariable(type, "result");
  f.beginIf(isShared(b, address.value));
  ir::Instruction* low = b.convert(ir::Op::Trunc, ir::I32, address.value);
  b.write(result, b.bitcast(type, access({low, ir::Space::Shared, address.knownAlignment})));
  f.beginElse();
  b.write(result, b.bitcast(type, access({address.value, ir::Space::Global, address.knownAlignment})));
  f.endIf();
  return b.read(result);
}

ir::Instruction* lockedUpdate(FunctionLowering& f, const Address& address, ir::Type type, const Update& update) {
  ir::VariableId old = f.b.function().addVariable(type, "old");
  Locked locked(f, address, type);
  locked.run([&] {
    ir::Instruction* value = locked.load();
    f.b.write(old, value);
    locked.store(update(value));
  });
  return f.b.read(old);
}

ir::Instruction* strongLoad(FunctionLowering& f, const Address& address, ir::Type type,
                            const ir::MemoryAccess& access) {
  return byAbility(f, address, type, [&](const Address& place) {
    if (hasAtomics(f.profile(), place.space, type.totalBits())) return f.b.load(type, place.value, at(place, access));
    ir::VariableId result = f.b.function().addVariable(type, "loaded");
    Locked locked(f, place, type);
    locked.run([&] { f.b.write(result, locked.load()); });
    return f.b.read(result);
  });
}

void strongStore(FunctionLowering& f, const Address& address, ir::Instruction* value, const ir::MemoryAccess& access) {
  byAbility(f, address, value->type, [&](const Address& place) {
    if (hasAtomics(f.profile(), place.space, value->type.totalBits())) {
      f.b.store(place.value, value, at(place, access));
    } else {
      Locked locked(f, place, value->type);
      locked.run([&] { locked.store(value); });
    }
    return value;
  });
}

}  // namespace mulciber::lower
