// Cases of matrix instructions, which whole warps run. Values of floats are small whole numbers, whose products and
// sums are exact in any order; integers are any.
#include <algorithm>
#include <cstdio>

#include "conformance/suite/inputs.h"
#include "conformance/suite/kernels.h"
#include "conformance/suite/operands.h"

namespace mulciber::conformance {

namespace {

std::string text(unsigned value) { return std::to_string(value); }

// The words of a name such as m16n8k16.
struct Shape {
  unsigned m = 0, n = 0, k = 0;
};

class MatrixCaseBuilder : CaseMaker {
 public:
  MatrixCaseBuilder(const Form& form, const std::vector<const FormChoice*>& choices, unsigned number)
      : CaseMaker(form, choices), number_(number) {
    case_.usesWarp = true;
    case_.inputs = {{Type::B32, Values::Int32}, {Type::B32, Values::Int32}};
    case_.code =
        ".reg .b32 %w, %v;\n.reg .b16 %h0, %h1;\n.reg .f32 %f0, %f1;\n.reg .f64 %fd;\n.reg .b64 %base, %at;\n"
        ".reg .b32 %inwarp;\nand.b32 %inwarp, %lane, 31;\nbar.warp.sync -1;\n";
  }

  Case build() {
    switch (form_.opcode) {
      case Opcode::Ldmatrix: buildLoad(); break;
      case Opcode::Stmatrix: buildStore(); break;
      case Opcode::Wmma: buildWmma(); break;
      default: buildProduct(); break;
    }
    return std::move(case_);
  }

 private:
  std::string declare(const std::string& type) {
    const std::string name = "%m" + text(declared_++);
    case_.code += ".reg ." + type + ' ' + name + ";\n";
    return name;
  }

  // Any 32 bits to %w, others for each call.
  void randomBits() {
    case_.code += "mad.lo.u32 %w, %a0, 2654435761, " + text(0x9E3779B1u * ++draws_) +
                  ";\nshr.u32 %v, %w, 15;\nxor.b32 %w, %w, %v;\nmad.lo.u32 %w, %w, 2246822519, %a1;\n"
                  "shr.u32 %v, %w, 13;\nxor.b32 %w, %w, %v;\n";
  }

  void wholeNumber(const std::string& convert, unsigned at, unsigned bits, const std::string& to) {
    case_.code += "bfe.s32 %v, %w, " + text(at) + ", " + text(bits) + ";\n" + convert + ' ' + to + ", %v;\n";
  }

  // A register with values of the type, as many as it holds.
  std::string values(Type type, bool isSum) {
    const std::string to = declare(type == Type::F64 ? "b64" : "b32");
    std::string& code = case_.code;
    randomBits();
    switch (type) {
      case Type::F64:
        wholeNumber("cvt.rn.f64.s32", 0, 20, "%fd");
        code += "mov.b64 " + to + ", %fd;\n";
        break;
      case Type::F32:
      case Type::TF32:
        wholeNumber("cvt.rn.f32.s32", 0, isSum ? 16 : 8, "%f0");
        code += "mov.b32 " + to + ", %f0;\n";
        break;
      case Type::F16x2:
      case Type::F16:
        for (unsigned i : {0, 1}) wholeNumber("cvt.rn.f16.s32", 16 * i, isSum ? 7 : 3, "%h" + text(i));
        code += "mov.b32 " + to + ", {%h0, %h1};\n";
        break;
      case Type::BF16:
        for (unsigned i : {0, 1}) wholeNumber("cvt.rn.f32.s32", 16 * i, 6, "%f" + text(i));
        code += "cvt.rn.bf16x2.f32 " + to + ", %f1, %f0;\n";
        break;
      case Type::E4M3:
      case Type::E5M2:
        for (unsigned i : {0, 1}) {
          for (unsigned j : {0, 1}) wholeNumber("cvt.rn.f32.s32", 16 * i + 8 * j, 3, "%f" + text(j));
          code += "cvt.rn.satfinite." + std::string(ptx::spelling(type)) + "x2.f32 %h" + text(i) + ", %f1, %f0;\n";
        }
        code += "mov.b32 " + to + ", {%h0, %h1};\n";
        break;
      default: code += "mov.b32 " + to + ", %w;\n"; break;
    }
    return to;
  }

