// The translator's intermediate representation: functions of basic blocks of instructions.
//
// It lives in two stages. Fresh from lowering, PTX registers are mutable variables (ReadVar, WriteVar) and the
// control-flow graph is whatever the kernel wrote. passes/structurize gives every block its merge information,
// passes/ssa replaces the variables by values and phis. docs/ir.md is the specification; verifier.h checks it.
//
// Nodes are owned by their Function and freed with it. Instructions are referred to by pointer.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mulciber/texture_abi.h"
#include "translator/ir/type.h"

namespace mulciber::ir {

enum class Op : uint8_t {
#define OPERATION(id, ...) id,
#include "translator/ir/operations.def"
#undef OPERATION
};

enum class Family : uint8_t {
  Value,
  Integer,
  IntegerComparison,
  FloatComparison,
  FloatClass,  // is it a NaN, is it infinite
  Selection,
  FloatArithmetic,
  FloatFunction,  // those that are always approximate
  FloatRounding,  // to whole numbers
  Conversion,     // of bits and integers
  FloatConversion,
  Vector,
  Image,         // sampled
  StorageImage,  // read, written or worked on atomically
  Access,        // loads and stores
  Atomic,
  Fence,
  Block,
  Warp,
  Clock,
  Call,
};

enum class Effects : uint8_t { Pure, Varies, Effect, Convergent, ConvergentEffect };

struct OperationTraits {
  Family family;
  Effects effects;
};
inline constexpr OperationTraits operationTraits[] = {
#define OPERATION(id, mnemonic, operands, result, family, effects) {Family::family, Effects::effects},
#include "translator/ir/operations.def"
#undef OPERATION
};

std::string_view mnemonic(Op op);
int operandCount(Op op);  // -1: any number

// What operations.def says of each.
constexpr Family family(Op op) { return operationTraits[static_cast<unsigned>(op)].family; }
constexpr Effects effects(Op op) { return operationTraits[static_cast<unsigned>(op)].effects; }
constexpr bool isPure(Op op) { return effects(op) == Effects::Pure; }
constexpr bool isConvergent(Op op) {
  return effects(op) == Effects::Convergent || effects(op) == Effects::ConvergentEffect;
}
constexpr bool hasSideEffects(Op op) {
  return effects(op) == Effects::Effect || effects(op) == Effects::ConvergentEffect;
}
constexpr bool isAtomic(Op op) { return family(op) == Family::Atomic; }
constexpr bool isStorageImage(Op op) { return family(op) == Family::StorageImage; }
constexpr bool isImage(Op op) { return family(op) == Family::Image || isStorageImage(op); }
constexpr bool isWarpOperation(Op op) { return family(op) == Family::Warp; }
constexpr bool hasAddress(Op op) { return family(op) == Family::Access || isAtomic(op) || op == Op::LoadRows; }
constexpr bool accessesMemory(Op op) { return hasAddress(op) || isStorageImage(op) || op == Op::Fence; }

// What the kernel can ask its surroundings. See kernel_abi.h for where each comes from.
enum class InputKind : uint8_t {
  LocalIndex,  // i32: linear thread index within the block
  BlockIdX,
  BlockIdY,
  BlockIdZ,  // i32
  GridDimX,
  GridDimY,
  GridDimZ,  // i32
  BlockDimX,
  BlockDimY,
  BlockDimZ,          // i32: specialisation constants
  DynamicSharedSize,  // i32: specialisation constant
  LaunchState,        // i64: address of kernel_abi.h's LaunchState
  ModuleData,         // i64: address of the module's .global and .const variables
  SubgroupId,         // i32: which warp of the block
  ThreadIdX,
  ThreadIdY,
  ThreadIdZ,  // i32: LocalIndex taken apart by the block's dimensions
  SmId,
  SmCount,
  SmWarps,     // i32: multiprocessors, on devices that tell (TargetProfile::smBuiltins)
  StackBytes,  // i32: specialisation constant
};
bool differsByThread(InputKind kind);  // within a block

// Where memory is. Const variables live in Global at run time: lowering adds the module's base, and
// passes/constant_reads moves what it can to Constant.
enum class Space : uint8_t {
  Global,    // device addresses
  Shared,    // byte offset in the block's shared memory
  Local,     // byte offset in the thread's private frame
  Param,     // byte offset in the kernel's parameter block
  Generic,   // a 64-bit address of any of the first four, told apart by kernel_abi.h's windows
  Constant,  // byte offset in the module's data, read through a uniform buffer
};

unsigned coordinateCount(abi::ImageShape shape);  // with the layer

// What A and B of a MatrixProduct hold.
enum class MatrixType : uint8_t { Halves, BrainFloats, SignedBytes, UnsignedBytes };

enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent };
enum class Scope : uint8_t { Thread, Warp, Block, Device, System };

