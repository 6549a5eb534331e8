#!/usr/bin/env python3
"""Each CUDA runtime in a process, static or shared, has a last error of its own, as natively.

usage: last_errors_test.py MULCIBER NVCC LIBRARY_FOLDER
"""
import pathlib
import subprocess
import sys
import tempfile

SOURCE = str(pathlib.Path(__file__).with_name("last_errors.cu"))
# The codes are those of the program's shared runtime, of the first library's, and of the second's.
EXPECTED = """at first: 0 0 0
refused: 1
after an error in one: 0 1 0
in another thread: 0 0 0
sums: 5 -2 7
taken: 0 0 1
after it was taken: 0 0 0
after an error in the program: 1 0 0
refused by the driver API: 1
after that: 0 0 0
"""


def main():
    mulciber, nvcc, libraries = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)

        def build(*options):
            subprocess.run([nvcc, "-arch=compute_75", SOURCE, *options], check=True, capture_output=True)

        build("-shared", "-Xcompiler", "-fPIC", "-o", str(at / "one.so"))
        (at / "two.so").write_bytes((at / "one.so").read_bytes())
        subprocess.run(["strip", str(at / "two.so")], check=True)
        build("-DPROGRAM", "-cudart", "shared", f"-L{libraries}", "-lcuda", "-o", str(at / "program"))
        result = subprocess.run([mulciber, "run", str(at / "program"), str(at / "one.so"), str(at / "two.so")],
                                capture_output=True, text=True)
    print(result.stdout + result.stderr)
    sys.exit(result.returncode != 0 or result.stdout != EXPECTED)


main()
