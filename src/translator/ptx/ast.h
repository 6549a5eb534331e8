// The syntax tree of a PTX module, as the parser leaves it: every register, variable, function and
// label name is already resolved to its declaration, every literal is a number.
//
// All nodes live in the module's Arena and are trivially destructible; names and text are views into the
// source buffer or the arena. Nothing here checks types: that is verifier.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "translator/ptx/opcodes.h"

namespace mulciber::ptx {

// Byte offset into the module's source text; SourceText turns it into line and column when asked.
using SourceOffset = uint32_t;

// PTX scalar types, as they are written after the last dot. Packed types count as scalars.
enum class Type : uint8_t {
  None,
#define PTX_TYPE(id, ...) id,
#include "translator/ptx/types.def"
#undef PTX_TYPE
};

uint32_t bitWidth(Type type);          // 0 for None and the opaque references, 1 for Pred and B1
uint64_t scalarSize(Type type);        // in bytes: what an index into an array counts, also of vectors
bool isFloat(Type type);               // f16 f16x2 bf16 bf16x2 tf32 f32 f32x2 f64 and the 4- to 8-bit floats
bool isSigned(Type type);              // s8 .. s64, s16x2
bool isUnsigned(Type type);            // u8 .. u64, u16x2
bool isInteger(Type type);             // u8 .. u64, s8 .. s64
bool canBeDeclared(Type type);         // of registers, variables and parameters
bool isUntyped(Type type);             // b8 .. b128
bool isOpaque(Type type);              // texref samplerref surfref
std::string_view spelling(Type type);  // without the dot
Type typeOf(Mod mod);                  // of a modifier that names a type, None otherwise

enum class StateSpace : uint8_t { None, Reg, Const, Global, Local, Param, Shared, Tex };

std::string_view spelling(StateSpace space);  // without the dot

struct Function;
struct Variable;
struct Label;
struct CallPrototype;
struct TargetList;

// A register. Ranges such as %r<100> get an entry only for members that are used.
struct Register {
  std::string_view name;
  Type type;
  uint8_t vector = 1;  // 2 or 4 for .reg .v4 .f32
  SourceOffset where = 0;
};
using RegisterId = uint32_t;  // index into Function::registers

enum class SpecialRegister : uint8_t {
#define SPECIAL_REGISTER(id, ...) id,
#include "translator/ptx/special_registers.def"
#undef SPECIAL_REGISTER
};

struct Operand {
  enum class Kind : uint8_t {
    None,
    Register,         // %r1, !%p1 (negated), -%r1 in old forms; component .x .y .z .w or .b0 .. .b3, .h0 .h1
    SpecialRegister,  // %tid.x
    Integer,          // 42, 0x2AU, WARP_SZ
    Float,            // 1.5, 0f3F800000, 0d3FF0000000000000: kept as the 64 bits of a double, or of a float
    Symbol,           // variable + offset where a value stands: mov.u64 %rd1, table+8; also table[%r1]: isIndexed
    Function,         // foo
    Label,            // $L1
    Address,          // [register | variable | nothing  + offset]
    Vector,           // {%f1, %f2, _, 4}
    Texture,          // [texture(, sampler), {coordinates}] and other bracketed lists, as a list of operands
    Sink,             // _
    CallTarget,       // a .callprototype name at the end of an indirect call
    BranchTarget,     // a .branchtargets name, or a .calltargets name at the end of an indirect call
    Pair,             // d|p: two operands
  };
  // Bytes and Halves choose several, as the SIMD video instructions do: .b3210, .h10.
  enum class Select : uint8_t { Whole, X, Y, Z, W, B0, B1, B2, B3, H0, H1, Bytes, Halves };
  bool selectsComponent() const { return select >= Select::X && select <= Select::W; }

