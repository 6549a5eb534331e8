#!/usr/bin/env python3
"""Reads instruction_table.txt and writes it as C++ tables: see the head of that file for its language."""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent


class TableError(Exception):
    pass


@dataclass
class Requirement:
    version: str = "1.0"
    target: str = ""
    removed_version: str = ""  # from this version on ...
    removed_target: str = ""  # ... for these targets
    early_version: str = ""  # lower than `version` ...
    early_target: str = ""  # ... for these targets


@dataclass
class Choice:
    word: str
    requirement: Requirement = field(default_factory=Requirement)


@dataclass
class Group:
    name: str  # "" for a modifier written out
    choices: list
    optional: bool = False
    tied: int | None = None  # present exactly when that group is
    excludes: int | None = None  # absent when that group is present
    without: Requirement = field(default_factory=Requirement)  # what its absence asks for


@dataclass
class Operand:
    kind: str  # value register immediate destination address texture vector control
    name: str = ""
    type: str = ""  # a type, a number from 1, "wide", or "" for the last type
    wider: bool = False
    sink: bool = False
    negatable: bool = False
    selector: bool = False
    pair: str = ""  # "|p": name of the second destination
    pair_optional: bool = False
    optional: bool = False
    present_with: str = ""  # group whose choice brings the operand
    count: str = ""  # "4", "vec", "num*2"
    space: str = ""
    low: int = -(2**31)  # of immediates
    high: int = 2**31 - 1
    step: int = 1


@dataclass
class Form:
    name: str  # mul.wide
    groups: list
    operands: list
    requirement: Requirement
    text: str
    chapter: str
    line: int


def words_of(path, macro):
    rows = re.findall(macro + r'\((\w+), "([^"]+)"\)', (HERE / path).read_text())
    return {spelling: name for name, spelling in rows}


def number_of(version):
    major, minor = version.split(".") if version else ("0", "0")
    return int(major) * 10 + int(minor)


def parse_requirement(text, where):
    requirement = Requirement()
    text, _, early = text.partition(" | ")
    if early:
        match = re.fullmatch(r"(\d+\.\d+) (sm_\S+)", early)
        if not match:
            raise TableError(f"{where}: '{early}' is not a version and a target")
        requirement.early_version, requirement.early_target = match.groups()
    for word in text.split():
        if re.fullmatch(r"\d+\.\d+", word):
            requirement.version = word
        elif removed := re.fullmatch(r"<(\d+\.\d+)(?:/(sm_\w+))?", word):
            requirement.removed_version, requirement.removed_target = removed[1], removed[2] or ""
        elif word.startswith("sm_") or word.startswith("<sm_"):
            requirement.target = word
        else:
            raise TableError(f"{where}: '{word}' is neither a version nor a target")
    if early and number_of(requirement.early_version) >= number_of(requirement.version):
        raise TableError(f"{where}: the version after | is not the lower one")
    return requirement


def parse_choices(text, where):
    choices = []
    for word in text.split():
        word = word.lstrip(".")
        choices.append(Choice(word))
    return choices


OPERAND = re.compile(
    r"(?P<not>!)?(?P<only>[%#@])?(?P<name>[A-Za-z]\w*?)(?P<sink>_)?(?P<sel>\.sel)?(?::(?P<type>\w+)(?P<wider>\+)?)?"
    r"(?P<count>\*\w+(?:[*/]\d+)?)?(?:\[(?:(?P<low>-?\d+)\.\.(?P<high>-?\d+))?(?:/(?P<step>\d+))?\])?"
    r"(?:\|(?P<pair>[a-z]\w*?)(?P<pairopt>\?)?(?=$|\?))?(?P<opt>\?(?P<with>\w+)?)?$")


