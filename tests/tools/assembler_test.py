#!/usr/bin/env python3
"""Programs that start ptxas for machine code get its PTX, in a fat binary with the options that belong to it.

usage: assembler_test.py AUDIT_LIBRARY MULCIBER CC PTXAS

An assembler of our own stands in for ptxas; the real one is started too where PTXAS is not empty.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out) {
  .reg .b64 %a;
  ld.param.u64 %a, [out];
  st.global.u32 [%a], 7;
  ret;
}
"""
# As ptxas: text to the file behind -o, nothing when the text is bad.
ASSEMBLER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** arguments) {
  const char* out = 0;
  for (int i = 1; i < count; ++i) {
    if (!strcmp(arguments[i], "-o")) out = arguments[++i];
    if (strstr(arguments[i], "bad")) return puts("refused"), 255;
  }
  if (!out) return 0;
  FILE* file = fopen(out, "w");
  fputs("\177ELF machine code", file);
  exit(0);  /* closes the file */
}
"""
# Like nvcc: starts ptxas through a shell, and adds its own options at the end.
COMPILER = r"""
#include <stdlib.h>
#include <string.h>
int main(int count, char** arguments) {
  char command[4096] = "";
  strcat(command, arguments[1]);
  strcat(command, " -arch=sm_90 kernel.ptx -o kernel.cubin; true");
  return system(command) != 0;
}
"""


def entry_of(container):
    """The options and the text of a container with one entry of PTX."""
    magic, version, head, size = struct.unpack_from("<IHHQ", container)
    assert (magic, version, head + size) == (0xBA55ED50, 1, len(container)), "no container"
    kind, _, entry_head, payload = struct.unpack_from("<HHIQ", container, head)
    record, = struct.unpack_from("<I", container, head + 20)
    architecture, = struct.unpack_from("<I", container, head + 28)
    at, length = struct.unpack_from("<II", container, head + record)
    options = container[head + at:head + at + length].decode()
    text = container[head + entry_head:head + entry_head + payload].rstrip(b"\0").decode()
    assert kind == 1
    return architecture, options, text


def main():
    audit, mulciber, cc, real = sys.argv[1:]
    failed = 0

    def check(what, good):
        nonlocal failed
        failed += not good
        print(f"{what}: {'as it should be' if good else 'WRONG'}")

    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        library = shutil.copy(audit, at)
        environment = dict(os.environ, LD_AUDIT=library, LD_PRELOAD=library)
        for name, source in {"ptxas": ASSEMBLER, "nvcc": COMPILER, "other": ASSEMBLER}.items():
            (at / f"{name}.c").write_text(source)
            subprocess.run([cc, "-w", str(at / f"{name}.c"), "-o", str(at / name)], check=True)
        (at / "kernel.ptx").write_text(TEXT)
        (at / "bad.ptx").write_text(".version 8.0\nbad\n")
        cubin = at / "kernel.cubin"

        def run(*command):
            cubin.unlink(missing_ok=True)
            result = subprocess.run(command, env=environment, cwd=at, capture_output=True)
            return result.returncode, cubin.read_bytes() if cubin.exists() else None

        def gives(command, expected):
            status, output = run(*command)
            return status == 0 and output is not None and output[:4] != b"\x7fELF" and entry_of(output) == expected

        ptxas, out = str(at / "ptxas"), ["-o", "kernel.cubin"]
        check("a target that is joined", gives([ptxas, "-arch=sm_90a", "kernel.ptx", *out], (90, "", TEXT)))
        check("options, and a target that stands apart",
              gives([ptxas, "-v", "--fmad", "false", "--gpu-name", "sm_80", "kernel.ptx", "-o", str(cubin)],
                    (80, "-v --fmad false", TEXT)))
        check("mulciber reads it", subprocess.run([mulciber, "translate", str(cubin), "-o", str(at / "spv")],
                                                  env=dict(os.environ), capture_output=True).returncode == 0)
        code = b"\x7fELF machine code"
        check("code for the linker stays", run(ptxas, "-c", "-arch=sm_90", "kernel.ptx", *out) == (0, code))
        check("an input that is no PTX stays", run(ptxas, "-arch=sm_90", "ptxas.c", *out) == (0, code))
        check("two inputs stay", run(ptxas, "kernel.ptx", "kernel.ptx", *out) == (0, code))
        check("another program is left alone", run(str(at / "other"), "kernel.ptx", *out) == (0, code))
        check("a text that it refuses", run(ptxas, "-arch=sm_90", "bad.ptx", *out) == (255, None))
        check("no output", run(ptxas, "--version") == (0, None))
        check("nvcc's own work stays", run(str(at / "nvcc"), ptxas) == (0, code))
        check("nvcc -cubin", gives([str(at / "nvcc"), ptxas, "-cubin"], (90, "", TEXT)))
        if real:
            check("the real ptxas", gives([real, "-arch=sm_90", "kernel.ptx", *out], (90, "", TEXT)))
            check("the real ptxas, for the linker", run(real, "-c", "-arch=sm_90", "kernel.ptx", *out)[1][:4] == code[:4])
    sys.exit(failed != 0)


main()
