// Lowers the body of one PTX function to IR: control flow, registers and operands here, one instruction family per
// file beside it (integer.cpp, float.cpp, convert.cpp, memory.cpp, atomic.cpp, warp.cpp, barrier.cpp, call.cpp ...).
//
// An instruction family exports functions of type LowerFn; dispatch.cpp maps opcodes to them. A LowerFn reads its
// operands with value(), computes with `b`, and writes its result with write(). Guards (@p) are dealt with before
// it is called: see lowerInstruction() in function_lowering.cpp.
#pragma once

#include <string>
#include <string_view>

#include "translator/ir/builder.h"
#include "translator/lower/module_layout.h"
#include "translator/ptx/ast.h"

namespace mulciber::lower {

// The IR type in which values of a PTX type live: integers for untyped, signed and unsigned ones; bf16 and the
// small floats as integers; f16x2 and bf16x2 as i32; f32x2 as i64; b128 as <2 x i64>.
ir::Type irType(ptx::Type type);

class FunctionLowering {
 public:
  ir::Builder b;

  // The operand as a value of `type`. A register of another class but the same width is bitcast; a wider integer
  // register is truncated, as PTX allows for ld, st and cvt operands; a constant is converted.
  ir::Instruction* value(const ptx::Operand& operand, ir::Type type);
  ir::Instruction* value(const ptx::Operand& operand, ptx::Type type) { return value(operand, irType(type)); }
  ir::Instruction* predicate(const ptx::Operand& operand);  // bool, negation applied

  // Stores a result. Narrower integer values are zero- or sign-extended to the register by `isSigned`.
  // A Sink operand drops the value.
  void write(const ptx::Operand& destination, ir::Instruction* value, bool isSigned = false);

  // Address of a memory operand: i64 for Global and Generic, i32 for the others.
  struct Address {
    ir::Instruction* value;
    ir::Space space;
    uint32_t knownAlignment;  // of the base symbol and offset, 1 when unknown
  };
  Address address(const ptx::Operand& operand, ptx::StateSpace space, ptx::Mod subspace);

  // The address of a variable or function where a value of it is wanted (mov, cvta, initialisers).
  ir::Instruction* addressOf(const ptx::Variable& variable, bool generic);

  ir::Instruction* specialRegister(ptx::SpecialRegister which, ir::Type type);

  // Control flow inside a lowering: begin(condition) ... otherwise() ... end().
  void beginIf(ir::Instruction* condition);
  void beginElse();
  void endIf();

  // Refuses the kernel: `what` cannot be translated, because of `why`. Lowering goes on to find more.
  void refuse(const ptx::Instruction& instruction, std::string_view why);

  const TargetProfile& profile() const;
  const ptx::Module& module() const;
  const ptx::Function& function() const;
};

using LowerFn = void (*)(FunctionLowering&, const ptx::Instruction&);
LowerFn findLowering(ptx::Opcode opcode);  // null: not translated

}  // namespace mulciber::lower