def parse_operand(text, where):
    outer = ""
    present = ""
    optional = False
    body = text
    match = re.fullmatch(r"([\[{])(.*)[\]}](\?(\w+)?)?", text)
    if match:
        outer, body = match.group(1), match.group(2)
        optional, present = bool(match.group(3)) and not match.group(4), match.group(4) or ""
    if outer == "[" and "," in body:
        base, coordinates = body.split(",", 1)
        count = re.fullmatch(r"c\*(\w+)", coordinates)
        if not count:
            raise TableError(f"{where}: cannot read the operand {text}")
        return Operand("texture", base, count=count.group(1), optional=optional, present_with=present)
    if outer == "[":
        name, _, space = body.partition(":")
        return Operand("address", name, space=space, optional=optional, present_with=present)
    match = OPERAND.fullmatch(body)
    if not match:
        raise TableError(f"{where}: cannot read the operand {text}")
    kind = {"%": "register", "#": "immediate", "@": "control"}.get(match["only"], "value")
    name = match["name"]
    if kind == "value" and name.startswith("d"):
        kind = "destination"
    type_ = match["type"] or ("pred" if name in "pq" and not outer else "")
    operand = Operand(kind, name, type_, bool(match["wider"]), bool(match["sink"]), bool(match["not"]), bool(match["sel"]),
                      match["pair"] or "", bool(match["pairopt"]), optional or bool(match["opt"]) and not match["with"],
                      present or match["with"] or "", (match["count"] or "").lstrip("*"))
    if outer == "{" and not operand.count:
        raise TableError(f"{where}: a vector needs a count: {text}")
    if match["low"] is not None:
        operand.low, operand.high = int(match["low"]), int(match["high"])
    operand.step = int(match["step"] or 1)
    return operand


def split_operands(text):
    parts, depth, current = [], 0, ""
    for c in text:
        depth += c in "[{"
        depth -= c in "]}"
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return parts + [current.strip()]


