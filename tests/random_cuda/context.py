"""Where a statement is made: what it can read and write, and how far the threads that come there are together."""

import copy

from scalars import BOOL, TYPES, literal
from tree import Block, Expression, fill

# How far threads agree: on a value, or in coming to a place of the code. All of a block, all of a warp, none but itself.
THREAD, WARP, BLOCK = 0, 1, 2


class Place:
    """Something that can be read, and perhaps written. "{0}" in its text is an index; any number will do."""

    def __init__(self, type, read, level=THREAD, writable=True, write=None, seen_as_bits=False):
        self.type, self.read, self.level, self.writable = type, read, level, writable
        self.write = write or read + " = {value};"
        # Other types look at the same memory, so a NaN is made the one NaN before it is written.
        self.seen_as_bits = seen_as_bits
        self.is_indexed = "{0}" in read
        self.is_pointer = False  # to memory that has another name


class Context:
    def __init__(self, generator, kernel=None):
        self.generator, self.choice, self.kernel = generator, generator.choice, kernel
        self.block = Block()
        self.places = []
        self.level = BLOCK if kernel else THREAD
        self.mask = None  # a variable that holds exactly the lanes of the warp that come here, where that is known
        self.whole_warp = kernel is not None  # the mask is that of full warps, of which no thread has ended
        self.break_level = self.continue_level = None  # what a condition of break or continue must be, where allowed
        self.rounds = 1  # how often this runs at most
        self.depth = 0
        self.arrays = []  # pointers to 16 words of the thread's own, as C expressions
        self.functions = []
        self.structures, self.pointers = [], []

    def inner(self, **changes):
        """The context of a block inside: it has a block of its own, and what it declares ends there."""
        result = copy.copy(self)
        result.block, result.places, result.arrays = Block(), list(self.places), list(self.arrays)
        result.depth += 1
        for name, value in changes.items():
            setattr(result, name, value)
        return result

    def add(self, *parts, needed=False):
        self.block.add(*parts, needed=needed)

    def name(self, prefix):
        return self.generator.name(prefix)

    def type(self):
        return TYPES[self.generator.pick_type(self.choice)]

    # ---- expressions
    def expression(self, type, level=THREAD, depth=2):
        """An expression without side effects on whose value all threads of the level agree."""
        choice = self.choice
        if depth <= 0 or choice.percent(15):
            return self.leaf(type, level, depth)
        if choice.percent(8) and level == THREAD and self.rounds <= 8:
            call = self.pure_call(type, depth)
            if call:
                return call
        options = self.generator.operations[type.name]
        if not options:
            return self.leaf(type, level, depth)
        template, operands = choice.weighted(options)
        depth -= 1 if len(operands) > 1 or choice.percent(50) else 0
        made = [self.expression(TYPES.get(o, BOOL), level, depth) for o in operands]
        return Expression(type, *fill(template, made))

    def leaf(self, type, level=THREAD, depth=1):
        readable = [p for p in self.places if p.type is type and p.level >= level]
        if readable and not self.choice.percent(20):
            # Late declarations are read more often.
            place = readable[max(self.choice.below(len(readable)), self.choice.below(len(readable)))]
            return self.read(place, level, depth)
        if self.choice.percent(50) or type is BOOL:
            if type is BOOL and self.choice.percent(80):
                return Expression(BOOL, "((", self.leaf(TYPES["u32"], level, 0), f" & {self.choice.of([1, 3, 5, 12])}) == {self.choice.below(3)})")
            return Expression(type, literal(self.choice, type))
        for name in ("u32", "u64", "i32"):
            if [p for p in self.places if p.type.name == name and p.level >= level] and type.name != name:
                operand = self.leaf(TYPES[name], level, 0)
                if type.name in ("f32", "f64"):
                    return Expression(type, f"({type})", operand)
                if type.is_float:
                    return Expression(type, f"{type}_of((u16)", operand, ")")
                return Expression(type, f"({type})", operand)
        return Expression(type, literal(self.choice, type))

    def read(self, place, level, depth):
        return Expression(place.type, *fill(place.read, [self.index(level, depth)] if place.is_indexed else []))

    def index(self, level=THREAD, depth=1):
        if self.choice.percent(25):
            return Expression(TYPES["u32"], f"{self.choice.below(16)}u")
        return Expression(TYPES["u32"], self.expression(TYPES["u32"], level, min(depth - 1, 1)))

    def pure_call(self, type, depth):
        functions = [f for f in self.functions if f.is_pure and f.result is type]
        return functions and self.choice.of(functions).call(self, depth - 1)

    def condition(self, level=THREAD, depth=2):
        return self.expression(BOOL, level, depth)

    # ---- statements
    def writable(self, type=None):
        return [p for p in self.places if p.writable and p.level <= self.level and (type is None or p.type is type)]

    def store(self, place, value, depth=2):
        """A statement's parts that write the value."""
        if place.seen_as_bits and place.type.is_float:
            value = Expression(None, "canon(", value, ")")
        before, after = place.write.split("{value}")
        index = [self.index(place.level, depth)] if place.is_indexed else []
        return [*fill(before, index), value, *fill(after, index)]

    def declare(self, type, level=None, depth=2):
        """A new variable of a random value."""
        level = self.level if level is None else level
        variable = self.name(type.name[0])
        self.add(f"{type} {variable} = ", self.expression(type, level, depth), ";")
        self.places.append(Place(type, variable, level))
        return variable
