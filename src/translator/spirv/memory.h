// Where each address space is in SPIR-V, and how to reach bytes there:
//   Global  64-bit addresses, as pointers to PhysicalStorageBuffer
//   Shared  one block of bytes, seen through an array for each width that aliases it; without
//           VK_KHR_workgroup_memory_explicit_layout through 32-bit words alone
//   Local   an array of 32-bit words of the invocation
//   Param   push constants, or device memory when they do not fit
//   Constant a uniform buffer, seen through an array for each width
//   Generic tested for the windows of kernel_abi.h
// An access wider than what its alignment allows is split; one narrower than what the space offers works on the 32-bit
// word around it, atomically where other threads may write the neighbouring bytes.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "translator/spirv/emitter.h"

namespace mulciber::spirv {

// base + offset bytes; base is 0 when the address is a constant.
struct Address {
  Id base = 0;
  uint32_t offset = 0;
};

class MemoryEmitter {
 public:
  explicit MemoryEmitter(Emitter& emitter) : e_(emitter) {}

  Id load(ir::Type type, ir::Space space, Address address, ir::MemoryAccess access);
  void store(ir::Type type, ir::Space space, Address address, Id value, ir::MemoryAccess access);

  Address addressOf(ir::Instruction* address, ir::Space space);
  // Runs `access` for whichever space a generic address is in. A result type of Void means no result.
  Id dispatchGeneric(ir::Type result, Address address, const std::function<Id(ir::Space, Address)>& access);

  // A pointer to one element in Global, Shared or Constant memory.
  Id pointer(ir::Type element, ir::Space space, Address address);
  // A pointer to 16 bytes of shared memory, that many times 16 bytes before the address, which is a multiple of 16.
  Id pointerBefore(Address address, Id count);
  // The pointer to the 32-bit word around a byte, and the byte's bit position within it.
  struct SubWord {
    Id pointer, shift;
  };
  SubWord subWord(ir::Space space, Address address);

  Id pushConstant(unsigned headerMember);
  bool hasNative(ir::Space space, unsigned bytes) const;

 private:
  struct PushMember {
    uint32_t offset, bytes;
    unsigned index;
  };
  void keepInPlace(ir::Space space, const ir::MemoryAccess& access);
  unsigned pieceBytes(ir::Type type, ir::Space space, const ir::MemoryAccess& access) const;
  Id loadPiece(ir::Type piece, ir::Space space, Address address, const ir::MemoryAccess& access);
  void storePiece(ir::Type piece, ir::Space space, Address address, Id value, const ir::MemoryAccess& access);
  Id loadNarrow(ir::Type type, ir::Space space, Address address, const ir::MemoryAccess& access);
  void storeNarrow(ir::Type type, ir::Space space, Address address, Id value, const ir::MemoryAccess& access);
  Id loadParameterPiece(ir::Type piece, Address address);
  Id loadMemory(ir::Type element, Id pointer, ir::Space space, const ir::MemoryAccess& access);
  void storeMemory(ir::Type element, Id pointer, Id value, ir::Space space, const ir::MemoryAccess& access);
  Id elementType(ir::Type element);  // as it lies in memory
  Id sharedArray(ir::Type element);
  Id constantArray(ir::Type element);
  Id localArray();
  void declarePushConstants();
  Id parameterAddress();
  Id index(Address address, unsigned bytes);
  Id globalAddress(Address address);

  Emitter& e_;
  std::map<uint32_t, Id> sharedArrays_, constantArrays_;  // by kind, bits and lanes
  Id sharedBytes_ = 0, localArray_ = 0;
  Id pushBlock_ = 0, pushVariable_ = 0;
  std::map<unsigned, Id> pushValues_;
  std::vector<PushMember> pushMembers_;
  bool parametersAreWords_ = false, parametersInBuffer_ = false;
};

// Memory-model operands
uint32_t scopeOf(ir::Scope scope);
uint32_t semanticsOf(ir::Order order, bool isVolatile = false);

// An old value turned into a new one, retried until no other thread came between. Gives the old value.
Id compareExchangeLoop(Emitter& e, ir::Type type, Id pointer, uint32_t scope, uint32_t semantics,
                       const std::function<Id(Id)>& change);

}  // namespace mulciber::spirv