  std::string fragment(Type type, unsigned count, bool isSum) {
    std::string list;
    for (unsigned i = 0; i < count; ++i) list += (i ? ", " : "") + values(type, isSum);
    return '{' + list + '}';
  }

  std::string results(Type type, unsigned count) {
    std::string list;
    for (unsigned i = 0; i < count; ++i) {
      const bool isHalf = type == Type::F16 || type == Type::F16x2;
      list += (i ? ", " : "") +
              result(isHalf ? Type::B32 : registerType(type, false), isHalf ? Values::F16x2 : valuesOf(type));
    }
    return '{' + list + '}';
  }

  void run(const std::string& instruction) {
    case_.name = instruction;
    case_.code += instruction + ";\n";
  }

  // The types among the modifiers, in order.
  std::vector<Type> types() const {
    std::vector<Type> list;
    for (Mod mod : modifiers_)
      if (const Type type = ptx::typeOf(mod); type != Type::None) list.push_back(type);
    return list;
  }

  // Of every four values of a row two are there: first and second, in order. Of tf32 pieces are halves of values.
  std::string metadata(bool isOfPairs) {
    const std::string to = declare("b32");
    randomBits();
    case_.code += "mov.b32 " + to + ", 0;\n.reg .b32 %n" + text(declared_) + ";\n";
    const std::string nibble = "%n" + text(declared_);
    for (unsigned i = 0; i < 8; ++i)
      case_.code += "bfe.u32 %v, %w, " + text(2 * i) + ", " + (isOfPairs ? "1" : "2") +
                    ";\nshl.b32 %v, %v, 2;\nshr.u32 " + nibble + ", " + (isOfPairs ? "0xE4" : "0xC9E4") +
                    ", %v;\nbfi.b32 " + to + ", " + nibble + ", " + to + ", " + text(4 * i) + ", 4;\n";
    return to;
  }

  // mma and movmatrix: registers in, registers out.
  void buildProduct() {
    const std::vector<Type> all = types();
    std::string line = fullName();
    for (size_t i = 0; i < operands_.size(); ++i) {
      const ExpectedOperand& o = operands_[i];
      line += i ? ", " : " ";
      if (form_.opcode == Opcode::Movmatrix) line += i ? values(Type::B32, false) : result(Type::B32);
      else if (i == 0) line += results(all[0], o.count);
      else if (i < 4) line += fragment(all[i], o.count, i == 3);
      else if (i == 4) line += metadata(all[1] == Type::TF32);
      else line += text(number_ % static_cast<unsigned>(o.form->high + 1));
    }
    run(line);
  }

  // %at: the address of a warp's memory, or of a thread's in it.
  void address(const std::string& space, unsigned bytesOfLane) {
    const std::string name = space == "global" ? "%global" : "%shared";
    case_.code += "mul.wide.u32 %wide, %inwarp, " + text(kThreadBytes) + ";\nsub.u64 %base, " + name +
                  ", %wide;\nmul.wide.u32 %wide, %inwarp, " + text(bytesOfLane) + ";\nadd.u64 %at, %base, %wide;\n";
  }

  void fill(const std::string& space, Type type, unsigned bytesOfLane, bool isSum) {
    const unsigned step = type == Type::F64 ? 8 : 4;
    for (unsigned i = 0; i < bytesOfLane; i += step) {
      const std::string value = values(type, isSum);
      case_.code += "st." + space + (step == 8 ? ".b64" : ".b32") + " [%at+" + text(i) + "], " + value + ";\n";
    }
    case_.code += "bar.warp.sync -1;\n";
  }

