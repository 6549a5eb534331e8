#!/usr/bin/env python3
"""Differential programs built by older CUDA toolkits, run by `mulciber run`: the object forms, launch sequences and
libraries of CUDA 11 and 12, with the shared and with the static runtime.

usage: old_toolkits.py MULCIBER PROGRAMS_FOLDER

MULCIBER_OLD_TOOLKITS names the toolkits' folders (bin/nvcc in each), with colons between; without it the test skips.
MULCIBER_OLD_TOOLKITS_HOST names the host compiler where the system's is too new.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
# What each shows: registration of kernels, constants and variables, managed variables, shared memory, printf,
# callbacks, cooperative launches, separate compilation aside.
PROGRAMS = ["saxpy", "constants", "memory", "streams", "copies", "print", "dynamic_shared", "device_heap", "cooperative",
            "structs"]


def build(nvcc, source, program, runtime):
    command = [nvcc, "-std=c++17", "-O2", "-cudart", runtime, "--extended-lambda", "-allow-unsupported-compiler",
               "-gencode", "arch=compute_80,code=compute_80", str(source), "-o", str(program)]
    if host := os.environ.get("MULCIBER_OLD_TOOLKITS_HOST"):
        command += ["-ccbin", host]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    mulciber, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    toolkits = [pathlib.Path(name) for name in os.environ.get("MULCIBER_OLD_TOOLKITS", "").split(":") if name]
    if not toolkits:
        print("skipped: MULCIBER_OLD_TOOLKITS names no CUDA toolkit")
        sys.exit(SKIPPED)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        program = pathlib.Path(scratch) / "program"
        for toolkit in toolkits:
            nvcc = str(toolkit / "bin" / "nvcc")
            version = subprocess.run([nvcc, "--version"], capture_output=True, text=True).stdout.split("release ")[1]
            for name in os.environ.get("MULCIBER_OLD_PROGRAMS", " ".join(PROGRAMS)).split():
                expected = (folder / "expected" / f"{name}.txt").read_text()
                for runtime in ("shared", "static"):
                    what = f"CUDA {version.split(',')[0]} {runtime} {name}"
                    built = build(nvcc, folder / f"{name}.cu", program, runtime)
                    if built.returncode != 0:
                        print(f"{what}: not built\n{built.stdout}{built.stderr}")
                        failed += 1
                        continue
                    environment = dict(os.environ,
                                       LD_LIBRARY_PATH=f"{toolkit / 'lib64'}:{os.environ.get('LD_LIBRARY_PATH', '')}")
                    ran = subprocess.run([mulciber, "run", str(program)], capture_output=True, text=True,
                                         env=environment)
                    same = ran.returncode == 0 and ran.stdout == expected
                    failed += not same
                    print(f"{what}: {'same' if same else f'DIFFERENT (status {ran.returncode}) {ran.stderr[-600:]}'}",
                          flush=True)
    sys.exit(failed != 0)


main()
