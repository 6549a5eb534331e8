#!/usr/bin/env python3
"""Programs that ask a compiler library for machine code get PTX, whether they open the library or are linked to it.

usage: compilers_test.py AUDIT_LIBRARY CC
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parent / "fake_compilers.c"
# FIND(name) is the function, by whichever way the program reaches it.
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
#ifdef LINKED
#define LIBRARY(file)
#define FIND(name) ((int (*)())call_##name)
#define CALL(name) int name(); static int call_##name(long a, long b, long c, long d, long e) { return name(a, b, c, d, e); }
CALL(nvrtcCompileProgram) CALL(nvrtcGetCUBINSize) CALL(nvrtcGetCUBIN) CALL(nvJitLinkCreate) CALL(nvJitLinkAddData)
CALL(nvJitLinkAddFile) CALL(nvJitLinkComplete) CALL(nvJitLinkGetLinkedCubinSize) CALL(nvJitLinkGetLinkedCubin)
CALL(nvJitLinkDestroy) CALL(__nvJitLinkCreate_13_0) CALL(nvFatbinAddCubin)
#else
static void* library;
#define LIBRARY(file) library = dlopen(file, RTLD_NOW); if (!library) return puts(dlerror()), 1
#define FIND(name) ((int (*)())dlsym(library, #name))
#endif
static char code[64];
static unsigned long size;
static void compile(int count, const char** options, int (*run)(), int (*sizeOf)(), int (*get)()) {
  run(NULL, count, options);
  sizeOf(NULL, &size);
  get(NULL, code);
  printf("-> %lu %s\\n", size, code);
}
static int linkAll(int (*create)(), int (*add)(), int (*addFile)(), int (*complete)(), int (*sizeOf)(), int (*get)(),
                   int (*destroy)(), int optimises, int withFile) {
  void* handle = NULL;
  const char* options[] = {"-arch=sm_90", "-lto"};
  create(&handle, 1 + optimises, options);
  static const char text[] = ".version 8.0\\n.target sm_80\\n", ir[] = "IR";
  if (optimises) add(handle, 3L, ir, sizeof(ir), "ir");
  else add(handle, 1, text, sizeof(text), "text");
  if (withFile) addFile(handle, 1, "file.cubin");
  complete(handle);
  sizeOf(handle, &size);
  get(handle, code);
  printf("-> %lu %.12s\\n", size, code);
  return destroy(&handle);
}
int main(void) {
  setbuf(stdout, NULL);
  LIBRARY("libnvrtc.so.13");
  const char* joined[] = {"-std=c++17", "--gpu-architecture=sm_90"};
  const char* apart[] = {"-arch", "sm_90a"};
  const char* virtual[] = {"-arch=compute_80", "-DNAME=sm_90"};
  compile(2, joined, FIND(nvrtcCompileProgram), FIND(nvrtcGetCUBINSize), FIND(nvrtcGetCUBIN));
  compile(2, apart, FIND(nvrtcCompileProgram), FIND(nvrtcGetCUBINSize), FIND(nvrtcGetCUBIN));
  compile(1, virtual, FIND(nvrtcCompileProgram), FIND(nvrtcGetCUBINSize), FIND(nvrtcGetCUBIN));
  LIBRARY("libnvJitLink.so.13");
  for (int i = 0; i < 3; ++i) {
    linkAll(i == 0 ? FIND(nvJitLinkCreate) : FIND(__nvJitLinkCreate_13_0), FIND(nvJitLinkAddData), FIND(nvJitLinkAddFile),
            FIND(nvJitLinkComplete), FIND(nvJitLinkGetLinkedCubinSize), FIND(nvJitLinkGetLinkedCubin),
            FIND(nvJitLinkDestroy), i == 1, i == 2);
  }
  LIBRARY("libnvfatbin.so.13");
  static const char text[] = ".version 8.0\\n.target sm_80\\n", machine[] = "\\x7f" "ELF";
  FIND(nvFatbinAddCubin)(NULL, text, sizeof(text), "80", "text");
  FIND(nvFatbinAddCubin)(NULL, machine, sizeof(machine), "80", "machine");
  return 0;
}
"""
EXPECTED = """compile -std=c++17 --gpu-architecture=compute_90
-> 13 .version 8.0
compile -arch compute_90a
-> 13 .version 8.0
compile -arch=compute_80
-> 13 .version 8.0
create -arch=sm_90
add 2 text
-> 28 .version 8.0
create -arch=sm_90 -lto -ptx
add 3 ir
-> 13 .version 9.0
create -arch=sm_90
add 2 text
file 1 file.cubin
-> 6 cubin
pack ptx 28 80 text ''
pack cubin 5 80 machine
"""


def build(*command):
    subprocess.run(command, check=True, capture_output=True)


def main():
    audit, cc = sys.argv[1:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        library = shutil.copy(audit, at)
        libraries = []
        for name, options in {"libnvrtc.so.13": ["-DNVRTC"], "libnvfatbin.so.13": ["-DFATBIN"],
                              "libnvJitLink.so.13": []}.items():
            libraries.append(str(at / name))
            build(cc, "-shared", "-fPIC", *options, str(SOURCE), f"-Wl,-soname,{name}", "-o", libraries[-1])
        (at / "program.c").write_text(PROGRAM)
        for way, options in {"opens": ["-ldl"], "is linked, lazily": ["-DLINKED", *libraries, "-Wl,-z,lazy"],
                             "is linked, at once": ["-DLINKED", *libraries, "-Wl,-z,now"]}.items():
            build(cc, "-w", str(at / "program.c"), "-o", str(at / "program"), *options)
            environment = dict(os.environ, LD_AUDIT=library, LD_PRELOAD=library, LD_LIBRARY_PATH=folder)
            result = subprocess.run([str(at / "program")], env=environment, capture_output=True, text=True)
            good = result.returncode == 0 and result.stdout == EXPECTED
            failed += not good
            print(f"a program that {way}: {'as it should be' if good else f'status {result.returncode}'}")
            if not good:
                print(result.stdout, result.stderr)
    sys.exit(failed != 0)


main()
