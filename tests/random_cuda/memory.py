"""Memory of a thread's own in every address space, seen in every width, and atomics."""

from context import THREAD, Place
from scalars import TYPES, literal
from tree import Expression

U32 = TYPES["u32"]
WORDS = 16  # of u32, in each piece of memory that a pointer may point to
_VECTORS = [("uint2", "u32", 8), ("uint4", "u32", 16), ("ulonglong2", "u64", 16), ("uchar4", "u8", 4), ("short4", "i16", 8), ("float4", "f32", 16)]


def views(c, pointer, level=THREAD, writable=True, size=WORDS * 4):
    """Places of a pointer's memory in every width."""
    for type in c.generator.scalars:
        if c.choice.percent(45) or type is U32:
            mask = size * 8 // type.bits - 1
            volatile = "volatile " if type.bits in (16, 32, 64) and not type.name.endswith("f16") and c.choice.percent(15) else ""
            constant = "" if writable else "const "
            yield Place(type, f"(({constant}{volatile}{type} *){pointer})[{{0}} & {mask}]", level, writable, seen_as_bits=True)
    vector, component, width = c.choice.of(_VECTORS)
    letter = c.choice.of("xyzw"[:width * 8 // TYPES[component].bits])
    yield Place(TYPES[component], f"((const {vector} *){pointer})[{{0}} & {size // width - 1}].{letter}", level, False)


def local_array(c):
    type, count, name = c.type(), c.choice.of([4, 8, 16, 16, 32]), c.name("a")
    values = ", ".join(literal(c.choice, type) for _ in range(c.choice.between(1, 4)))
    if type.is_float and type.bits == 16:
        values = ""  # all zero
    is_memory = type is U32 and count >= WORDS
    c.add(f"{'__align__(16) ' if is_memory else ''}{type} {name}[{count}] = {{{values}}};")
    c.places.append(Place(type, f"{name}[{{0}} & {count - 1}]"))
    if c.choice.percent(50):
        i = c.name("i")
        inner = c.inner(rounds=c.rounds * count, mask=None, level=THREAD)
        inner.places.append(Place(U32, i, THREAD, False))
        c.add(f"for (u32 {i} = 0; {i} < {count}; ++{i}) {name}[{i}] = ", inner.expression(type, THREAD, 2), ";")
    if is_memory:  # functions that get it read vectors and integers of 128 bits there
        c.arrays.append(name)


def local_bytes(c):
    name = c.name("bytes")
    c.add(f"__align__(16) u8 {name}[{WORDS * 4}] = {{{', '.join(str(c.choice.below(256)) for _ in range(9))}}};")
    for type in c.generator.scalars:
        if c.choice.percent(50):
            mask = WORDS * 32 // type.bits - 1
            c.places.append(Place(type, f"peek<{type}>({name}, {{0}} & {mask})", write=f"poke<{type}>({name}, {{0}} & {mask}, {{value}});", seen_as_bits=True))
    c.arrays.append(f"(u32 *){name}")


def _one_of(c, arrays):
    value = c.choice.of(arrays)
    for _ in range(c.choice.below(3)):
        value = Expression(None, "(", c.condition(), " ? ", value, f" : {c.choice.of(arrays)})")
    return value


def pointer(c):
    if c.kernel and c.choice.percent(25):
        name = c.name("p")
        c.add(f"const u32 *{name} = ", c.condition(), " ? (const u32 *)", c.choice.of(c.kernel.constants), " : in + (", c.expression(U32), " & 127);")
        c.places.append(Place(U32, f"{name}[{{0}} & {WORDS - 1}]", writable=False))
        c.places.append(Place(TYPES["i16"], f"((const i16 *){name})[{{0}} & {WORDS * 2 - 1}]", writable=False))
        return
    if not c.arrays:
        return local_bytes(c)
    name, offset = c.name("p"), c.choice.of([0, 0, 4, 8, 15])
    c.pointers = [*c.pointers, (name, list(c.arrays), offset)]
    c.add(f"u32 *{name} = ", _one_of(c, c.arrays), f" + {offset};")
    if offset == 0:
        places = list(views(c, name))
        c.arrays.append(name)
    else:
        places = [Place(U32, f"{name}[(i32)({{0}} & {WORDS - 1}) - {offset}]"), Place(U32, f"*({name} - {c.choice.between(1, offset)})"),
                  Place(TYPES["u8"], f"((u8 *){name})[-(i32)({{0}} & {15 if offset == 4 else 31})]")]
    for place in places:
        place.is_pointer = True
    c.places += places


def pointer_table(c):
    if len(c.arrays) < 2:
        return local_bytes(c)
    name = c.name("p")
    c.add(f"u32 *{name}[4] = {{{', '.join(c.choice.of(c.arrays) for _ in range(4))}}};")
    c.places.append(Place(U32, f"{name}[{{0}} >> 4 & 3][{{0}} & {WORDS - 1}]"))
    c.places[-1].is_pointer = True


def retarget(c):
    """A pointer variable points somewhere else from now on."""
    if not c.pointers:
        return pointer(c) if c.depth <= 2 else None
    name, arrays, offset = c.choice.of(c.pointers)
    c.add(f"{name} = ", _one_of(c, arrays), f" + {offset};")


def vector_store(c):
    if not c.arrays:
        return None
    vector, component, width = c.choice.of(_VECTORS)
    count = width * 8 // TYPES[component].bits
    values = []
    for _ in range(count):
        values += [", ", "canon(", c.expression(TYPES[component], THREAD, 1), ")"]
    name = c.choice.of([a for a in c.arrays if a[0] != "a"] or ["0"])
    if name == "0":  # programs were recorded without such stores to arrays
        return None
    c.add(f"(({vector} *){name})[", c.index(), f" & {WORDS * 4 // width - 1}] = make_{vector}(", *values[1:], ");")


_OWN = [("u32", f) for f in ("Add", "Sub", "Exch", "Min", "Max", "And", "Or", "Xor", "Inc", "Dec", "CAS")] + \
       [("i32", f) for f in ("Add", "Min", "Max", "Exch", "CAS")] + [("u64", f) for f in ("Add", "Exch", "Min", "Max", "And", "Or", "Xor", "CAS")] + \
       [("i64", "Min"), ("i64", "Max"), ("u16", "CAS")]


def own_atomic(c):
    """An atomic on memory that no other thread has: what it returns is determined."""
    if not c.kernel:
        return None
    name, function = c.choice.of(_OWN)
    type = TYPES[name]
    scope = c.choice.of(["", "", "", "_block", "_system"]) if type.bits >= 32 else ""
    parts = [f"atomic{function}{scope}(&(({type} *){c.choice.of(['mine', 'home'])})[", c.index(), f" & {WORDS * 32 // type.bits - 1}], "]
    if function == "CAS":
        parts += [c.expression(type, THREAD, 2), ", "]
    parts += [c.expression(type, THREAD, 2), ")"]
    places = [p for p in c.writable(type) if not p.is_indexed]
    if places and c.choice.percent(80):
        c.add(*c.store(c.choice.of(places), Expression(type, *parts)))
    else:
        c.add(*parts, ";")


# Sums and the like over all threads. Each has eight bytes of its own, in which nothing else happens.
_SHARED = [("u32", "atomicAdd({0}, {1})"), ("u32", "atomicSub({0}, {1})"), ("u32", "atomicMin({0}, {1})"), ("u32", "atomicMax({0}, {1})"), ("u32", "atomicAnd({0}, {1} | 0xffff)"),
           ("u32", "atomicOr({0}, {1} & 0xffff)"), ("u32", "atomicXor({0}, {1})"), ("i32", "atomicMin({0}, {1})"), ("i32", "atomicMax({0}, {1})"),
           ("u32", "atomicInc({0}, 1000)"), ("u64", "atomicAdd({0}, {1})"), ("u64", "atomicMin({0}, {1})"), ("u64", "atomicMax({0}, {1})"),
           ("u64", "atomicAnd({0}, {1} | 0xffffffffull)"), ("u64", "atomicOr({0}, {1} & 0xffffffffull)"), ("u64", "atomicXor({0}, {1})"), ("i64", "atomicMin({0}, {1})"), ("i64", "atomicMax({0}, {1})"),
           ("f32", "atomicAdd({0}, (f32)(bits({1}) & 15))"), ("f64", "atomicAdd({0}, (f64)(bits({1}) & 255))"),
           ("u32", "add_by_swap({0}, {1})"), ("u64", "multiply_by_swap({0}, {1})"), ("u16", "xor_by_swap({0}, {1})")]
SUMS = 32


def shared_atomic(c):
    if not c.kernel:
        return None
    number = c.choice.below(len(_SHARED))
    name, template = _SHARED[number]
    memory = c.choice.of(["sums", "acc"])
    before, after = template.replace("{0}", f"({name} *)({memory} + {number})").split("{1}") if "{1}" in template else (template.replace("{0}", f"({name} *)({memory} + {number})"), None)
    c.add(before, *([] if after is None else [c.expression(TYPES[name], THREAD, 2), after]), ";")
    if c.generator.groups and c.choice.percent(10):
        c.add(f"count_together((u32 *)(acc + {SUMS - 1}));")
