// Lowers the body of one PTX function to IR: control flow, registers and operands here, one instruction family per
// file beside it (integer.cpp, float.cpp, convert.cpp, memory.cpp, atomic.cpp, warp.cpp, barrier.cpp, call.cpp ...).
//
// An instruction family exports a table of Lowering rows; dispatch.cpp finds the row of an opcode. A LowerFn reads its
// operands with value(), computes with `b`, and writes its result with write(). Guards (@p) are dealt with before
// it is called: see lowerInstruction() in function_lowering.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mulciber/kernel_abi.h"
#include "translator/ir/builder.h"
#include "translator/lower/module_layout.h"
#include "translator/ptx/ast.h"

namespace mulciber::lower {

class ProgramLowering;
struct FunctionInfo;
struct ParameterPiece;
struct ParameterShape;

using KernelFault = abi::KernelError;

constexpr ir::VariableId noVariable = ~ir::VariableId(0);

// The IR type in which values of a PTX type live: integers for untyped, signed and unsigned ones; bf16 and the
// small floats as integers; f16x2 and bf16x2 as i32; f32x2 as i64; b128 as <2 x i64>.
ir::Type irType(ptx::Type type);

class FunctionLowering {
 public:
  FunctionLowering(ProgramLowering& program, const ptx::Function& function, ir::Function& result);

  ir::Builder b;

  // The operand as a value of `type`. A register of another class but the same width is bitcast; a wider integer
  // register is truncated, as PTX allows for ld, st and cvt operands; a constant is converted; a vector operand
  // {a, b} is packed. The byte and half selectors of video operands are left to the caller.
  ir::Instruction* value(const ptx::Operand& operand, ir::Type type);
  ir::Instruction* value(const ptx::Operand& operand, ptx::Type type) { return value(operand, irType(type)); }
  ir::Instruction* predicate(const ptx::Operand& operand);  // bool, negation applied
  // The guard of a pure instruction, which from then on writes without one.
  ir::Instruction* takeGuard() { return std::exchange(guard_, nullptr); }

  // Stores a result. Narrower integer values are zero- or sign-extended to the register by `isSigned`, wider ones
  // truncated. A vector destination {a, b} is unpacked. A Sink operand drops the value.
  void write(const ptx::Operand& destination, ir::Instruction* value, bool isSigned = false);

  // The two halves of d|p, or the operand itself and null.
  struct Pair {
    const ptx::Operand* first;
    const ptx::Operand* second;  // null when it is missing
  };
  static Pair pair(const ptx::Operand& operand);

  // The carry flag of add.cc, addc, sub.cc ...: i32 0 or 1.
  ir::Instruction* carry();
  void writeCarry(ir::Instruction* value);

  ptx::Type registerType(const ptx::Operand& operand) const;  // None when the operand is no register

  // Address of a memory operand: i64 for Global and Generic, i32 for the others.
  struct Address {
    ir::Instruction* value;
    ir::Space space;
    uint32_t knownAlignment;  // of the base symbol and offset, 1 when unknown
  };
  Address address(const ptx::Operand& operand, ptx::StateSpace space);
  Address offset(const Address& base, int64_t bytes);

  Address locate(const ptx::Variable& variable);
  Address element(const ptx::Operand& operand);      // variable[register + n]
  ir::Instruction* generic(const Address& address);  // i64

  // The address of a variable as a value of mov or cvta, i64: in its own space, or as a generic address.
  ir::Instruction* addressOf(const ptx::Variable& variable, bool generic);

  ir::Instruction* specialRegister(ptx::SpecialRegister which);  // of the register's own type
  ir::Instruction* laneId();
  ir::Instruction* blockThreads();
  // In a loop that waits for another warp: lets it run, on devices where spinning does not.
  void yieldToWarps();
  // The same where lanes of one warp may wait for each other, see passes/waits.h.
  void yieldToThreads();

  // Calls. Parameters that are no registers pass through variables, piece by piece: see parameters.h.
  void callDirect(const ptx::Function& callee, const ptx::Instruction& call);
  void callIndirect(const ptx::Instruction& call);
  bool callService(std::string_view name, const ptx::Instruction& call);  // false: no such service
  ir::Instruction* argument(const ptx::Operand& operand, ir::Type type);

  // Reports an error to the host, once for each launch, and ends the thread.
  struct FaultText {
    ir::Instruction *message, *file, *line, *function;
  };
  void fail(KernelFault fault, const FaultText* text = nullptr);
  ir::Instruction* launchState(size_t offset);  // the 64-bit member at that offset

  const FunctionInfo& info() const;

  // ld.param and st.param of what a function passes to another; false when the operand is a kernel's parameter or
  // lies in memory.
  bool loadCallParameter(const ptx::Instruction& instruction, ir::Type type);
  bool storeCallParameter(const ptx::Instruction& instruction, ir::Type type);

