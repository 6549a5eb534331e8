#!/usr/bin/env python3
"""NVIDIA's cuBLAS as it is: functions whose kernels it has as PTX, beside the known results.

usage: cublas_test.py MULCIBER LIBRARY
"""
import pathlib
import subprocess
import sys

PROGRAM = r"""
import ctypes as C, sys

blas = C.CDLL(sys.argv[1])
cudart = C.CDLL(sys.argv[2])
n = 5000
x = (C.c_float * n)(*[(i % 7) - 3 for i in range(n)])
y = (C.c_float * n)(*[(i % 5) - 1 for i in range(n)])

def given(values):
    place = C.c_void_p()
    assert cudart.cudaMalloc(C.byref(place), C.sizeof(values)) == 0
    assert cudart.cudaMemcpy(place, values, C.c_size_t(C.sizeof(values)), 1) == 0
    return place

handle = C.c_void_p()
print("create", blas.cublasCreate_v2(C.byref(handle)))
a, b = given(x), given(y)
stream = C.c_void_p()
assert cudart.cudaStreamCreate(C.byref(stream)) == 0
for which in (None, stream):
    print("stream", blas.cublasSetStream_v2(handle, which))
    result = C.c_float(-1)
    print("dot", blas.cublasSdot_v2(handle, n, a, 1, b, 1, C.byref(result)), result.value == sum(map(float.__mul__, x, y)))
    print("asum", blas.cublasSasum_v2(handle, n, a, 1, C.byref(result)), result.value == sum(map(abs, x)))
    place = C.c_int(-1)
    print("amax", blas.cublasIsamax_v2(handle, n, a, 1, C.byref(place)), place.value == 1)
"""
OF_A_STREAM = "stream 0\ndot 0 True\nasum 0 True\namax 0 True\n"


def main():
    mulciber, library = sys.argv[1:]
    if not pathlib.Path(library).exists():
        print(f"skipped: there is no {library}")
        sys.exit(77)
    runtime = pathlib.Path(library).parent / "libcudart.so"
    result = subprocess.run([mulciber, "run", sys.executable, "-c", PROGRAM, library, str(runtime.resolve().name)],
                            capture_output=True, text=True)
    print(result.stdout + result.stderr)
    sys.exit(result.returncode != 0 or result.stdout != "create 0\n" + 2 * OF_A_STREAM)


main()