  Kind kind = Kind::None;
  bool negated = false;  // !%p1 ; for Integer operands the sign is already applied
  Select select = Select::Whole;
  bool isSingle = false;     // Float: `bits` holds the 32 bits of a 0f literal, else the 64 bits of a double
  bool isUnsigned = false;   // Integer: written with U, or too large for int64
  bool hasRegister = false;  // Address: base is `reg`
  bool isIndexed = false;  // Symbol, Address: variable[reg + n]. `reg` counts scalars of the variable's type, `offset`
                           // is in bytes already; their sum is taken modulo 2^32 and unsigned
  bool isUnified = false;  // Address: [a].unified
  SpecialRegister special{};  // SpecialRegister
  SourceOffset where = 0;

  RegisterId reg = 0;  // Register; Address with a register base (see hasRegister)
  uint32_t lanes = 0;  // Bytes, Halves: the digits as hexadecimal, a 1 before: .b32 is 0x132
  union {
    uint64_t bits = 0;  // Integer, Float
    int64_t offset;     // Symbol, Address; of a Register that is read: what is added to it
  };
  union {
    const Variable* variable = nullptr;  // Symbol, Address with a variable base
    const ptx::Function* function;       // Function
    const ptx::Label* label;             // Label
    const CallPrototype* prototype;      // CallTarget
    const TargetList* targets;           // BranchTarget
  };
  std::span<Operand> elements;  // Vector, Texture, Pair
};

// An instruction: `opcode`, then `modifiers` in the order written (types included), then operands.
struct Instruction {
  static constexpr unsigned kMaxTypes = 5;  // mma with block scaling has this many
  Opcode opcode{};
  SourceOffset where = 0;
  Operand* guard = nullptr;  // @p or @!p: a Register operand, negated or not
  std::span<const Mod> modifiers;
  std::span<Operand> operands;        // call: see CallShape
  const struct Form* form = nullptr;  // the instruction table's row; set by the verifier
  Type types[kMaxTypes] = {};         // the types among the modifiers, in order
  uint8_t typeCount = 0;

