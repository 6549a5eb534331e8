"""Device functions: inlined or not, recursive, templates, through pointers, with structures by value."""

from context import Context, Place
from memory import WORDS, views
from scalars import TYPES
from tree import Block, Expression, Statement
import statements

U32 = TYPES["u32"]


class Structure:
    def __init__(self, name, fields):
        self.name, self.fields = name, fields  # (type, name, count or None)

    def places(self, variable, level=0, writable=True):
        for type, name, count in self.fields:
            yield Place(type, f"{variable}.{name}" + (f"[{{0}} & {count - 1}]" if count else ""), level, writable)


class Function:
    """`parameters` are types, structures, or one of the words "memory" and "mask"."""

    def __init__(self, name, result, parameters, is_pure, cost=1):
        self.name, self.result, self.parameters = name, result, parameters
        self.is_pure, self.cost = is_pure, cost
        self.takes_mask = "mask" in parameters

    def call(self, c, depth):
        parts = [self.name, "("]
        for i, parameter in enumerate(self.parameters):
            parts.append(", " if i else "")
            if parameter == "mask":
                parts.append(c.mask)
            elif parameter == "memory":
                parts.append(c.choice.of(c.arrays) if c.arrays else "0")
            elif isinstance(parameter, Structure):
                known = [name for name, structure in c.structures if structure is parameter]
                parts.append(c.choice.of(known) if known else f"{parameter.name}{{}}")
            elif parameter == "fuel":
                parts.append(f"{c.choice.between(0, 4)}u")
            else:
                parts.append(Expression(parameter, f"({parameter})", c.expression(parameter, 0, depth)))
        return Expression(self.result, *parts, ")")


def structure(generator):
    choice = generator.choice
    fields = [(TYPES[generator.pick_type(choice)], f"m{i}", choice.of([None, None, 2, 4, 8])) for i in range(choice.between(1, 5))]
    made = Structure(generator.name("Structure"), fields)
    lines = [Statement(f"{type} {name}{f'[{count}]' if count else ''};") for type, name, count in fields]
    generator.program.add(f"struct {made.name} ", Block(lines), ";")
    return made


def _signature(parameters, names):
    texts = {"mask": "const u32 {}", "memory": "u32 *{}", "fuel": "u32 {}"}
    return ", ".join((texts.get(p) or f"{p.name} {{}}").format(n) for p, n in zip(parameters, names))


def _context(generator, function, names):
    c = Context(generator)
    c.functions = list(generator.functions)
    c.structures = []
    c.whole_warp = False
    c.depth = 1
    c.rounds = 4
    for parameter, name in zip(function.parameters, names):
        if parameter == "mask":
            c.mask = name
        elif parameter == "memory":
            c.arrays.append(name)
            c.places += views(c, name)
        elif parameter == "fuel":
            c.places.append(Place(U32, name, writable=False))
        elif isinstance(parameter, Structure):
            c.places += parameter.places(name)
            c.structures.append((name, parameter))
        else:
            c.places.append(Place(parameter, name))
    if function.is_pure:
        c.functions = [f for f in c.functions if f.is_pure]
    return c


def _returns(c, function):
    """The end of a function, and perhaps an end before that."""
    if not c.mask and c.choice.percent(40):
        at = c.choice.below(len(c.block.parts) + 1)
        outer = c.inner()
        outer.places = [p for p in c.places if p in c.first_places]
        early = Statement("if (", outer.condition(), ") return ", Expression(function.result, f"({function.result})", outer.expression(function.result, 0, 2)), ";")
        c.block.parts.insert(at, early)
    c.add("return ", Expression(function.result, f"({function.result})", c.expression(function.result, 0, 2)), ";", needed=True)