class Table:
    def __init__(self, path=HERE / "instruction_table.txt"):
        self.opcodes = words_of("opcodes.def", "OPCODE")
        self.modifiers = words_of("modifiers.def", "MODIFIER")
        mod_types = re.findall(r"PTX_TYPE\((\w+), (\w+),", (HERE / "types.def").read_text())
        self.types = {modifier: name for name, modifier in mod_types}
        self.names = set()
        self.forms = []
        everywhere, chapter_groups, chapter = {}, {}, ""
        for number, line in enumerate(Path(path).read_text().splitlines(), 1):
            where = f"{Path(path).name}:{number}"
            line = line.split("# ")[0].rstrip() if not line.startswith("#") else ""
            if not line:
                continue
            if line.startswith("names "):
                self.names.update(line.split()[1:])
            elif line.startswith("["):
                chapter, chapter_groups = line.strip("[]"), {}
            elif re.match(r"\.\w+ = ", line):
                name, choices = line[1:].split(" = ")
                (chapter_groups if chapter else everywhere)[name] = parse_choices(choices, where)
            else:
                self.add_line(line, where, {**everywhere, **chapter_groups}, chapter, number)

    def add_line(self, line, where, groups, chapter, number):
        body, *clauses = line.split(" ; ")
        mods, _, operands = body.strip().partition("  ")
        prefix = re.match(r"[\w.:|]+", mods).group(0)
        names, rest = self.split_names(prefix, mods, groups)
        parsed = [] if operands.strip() == "-" else [parse_operand(o, where) for o in split_operands(operands.strip())]
        for name in names:
            opcode = name.split(".")[0]
            if opcode not in self.opcodes:
                raise TableError(f"{where}: unknown opcode {opcode}")
            own = self.parse_groups(rest, groups, where)
            for clause in clauses[1:]:
                self.add_requirement(own, clause, where)
            for group in own:
                for choice in group.choices:
                    if choice.word not in self.modifiers:
                        raise TableError(f"{where}: unknown modifier {choice.word}")
            self.forms.append(Form(name, own, parsed, parse_requirement(clauses[0] if clauses else "", where), name + rest + "  " +
                                   operands.strip(), chapter, number))

    def add_requirement(self, groups, clause, where):
        """`.ftz .rm 2.0 sm_20`: what the words, or all words of the groups so named, ask for beyond the form; `!.word`
        is the absence of the word's group."""
        words = [word for word in clause.split() if word.startswith((".", "!."))]
        requirement = parse_requirement(" ".join(w for w in clause.split() if w not in words), where)
        for word in words:
            is_absence, word = word[0] == "!", word.lstrip("!.")
            found = False
            for group in groups:
                for choice in group.choices:
                    if word not in (choice.word, group.name):
                        continue
                    found = True
                    if is_absence:
                        group.without = requirement
                    else:
                        choice.requirement = requirement
            if not found:
                raise TableError(f"{where}: no modifier .{word} in this form")

    def split_names(self, prefix, mods, groups):
        """mul.lo|mul.hi.int -> [mul.lo, mul.hi], .int: the last alternative ends where no declared name is longer."""
        parts = prefix.split("|")
        for name in parts[:-1]:
            if name not in self.opcodes and name not in self.names:
                raise TableError(f"'{name}' in '{prefix}' is not one of the names")
        words = parts[-1].split(".")
        taken = 1
        for n in range(len(words), 1, -1):
            if ".".join(words[:n]) in self.names:
                taken = n
                break
        last = ".".join(words[:taken])
        head = "|".join(parts[:-1] + [last])
        return parts[:-1] + [last], mods[len(head):]

    def parse_groups(self, text, groups, where):
        """Modifiers in order. {.a.b} ties b to a, {.a|.b} lets b stand only where a does not."""
        result = []
        token = re.compile(r"([{|])?\.(?:\(([^)]*)\)|([\w:]+))(\})?")
        position, inside, first = 0, False, 0
        while position < len(text):
            match = token.match(text, position)
            if not match:
                raise TableError(f"{where}: cannot read '{text[position:]}'")
            position = match.end()
            if match[2] is not None:
                group = Group("", parse_choices(match[2], where))
            elif match[3] in groups:
                group = Group(match[3], [Choice(choice.word) for choice in groups[match[3]]])
            else:
                group = Group(match[3], [Choice(match[3])])
            if match[1] == "{":
                inside, first = True, len(result)
            elif match[1] == "|":
                group.excludes, first = first, len(result)
            elif inside:
                group.tied = first
            group.optional = inside
            inside = inside and not match[4]
            result.append(group)
        return result


KINDS = {"value": "Value", "register": "Register", "immediate": "Immediate", "destination": "Destination",
         "address": "Address", "texture": "Texture"}
CONTROLS = {"value": "AnyValue", "label": "Label", "targets": "Targets", "call": "Call", "sink": "Sink"}
COUNTS = {"vec": "Vector", "num": "Matrices", "shape": "WgmmaColumns", "geom": "Coordinates", "sgeom": "Coordinates",
          "grad": "Gradients", "off": "Offsets", "dim": "TensorCoordinates", "im2col": "Im2colOffsets"}


