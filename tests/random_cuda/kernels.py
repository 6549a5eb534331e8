"""Kernels: what they start with, the statements between, and what they leave behind for the host to see."""

from context import BLOCK, THREAD, WARP, Context, Place
from memory import SUMS, WORDS, views
from scalars import TYPES, literal
import statements
from tree import Expression

U32 = TYPES["u32"]
INPUT_BYTES = 2048
RESULTS = 4  # words of 64 bits from each thread


class Kernel:
    def __init__(self, generator):
        choice = generator.choice
        self.name = generator.name("kernel")
        self.shape = choice.of([(32, 1, 1), (64, 1, 1), (96, 1, 1), (32, 2, 1), (8, 4, 2), (16, 4, 1), (128, 1, 1), (33, 1, 1), (5, 7, 1), (3, 3, 5), (70, 1, 1)])
        self.grid = choice.of([(1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 1), (1, 1, 2)])
        self.threads = self.shape[0] * self.shape[1] * self.shape[2]
        self.blocks = self.grid[0] * self.grid[1] * self.grid[2]
        self.dynamic = choice.percent(50)
        self.parameters = [TYPES[generator.pick_type(choice)] for _ in range(choice.between(0, 3))]
        self.constants = []


def _globals(generator, kernel, c):
    """Constant and device arrays of this kernel's own."""
    choice = generator.choice
    for _ in range(choice.between(1, 2)):
        type, name = TYPES[choice.of(["u32", "i32", "u64", "f32", "f64", "u16", "i8"])], generator.name("constant")
        values = ", ".join(literal(choice, type) for _ in range(64))
        generator.program.add(f"__constant__ __align__(16) {type} {name}[64] = {{{values}}};")
        if type.bits >= 32:
            kernel.constants.append(name)
        c.places.append(Place(type, f"{name}[{{0}} & 63]", BLOCK, False))
    if not kernel.constants:
        kernel.constants.append("in")
    if choice.percent(50):
        type, name = TYPES[choice.of(["u32", "u64", "f32", "u8", "i16"])], generator.name("state")
        generator.program.add(f"__device__ {type} {name}[{kernel.threads * kernel.blocks * 4}] = {{{', '.join(literal(choice, type) for _ in range(4))}}};")
        c.places.append(Place(type, f"{name}[gid * 4 + ({{0}} & 3)]", THREAD))


def _inputs(c):
    for type in c.generator.scalars:
        if c.choice.percent(60) or type is U32:
            c.places.append(Place(type, f"((const {type} *)in)[{{0}} & {INPUT_BYTES * 8 // type.bits - 1}]", BLOCK, False))
    for vector, component in (("uint4", "u32"), ("ulonglong2", "u64"), ("float2", "f32"), ("double2", "f64")):
        if c.choice.percent(30):
            c.places.append(Place(TYPES[component], f"((const {vector} *)in)[{{0}} & 127].{c.choice.of('xy')}", BLOCK, False))
    c.places.append(Place(U32, "__ldg(in + ({0} & 511))", BLOCK, False))


def _start(c, kernel):
    threads = kernel.threads
    places = [("lid", THREAD), ("gid", THREAD), ("lane", THREAD), ("warp_index", WARP), ("blockIdx.x", BLOCK), ("gridDim.x", BLOCK), ("blockDim.x", BLOCK), ("threadIdx.x", THREAD)]
    c.places += [Place(U32, name, level, False) for name, level in places]
    c.add("const u32 lid = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
          f"const u32 gid = lid + {threads}u * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));\n"
          "const u32 lane = lid & 31, warp_index = lid >> 5;\n"
          f"u32 here = {threads}u - (lid & ~31u) >= 32 ? ~0u : (1u << ({threads}u & 31)) - 1;\n"
          f"__shared__ u64 slots[{threads}], sums[{SUMS}];\n__shared__ u32 counts[16];\n"
          + ("extern __shared__ __align__(16) u8 dynamic[];\n" if kernel.dynamic else f"__shared__ __align__(16) u8 dynamic[{threads * WORDS * 4}];\n")
          + f"u32 *const mine = (u32 *)(dynamic + lid * {WORDS * 4}), *const home = own + gid * {WORDS};\n"
          f"u64 *const result = out + gid * {RESULTS};\n"
          f"#pragma unroll 1\nfor (u32 i = 0; i < {WORDS}; ++i) {{ mine[i] = in[(lid * 7 + i) & 511]; home[i] = in[(gid * 5 + i) & 511] * i; }}\n"
          f"slots[lid] = gid;\n#pragma unroll 1\nfor (u32 i = lid; i < {SUMS}; i += {threads}) sums[i] = 0;\nif (lid < 16) counts[lid] = lid;\n__syncthreads();")
    for pointer in ("mine", "home"):
        c.places += views(c, pointer)
        c.arrays.append(pointer)
    c.places.append(Place(U32, f"((const u32 *)in)[{{0}} & {INPUT_BYTES // 4 - 1}]", BLOCK, False))


