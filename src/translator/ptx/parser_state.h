// The parser's state and its grammar, by file: parser.cpp (module scope, messages), parse_declaration.cpp (variables,
// registers, initialisers), parse_function.cpp (headers, bodies, directives), parse_instruction.cpp (instructions,
// operands, constant expressions).
//
// A method reports what it finds wrong. When it cannot tell what the rest means, it throws SyntaxError, which the loops
// over statements catch: they skip to the next ';' or '}'.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "translator/ptx/constant.h"
#include "translator/ptx/lexer.h"
#include "translator/ptx/parser.h"
#include "translator/ptx/symbols.h"

namespace mulciber::ptx {

class Parser {
 public:
  Parser(ModuleHolder& holder, std::string_view text, Diagnostics& diagnostics);
  bool parse();

 private:
  using Kind = Token::Kind;
  struct SyntaxError {};
  struct Linkage {
    bool isExtern = false, isVisible = false, isWeak = false, isCommon = false;
    SourceOffset where = 0;
  };
  // What stands before the names of a declaration.
  struct DeclarationHead {
    Linkage linkage;
    StateSpace space = StateSpace::None;
    Type type = Type::None;
    uint8_t vector = 1;
    uint32_t alignment = 0, constBank = 0;
    bool isManaged = false, isUnified = false;
    uint64_t unifiedId[2] = {};
    bool isPointer = false;
    StateSpace pointerSpace = StateSpace::None;
    uint32_t pointerAlignment = 0;
  };

  static constexpr uint32_t kMaxScopes = 256, kMaxDimensions = 64, kMaxElements = 1u << 20, kMaxOperators = 1024;

  // Tokens
  void advance() {
    previousEnd_ = token_.where + static_cast<SourceOffset>(token_.text.size());
    token_ = lexer_.next();
  }
  bool accept(Kind kind);
  bool acceptDotted(std::string_view word);
  Token expect(Kind kind, const char* what);
  Token expectName(const char* what);
  std::optional<uint64_t> acceptInteger();
  uint64_t expectInteger(uint64_t largest, const char* what);
  std::string_view expectString();

  // Messages
  [[noreturn]] void fail(const Token& token, std::string text);
  [[noreturn]] void failExpected(const char* what);
  void error(SourceOffset where, std::string text, size_t length = 0);
  void duplicate(std::string_view name, SourceOffset where, SourceOffset previous);
  void undeclared(const Token& name, const char* what);
  void unknownDirective(const Token& token);
  void skipStatement();  // to behind the next ';', or before '{' or '}' or a directive that begins a declaration

  // Module scope
  void moduleStatement();
  void version();
  void target();
  void addressSize();
  void file();
  void section();
  void alias();
  void pragmas(std::vector<std::string_view>& list);
  Linkage linkage();
  void attributes(bool& isManaged, bool& isUnified, uint64_t (&id)[2]);
  void finishModule();
  void keepForBodies(const Token& start, StateSpace space);
  void declareKept();

  // Declarations
  std::optional<StateSpace> acceptSpace();
  std::optional<Type> acceptType();
  uint32_t alignment();
  void declarationHead(DeclarationHead& head, bool isParameter);
  void dimensions(Variable& variable, const DeclarationHead& head);
  Variable* variable(const DeclarationHead& head, const Token& name);
  void variables(const Linkage& linkage, StateSpace space);
  void registers();
  void registerOrRange(const DeclarationHead& head);
  void declareVariable(Variable* variable);
  bool mergeDeclaration(Variable* variable);

  void checkInitialSymbol(const InitializerElement& element, const Variable& variable);
  void initializer(Variable& variable);
  void initializerFields(Variable& variable);
  InitializerElement initializerElement(const Variable& variable);
  void initializerSymbol(InitializerElement& element, const Variable& variable);
  uint64_t initialBits(const Constant& value, const Variable& variable, const Token& token);

  // Functions
  void function(const Linkage& linkage, bool isEntry);
  std::vector<Variable*> parameterList(bool isEntry);
  void headerDirectives(Function& function);
  bool performanceDirective(Function& function);
  bool beginsDeclaration() const;
  void wrongHeaderDirective(Function& function);
  bool abiDirective(uint32_t& preserve, uint32_t& preserveControl);
  void threadCounts(uint32_t (&counts)[3], uint32_t& written);
  Function* declareFunction(const Function& made);
  void checkRedeclaration(const Function& known, const Function& added);
  void declareParameters(const std::vector<Variable*>& parameters, std::vector<RegisterId>& ids);
  void body(Function& function);
  void statement();
  void bodyDirective();
  void label(const Token& name);
  void callPrototype(const Token& name);
  void targetList(const Token& name, bool isCall);
  void location();
  void enterScope(SourceOffset where);
  void leaveScope(SourceOffset where);
  // Its node is the caller's to put in.
  Statement& addStatement(Statement::Kind kind, SourceOffset where) {
    Statement& added = statements_.emplace_back();
    added.kind = kind;
    added.where = where;
    return added;
  }
  void declareInBody(const Token& name, Binding binding);

  // Instructions and operands
  void instruction(Operand* guard, const Token& opcode);
  Operand* guard();
  void modifiers(Instruction& instruction);
  void callOperands();
  Operand operand();
  Operand simpleOperand();
  Operand nameOperand();
  Operand registerOperand(const Token& name, RegisterId reg);
  Operand negatedRegister();
  Operand vectorOperand();
  Operand bracketOperand();
  Operand constantOperand();
  Operand functionOrRegister();
  std::span<Operand> operandList(Kind close, const char* what);
  void select(Operand& operand);
  void index(Operand& operand);
  int64_t offset();
  bool specialRegister(Operand& operand, const Token& name);

  // Constant expressions
  struct Pending {
    Kind op;
    bool isUnary = false;
    SourceOffset where = 0;
    Type cast = Type::None;
    int level = 0;
  };
  bool beginsConstant() const;
  Constant constant();
  void constantPrimary();
  bool acceptCast(SourceOffset where);
  void reduce();

  ModuleHolder& holder_;
  Arena& arena_;
  Diagnostics& diagnostics_;
  std::string_view text_;
  Lexer lexer_;
  Token token_;
  SourceOffset previousEnd_ = 0;  // where the token before it ended
  SymbolTable symbols_;

  std::vector<Function*> functions_;
  std::vector<Variable*> variables_;
  std::unordered_map<const Variable*, size_t> places_;  // in variables_, of those that were declared .extern
  std::vector<Module::File> files_;
  std::unordered_set<uint32_t> fileNumbers_;
  // The .reg and .local declarations at module scope, which PTX before 3.0 has: where to read each again.
  struct Kept {
    Lexer lexer;
    Token token;
    StateSpace space;
  };
  std::vector<Kept> kept_;
  std::vector<std::string_view> sections_, modulePragmas_;

  // Of the function whose body is being parsed
  Function* function_ = nullptr;
  std::vector<SourceOffset> openScopes_;  // the '{' of the body and of the scopes in it
  uint32_t operandBraces_ = 0;            // open braces of vector operands and initialisers
  bool operandBrackets_ = false;          // inside [ ]
  std::vector<Register> registers_;
  std::vector<Statement> statements_;
  std::vector<Variable*> oldParameters_;  // declared in the body of an entry, as PTX before 1.4 does

  // Reused for each instruction
  std::vector<Operand> operands_, elements_;
  std::vector<Mod> modifiers_;
  std::vector<Constant> values_;
  std::vector<Pending> pending_;
  std::vector<std::pair<size_t, std::string_view>> labelOperands_;  // in operands_: names of labels
};

}  // namespace mulciber::ptx
