#!/usr/bin/env python3
"""Compares include/cuda with the CUDA toolkit's own headers: every size, offset, enumerator and function declared.

usage: check.py OUR_INCLUDE_FOLDER C_COMPILER CXX_COMPILER [TOOLKIT_INCLUDE_FOLDER]

The probe is generated from our headers, so nothing can be forgotten. Without a toolkit only the compilation of our
headers, as C and as C++11, is checked.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ["cuda.h", "cuda_runtime.h", "cufftXt.h"]
WITH_OPENGL = ["cudaGL.h", "cuda_gl_interop.h"]  # they include its headers, which may not be there


def text_of(folder):
    return "\n".join(re.sub(r"//.*", "", p.read_text()) for p in sorted(folder.glob("*.h")) if p.name not in WITH_OPENGL)


def structs(text):
    """Names of structs and unions with their direct fields."""
    for match in re.finditer(r"(typedef )?(struct|union)\s*(\w*)\s*\{", text):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        body = text[match.end():end - 1]
        if "type members" in body or "constexpr" in body or text[:match.start()].count("{") - text[:match.start()].count("}") > 2:
            continue
        name = re.match(r"\s*(\w+)", text[end:]) if match.group(1) else None
        full = name.group(1) if name else f"{match.group(2)} {match.group(3)}"
        if not name and not match.group(3):
            continue
        flat = re.sub(r"\b(struct|union|enum)\b\s*\w*\s*\{[^{}]*\}\s*(\w+)\s*;", r"int \2;", body)
        if "{" in flat:
            flat = re.sub(r"\{.*\}\s*(\w+)\s*;", r" \1;", flat, flags=re.S)
        fields = []
        for statement in flat.split(";"):
            statement = statement.strip()
            if not statement or "(" in statement and "(*" not in statement and "[" not in statement:
                continue
            pointer = re.search(r"\(\*\s*(\w+)\)", statement)
            if pointer:
                fields.append(pointer.group(1))
            else:
                fields += re.findall(r"(\w+)\s*(?:\[[^\]]*\])*\s*(?:,|$)", statement)
        yield full, fields


def probe(text):
    lines = ["#include <cstddef>", "#include <cstdio>", *(f"#include <{h}>" for h in HEADERS), "int main() {"]
    nested = set()
    count = 0
    for name, fields in structs(text):
        if name.split()[-1] in nested or name.startswith("struct dim3"):
            continue
        lines.append(f'  std::printf("%s %zu %zu\\n", "{name}", sizeof({name}), alignof({name}));')
        for field in fields:
            lines.append(f'  std::printf("%s %zu\\n", "{name}.{field}", offsetof({name}, {field}));')
        count += 1 + len(fields)
    for vector in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"):
        for n in "1234":
            lines.append(f'  std::printf("%s %zu %zu\\n", "{vector}{n}", sizeof({vector}{n}), alignof({vector}{n}));')
            count += 1
    for enum in re.finditer(r"enum\s+\w*\s*\{([^}]*)\}", text):
        for name in re.findall(r"(\w+)\s*=", enum.group(1)):
            lines.append(f'  std::printf("%s %lld\\n", "{name}", static_cast<long long>({name}));')
            count += 1
    for name in re.findall(r"#define ((?:CU_|cuda)[A-Z]\w+) (?:\(*-?\d|0x)", text):
        lines.append(f'  std::printf("%s %lld\\n", "{name}", static_cast<long long>({name}));')
        count += 1
    return "\n".join(lines + ["}", ""]), count


def functions(text):
    """Our declarations, without default arguments: after the toolkit's headers they must not conflict."""
    found = re.findall(r"^((?:CUresult|cudaError_t|const char\*) (?:CUDAAPI|CUDARTAPI) [^;]*;)", text, re.M)
    return [re.sub(r"\s*MULCIBER_DEFAULT\([^)]*\)", "", f) for f in found]


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    ours, cc, cxx = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    toolkit = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else None  # newer CMakes pass an empty one
    text = text_of(ours)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        plain = "".join(f"#include <{h}>\n" for h in HEADERS) + "int main(void) { return 0; }\n"
        (work / "plain.c").write_text(plain)
        (work / "plain.cpp").write_text(plain)
        warnings = ["-Wall", "-Wextra", "-Werror", f"-I{ours}"]
        for mode in ([], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]):
            run(cc, "-std=c99", *warnings, *mode, "-c", str(work / "plain.c"), "-o", str(work / "plain.o"))
            run(cxx, "-std=c++11", *warnings, *mode, "-c", str(work / "plain.cpp"), "-o", str(work / "plain.o"))
        source, count = probe(text)
        (work / "probe.cpp").write_text(source)
        outputs = {}
        for name, include in (("ours", ours), ("toolkit", toolkit)):
            if not include:
                continue
            program = work / name
            run(cxx, "-std=c++17", "-w", f"-isystem{include}", str(work / "probe.cpp"), "-o", str(program))
            outputs[name] = run(str(program)).splitlines()
        if not toolkit:
            print(f"no CUDA toolkit here: compiled our headers ({count} facts), compared nothing")
            return
        different = [(a, b) for a, b in zip(outputs["ours"], outputs["toolkit"]) if a != b]
        for a, b in different:
            print(f"ours: {a}   toolkit: {b}")
        declared = functions(text)
        (work / "functions.cpp").write_text("".join(f"#include <{h}>\n" for h in HEADERS) + 'extern "C" {\n' +
                                            "#define CUDARTAPI\n" + "\n".join(declared) + "\n}\n")
        run(cxx, "-std=c++17", "-w", f"-isystem{toolkit}", "-c", str(work / "functions.cpp"), "-o", str(work / "f.o"))
        print(f"{count} sizes, offsets and values and {len(declared)} functions agree" if not different else "they differ")
        sys.exit(1 if different else 0)


main()
