"""Statements in which the lanes of a warp work together."""

from context import THREAD, WARP, Place
from scalars import TYPES
from tree import Expression

U32 = TYPES["u32"]
_SHUFFLED = ["u32", "i32", "u64", "i64", "f32", "f64"]


def _keep(c, type, expression, level=THREAD):
    """The value in a variable, old or new."""
    places = [p for p in c.writable(type) if not p.is_indexed and p.level <= level]
    if places and c.choice.percent(50):
        return c.add(*c.store(c.choice.of(places), expression))
    name = c.name(type.name[0])
    c.add(f"{type} {name} = ", expression, ";")
    c.places.append(Place(type, name, min(level, c.level)))


def exchange(c):
    mask = c.mask
    together = WARP if c.level >= WARP else THREAD
    kind = c.choice.below(10)
    if kind < 5:
        type = TYPES[c.choice.of(_SHUFFLED + (["f16", "bf16"] if c.generator.half else []))]
        value = Expression(None, "canon(", c.expression(type), ")")
        width = c.choice.of([32, 32, 32, 16, 8, 4, 2])
        distance = Expression(None, c.expression(U32, together, 1), f" & {width - 1}")
        other = Expression(U32, c.expression(U32, THREAD, 1))
        text = c.choice.of([("shuffled", [other]), ("shuffled_within", [other, f"{width}"]), ("shuffled_up", [distance, f"{width}"]),
                            ("shuffled_down", [distance, f"{width}"]), ("shuffled_xor", [distance, f"{width}"])])
        parts = [f"{text[0]}({mask}, ", value]
        for argument in text[1]:
            parts += [", ", argument]
        return _keep(c, type, Expression(None, *parts, ")"))
    if kind < 7:
        vote = c.choice.of(["(u32)__any_sync({0}, ", "(u32)__all_sync({0}, ", "__ballot_sync({0}, ", "(u32)__popc(__ballot_sync({0}, "])
        return _keep(c, U32, Expression(None, vote.replace("{0}", mask), c.condition(), ")" * (vote.count("(") - vote.count(")"))), together)
    if kind < 9 or not c.generator.reduces:
        type = TYPES[c.choice.of(["u32", "u64", "i32"])]
        function = c.choice.of(["__match_any_sync", "matching_all"])
        few = Expression(type, f"({type})(", c.expression(type), f" & {c.choice.of([1, 3, 7, 255])})")
        return _keep(c, U32, Expression(None, f"{function}({mask}, ", few, ")"))
    name, operation = c.choice.of([("u32", "add"), ("u32", "min"), ("u32", "max"), ("i32", "min"), ("i32", "max"), ("u32", "and"), ("u32", "or"), ("u32", "xor"), ("i32", "add")])
    _keep(c, TYPES[name], Expression(None, f"__reduce_{operation}_sync({mask}, ", c.expression(TYPES[name]), ")"), together)


def through_memory(c):
    if not c.kernel:
        return exchange(c)
    type, value = U32, c.name("u")
    c.add(f"slots[lid] = (u64)", c.expression(TYPES["u64"]), f";\n__syncwarp({c.mask});\nu32 {value} = (u32)slots[(lid & ~31u) + member({c.mask}, ",
          c.expression(U32, THREAD, 1), f")];\n__syncwarp({c.mask});")
    c.places.append(Place(type, value))


def tile(c):
    width = c.choice.of([w for w in (2, 4, 8, 16, 32) if c.kernel.threads % w == 0] or [0])
    if not width:
        return exchange(c)
    kind = c.choice.below(7)
    if kind == 6 and width == 32:
        if c.choice.percent(50):
            return _keep(c, U32, Expression(None, "labelled_sum(", c.expression(U32), ", ", c.expression(U32), " & 3)"))
        return _keep(c, U32, Expression(None, "sides_mixed(", c.expression(U32), ", ", c.condition(), ")"))
    type = TYPES[c.choice.of(["u32", "i64", "u64", "u32"])]
    value = c.expression(type)
    if kind == 4:
        return _keep(c, type, Expression(None, f"tile_turned<{width}>(", value, ", ", c.expression(U32, WARP, 1), f" & {width - 1})"))
    if kind == 5:
        return _keep(c, U32, Expression(None, f"tile_votes<{width}>(", c.condition(), ")"))
    function = c.choice.of(["tile_sum", "tile_least", "tile_running"])
    if type.is_signed and function != "tile_least":
        value = Expression(None, "(", value, " >> 8)")
    _keep(c, type, Expression(None, f"{function}<{width}>(", value, ")"))