  void readBack(const std::string& space, unsigned bytesOfLane, Type type) {
    case_.code += "bar.warp.sync -1;\n";
    const bool isDouble = type == Type::F64, isHalf = type == Type::F16;
    for (unsigned i = 0; i < bytesOfLane; i += isDouble ? 8 : 4) {
      const std::string to = result(isDouble            ? Type::F64
                                    : type == Type::F32 ? Type::F32
                                                        : Type::B32,
                                    isHalf              ? Values::F16x2
                                    : isDouble          ? Values::F64
                                    : type == Type::F32 ? Values::F32
                                                        : Values::Int32);
      case_.code += "ld." + space + '.' + std::string(ptx::spelling(case_.results.back())) + ' ' + to + ", [%at+" +
                    text(i) + "];\n";
    }
    case_.code += "bar.warp.sync -1;\n";
  }

  // An address of a space in the form that a modifier, or none, asks for.
  std::string spelled(const std::string& space, const std::string& name) {
    if (has(Mod::shared) || has(Mod::shared_cta) || has(Mod::global)) return '[' + name + ']';
    const std::string generic = declare("b64");
    case_.code += "cvta." + space + ".u64 " + generic + ", " + name + ";\n";
    return '[' + generic + ']';
  }

  // Rows of 16 bytes, one in each lane's memory.
  void rows() {
    case_.code +=
        ".reg .b64 %row;\n.reg .b32 %turn;\nand.b32 %turn, %inwarp, 3;\nmul.wide.u32 %wide, %turn, 16;\n"
        "add.u64 %row, %at, %wide;\n";
  }

  void buildLoad() {
    address("shared", kThreadBytes);
    rows();
    fill("shared", Type::B32, kThreadBytes, false);
    const std::string from = spelled("shared", "%row");
    run(fullName() + ' ' + results(Type::B32, operands_[0].count) + ", " + from);
    case_.code += "bar.warp.sync -1;\n";
  }

  void buildStore() {
    address("shared", kThreadBytes);
    rows();
    for (unsigned i = 0; i < kThreadBytes; i += 8) case_.code += "st.shared.b64 [%at+" + text(i) + "], 0;\n";
    case_.code += "bar.warp.sync -1;\n";
    const std::string from = fragment(Type::B32, operands_[1].count, false), to = spelled("shared", "%row");
    run(fullName() + ' ' + to + ", " + from);
    readBack("shared", kThreadBytes, Type::B32);
  }

