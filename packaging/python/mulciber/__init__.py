"""CUDA programs on Vulkan.

`mulciber run python script.py` runs a script that uses CuPy, Numba or another client of CUDA on Vulkan.
"""
import os
import pathlib
import sys

_folder = pathlib.Path(__file__).parent


def library_folder():
    """The folder with libcuda.so.1, libcudart.so.N and libcufft.so.N."""
    return _folder / "lib/mulciber"


def main():
    """The mulciber command."""
    program = _folder / "bin/mulciber"
    os.execv(program, [str(program), *sys.argv[1:]])
