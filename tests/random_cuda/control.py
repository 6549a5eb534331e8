"""Assignments and control flow."""

from context import THREAD, WARP, Place
from scalars import TYPES
from tree import Expression
import statements

U32 = TYPES["u32"]


def assign(c):
    place = c.choice.of(c.writable())
    c.add(*c.store(place, c.expression(place.type, place.level, c.choice.of([1, 2, 2, 3]))))


def declare(c):
    c.declare(c.type(), c.choice.between(THREAD, c.level))


def accumulate(c):
    """Something that stays visible, so that less is dead."""
    integers = [p for p in c.writable() if not p.type.is_float and not p.is_indexed and p.read[0] in "iu" and p.type.bits <= 64]
    if not integers:
        return assign(c)
    place = c.choice.of(integers)
    value = c.expression(c.type(), place.level, 2)
    c.add(f"{place.read} = ({place.type})({place.read} * {c.choice.of([3, 5, 31, 33])}u + ({place.type.carrier})mixable(", value, "));")


def body(c, size=None, **changes):
    inner = c.inner(**changes)
    statements.fill_block(inner, size or c.choice.between(1, 3))
    return inner.block


def branch(c):
    """Threads part; which lanes go where is forgotten."""
    level = c.choice.between(THREAD, c.level)
    mask = c.mask if level >= WARP else None
    parts = ["if (", c.condition(level), ") ", body(c, level=level, mask=mask)]
    while c.choice.percent(20):
        parts += [" else if (", c.condition(level), ") ", body(c, level=level, mask=mask)]
    if c.choice.percent(50):
        parts += [" else ", body(c, level=level, mask=mask)]
    c.add(*parts)


def tracked_branch(c):
    """Threads part, and each side knows its lanes."""
    side, yes, no = c.name("side"), c.name("mask"), c.name("mask")
    changes = dict(level=THREAD, whole_warp=False)
    parts = [f"const bool {side} = ", c.condition(), ";\n",
             f"const u32 {yes} = __ballot_sync({c.mask}, {side}), {no} = {c.mask} & ~{yes};\n",
             f"if ({side}) ", body(c, mask=yes, **changes)]
    if c.choice.percent(60):
        parts += [" else ", body(c, mask=no, **changes)]
    else:
        parts[0] = f"[[maybe_unused]] const bool {side} = "
    c.add(*parts)


