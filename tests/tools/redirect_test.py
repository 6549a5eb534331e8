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
# A library whose functions of the runtime's names are trampolines to a table that it fills itself.
TRAMPOLINES = """
#include <stdio.h>
static int real(void) { return 7; }
__attribute__((visibility("hidden"))) int (*table)(void) = real;
#define TRAMPOLINE(name) asm(".text\\n.globl " #name "\\n.hidden " #name "\\n.type " #name ", @function\\n" #name ":\\n jmp *table(%rip)\\n");
TRAMPOLINE(__cudaRegisterFatBinary) TRAMPOLINE(cudaMalloc) TRAMPOLINE(cudaFree)
asm(".section .nv_fatbin,\\"a\\"\\n.quad 0\\n.text\\n");
int cudaMalloc(void);
int go(void) { return cudaMalloc(); }
"""
# A library that tells others of the runtime's functions, as profilers do.
MENTIONS = """
#include <dlfcn.h>
#include <stdio.h>
void* look(void* library) { return dlsym(library, "cudaMalloc"); }
void* lookAgain(void* library) { return look(library) ? dlsym(library, "__cudaInitModule") : 0; }
int go(void) { return 7; }
"""
# A function too short for a jump, with another right behind it. Its name is one that no runtime linked into it has.
SHORT = """
.text
.globl cudaBindTexture
.hidden cudaBindTexture
.type cudaBindTexture, @function
cudaBindTexture: ret
.size cudaBindTexture, 1
behind: push %rax
ret
"""


def build(*command):
    subprocess.run(command, check=True, capture_output=True)


def swap(data, one, other):
    return data.replace(one, b"\1" * len(one)).replace(other, one).replace(b"\1" * len(one), other)


def check(what, condition, result):
    if not condition:
        sys.exit(f"{what}: status {result.returncode}\n{result.stdout}{result.stderr}")
    print(f"{what}: as it should be")