class Writer:
    """Flat arrays, so that the compiler has little to do; groups and operands that repeat are written once."""

    def __init__(self, table):
        self.table = table
        self.rules = [""]
        self.arrays = {"FormChoice": [], "FormGroup": [], "FormOperand": [], "Mod": []}
        self.places = {}

    def place(self, kind, rows):
        if not rows:
            return "{}"
        key = (kind, tuple(rows))
        if key not in self.places:
            self.places[key] = len(self.arrays[kind])
            self.arrays[kind] += rows
        return f"{{k{kind} + {self.places[key]}, {len(rows)}}}"

    def mod(self, word):
        return f"Mod::{self.table.modifiers[word]}"

    def version_and_rule(self, version, target):
        if target not in self.rules:
            self.rules.append(target)
        return f"{number_of(version)}, {self.rules.index(target)}"

    def requirement(self, needs):
        late = self.version_and_rule(needs.version, needs.target)
        return f"{{{late}, {self.version_and_rule(needs.early_version, needs.early_target)}}}"

    def group(self, group):
        choices = [f"{{{self.mod(c.word)}, {self.requirement(c.requirement)}}}" for c in group.choices]
        return (f'{{"{group.name}", {self.place("FormChoice", choices)}, {str(group.optional).lower()}, '
                f"{-1 if group.tied is None else group.tied}, {-1 if group.excludes is None else group.excludes}, "
                f"{self.requirement(group.without)}}}")

    def operand(self, operand, form):
        kind = CONTROLS[operand.name] if operand.kind == "control" else KINDS[operand.kind]
        if kind == "Immediate" and operand.type == "f32":
            kind = "FloatImmediate"
        type_from, nth, type_ = "Last", 0, "None"
        if operand.type.isdigit():
            type_from, nth = "Nth", int(operand.type) - 1
        elif operand.type in ("wide", "part"):
            type_from = operand.type.capitalize()
        elif operand.type == "addr":
            type_from = "Fixed"
        elif operand.type:
            type_from, type_ = "Fixed", self.table.types[operand.type]
        count, number, divisor = "Scalar", 1, 1
        if operand.count:
            match = re.fullmatch(r"([a-z]\w*|\d+)(?:([*/])(\d+))?", operand.count)
            if not match or not match[1].isdigit() and match[1] not in COUNTS:
                raise TableError(f"line {form.line}: unknown count {operand.count}")
            count = "Fixed" if match[1].isdigit() else COUNTS[match[1]]
            number = int(match[1]) if match[1].isdigit() else int(match[3]) if match[2] == "*" else 1
            divisor = int(match[3]) if match[2] == "/" else 1
        present = -1
        if operand.present_with:
            present = [g.name for g in form.groups].index(operand.present_with)
        space = {"": "FromModifier", "global": "Global", "shared": "Shared", "tensor": "Tensor"}[operand.space]
        flags = [operand.wider, operand.sink, operand.negatable, operand.selector, bool(operand.pair),
                 operand.pair_optional, operand.optional]
        return (f'{{FormOperand::Kind::{kind}, "{operand.name}", FormOperand::TypeFrom::{type_from}, {nth}, '
                f"Type::{type_}, {', '.join(str(f).lower() for f in flags)}, {present}, FormCount::{count}, {number}, "
                f"{divisor}, FormOperand::Space::{space}, {operand.step}, {operand.low}, {operand.high}}}")

    def form(self, form):
        opcode, *name = form.name.split(".")
        groups = self.place("FormGroup", [self.group(g) for g in form.groups])
        operands = self.place("FormOperand", [self.operand(o, form) for o in form.operands])
        needs = form.requirement
        return (f"{{Opcode::{self.table.opcodes[opcode]}, {self.place('Mod', [self.mod(w) for w in name])}, {groups}, "
                f"{operands}, {self.requirement(needs)}, "
                f"{{{self.version_and_rule(needs.removed_version, needs.removed_target)}}}, "
                f'"{form.text}", "{form.chapter}"}}')

    def write(self, path):
        order = {opcode: i for i, opcode in enumerate(self.table.opcodes)}
        forms = sorted(self.table.forms, key=lambda form: order[form.name.split(".")[0]])
        rows = [self.form(form) for form in forms]
        text = "// Written by instruction_table.py from instruction_table.txt.\n"
        text += "constexpr std::string_view kTargetRules[] = {%s};\n" % ", ".join(f'"{r}"' for r in self.rules)
        for kind, items in self.arrays.items():
            text += f"constexpr {kind} k{kind}[] = {{\n" + "".join(f"  {item},\n" for item in items) + "};\n"
        text += "constexpr Form kForms[] = {\n" + "".join(f"  {row},\n" for row in rows) + "};\n"
        Path(path).write_text(text)


def main():
    try:
        Writer(Table()).write(sys.argv[1])
    except TableError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
