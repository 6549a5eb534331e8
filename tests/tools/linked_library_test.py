#!/usr/bin/env python3
"""What nvJitLink joins with libraries of PTX runs, with link-time optimisation and without: what the code needs of them is
there, and what only the rest needs is not missed. PTX finds what intermediate code has.

usage: linked_library_test.py MULCIBER NVCC
"""
import ctypes
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
KERNEL = b"""
extern "C" __device__ int twice(int);
extern "C" __global__ void k(int* out, int* between) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
  between[i] = twice(i);
  __threadfence();
  cudaCGSynchronize(cudaCGGetIntrinsicHandle(cudaCGScopeGrid), 0);
  out[i] = between[count - 1 - i];
}
"""
TWICE = b'extern "C" __device__ int twice(int i) { return 2 * i; }'
MEMBERS = {
    "needed": """__device__ int factor = 2;
extern "C" __device__ __noinline__ int twice(int i) { return factor * i; }
""",
    "other": """extern "C" __device__ int nowhere(int);
extern "C" __device__ __noinline__ int unused(int i) { return nowhere(i) + 1; }
""",
}
INPUT_PTX, INPUT_LTO_IR, INPUT_LIBRARY = 2, 3, 6


def good(what, result):
    if result:
        sys.exit(f"{what} answers {result}")


def compiled(nvrtc, source, optimises):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    good("nvrtcCreateProgram", nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None))
    options = [b"-arch=compute_75", b"-rdc=true"] + [b"-dlto"] * optimises
    good("nvrtcCompileProgram", nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)))
    kind = "LTOIR" if optimises else "PTX"
    good("its size", getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)))
    code = ctypes.create_string_buffer(size.value)
    good("its code", getattr(nvrtc, f"nvrtcGet{kind}")(program, code))
    return code.raw


def linked(linker, version, codes, optimises, libraries, as_file):
    def call(name, *arguments):
        good(name, getattr(linker, f"__{name}_{version}")(*arguments))

    handle, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [b"-arch=sm_75"] + [b"-lto"] * optimises
    call("nvJitLinkCreate", ctypes.byref(handle), len(options), (ctypes.c_char_p * len(options))(*options))
    for kind, code in codes:
        call("nvJitLinkAddData", handle, kind, code, ctypes.c_size_t(len(code)), b"k")
    for library in libraries:
        if as_file:
            call("nvJitLinkAddFile", handle, INPUT_LIBRARY, str(library).encode())
        else:
            content = library.read_bytes()
            call("nvJitLinkAddData", handle, INPUT_LIBRARY, content, ctypes.c_size_t(len(content)), b"library")
    if result := getattr(linker, f"__nvJitLinkComplete_{version}")(handle):
        call("nvJitLinkGetErrorLogSize", handle, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        call("nvJitLinkGetErrorLog", handle, log)
        sys.exit(f"nvJitLinkComplete answers {result}: {log.value.decode()}")
    call("nvJitLinkGetLinkedCubinSize", handle, ctypes.byref(size))
    image = ctypes.create_string_buffer(size.value)
    call("nvJitLinkGetLinkedCubin", handle, image)
    call("nvJitLinkDestroy", ctypes.byref(handle))
    return image


def launch(cuda, image):
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    good("cuModuleLoadData", cuda.cuModuleLoadData(ctypes.byref(module), image))
    good("cuModuleGetFunction", cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"k"))
    count, out, between = 128, ctypes.c_uint64(), ctypes.c_uint64()
    for memory in out, between:
        good("cuMemAlloc", cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4 * count)))
    parameters = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p) for memory in (out, between)))
    good("cuLaunchCooperativeKernel", cuda.cuLaunchCooperativeKernel(kernel, 2, 1, 1, count // 2, 1, 1, 0, None, parameters))
    result = (ctypes.c_int * count)()
    good("cuMemcpyDtoH", cuda.cuMemcpyDtoH_v2(result, out, ctypes.c_size_t(4 * count)))
    return list(result) == [2 * (count - 1 - i) for i in range(count)]


def inside(folder, library):
    nvrtc, linker = (ctypes.CDLL(str(folder / name)) for name in ("libnvrtc.so", "libnvJitLink.so"))
    cuda, context, failed = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), 0
    version = next(f"{major}_{minor}" for major in (12, 13) for minor in range(10)
                   if hasattr(linker, f"__nvJitLinkAddData_{major}_{minor}"))
    good("cuInit", cuda.cuInit(0))
    good("cuDevicePrimaryCtxRetain", cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    good("cuCtxSetCurrent", cuda.cuCtxSetCurrent(context))
    runtime = folder / "libcudadevrt.a"
    kernel, optimised, twice = compiled(nvrtc, KERNEL, False), compiled(nvrtc, KERNEL, True), compiled(nvrtc, TWICE, True)
    for what, codes, optimises, libraries in [
            ("without optimisation", [(INPUT_PTX, kernel)], False, [library, runtime]),
            ("with optimisation", [(INPUT_LTO_IR, optimised)], True, [library, runtime]),
            ("PTX with intermediate code", [(INPUT_PTX, kernel), (INPUT_LTO_IR, twice)], True, [runtime])]:
        for as_file in False, True:
            right = launch(cuda, linked(linker, version, codes, optimises, libraries, as_file))
            failed += not right
            print(f"{what}, libraries as {'files' if as_file else 'data'}: {'right' if right else 'WRONG'}", flush=True)
    sys.exit(failed != 0)


def main():
    if sys.argv[1] == "inside":
        inside(*map(pathlib.Path, sys.argv[2:]))
    mulciber, nvcc = sys.argv[1:]
    folder = pathlib.Path(nvcc).resolve().parent.parent / "lib64"
    if not all((folder / name).exists() for name in ("libnvrtc.so", "libnvJitLink.so", "libcudadevrt.a")):
        print(f"skipped: {folder} has not all of libnvrtc.so, libnvJitLink.so and libcudadevrt.a")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as scratch:
        library = pathlib.Path(scratch) / "library.a"
        sources = [library.with_name(f"{name}.cu") for name in MEMBERS]
        for source in sources:
            source.write_text(MEMBERS[source.stem])
        subprocess.run([nvcc, "-lib", "-rdc=true", "-gencode", "arch=compute_75,code=compute_75", *map(str, sources), "-o",
                        str(library)], check=True)
        sys.exit(subprocess.run([mulciber, "run", sys.executable, __file__, "inside", str(folder), str(library)]).returncode)


main()