def function(generator, prefix="", parameters=None, result=None, name=None):
    choice = generator.choice
    pure = parameters is None and choice.percent(50)
    if parameters is None:
        parameters = [TYPES[generator.pick_type(choice)] for _ in range(choice.of([1, 2, 2, 3, 3, 4, 9]))]
        if generator.structures and choice.percent(40):
            parameters.append(choice.of(generator.structures))
        if not pure:
            parameters.insert(choice.below(len(parameters) + 1), "memory")
            if choice.percent(35):
                parameters.insert(0, "mask")
    result = result or TYPES[generator.pick_type(choice)]
    made = Function(name or generator.name("f"), result, parameters, pure, cost=2)
    names = [generator.name("x") for _ in parameters]
    c = _context(generator, made, names)
    c.first_places = set(c.places)
    statements.fill_block(c, choice.between(1, 4))
    _returns(c, made)
    attribute = prefix or choice.of(["__noinline__ ", "__noinline__ ", "__forceinline__ ", ""])
    generator.program.add(f"{attribute}static __device__ {result} {made.name}({_signature(parameters, names)}) ", c.block)
    if not name:
        generator.functions.append(made)
    return made


def template(generator):
    """A function over any integer type, of which several instances are called."""
    choice = generator.choice
    name = generator.name("f")
    ways = choice.of([("T", "u32"), ("u32", "T"), ("T", "T")])
    operations = [choice.of(["sum = (T)(sum * 3u + x);", "sum = (T)(sum ^ (T)(y >> (i & 7)));", "if (i & 1) sum = modulo<T>(sum, (T)x);",
                             "last[i & 3] = sum; sum = (T)(sum + last[y & 3]);", "if (sum > x) sum = (T)(sum - (T)y); else sum = (T)~sum;",
                             "sum = (T)(sum << (count & 3));", "x = (T)(x + last[(i + 1) & 3]);"]) for _ in range(choice.between(2, 5))]
    lines = Block([Statement(o) for o in operations])
    generator.program.add(f"template <class T, int count> {choice.of(['__noinline__ ', ''])}static __device__ T {name}({ways[0]} x, {ways[1]} y) {{\n",
                          "  T sum = (T)x, last[4] = {(T)x, (T)y};\n  for (int i = 0; i < count; ++i) ", lines, "\n  return sum;\n}")
    for type in ("u32", "i16", "u64", "i32", "u8"):
        if choice.percent(60):
            parameters = [TYPES[type if way == "T" else way] for way in ways]
            generator.functions.append(Function(f"{name}<{type}, {choice.between(1, 7)}>", TYPES[type], parameters, True))


def recursive(generator):
    """Two functions that call themselves and each other, with less fuel each time."""
    choice = generator.choice
    names = [generator.name("f"), generator.name("f")]
    parameters = ["fuel", U32, "memory"]
    for name in names:
        generator.program.add(f"static __device__ u32 {name}(u32, u32, u32 *);")
    for number, name in enumerate(names):
        fuel, x, memory = (generator.name("x") for _ in range(3))
        made = Function(name, U32, parameters, False)
        c = _context(generator, made, [fuel, x, memory])
        c.add(f"if ({fuel} == 0) return {x} ^ {memory}[{x} & {WORDS - 1}];", needed=True)
        statements.fill_block(c, choice.between(1, 3))
        other = names[1 - number] if choice.percent(60) else name
        c.add(f"{x} += {other}({fuel} - 1, ", c.expression(U32), f", {choice.of(c.arrays)});")
        statements.fill_block(c, choice.between(1, 2))
        if choice.percent(60):
            c.add("if (", c.condition(), f") {x} = {x} * 5u ^ {choice.of(names)}({fuel} - 1, ", c.expression(U32), f", {memory});")
        c.add("return ", c.expression(U32), f" + {x};", needed=True)
        generator.program.add(f"__noinline__ static __device__ u32 {name}({_signature(parameters, (fuel, x, memory))}) ", c.block)
    generator.functions.append(Function(names[0], U32, parameters, False, cost=12))


def table(generator):
    """Functions that are called through pointers."""
    choice = generator.choice
    parameters = [U32, TYPES["u64"], "memory"]
    members = [function(generator, "__noinline__ ", parameters, U32, generator.name("f")).name for _ in range(choice.between(2, 4))]
    name = generator.name("table")
    generator.program.add(f"typedef u32 (*Entry_{name})(u32, u64, u32 *);\n__device__ Entry_{name} {name}[{len(members)}] = {{{', '.join(members)}}};")
    call = generator.name("f")
    generator.program.add(f"static __device__ u32 {call}(u32 which, u32 x, u64 y, u32 *memory) {{ return {name}[which % {len(members)}u](x, y, memory); }}")
    generator.functions.append(Function(call, U32, [U32, *parameters], False, cost=3))