def check_kept(run, at, expected):
    """What was found in a large file is kept, and counts for that file as it is alone."""
    large, folder = at / "large.so", at / "cache/mulciber/runtimes"
    large.write_bytes((at / "stripped.so").read_bytes().ljust(17 << 20, b"\0"))
    command = str(at / "opener"), str(large)
    result = run(*command, MULCIBER_CACHE="0")
    check("no cache", result.stdout == expected and not folder.exists(), result)
    result = run(*command)
    check("a large library", result.stdout == expected and len(list(folder.iterdir())) == 1, result)
    record, = folder.iterdir()
    kept = record.read_text()
    result = run(*command)
    check("a large library, known", result.stdout == expected and record.read_text() == kept, result)
    lines = kept.splitlines(keepends=True)
    record.write_text("".join(lines[:3]) + "problem as was kept\nhash cbf29ce484222325\nend\n")
    result = run(*command)
    check("what was kept is what counts", "large.so" in result.stderr and "as was kept" in result.stderr, result)
    for what, text in {"another place": kept.replace(lines[3], f"{int(lines[3].split()[0], 16) + 1:x} {lines[3].split(maxsplit=1)[1]}"),
                       "a function that is none": kept.replace("cudaMalloc\n", "cudaMellac\n"),
                       "a cut record": kept[:2000], "an empty record": "", "another file's": kept.replace(lines[1], "1 2 3 4 5\n")}.items():
        record.write_text(text)
        result = run(*command)
        check(f"a large library, with {what}", result.stdout == expected and not result.stderr and record.read_text() == kept, result)
    os.utime(large, (1, 1))
    result = run(*command)
    check("a large library that was touched", result.stdout == expected and record.read_text() != kept, result)
    record.unlink()
    folder.chmod(0o777)
    result = run(*command)
    check("a folder that others can write into", result.stdout == expected and not list(folder.iterdir()), result)
    folder.rename(at / "elsewhere")
    (at / "elsewhere").chmod(0o700)
    folder.symlink_to(at / "elsewhere")
    result = run(*command)
    check("a folder that is a link", result.stdout == expected and not list(folder.iterdir()), result)
    folder.unlink()
    (at / "elsewhere").rename(folder)
    run(*command)
    record.rename(at / "record")
    record.symlink_to(at / "record")
    record.write_text("".join(lines[:3]) + "problem of another\nhash cbf29ce484222325\nend\n")
    result = run(*command)
    check("a record that is a link", result.stdout == expected and not result.stderr and not record.is_symlink(), result)


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
        (at / "trampolines.c").write_text(TRAMPOLINES)
        (at / "mentions.c").write_text(MENTIONS)
        build(cc, "-shared", "-fPIC", str(at / "mentions.c"), "-o", str(at / "mentions.so"))
        (at / "short.s").write_text(SHORT)
        build(cc, "-shared", "-fPIC", str(at / "trampolines.c"), "-o", str(at / "trampolines.so"))
        build(nvcc, "-arch=compute_75", "-shared", "-Xcompiler", "-fPIC", str(at / "library.cu"), str(at / "short.s"), "-o", str(at / "short.so"))
        shutil.copy(at / "program", at / "stripped")
        build("strip", str(at / "stripped"))
        shutil.copy(at / "library.so", at / "stripped.so")
        build("strip", str(at / "stripped.so"))

        def run(*command, preload=True, **variables):
            environment = dict(os.environ, LD_AUDIT=library, LD_PRELOAD=library if preload else "", XDG_CACHE_HOME=str(at / "cache"),
                               **variables)
            environment.pop("MULCIBER_CACHE_DIR", None)
            return subprocess.run(command, env=environment, capture_output=True, text=True)

        result = run(str(at / "program"))
        check("a program", result.returncode == 0 and result.stdout == EXPECTED + "__cudaUnregisterFatBinary 1\n", result)
        result = run(str(at / "opener"), str(at / "library.so"))
        once = EXPECTED.replace("end\n", "") + "__cudaUnregisterFatBinary 1\n"
        check("a library, opened twice", result.returncode == 0 and result.stdout == once * 2, result)
        result = run(str(at / "opener"), str(at / "trampolines.so"))
        check("a library with trampolines of its own", result.returncode == 0 and not result.stdout and not result.stderr, result)
        result = run(str(at / "opener"), str(at / "mentions.so"))
        check("a library that mentions functions", result.returncode == 0 and not result.stdout and not result.stderr, result)
        result = run(str(at / "opener"), str(at / "short.so"))
        lines = result.stderr.splitlines()
        check("a function too short to redirect is named", result.returncode == 0 and result.stdout == once * 2 and len(lines) == 2
              and "cudaBindTexture" in lines[0] and "short.so" in lines[0], result)
        result = run(str(at / "stripped"))
        check("a stripped program", result.returncode == 0 and result.stdout == EXPECTED + "__cudaUnregisterFatBinary 1\n", result)
        result = run(str(at / "opener"), str(at / "stripped.so"))
        check("a stripped library, opened twice", result.returncode == 0 and result.stdout == once * 2, result)
        check_kept(run, at, once * 2)
        (at / "swapped").write_bytes(swap((at / "stripped").read_bytes(), b"\0cudaMemcpy3D\0", b"\0cudaMemset3D\0"))
        (at / "swapped").chmod(0o755)
        result = run(str(at / "swapped"))
        lines = result.stderr.splitlines()
        check("a program whose names and numbers do not fit", result.returncode == 125 and len(lines) == 1
              and "no function looks like cudaMem" in lines[0] and "-cudart shared" in lines[0], result)
        for name, changed in (b"cudaMemcpy3D", b"__daMemcpy3D"), (b"cudaMalloc", b"cudaMellac"):
            (at / "misnamed").write_bytes((at / "stripped").read_bytes().replace(b"\0" + name + b"\0", b"\0" + changed + b"\0"))
            (at / "misnamed").chmod(0o755)
            result = run(str(at / "misnamed"))
            lines = result.stderr.splitlines()
            check(f"a program that misspells {name.decode()}", result.returncode == 125 and len(lines) == 1
                  and f"the number of {name.decode()} does not tell its name" in lines[0] and "-cudart shared" in lines[0], result)
        (at / "unanchored.so").write_bytes((at / "stripped.so").read_bytes().replace(b"__cudaInitModule", b"__cudaInitModula"))
        result = run(str(at / "opener"), str(at / "unanchored.so"))
        check("a library that misspells __cudaInitModule", "looks like __cudaInitModule" in result.stderr, result)
        (at / "mute").write_bytes((at / "stripped").read_bytes().replace(b"cuda", b"cudb"))
        (at / "mute").chmod(0o755)
        result = run(str(at / "mute"))
        lines = result.stderr.splitlines()
        check("a program that shows no names", result.returncode == 125 and len(lines) == 1
              and "it shows no function names" in lines[0], result)
        (at / "mute.so").write_bytes((at / "stripped.so").read_bytes().replace(b"cuda", b"cudb"))
        result = run(str(at / "opener"), str(at / "mute.so"))
        check("a library that shows no names is named", "mute.so" in result.stderr and "-cudart shared" in result.stderr, result)
        result = run(str(at / "program"), preload=False)
        check("the auditor alone", result.returncode == 125 and "mulciber run" in result.stderr, result)
        result = run("/bin/echo", "hello")
        check("a program without CUDA", result.returncode == 0 and result.stdout == "hello\n" and not result.stderr, result)


main()
