#!/ usr / bin / env python3
"""mulciberc++ builds CUDA C++ with no toolkit, and the programs print what they print natively when nvcc has built them.

usage: compiler_test.py COMPILER PROGRAMS [--all] [--clang=PROGRAM] [NAME...]
PROGRAMS is tests/programs: NAME.cu, expected/NAME.txt, and recorded/clang.txt, which lists what differs or cannot be built,
and why. Without --all and names, a set that shows each part of the headers.
"""
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SET = """async_copies atomics big_tiles block_votes conversions cooperative dynamic_shared exits fft floats geometry
graph_search group_tiles half_functions halfs integers managed_uses math_functions math_intrinsics matrices narrow_floats
print recursion reduction separate_products simd_functions simd_intrinsics structs texture_images vector_types volumes warps""".split()
#Near their zeros the error of these is absolute.So is CUDA's.
ABSOLUTE = {"jn", "yn", "ynf"}

arguments = [word for word in sys.argv[1:] if not word.startswith("--")]
COMPILER, PROGRAMS = arguments[0], pathlib.Path(arguments[1])
CLANG = [word for word in sys.argv if word.startswith("--clang=")]
failures = 0


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace")


def check(what, right, *more):
    global failures
    print(("right: " if right else "wrong: ") + what)
    if not right:
        failures += 1
        print("  " + "\n  ".join(str(text)[-1500:] for text in more))


def listed():
    """What is known to differ: name -> (clang or *, reason)."""
    rows = [line.split(" | ") for line in (PROGRAMS / "recorded/clang.txt").read_text().splitlines() if line and line[0] != "#"]
    return {
name: why for name, why in rows
}

def outcome(name, folder):
    """Nothing when the program prints what it should, else what happened."""
    program = folder / name
    flags = ["-fmad=false"] if name.startswith("separate_") else []
    built = run(COMPILER, *CLANG, "-std=c++17", "-O2", *flags, PROGRAMS / f"{name}.cu", "-o", program)
    if built.returncode:
        return "is not built: " + next((line for line in built.stderr.splitlines() if "error" in line), built.stderr)
    ran = run(program)
    expected = (PROGRAMS / "expected" / f"{name}.txt").read_text()
    if ran.returncode:
        return f"ends with {ran.returncode}: {ran.stdout[-300:]} {ran.stderr[-300:]}"
    if name == "math_functions":  # within CUDA's bounds also where CUDA is not
        wrong = [line for line in ran.stdout.splitlines() if ": within " not in line and line.split(":")[0] not in ABSOLUTE]
        return f"prints '{wrong[0]}'" if wrong or len(ran.stdout.splitlines()) != len(expected.splitlines()) else None
    lines = zip(ran.stdout.splitlines(), expected.splitlines())
    return None if ran.stdout == expected else "prints " + next((f"'{a}', not '{b}'" for a, b in lines if a != b), "less or more")


def check_programs(names):
    known = listed()
    same = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, result in zip(names, pool.map(lambda name: outcome(name, pathlib.Path(folder)), names)):
            same += result is None
            if name in known and result is None:
                check(f"{name} is listed in recorded/clang.txt, and is the same", "--all" not in sys.argv or bool(CLANG))
            elif name in known:
                print(f"known: {name} {result} ({known[name]})")
            else:
                check(f"{name} prints what it prints natively", result is None, result)
    print(f"{same} of {len(names)} programs are the same")


def check_examples():
    """Those that are programs run; of the engines' kernels, those of the PTX that is kept."""
    examples = PROGRAMS.parents[1] / "examples"
    sys.path.insert(0, str(PROGRAMS.parent / "examples"))
    import pictures
    with tempfile.TemporaryDirectory() as at:
        at = pathlib.Path(at)
        for name in ("vector_add", "galaxy"):
            built = run(COMPILER, *CLANG, "-std=c++17", "-O2", "-I", examples, examples / name / f"{name}.cu", "-o", at / name)
            check(f"the example {name} is built", built.returncode == 0, built.stderr)
        ran = run(at / "vector_add")
        check("vector_add is right", ran.returncode == 0 and "1000000 sums right" in ran.stdout, ran.stdout, ran.stderr)
        size = ["--stars", "2048", "--steps", "24", "--width", "160", "--height", "90"]
        ran = run(at / "galaxy", *size, "--output", at / "galaxy.png")
        mean, most = 255, 255
        if ran.returncode == 0:
            mean, most = pictures.difference(pictures.read(at / "galaxy.png"), pictures.read(PROGRAMS.parent / "examples/galaxy.png"))
        check(f"galaxy draws its picture (differs by {mean:.2f} on average, {most:.1f} at most)", mean <= 3 and most <= 30, ran.stderr)
        for name in ("ocean/ocean", "particles/particles", "fluid/fluid", "your_engine/julia"):
            built = run(COMPILER, *CLANG, "-ptx", examples / f"{name}.cu", "-o", at / "kernels.ptx")
            kernels = [set(re.findall(r"\.entry (\w+)", path.read_text())) if path.exists() else None
                       for path in (at / "kernels.ptx", examples / f"{name}.ptx")]
            check(f"the kernels of {name}.cu are compiled", built.returncode == 0 and kernels[0] == kernels[1], built.stderr, kernels)