struct MemoryAccess {
  Space space = Space::Global;
  Order order = Order::Weak;
  Scope scope = Scope::Thread;
  bool isVolatile = false;
  bool isReadOnly = false;    // .nc: nobody writes it while the kernel runs
  bool isConstant = false;    // .const: of the module's constants, and read-only
  bool mayComeEarly = false;  // read-only, and its address is good wherever the kernel may compute it
  uint8_t alignment = 1;      // bytes, what the address is known to be a multiple of
};

// ToOdd: an inexact result is the neighbour whose last bit is one. Rounded again to a format at least two bits
// narrower, it gives what rounding the exact number once would have given.
enum class Rounding : uint8_t { NearestEven, TowardZero, Down, Up, ToOdd };

struct FloatControl {
  Rounding rounding = Rounding::NearestEven;
  bool flush = false;        // .ftz: denormal inputs and results become zeros of the same sign
  bool approximate = false;  // PTX's bound for .approx holds
  bool contracts = false;    // a product and a sum of which both say so may be rounded once; until passes/contraction
  bool isDot = false;        // the device is given this multiply-add as a dot product, which keeps denormals
  bool operator==(const FloatControl&) const = default;
};

struct Block;
struct Function;
using VariableId = uint32_t;

struct Instruction {
  Op op{};
  Type type;  // of the result; Void for none
  FloatControl fp;
  MemoryAccess memory;
  uint64_t payload = 0;  // see operations.def
  std::vector<Instruction*> operands;
  std::vector<VariableId> results;  // Call
  Function* callee = nullptr;       // Call
  uint32_t id = 0;                  // printing and dense side tables; renumber() makes it dense
  uint32_t source = 0;              // offset in the PTX text, for messages

  bool isConstant() const { return op == Op::Constant; }
};

struct Terminator {
  enum class Kind : uint8_t { None, Branch, Conditional, Switch, Return, Unreachable };
  Kind kind = Kind::None;
  Instruction* value = nullptr;  // Conditional: bool. Switch: i32
  std::vector<Block*> targets;   // Conditional: true, false. Switch: default, then one for each case
  std::vector<uint32_t> cases;   // Switch: values of targets[1..]
};

// SPIR-V's structure, set by passes/structurize.
struct Merge {
  enum class Kind : uint8_t { None, Selection, Loop };
  Kind kind = Kind::None;
  Block* merge = nullptr;
  Block* continueTarget = nullptr;  // Loop
  bool dontUnroll = false;
};

struct Block {
  uint32_t id = 0;
  std::string name;                        // a PTX label, or empty
  std::vector<Instruction*> instructions;  // phis first
  Terminator terminator;
  Merge merge;                       // before structurize only dontUnroll: asked of the loop around it
  std::vector<Block*> predecessors;  // computePredecessors(); kept by ssa and later passes
};

struct VariableInfo {  // a mutable register before SSA
  Type type;
  std::string name;
};

// A function that may call itself has its part of the private frame wherever the calls before it end: passes/recursion
// writes both variables before each entry.
struct RecursiveFrame {
  VariableId begin;      // i32: the function's frame offsets count from here
  VariableId overflows;  // bool: the stack is full; the function must end the thread at once
};