  // What PTX leaves open of fragments shows only where they are loaded, multiplied and stored: the form is one of the
  // five instructions.
  void buildWmma() {
    Shape shape;
    std::string shapeName;
    for (Mod mod : modifiers_) {
      const std::string name(ptx::spelling(mod));
      if (std::sscanf(name.c_str(), "m%un%uk%u", &shape.m, &shape.n, &shape.k) == 3) shapeName = name;
    }
    const std::vector<Type> all = types();
    const bool isProduct = has(Mod::mma), isOfA = has(Mod::a), isOfB = has(Mod::b), isOfC = has(Mod::c);
    Type ofA = Type::F16, ofC = all[0], ofD = all[0], ofB;
    if (isProduct) {
      if (all.size() == 4) ofA = all[1];
      ofC = all.back();
    } else if (isOfA || isOfB) {
      ofA = all[0];
      ofC = ofA == Type::F64 ? Type::F64 : ptx::isFloat(ofA) ? Type::F32 : Type::S32;
      ofD = ofC;
    } else if (ofC == Type::S32) {
      ofA = shape.k == 16 ? Type::S8 : shape.k == 32 ? Type::S4 : Type::B1;
    } else if (ofC == Type::F64 || shape.k == 8) {
      ofA = ofC == Type::F64 ? Type::F64 : Type::TF32;
    }
    ofB = ofA;
    // Which of the layouts an operand has: the form's, or one of the two.
    const bool isFixed = ptx::bitWidth(ofA) < 8;
    std::vector<std::string> layouts;
    for (Mod mod : modifiers_)
      if (mod == Mod::row || mod == Mod::col) layouts.push_back(std::string(ptx::spelling(mod)));
    auto other = [&](unsigned bit) { return std::string(number_ >> bit & 1 ? "col" : "row"); };
    const std::string a = isFixed ? "row" : isProduct || isOfA ? layouts[0] : other(0);
    const std::string b = isFixed ? "col" : isProduct ? layouts[1] : isOfB ? layouts[0] : other(1);
    const std::string c = isOfC ? layouts[0] : other(2), d = has(Mod::store) ? layouts[0] : other(3);
    const std::string head = ".sync.aligned.";
    auto nameOf = [](Type type) { return '.' + std::string(ptx::spelling(type)); };
    auto loaded = [&](const char* which, bool isForm, Type type, const std::string& layout, unsigned rows,
                      unsigned columns, bool isSum) {
      const unsigned bits = ptx::bitWidth(type);
      unsigned count = rows * columns * bits / 32 / (bits == 64 ? 64 : 32);
      if (type == Type::F16 && !isSum) count = 8;
      const std::string space = isForm && has(Mod::global) ? "global" : "shared";
      const unsigned bytes = std::max(rows * columns * bits / 8, type == Type::F64 ? 256u : 128u);
      address(space, bytes / 32);
      fill(space, type, bytes / 32, isSum);
      std::string registers;
      for (unsigned i = 0; i < count; ++i) registers += (i ? ", " : "") + declare(bits == 64 ? "b64" : "b32");
      registers = '{' + registers + '}';
      const std::string from = isForm ? spelled(space, "%base") : "[%base]";
      const std::string name =
          isForm ? fullName()
                 : "wmma.load." + std::string(which) + head + layout + '.' + shapeName + '.' + space + nameOf(type);
      // The distance of lines, where it is the one that is meant when none is given.
      const std::string stride = isForm && number_ % 2 ? "" : ", " + text(layout == "row" ? columns : rows);
      const std::string line = name + ' ' + registers + ", " + from + stride;
      if (isForm) run(line);
      else case_.code += line + ";\n";
      case_.code += "bar.warp.sync -1;\n";
      return registers;
    };
    const std::string left = loaded("a", isOfA, ofA, a, shape.m, shape.k, false);
    const std::string right = loaded("b", isOfB, ofB, b, shape.k, shape.n, false);
    const std::string sums = loaded("c", isOfC, ofC, c, shape.m, shape.n, true);
    const unsigned bits = ptx::bitWidth(ofD), bytes = shape.m * shape.n * bits / 8;
    std::string products;
    for (unsigned i = 0; i < bytes / 128 / (bits == 64 ? 2 : 1); ++i)
      products += (i ? ", " : "") + declare(bits == 64 ? "b64" : "b32");
    products = '{' + products + '}';
    std::string name = "wmma.mma" + head + a + '.' + b + '.' + shapeName + nameOf(ofD);
    if (ofA != Type::F16) name += nameOf(ofA) + nameOf(ofB);
    name += nameOf(ofC) + (ofA == Type::B1 ? ".xor.popc" : "");
    const std::string line =
        (isProduct ? fullName() : name) + ' ' + products + ", " + left + ", " + right + ", " + sums;
    if (isProduct) run(line);
    else case_.code += line + ";\n";
    const bool isStore = has(Mod::store);
    const std::string space = isStore && has(Mod::global) ? "global" : "shared";
    address(space, bytes / 32);
    const std::string to = isStore ? spelled(space, "%base") : "[%base]";
    const std::string stored =
        (isStore ? fullName() : "wmma.store.d" + head + d + '.' + shapeName + '.' + space + nameOf(ofD)) + ' ' + to +
        ", " + products + (isStore && number_ % 2 ? "" : ", " + text(d == "row" ? shape.n : shape.m));
    if (isStore) run(stored);
    else case_.code += stored + ";\n";
    readBack(space, bytes / 32, ofD);
  }

  unsigned number_, declared_ = 0, draws_ = 0;
};

}  // namespace

void addMatrixCases(std::vector<Case>& cases) {
  for (const Form& form : ptx::allForms()) {
    if (form.chapter != "Matrix") continue;
    const auto all = combinations(form, 200);
    for (size_t index = 0; index < all.size(); ++index) {
      if (!isOffered(form, all[index])) continue;
      const auto number =
          static_cast<unsigned>(hashOf(std::string(form.text) + text(static_cast<unsigned>(index))) % 100000);
      for (unsigned i = 0; i < 4; ++i) cases.push_back(MatrixCaseBuilder(form, all[index], number + i).build());
    }
  }
}

}  // namespace mulciber::conformance