def rounds(c):
    """How often a loop may run here."""
    return c.choice.between(1, max(1, min(9, statements.MOST_ROUNDS // c.rounds)))


def counted_loop(c):
    level = c.choice.between(THREAD, c.level)
    most, i = rounds(c), c.name("i")
    inner = dict(level=level, mask=c.mask if level >= WARP else None, rounds=c.rounds * most, break_level=level, continue_level=level)
    if c.choice.percent(40):
        bound = Expression(U32, f"{most}u")
    else:
        bound = Expression(None, "(", c.expression(U32, level, 2), f") % {most + 1}u")
    step = c.choice.of(["++{i}", "{i} += 2", "{i} += 3"]).replace("{i}", i)
    header = f"for (u32 {i} = 0, end_{i} = "
    test = f"; {i} < end_{i}; {step}) "
    if c.choice.percent(30):
        header, test = f"for (u32 {i} = ", f"; {i} > 0; --{i}) "
    unroll = c.choice.of(["", "", "", "#pragma unroll 1\n", "#pragma unroll 2\n", "#pragma unroll\n"])
    c_inner = c.inner(**inner)
    c_inner.places.append(Place(U32, i, level, writable=False))
    statements.fill_block(c_inner, c.choice.between(1, 3))
    c.add(unroll + header, bound, test, c_inner.block)


def conditional_loop(c):
    level = c.choice.between(THREAD, c.level)
    most, fuel = rounds(c), c.name("fuel")
    inner = body(c, level=level, mask=c.mask if level >= WARP else None, rounds=c.rounds * most, break_level=level, continue_level=level)
    if c.choice.percent(50):
        c.add(f"u32 {fuel} = {most};\nwhile ({fuel}-- > 0 && ", c.condition(level), ") ", inner)
    else:
        c.add(f"u32 {fuel} = {most};\ndo ", inner, f" while (--{fuel} > 0 && ", c.condition(level), ");")


def tracked_loop(c):
    """Lanes leave one after the other, and those that stay know of each other."""
    most, i, mask = rounds(c), c.name("i"), c.name("mask")
    inner = c.inner(level=THREAD, mask=mask, whole_warp=False, rounds=c.rounds * most, break_level=None, continue_level=None)
    inner.places.append(Place(U32, i, THREAD, writable=False))
    statements.fill_block(inner, c.choice.between(1, 3))
    stay = c.name("stay")
    c.add(f"u32 {mask} = {c.mask};\nfor (u32 {i} = 0; ; ++{i}) {{\n  const bool {stay} = {i} < {most} && ", c.condition(),
          f";\n  {mask} = __ballot_sync({mask}, {stay});\n  if (!{stay}) break;\n  ", inner.block, "\n}")


def leave(c):
    """A break or continue, where it keeps those together who are taken to be."""
    ways = [(level, word) for level, word in ((c.break_level, "break"), (c.continue_level, "continue")) if level is not None]
    if not ways:
        return assign(c)
    level, word = c.choice.of(ways)
    if c.level < level:
        return assign(c)
    c.add("if (", c.condition(c.level), f") {word};")


def switch(c):
    level = c.choice.between(THREAD, c.level)
    count = c.choice.between(2, 7)
    spread = c.choice.of([1, 1, 3, 1000])
    changes = dict(level=level, mask=c.mask if level >= WARP else None, break_level=level)
    parts = ["switch ((", c.expression(U32, level, 2), f") % {count + 1}u * {spread}u) {{"]
    default = c.choice.below(count + 1)
    for value in range(count):
        if value == default:
            parts += ["\n  default: ", body(c, c.choice.between(1, 2), **changes), c.choice.of([" break;", ""])]
        parts += [f"\n  case {value * spread}: ", body(c, c.choice.between(1, 2), **changes), c.choice.of([" break;", " break;", ""])]
    c.add(*parts, "\n}")


def jumps(c):
    """Labels entered from anywhere: loops with several entries."""
    count, fuel = c.choice.between(2, 4), c.name("fuel")
    labels, end = [c.name("at") for _ in range(count)], c.name("end")
    most = rounds(c)
    level = c.choice.between(THREAD, c.level)
    changes = dict(level=level, mask=c.mask if level >= WARP else None, rounds=c.rounds * most, break_level=None, continue_level=None)
    parts = [f"{{\n  u32 {fuel} = {most};"]
    for _ in range(c.choice.between(1, 2)):
        parts += ["\n  if (", c.condition(level), f") goto {c.choice.of(labels)};"]
    for label in labels:
        parts += [f"\n{label}: ", body(c, c.choice.between(1, 3), **changes), f"\n  if (--{fuel} == 0) goto {end};"]
        if c.choice.percent(80):
            parts += ["\n  if (", c.condition(level), f") goto {c.choice.of([*labels, end])};"]
    c.add(*parts, f"\n{end}:;\n}}")


def call(c):
    """A call of a function that writes through a pointer."""
    functions = [f for f in c.functions if not f.is_pure and (not f.takes_mask or c.mask) and c.rounds * f.cost <= 64]
    if not functions:
        return assign(c)
    function = c.choice.of(functions)
    places = [p for p in c.writable(function.result) if p.level == THREAD and not p.is_indexed]
    if places and c.choice.percent(60):
        c.add(*c.store(c.choice.of(places), function.call(c, 2)))
    else:
        variable = c.name(function.result.name[0])
        c.add(f"{function.result} {variable} = ", function.call(c, 2), ";")
        c.places.append(Place(function.result, variable))