struct Function {
  std::string name;
  bool isKernel = false;
  std::vector<Block*> blocks;  // [0] is the entry; after structurize in SPIR-V's order
  std::vector<VariableInfo> variables;
  std::vector<VariableId> parameters;  // of a device function: written by the caller before entry
  std::vector<VariableId> returns;     // read by the caller after return
  // Where this function's part of the thread's private frame ends; offsets are from the frame's begin, and functions
  // that are active together never overlap. The kernel's is the size of the whole frame.
  uint32_t localBytes = 0;
  uint32_t stackCount = 0;              // of the kernel: that many times InputKind::StackBytes follow its frame
  std::optional<RecursiveFrame> frame;  // localBytes is then the size of one call's frame
  uint32_t hidings = 0;                 // how often passes have hidden values from drivers
  bool isStructured = false, isSsa = false;
  std::unordered_map<const Instruction*, std::string> valueNames;  // of registers, kept by ssa for debugging

  Block* addBlock(std::string name = {});
  Instruction* create(Op op, Type type, std::span<Instruction* const> operands = {});
  Instruction* clone(const Instruction& instruction);
  VariableId addVariable(Type type, std::string name = {});

  void computePredecessors();
  void removeUnreachableBlocks();
  void renumber();                // dense ids for blocks and instructions, in order
  uint32_t blockIdBound() const;  // ids are unique and below these two, for side tables
  uint32_t instructionIdBound() const { return static_cast<uint32_t>(instructionStorage_.size()); }

 private:
  std::deque<Instruction> instructionStorage_;
  std::deque<Block> blockStorage_;
};

// What the device does with denormal f32 operands and results in this kernel.
enum class Denormals : uint8_t { Default, Preserve, Flush };

// From `source` on, in the PTX text, code comes from this line of the CUDA source; a line of 0: nobody knows.
struct SourceLine {
  uint32_t source = 0;
  uint32_t file = 0;  // in SourceMap::files
  uint32_t line = 0, column = 0;
};
struct SourceMap {
  std::vector<SourceLine> lines;  // by source
  std::vector<std::string> files;

  const SourceLine* find(uint32_t source) const;  // null when nobody knows
  std::string describe(uint32_t source) const;    // "file.cu:12", or nothing
};

// Shared memory that passes/block_rounds needs, and that it needs besides where the device has no warps.
inline constexpr uint32_t blockRoundsBytes = 16, blockRoundsBytesPerThread = 12;

// What one kernel needs: its function, the device functions it calls, and its static memory.
struct Program {
  std::string kernel;
  std::vector<std::unique_ptr<Function>> functions;  // [0] is the kernel
  // Static shared memory as CUDA counts it, and with what barriers and rounds need: dynamic shared memory starts there.
  uint32_t staticSharedBytes = 0, sharedBytes = 0;
  uint64_t constantBytes = 0;  // the module's constants end there in its data
  uint32_t parameterBytes = 0;
  // Words that each launch carries behind the parameters: constants that no driver knows.
  std::vector<uint32_t> carriedWords;
  uint32_t carriedOffset() const { return (parameterBytes + 3) / 4 * 4; }
  // Whether a generic address of the space may exist: where not, generic accesses need not look for it.
  bool hasGenericShared = false, hasGenericLocal = false, hasGenericParam = false;
  bool namesDynamicShared = false;  // memory behind sharedBytes, which the launch adds
  // Some threads wait for others at no barrier of the device: they yield by running into one.
  bool waits = false;
  bool holdsCopies = false;        // of cp.async, in registers
  uint32_t blockRoundsOffset = 0;  // in shared memory: what passes/block_rounds needs, where it may be needed
  // What the launch has to provide in its LaunchState.
  bool usesPrintf = false, usesHeap = false, usesLocks = false, usesTextures = false, reportsErrors = false;
  bool sharedInScratch = false, localInScratch = false;
  bool readsConstants = false;                 // in Space::Constant: set by passes/constant_reads
  Denormals denormals32 = Denormals::Default;  // set by passes/legalize_floats
  SourceMap sourceMap;                         // from .loc
  uint32_t maxThreads = 0;                     // .maxntid product, 0 when not given
  uint32_t requiredBlock[3] = {};              // .reqntid, 0 when not given
};

}  // namespace mulciber::ir