def _early_end(c):
    """Some threads end here; the others know their lanes. The first thread stays to write the block's sums."""
    ends = c.name("ends")
    c.add(f"const bool {ends} = lid != 0 && ", c.condition(), f";\nhere = __ballot_sync(here, !{ends});\nif ({ends}) {{ result[0] = ",
          Expression(TYPES["u64"], "mixable(", c.expression(TYPES["u64"], THREAD, 1), ")"), "; return; }")
    c.whole_warp = False


def _show(c, places):
    """Mixes what the thread has into its results. Global memory is seen by the host in any case."""
    c.add(f"u64 mixed[{RESULTS}] = {{}};\n#pragma unroll 1\nfor (u32 i = 0; i < {WORDS}; ++i) mixed[0] = mixed[0] * 31 + mine[i];")
    for number, place in enumerate(places):
        value = Expression(place.type, place.read.replace("{0}", "lane"))
        at = f"mixed[{number % RESULTS}]"
        c.add(f"{at} = {at} * 0x100000001b3ull + mixable(", value, ");")
    c.add("".join(f"result[{i}] = mixed[{i}]; " for i in range(RESULTS)))


def kernel(generator):
    choice = generator.choice
    made = Kernel(generator)
    c = Context(generator, made)
    c.functions = list(generator.functions)
    c.structures, c.pointers = [], []
    c.mask = "here"
    _globals(generator, made, c)
    _inputs(c)
    parameters, arguments = ["const u32 *in", "u64 *out", "u32 *own", "u64 *acc"], ["in", "out", "own", "acc"]
    for type in made.parameters:
        name = c.name("arg")
        parameters.append(f"{type} {name}")
        c.places.append(Place(type, name, BLOCK, True))
        value = choice.word() | choice.word() << 64
        arguments.append("0x" + (value & (1 << type.bits) - 1).to_bytes(type.bits // 8, "little").hex())
    _start(c, made)
    known = set(c.places)
    for structure in generator.structures:
        if choice.percent(50):
            name = c.name("s")
            c.add(f"{structure.name} {name} = {{}};")
            c.places += structure.places(name)
            c.structures.append((name, structure))
    for _ in range(choice.between(1, 3) * generator.size):
        c.declare(c.type(), choice.of([THREAD, THREAD, WARP, BLOCK]))
    generator.fuel = choice.of([1, 2, 3]) * generator.size
    count = choice.between(3, 6) * generator.size
    for i in range(count):
        statements.make(c)
        if choice.percent(2):
            _early_end(c)
    c.add("__syncthreads();")
    _show(c, [p for p in c.places if p not in known and p.writable and not p.is_pointer])
    c.add(f"if (lid == 0) for (u32 i = 0; i < {SUMS}; ++i) atomicAdd(acc + {SUMS} + i, sums[i] * (blockIdx.x + 1));")
    bounds = f"__launch_bounds__({made.threads}) " if choice.percent(50) else ""
    generator.program.add(f'extern "C" __global__ {bounds}void {made.name}({", ".join(parameters)}) ', c.block)
    shared = made.threads * WORDS * 4 if made.dynamic else 0
    generator.program.launches.append((made, " ".join(["launch", made.name, *map(str, made.grid + made.shape), str(shared), *arguments])))