def check_command_line():
    with tempfile.TemporaryDirectory() as at:
        at = pathlib.Path(at)
        source, other = at / "kernel.cu", at / "main.cpp"
        source.write_text('extern "C" __global__ void fill(int* out) { out[threadIdx.x] = VALUE; }\n'
                          "void launch(int* out) { fill<<<1, 32>>>(out); }\n")
        other.write_text("#include <cuda_runtime.h>\n#include <cstdio>\nvoid launch(int*);\n"
                         "int main() { int* p; cudaMallocManaged(&p, 128); launch(p); cudaDeviceSynchronize();\n"
                         '  std::printf("%d\\n", p[31]); }\n')
        made = run(COMPILER, *CLANG, "-ptx", "-DVALUE=7", source, "-o", at / "kernel.ptx", "-arch=sm_75")
        text = (at / "kernel.ptx").read_text() if made.returncode == 0 else ""
        check("-ptx gives PTX of the architecture", ".entry fill" in text and ".target sm_75" in text, made.stderr, text)
        made = run(COMPILER, *CLANG, "-c", "-D", "VALUE=7", source, "-o", at / "kernel.o", "-gencode",
                   "arch=compute_80,code=[sm_80,compute_90]", "--extended-lambda", "-Xcompiler", "-fPIC,-Wall", "-MD", "-MF", at / "kernel.d")
        check("-c takes nvcc's options and makes an object", made.returncode == 0 and (at / "kernel.o").exists(), made.stderr)
        check("and says what it depends on", "kernel.cu" in (at / "kernel.d").read_text() if (at / "kernel.d").exists() else False)
        made = run(COMPILER, *CLANG, other, at / "kernel.o", "-cudart", "static", "-o", at / "program")
        check("objects and other sources are linked", made.returncode == 0, made.stderr)
        ran = run(at / "program")
        check("and run", ran.stdout == "7\n", ran.stdout, ran.stderr)
        tiles = at / "tiles.cu"
        tiles.write_text("#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cstdio>\n"
                         "namespace cg = cooperative_groups;\n"
                         "__device__ int sum(cg::thread_block_tile<64> tile) {\n"
                         "  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(tile);\n"
                         "  return cg::reduce(tile, 1, cg::plus<int>()) * 100 + warp.meta_group_rank() * 10 + warp.meta_group_size(); }\n"
                         "__global__ void k(int* out) { auto half = cg::tiled_partition<128>(cg::this_thread_block());\n"
                         "  out[threadIdx.x] = sum(cg::tiled_partition<64>(half)); }\n"
                         "int main() { int* p; cudaMallocManaged(&p, 1024); k<<<1, 256>>>(p); cudaDeviceSynchronize();\n"
                         '  std::printf("%d %d\\n", p[0], p[255]); }\n')
        made = run(COMPILER, *CLANG, tiles, "-o", at / "tiles")
        ran = run(at / "tiles") if made.returncode == 0 else made
        check("tiles are parts of tiles, and have a type without what is around them", ran.stdout == "6402 6412\n", ran.stdout, ran.stderr)
        wide = at / "wide.cu"
        wide.write_text("#include <cstdio>\n"
                        "__host__ __device__ unsigned mix(__int128 x, __int128 y) {\n"
                        "  const unsigned __int128 u = x, v = y, parts = u / v * 3 + u % v * 5 + (unsigned __int128)(x / y) * 7 +\n"
                        "                                        (unsigned __int128)(x % y) * 11;\n"
                        "  return (unsigned)(parts >> 96) ^ (unsigned)(parts >> 64) ^ (unsigned)(parts >> 32) ^ (unsigned)parts; }\n"
                        "__host__ __device__ __int128 number(unsigned i) {\n"
                        "  const unsigned long long a = (i + 1) * 0x9E3779B97F4A7C15ull, b = (a ^ a >> 29) * 0xBF58476D1CE4E5B9ull;\n"
                        "  const __int128 x = (__int128)((unsigned __int128)a << 64 | b) >> (i * 7 % 128); return x ? x : 1; }\n"
                        "__global__ void k(unsigned* out) { out[threadIdx.x] = mix(number(threadIdx.x), number(threadIdx.x * 5 + 3)); }\n"
                        "int main() { unsigned* p; cudaMallocManaged(&p, 1024); k<<<1, 256>>>(p); cudaDeviceSynchronize(); int wrong = 0;\n"
                        "  for (unsigned i = 0; i < 256; ++i) wrong += p[i] != mix(number(i), number(i * 5 + 3));\n"
                        '  std::printf("%d wrong\\n", wrong); }\n')
        made = run(COMPILER, *CLANG, wide, "-o", at / "wide")
        ran = run(at / "wide") if made.returncode == 0 else made
        check("numbers of 128 bits are divided", ran.stdout == "0 wrong\n", ran.stdout, ran.stderr)
        (at / "managed.h").write_text("static __device__ __managed__ double factor = 2.5;\n")
        one, two = at / "one.cu", at / "two.cu"
        one.write_text('#include "managed.h"\n#include <cstdio>\n#include <vector>\nstruct Early { Early(); } early;\n'
                       "__managed__ int sums[3] = {1, 2, 3};\nEarly::Early() { factor += 1; }\n"
                       "__global__ void k(int* same) { sums[1] += 40 * factor; *same = same == sums + 2; }\ndouble other();\n"
                       "int main() { int* const place = sums + 2; sums[1] = 10; k<<<1, 1>>>(place); cudaDeviceSynchronize();\n"
                       '  std::printf("%d %d %d %g %g\\n", sums[0], sums[1], sums[2], factor, other()); }\n')
        two.write_text('#include "managed.h"\n__global__ void k() { factor *= 2; }\n'
                       "double other() { k<<<1, 1>>>(); cudaDeviceSynchronize(); return factor; }\n")
        made = run(COMPILER, *CLANG, one, two, "-o", at / "managed")
        ran = run(at / "managed") if made.returncode == 0 else made
        check("managed variables of two sources are where both sides look", ran.stdout == "1 150 1 3.5 5\n", ran.stdout, ran.stderr)
        named = at / "named.cu"
        named.write_text("#include <cstdio>\n#include <cstring>\nnamespace n {\n__device__ const char text[] = __FILE__;\n"
                         "namespace { __device__ int folded = 1; __constant__ float scale[2] = {1, 2}; __device__ int partly[2] = {1, 2}; }\n}\n"
                         "static __device__ const int five = 5;\n__constant__ const int six = 6;\nconstexpr __device__ int seven = 7;\n"
                         "template <class T> __device__ const T eight = 8;\n"
                         "#ifndef __CUDA_ARCH__\nstatic __device__ const int hosts = 9;\n#endif\n"
                         "__global__ void k(int* out) { *out = n::folded + int(n::scale[0]) + n::partly[0] + n::partly[*out] + seven; }\n"
                         "template <class T> int get(const T& x) { int value = -1; return cudaMemcpyFromSymbol(&value, x, sizeof(value)) ? -1 : value; }\n"
                         "template <class T> void put(const T& x, const void* value) { if (cudaMemcpyToSymbol(x, value, 4)) std::puts(\"?\"); }\n"
                         "int main() { char text[sizeof(n::text)] = {}; cudaMemcpyFromSymbol(text, n::text, sizeof(text));\n"
                         "  const int ten = 10; const float hundred = 100; put(n::folded, &ten), put(n::scale, &hundred), put(n::partly, &ten);\n"
                         "  int* p; cudaMallocManaged(&p, 4); *p = 1; k<<<1, 1>>>(p); cudaDeviceSynchronize();\n"
                         '  std::printf("%d %d %d %d %d %d", std::strcmp(text, __FILE__), *p, get(five), get(six), get(seven), get(eight<int>));\n'
                         '#ifndef __CUDA_ARCH__\n  std::printf(" %d\\n", get(hosts));\n#endif\n}\n')
        made = run(COMPILER, *CLANG, "-std=c++17", named, "-o", at / "named")
        ran = run(at / "named") if made.returncode == 0 else made
        check("device variables that the host alone names, or alone writes, are kept", ran.stdout == "0 129 5 6 7 8 -1\n", ran.stdout, ran.stderr)
        sums = at / "sums.cu"
        sums.write_text("__global__ void k(float* x) { x[0] = x[1] * x[2] + x[3] * x[4]; x[5] = __fmul_rn(x[1], x[2]) / x[3];\n"
                        "  x[6] = sinf(x[1]) + sqrtf(x[2]) + expf(x[3]); x[7] = __fsqrt_rn(x[1]) + __fdividef(x[2], x[3]); }\n")
        for words, expected, missing in (
                ([], "mul.f32 fma.rn.f32 mul.rn.f32 div.rn.f32 sqrt.rn.f32 div.approx.f32", "sin.approx.f32 ftz"),
                (["-ffp-contract=off"], "mul.rn.f32 add.rn.f32", "mul.f32 add.f32"),
                (["-fmad=false"], "mul.rn.f32 add.rn.f32", "mul.f32 add.f32"),
                (["-ftz=true"], "mul.rn.ftz.f32 div.rn.ftz.f32 sqrt.rn.ftz.f32 div.approx.ftz.f32", "sin.approx"),
                (["-use_fast_math", "--use_fast_math"], "mul.rn.ftz.f32 sin.approx.ftz.f32 sqrt.approx.ftz.f32 ex2.approx.ftz.f32 sqrt.rn.ftz.f32 "
                                     "div.approx.ftz.f32", "div.rn. cvt.rni sqrt.rn.f32 mul.rn.f32")):
            made = run(COMPILER, *CLANG, "-ptx", *words, sums, "-o", at / "sums.ptx")
            text = (at / "sums.ptx").read_text() if made.returncode == 0 else ""
            lacks, has = [w for w in expected.split() if w not in text], [w for w in missing.split() if w in text]
            check(f"operations are those of nvcc{' with ' * bool(words)}{' '.join(words)}", not lacks and not has, made.stderr, lacks, has)
        difference = at / "difference.cu"
        difference.write_text("__global__ void k(double* x) { const double p = x[0] * x[1], q = x[2] * x[3]; x[4] = p - q; x[5] = q - p; }\n")
        made = run(COMPILER, *CLANG, "-ptx", difference, "-o", at / "difference.ptx")
        text = (at / "difference.ptx").read_text() if made.returncode == 0 else ""
        check("products on both sides are left to the PTX's compiler", [text.count(w) for w in ("mul.f64", "sub.f64", "fma.")] == [2, 2, 0],
              made.stderr, text)
        stack = at / "stack.cu"
        stack.write_text("__global__ void k(int* out, int n) { int* a = (int*)__builtin_alloca(n * sizeof(int));\n"
                         "  for (int i = 0; i < n; ++i) a[i] = out[i]; for (int i = 0; i < n; ++i) out[i] = a[n - 1 - i]; }\n")
        made = run(COMPILER, *CLANG, "-ptx", stack, "-o", at / "stack.ptx")
        if "dynamic_stackalloc" in made.stderr:
            print("skipped: arrays sized at run time, which this Clang has not for devices")
        else:
            text = (at / "stack.ptx").read_text() if made.returncode == 0 else ""
            check("arrays sized at run time are aligned", re.findall(r"alloca\.u64[^;]*, (\d+);", text) == ["16"], made.stderr, text)
        for what, words, status, said in (
                ("separate device code is refused", ["-rdc=true", source], 2, "not linked"),
                ("so is no source", ["-O2", "-c"], 2, "no CUDA source"),
                ("so is an architecture that is none", ["-arch=turing", source], 2, "names no architecture"),
                ("so is an option without its value", [source, "-o"], 2, "-o needs a value"),
                ("so is a Clang that is not there", ["--clang=/no/clang", source], 1, "there is no program /no/clang")):
            refused = run(COMPILER, *words)
            check(what, refused.returncode == status and said in refused.stderr, refused.stderr)
        wrong = at / "wrong.cu"
        wrong.write_text("__global__ void k() { undeclared(); }\n")
        failed = run(COMPILER, *CLANG, "-c", wrong, "-o", at / "wrong.o")
        check("an error in the source is Clang's, and ends it", failed.returncode != 0 and "undeclared" in failed.stderr and
              not (at / "wrong.o").exists(), failed.stderr)
        dry = run(COMPILER, *CLANG, "--dry-run", "-DVALUE=1", source)
        check("--dry-run shows two compilations and the link", dry.returncode == 0 and len(dry.stdout.splitlines()) == 3, dry.stdout)


if not CLANG and not any(shutil.which(name) for name in ["clang++", *(f"clang++-{v}" for v in range(14, 20))]):
    print("skipped: there is no clang++")
    sys.exit(77)
if not arguments[2:]:
    check_command_line()
    check_examples()
every = sorted(path.stem for path in (PROGRAMS / "expected").glob("*.txt") if path.stem != "DEVICE")
check_programs(arguments[2:] or (every if "--all" in sys.argv else [name for name in SET if name not in listed()]))
print(f"{failures} wrong")
sys.exit(failures != 0)
