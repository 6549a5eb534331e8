#!/usr/bin/env python3
"""Products of matrices by NVIDIA's cuBLAS as it is, which chooses kernels that it has as PTX for what it is told.

usage: cublas_products_test.py MULCIBER NVCC [KIND...]

The kinds are those of cublas_products.cu; `all` for all of them, which takes a GPU: a CPU driver compiles some kernels of
cuBLAS for minutes. By default those that it compiles fast.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = str(pathlib.Path(__file__).with_name("cublas_products.cu"))
KINDS = ["sgemm", "sgemv", "captured"]


def main():
    mulciber, nvcc, *kinds = sys.argv[1:]
    kinds = [] if kinds == ["all"] else kinds or KINDS
    toolkit = pathlib.Path(nvcc).resolve().parent.parent
    if not any(toolkit.glob("lib*/libcublasLt.so")):
        print(f"skipped: there is no libcublasLt.so in {toolkit}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        program = str(pathlib.Path(folder) / "cublas_products")
        subprocess.run([nvcc, "-std=c++20", "-arch=compute_75", "-cudart", "shared", SOURCE, "-lcublas", "-lcublasLt",
                        "-o", program], check=True, capture_output=True)

        def run(capability, kinds):
            return subprocess.run([mulciber, "run", "--explain", program, *kinds], capture_output=True, text=True,
                                  env={**os.environ, "MULCIBER_CUBLAS_CAPABILITY": capability})

        result = run("999", kinds)
        switched_off = run("0", ["sgemv"])
    print(result.stdout + result.stderr)
    faults = []
    if result.returncode != 0:
        faults.append("a product is wrong or refused")
    if "told 99.9" in result.stdout:
        faults.append("the program is told what cuBLAS is")
    for library in ("libcublas.so.", "libcublasLt.so."):
        told = [line for line in result.stderr.splitlines() if library in line and "is told compute capability" in line]
        if len(told) != 1:
            faults.append(f"--explain says {len(told)} times what {library}N is told")
    if "is told compute capability" in switched_off.stderr:
        faults.append("cuBLAS is told something with MULCIBER_CUBLAS_CAPABILITY=0")
    print(*faults, sep="\n")
    sys.exit(bool(faults))


main()
