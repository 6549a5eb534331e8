"""Statements in which the threads of a block work together. All of them come here that have not ended."""

from context import BLOCK, THREAD, Place
from scalars import TYPES

U32, U64 = TYPES["u32"], TYPES["u64"]


def exchange(c):
    """Each thread leaves something, and reads what another left, perhaps in another width."""
    type = TYPES[c.choice.of(["u64", "u32", "u16", "u8", "i64", "f32", "f64"])]
    count = c.kernel.threads * 64 // type.bits
    level = c.choice.of([THREAD, THREAD, BLOCK])
    name = c.name("x")
    c.add("slots[lid] = ", c.expression(U64), f";\n__syncthreads();\n{type} {name} = (({type} *)slots)[", c.expression(U32, level, 2), f" % {count}u];\n__syncthreads();")
    c.places.append(Place(type, name, level))


def vote(c):
    name = c.name("u")
    c.add(f"u32 {name} = (u32)__syncthreads_{c.choice.of(['count', 'and', 'or'])}(", c.condition(), ");")
    c.places.append(Place(U32, name, BLOCK))


def bins(c):
    """Threads count things in shared memory and look at the counts."""
    name = c.name("u")
    level = c.choice.of([THREAD, BLOCK])
    c.add("atomicAdd(&counts[", c.expression(U32), " & 15], ", c.expression(U32), f");\n__syncthreads();\nu32 {name} = counts[", c.expression(U32, level, 1), " & 15];\n__syncthreads();")
    c.places.append(Place(U32, name, level))


def _whole_warps(c):
    return c.whole_warp and c.kernel.threads % 32 == 0 and c.kernel.threads >= 64


def named(c):
    """A barrier of some warps."""
    if not _whole_warps(c):
        return exchange(c)
    warps, name, number = c.kernel.threads // 32, c.name("u"), c.choice.between(1, 15)
    some = c.choice.between(1, warps)
    if c.choice.percent(50):
        barrier = f'asm volatile("bar.sync {number}, {some * 32};" ::: "memory");'
        c.add(f"u64 {name} = 0;\nif (warp_index < {some}) {{\n  slots[lid] = ", c.expression(U64), f";\n  {barrier}\n  {name} = slots[",
              c.expression(U32), f" % {some * 32}u];\n  {barrier}\n}}\n__syncthreads();")
    else:
        some = c.choice.between(1, warps - 1)
        count = c.kernel.threads
        c.add(f"u64 {name} = 0;\nif (warp_index < {some}) {{\n  slots[lid] = ", c.expression(U64),
              f';\n  asm volatile("bar.arrive {number}, {count};" ::: "memory");\n}} else {{\n  asm volatile("bar.sync {number}, {count};" ::: "memory");\n  {name} = slots[',
              c.expression(U32), f" % {some * 32}u];\n}}\n__syncthreads();")
    c.places.append(Place(U64, name))


def split_barrier(c):
    """Lanes come to one barrier at different places."""
    if not _whole_warps(c):
        return exchange(c)
    name, number, count = c.name("u"), c.choice.between(1, 15), c.kernel.threads
    arrive = f'asm volatile("barrier.sync {number};" ::: "memory");'
    c.add("slots[lid] = ", c.expression(U64), f";\nu64 {name};\nif (", c.condition(), f") {{\n  {arrive}\n  {name} = slots[", c.expression(U32),
          f" % {count}u];\n}} else {{\n  {name} = ", c.expression(U64), f";\n  {arrive}\n  {name} ^= slots[", c.expression(U32), f" % {count}u];\n}}\n__syncthreads();")
    c.places.append(Place(U64, name))