  bool has(Mod mod) const {
    for (Mod m : modifiers)
      if (m == mod) return true;
    return false;
  }
  // The first of `mods` that the instruction carries, or `otherwise`.
  Mod first(std::initializer_list<Mod> mods, Mod otherwise) const {
    for (Mod m : modifiers)
      for (Mod candidate : mods)
        if (m == candidate) return m;
    return otherwise;
  }
  Type type(unsigned i = 0) const { return types[i]; }
};

// The operands of `call` are always these five, with None or an empty Vector where one is missing.
enum CallShape : unsigned { CallResults = 0, CallCallee = 1, CallArguments = 2, CallSignature = 3 };

struct Label {
  std::string_view name;
  SourceOffset where = 0;
  uint32_t statement = 0;  // index into Function::body; ~0u while unresolved
};

struct TargetList {  // name: .branchtargets a, b, c;   name: .calltargets f, g;
  std::string_view name;
  SourceOffset where = 0;
  bool isCall = false;
  std::span<const Operand> targets;  // Label or Function operands
};

struct Initializer;

struct Variable {
  enum class Role : uint8_t { Plain, Parameter, Result };
  std::string_view name;
  SourceOffset where = 0;
  StateSpace space = StateSpace::None;
  Type type = Type::None;
  uint8_t vector = 1;      // .v2 .v4 element type
  uint32_t alignment = 0;  // in bytes; natural when not written, never 0 after parsing
  bool isArray = false;
  bool isExtern = false, isVisible = false, isWeak = false, isCommon = false;
  bool isManaged = false, isUnified = false;
  uint64_t unifiedId[2] = {};  // .attribute(.unified(a, b))
  bool isPointer = false;      // parameter: .ptr
  StateSpace pointerSpace = StateSpace::None;
  uint32_t pointerAlignment = 0;
  uint32_t constBank = 0;                // old .const[n]
  std::span<const uint64_t> dimensions;  // empty for a scalar; [0] first for an incomplete array
  const Initializer* initializer = nullptr;
  uint64_t size = 0;                // in bytes, 0 for an incomplete extern array
  const Function* owner = nullptr;  // the function it is declared in, null at module scope
  Role role = Role::Plain;          // of the owner
};

// Initialisers are flat: nested braces are already laid out over the dimensions.
struct InitializerElement {
  uint64_t index = 0;       // element number within the array
  uint8_t maskByte = 0xFF;  // mask(): which byte of the symbol's address, 0xFF for all of it
  bool isGeneric = false;   // generic(symbol)
  bool isSymbol = false;
  SourceOffset where = 0;
  uint64_t bits = 0;  // the value in the variable's type, or the offset after the symbol
  const Variable* variable = nullptr;
  const Function* function = nullptr;
};
// Of an opaque variable: { addr_mode_0 = wrap, width = 64 }.
struct InitializerField {
  std::string_view name, value;
};
struct Initializer {
  std::span<const InitializerElement> elements;
  std::span<const InitializerField> fields;
};
// The bytes up to the end of the last initial value.
uint64_t initialBytes(const Variable& variable);

struct Statement {
  enum class Kind : uint8_t {
    Instruction,
    Label,
    ScopeBegin,
    ScopeEnd,
    Registers,
    Variable,
    CallPrototype,
    TargetList,
    Location,
    Pragma,
  };
  Kind kind{};
  SourceOffset where = 0;
  union {
    Instruction* instruction = nullptr;
    Label* label;
    const struct RegisterDeclaration* registers;
    Variable* variable;
    CallPrototype* prototype;
    TargetList* targets;
    const struct Location* location;
    const std::string_view* pragma;
  };
};

struct RegisterDeclaration {  // kept so that the printer can give back what was written
  Type type{};
  uint8_t vector = 1;
  std::string_view name;
  uint32_t count = 0;  // 0 for a single register, N for name<N>
};

struct Location {  // .loc file line column[, function_name label + offset, inlined_at ...]
  uint32_t file = 0, line = 0, column = 0;
  std::string_view rest;  // verbatim
};

struct CallPrototype {
  std::string_view name;
  SourceOffset where = 0;
  std::span<Variable*const> results, parameters;
  bool isNoReturn = false;
  uint32_t abiPreserve = 0, abiPreserveControl = 0;
};

// .maxntid and the like; 0 where not given.
struct PerformanceDirectives {
  uint32_t maxThreads[3] = {}, requiredThreads[3] = {}, requiredCluster[3] = {};
  uint32_t maxThreadCount = 0, requiredThreadCount = 0;  // how many dimensions were written; the others are 1
  uint32_t requiredClusterCount = 0;
  uint32_t minBlocksPerSm = 0, maxBlocksPerSm = 0, maxRegisters = 0, maxClusterRank = 0;
  bool explicitCluster = false, blocksAreClusters = false;
};

struct Function {
  std::string_view name;
  SourceOffset where = 0;
  bool isEntry = false, isDefined = false;
  bool isExtern = false, isVisible = false, isWeak = false, isNoReturn = false;
  bool isUnified = false;
  uint64_t unifiedId[2] = {};  // .attribute(.unified(a, b))
  uint32_t abiPreserve = 0, abiPreserveControl = 0;
  std::span<Variable* const> results;  // .func: .reg or .param variables
  std::span<Variable* const> parameters;
  // A .reg parameter or result is also a register of the body:
  std::span<const RegisterId> resultRegisters, parameterRegisters;  // ~0u where it is .param
  PerformanceDirectives performance;
  std::span<const std::string_view> pragmas;
  std::span<const Register> registers;
  std::span<const Statement> body;
  const Function* aliasee = nullptr;  // .alias name, aliasee;
};

struct Module {
  uint32_t versionMajor = 0, versionMinor = 0;
  SourceOffset versionWhere = 0, targetWhere = 0;
  std::string_view target;  // "sm_90a"; further .target words are in targetOptions
  std::span<const std::string_view> targetOptions;
  uint32_t addressSize = 64;
  std::span<Function* const> functions;  // in order; a forward declaration and its definition are one node
  std::span<Variable* const> variables;  // module scope
  struct File {
    uint32_t index;
    std::string_view name;
    uint64_t timestamp = 0, size = 0;
  };
  std::span<const File> files;
  std::span<const std::string_view> sections;  // .section blocks and @@DWARF lines, verbatim
  std::span<const std::string_view> pragmas;

  const Function* findFunction(std::string_view name) const;
};

}  // namespace mulciber::ptx
