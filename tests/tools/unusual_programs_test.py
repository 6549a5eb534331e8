#!/usr/bin/env python3
"""Programs that open libraries with static runtimes in unusual ways, and libraries whose fat binaries lie: the right
answer, or CUDA's code with a line that says why.

usage: unusual_programs_test.py MULCIBER NVCC LIBRARY_FOLDER
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

SOURCE = str(pathlib.Path(__file__).with_name("unusual_programs.cu"))
INITIALIZATION_ERROR, INVALID_IMAGE, NO_KERNEL_IMAGE = 3, 200, 209
failed = 0


def check(what, condition, result):
    global failed
    failed += not condition
    print(f"{what}: {'as it should be' if condition else f'status {result.returncode}'}")
    if not condition:
        print(result.stdout + result.stderr)


def lies(library):
    """Copies of a library whose fat binary says what is not so, by what they say."""
    begin = struct.pack("<IHH", 0xBA55ED50, 1, 16)
    # nvcc puts an empty container beside the one with the kernel.
    start = next(match.start() for match in re.finditer(re.escape(begin), library)
                 if library[match.start() + 8:match.start() + 16] != bytes(8))
    entry = start + 16
    size, = struct.unpack_from("<Q", library, entry + 8)
    head, = struct.unpack_from("<I", library, entry + 4)

    def changed(place, layout, *values):
        copy = bytearray(library)
        struct.pack_into(layout, copy, place, *values)
        return bytes(copy)

    yield "another magic number", changed(start, "<I", 0x12345678)
    yield "another version", changed(start + 4, "<H", 9)
    yield "a container of 2^60 bytes", changed(start + 8, "<Q", 1 << 60)
    yield "an empty container", changed(start + 8, "<Q", 0)
    yield "an entry of 2^60 bytes", changed(entry + 8, "<Q", 1 << 60)
    yield "an entry without a header", changed(entry + 4, "<I", 0)
    yield "a header of 4 GiB", changed(entry + 4, "<I", 0xFFFFFFFF)
    yield "a text of 2^40 bytes", changed(entry + 56, "<Q", 1 << 40)
    yield "a compressed part beyond its entry", changed(entry + 16, "<I", 0xFFFFFFF0)
    yield "machine code in place of PTX", changed(entry, "<H", 2)
    yield "noise in place of PTX", changed(entry + head, f"<{size}s", bytes(i * 37 % 251 for i in range(size)))


def check_data(mulciber, nvcc, at):
    """`mulciber check` sees device code that a library holds among its data, to load it by the driver API."""
    for codes, said in (("[sm_75,compute_75]", "ok +device code +1 modules? with PTX for compute_75"),
                        ("sm_75", "bad +device code +1 functions? without PTX, such as _Z3addPii, for sm_75")):
        subprocess.run([nvcc, "-fatbin", "-gencode", f"arch=compute_75,code={codes}", SOURCE, "-o", str(at / "code.fatbin")],
                       check=True, capture_output=True)
        image = ", ".join(map(str, (at / "code.fatbin").read_bytes()))
        (at / "data.cpp").write_text(f"alignas(8) extern const unsigned char image[]; alignas(8) const unsigned char image[] = {{{image}}};")
        subprocess.run([nvcc, "-shared", "-Xcompiler", "-fPIC", "-cudart", "none", str(at / "data.cpp"), "-o", str(at / "data.so")],
                       check=True, capture_output=True)
        result = subprocess.run([mulciber, "check", "-p", "vulkan1.3", str(at / "data.so")], capture_output=True, text=True)
        check(f"check: {codes} among data", re.match(said, result.stdout), result)


def main():
    mulciber, nvcc, libraries = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)

        def build(*options):
            subprocess.run([nvcc, *options, SOURCE], check=True, capture_output=True)

        build("-gencode", "arch=compute_75,code=compute_75", "-shared", "-Xcompiler", "-fPIC", "-o", str(at / "one.so"))
        subprocess.run(["strip", str(at / "one.so")], check=True)
        (at / "two.so").write_bytes((at / "one.so").read_bytes())
        build("-x", "c++", "-DPROGRAM", "-cudart", "none", "-ldl", "-o", str(at / "program"))

        def run(*arguments):
            return subprocess.run([mulciber, "run", str(at / "program"), *map(str, arguments)], capture_output=True, text=True,
                                  timeout=120)

        one, two = at / "one.so", at / "two.so"
        expected = {
            "local": [one, "sum 64"], "lazy": [one, "sum 64"], "both": [one, two, "sums 32 64"],
            "reloaded": [one, "".join(f"{32 * i} " for i in range(20))],
            "forked": [one, "child 160\nstatus 0, parent 192"],
            "used and forked": [one, f"parent 192\nchild {-INITIALIZATION_ERROR}\nstatus 0, parent 224"]}
        for way, (*arguments, output) in expected.items():
            result = run(way, *arguments)
            check(way, result.returncode == 0 and result.stdout == output + "\n" and not result.stderr, result)
        for runtime, version in ("libcudart.so.11.0", 11), ("libcudart.so.12", 12), ("libcudart.so.13", 13):
            result = run("versions", one, pathlib.Path(libraries) / runtime)
            check(f"a static runtime and {runtime}", result.returncode == 0
                  and result.stdout == f"versions {version} 13, sum 96, memory 1010101\n" and not result.stderr, result)
        check_data(mulciber, nvcc, at)
        for what, content in lies(one.read_bytes()):
            (at / "lying.so").write_bytes(content)
            result = run("local", at / "lying.so")
            answers = {f"sum {-code}\n" for code in (INVALID_IMAGE, NO_KERNEL_IMAGE)}
            lines = result.stderr.splitlines()
            check(f"a fat binary with {what}", result.returncode == 0 and result.stdout in answers
                  and lines and all(line.startswith("mulciber: ") for line in lines), result)
    sys.exit(failed != 0)


main()