  // The stack of alloca: i32 addresses in local memory.
  ir::Instruction* allocate(ir::Instruction* bytes, uint32_t alignment);
  ir::Instruction* stack() { return b.read(stackPointer_); }
  void restoreStack(ir::Instruction* saved) { b.write(stackPointer_, saved); }

  // Control flow inside a lowering: begin(condition) ... otherwise() ... end().
  void beginIf(ir::Instruction* condition);
  void beginElse();
  void endIf();
  // do { ... } while (condition): beginLoop() ... endLoop(condition). Values cross iterations in variables.
  void beginLoop();
  void endLoop(ir::Instruction* again);
  // The thread ends here; what follows is reached only through labels.
  void endThread();

  // PTX's own control flow, under a guard when that is not null.
  void branchTo(const ptx::Label& label, const ptx::Operand* guard);
  void branchIndexed(const ptx::Operand& index, const ptx::TargetList& targets, const ptx::Operand* guard);
  void returnUnder(const ptx::Operand* guard);

  // Refuses the kernel: `what` cannot be translated, because of `why`. Lowering continues, to find more.
  void refuse(const ptx::Instruction& instruction, std::string_view why);
  void refuse(uint32_t where, std::string_view why);

  const TargetProfile& profile() const;
  const ptx::Module& module() const;
  const ptx::Function& function() const { return function_; }
  ProgramLowering& program() { return program_; }

  void lowerBody();

 private:
  struct OpenConstruct {
    ir::Block* otherwise;
    ir::Block* end;
  };

  void lowerPrologue();
  void clearBarrierWords();
  void lowerReturn();
  uint32_t placeOf(uint32_t where) const;
  void lowerStatement(const ptx::Statement& statement);
  void lowerInstruction(const ptx::Instruction& instruction);
  void startBlock(ir::Block* block);  // falls through from the current block when that is open
  ir::Block* blockOf(const ptx::Label& label);

  const ParameterShape* passedShape(const ptx::Variable& variable) const;
  std::span<const ir::VariableId> pieceVariables(const ptx::Variable& variable);
  ir::Instruction* frameAddress(uint32_t offset);
  ir::Instruction* stackBegin();
  ir::Instruction* stackEnd();
  ir::Instruction* accessFrame(const ptx::Variable& variable, uint32_t offset, ir::Type type, ir::Instruction* stored);
  ir::Instruction* readPassed(const ptx::Variable& variable, uint32_t offset, ir::Type type);
  ir::Instruction* argumentPiece(const ptx::Operand& operand, const ptx::Variable& formal, const ParameterPiece& piece);
  void receive(const ptx::Operand& destination, const ptx::Variable& formal, std::span<const ParameterPiece> pieces,
               std::span<const ir::VariableId> variables);
  std::vector<ir::VariableId> formalVariables(const ptx::Variable& formal, std::span<const ptx::RegisterId> registers,
                                              size_t index);
  ir::Instruction* readPieces(std::span<const ParameterPiece> pieces, std::span<const ir::VariableId> variables,
                              uint32_t offset, ir::Type type);
  void writePassed(const ptx::Variable& variable, uint32_t offset, ir::Instruction* stored);

  ir::Instruction* clock(ir::Op op);

  ir::VariableId variableOf(ptx::RegisterId id, unsigned component = 0);
  void assign(ir::VariableId variable, ir::Instruction* value);  // under the current guard
  ir::Instruction* constant(const ptx::Operand& operand, ir::Type type);
  ir::Instruction* pack(const ptx::Operand& operand, ir::Type type);
  ir::Instruction* fit(ir::Instruction* value, ir::Type type, bool isSigned = false);

  ProgramLowering& program_;
  const ptx::Function& function_;
  std::vector<ir::VariableId> registers_;  // of Function::registers; noVariable until used
  ir::VariableId carry_;
  bool isService_;
  ir::Instruction* guard_ = nullptr;  // of a pure instruction: write() selects
  std::unordered_map<const ptx::Label*, ir::Block*> labels_;
  std::unordered_map<const ptx::Variable*, std::vector<ir::VariableId>> passed_;
  ir::VariableId ended_ = noVariable, stackPointer_ = noVariable;
  std::vector<OpenConstruct> open_;
};

using LowerFn = void (*)(FunctionLowering&, const ptx::Instruction&);

// How a guard applies: a pure instruction is computed anyway and its result selected; others are branched around;
// control flow reads its guard itself.
enum class Effect : uint8_t { Pure, Effects, Control };

struct Lowering {
  ptx::Opcode opcode;
  LowerFn lower;
  Effect effect = Effect::Pure;
};
const Lowering* findLowering(ptx::Opcode opcode);    // null: not translated
std::string_view whyNotLowered(ptx::Opcode opcode);  // of an opcode without one

}  // namespace mulciber::lower
