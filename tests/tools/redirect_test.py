#!/usr/bin/env python3
"""Programs with a static CUDA runtime reach the runtime beside libmulciber_audit.so: here one that logs.

usage: redirect_test.py AUDIT_LIBRARY CC NVCC
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).parent
EXPECTED = """__cudaRegisterFatBinary wrapper
__cudaRegisterFunction 1 _Z6kernelPfi -1
__cudaRegisterVar 1 table 16 1
__cudaRegisterFatBinaryEnd 1
cudaMalloc 64
launch 2 3 4, 32 2 1, 16, argument 77
cudaDeviceSynchronize
end
"""
OPENER = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** names) {
  for (int i = 0; i < 2; ++i) {
    void* library = dlopen(names[count - 1], RTLD_NOW);
    if (!library) return puts(dlerror()), 1;
    if (((int (*)(void))dlsym(library, "go"))() != 7) return 1;
    dlclose(library);
  }
  return 0;
}
"""


def build(*command):
    subprocess.run(command, check=True, capture_output=True)


def check(what, condition, result):
    if not condition:
        sys.exit(f"{what}: status {result.returncode}\n{result.stdout}{result.stderr}")
    print(f"{what}: as it should be")


def main():
    audit, cc, nvcc = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        library = shutil.copy(audit, at)
        build(cc, "-shared", "-fPIC", str(SOURCES / "fake_cudart.c"), "-o", str(at / "libcudart.so.13"))
        text = (SOURCES / "static_runtime.cu").read_text()
        (at / "library.cu").write_text(text.replace("int main()", 'extern "C" int go()').replace('std::puts("end");', "return 7;"))
        (at / "opener.c").write_text(OPENER)
        build(nvcc, "-arch=compute_75", str(SOURCES / "static_runtime.cu"), "-o", str(at / "program"))
        build(nvcc, "-arch=compute_75", "-shared", "-Xcompiler", "-fPIC", str(at / "library.cu"), "-o", str(at / "library.so"))
        build(cc, str(at / "opener.c"), "-o", str(at / "opener"), "-ldl")
        shutil.copy(at / "program", at / "stripped")
        build("strip", str(at / "stripped"))
        shutil.copy(at / "library.so", at / "stripped.so")
        build("strip", str(at / "stripped.so"))

        def run(*command, preload=True):
            environment = dict(os.environ, LD_AUDIT=library, LD_PRELOAD=library if preload else "")
            return subprocess.run(command, env=environment, capture_output=True, text=True)

        result = run(str(at / "program"))
        check("a program", result.returncode == 0 and result.stdout == EXPECTED + "__cudaUnregisterFatBinary 1\n", result)
        result = run(str(at / "opener"), str(at / "library.so"))
        once = EXPECTED.replace("end\n", "") + "__cudaUnregisterFatBinary 1\n"
        check("a library, opened twice", result.returncode == 0 and result.stdout == once * 2, result)
        result = run(str(at / "stripped"))
        lines = result.stderr.splitlines()
        check("a stripped program", result.returncode == 125 and len(lines) == 1 and "-cudart shared" in lines[0], result)
        result = run(str(at / "opener"), str(at / "stripped.so"))
        check("a stripped library is named", "stripped.so" in result.stderr and "-cudart shared" in result.stderr, result)
        result = run(str(at / "program"), preload=False)
        check("the auditor alone", result.returncode == 125 and "mulciber run" in result.stderr, result)
        result = run("/bin/echo", "hello")
        check("a program without CUDA", result.returncode == 0 and result.stdout == "hello\n" and not result.stderr, result)


main()
