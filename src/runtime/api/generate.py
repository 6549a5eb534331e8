#!/usr/bin/env python3
"""Writes what follows from the lists in exports/ and the entry points found in the sources.

usage: generate.py stubs SONAME OUT_CPP OUT_VERSION_SCRIPT    entries for what is not implemented, and the export list
       generate.py table OUT_CPP                              the name table behind cuGetProcAddress
       generate.py names OUT_INC                              every runtime function with its callback ids, for tools/redirect
       generate.py missing OUT_INC                            every exported name that is not implemented, for `mulciber check`
       generate.py coverage                                   docs/api-coverage.md, on standard output
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXPORTS = HERE / "exports"
NVML = "libnvidia-ml.so.1"
REFUSED_TRANSFORMS = HERE.parent.parent / "libraries" / "fft" / "api" / "refused.cpp"
RUNTIMES = {"libcudart.so.11.0": 11, "libcudart.so.12": 12, "libcudart.so.13": 13}
ENTRY = re.compile(r"^CUDA_API(_PTSZ|_PTDS)?\((?:[\w\s]+\**), (\w+)\)", re.M)
MISSING = [
    ("`cuMulticast*`", "memory of several devices under one address: devices are kept apart here",
     "attribute `MULTICAST_SUPPORTED` is 0"),
    ("`*Ipc*`", "events and memory of `cuMemAlloc` are not shared between processes (docs/runtime.md)",
     "`IPC_EVENT_SUPPORTED` is 0"),
    ("`cuMemMapArrayAsync`", "arrays without memory of their own are not there", "`SPARSE_CUDA_ARRAY_SUPPORTED` is 0"),
    ("`*EGL*`, `*VDPAU*`, `*NvSci*`", "streams of EGL, surfaces of VDPAU and objects of NvSci go to NVIDIA's own driver alone "
     "(docs/runtime.md)", "registering one answers so"),
    ("`cuGLCtxCreate*`", "a form of before CUDA 3.0: any context shares with OpenGL", "`cuCtxCreate` does what it did"),
    ("`*GreenCtx*`, `*DevResource*`, `*ExecAffinity*`, `*DevSm*`", "Vulkan cannot give a part of the multiprocessors",
     "the query answers so"),
    ("`cuTensorMap*`", "the tensor memory accelerator is NVIDIA's own", "`TENSOR_MAP_ACCESS_SUPPORTED` is 0"),
    ("`*Cluster*`", "thread block clusters cannot be placed through Vulkan", "`CLUSTER_LAUNCH` is 0"),
    ("`*MultiDevice`", "one cooperative launch on several devices", "`COOPERATIVE_MULTI_DEVICE_LAUNCH` is 0"),
    ("`cuMemBatchDecompressAsync`", "no device decompresses", "`MEM_DECOMPRESS_ALGORITHM_MASK` is 0"),
    ("`*Discard*`, `*PrefetchBatch*`", "managed memory stays where it is", "calling it answers so"),
    ("`*Checkpoint*`, `*Coredump*`, `*Logs*`, `*AsyncNotification*`, `*AtomicCapabilities`", "tools of NVIDIA's driver",
     "calling it answers so"),
    ("`nvml*`: temperatures, clocks, power, utilisation, processes, NVLink, MIG", "Vulkan does not know them",
     "calling it answers so"),
    ("names without `_v2` beside one with it", "32-bit forms of before CUDA 3.2", "headers name the newer form"),
]
CONDITION = re.compile(r"^#\s*if MULCIBER_CUDART_MAJOR (==|>=|<=|<|>) (\d+)\s*$")

def exports(soname):
    return EXPORTS.joinpath(soname + ".txt").read_text().split()


def entries(folder, major=None):
    """Names of the entry points that the sources of a folder define for that major version of the runtime."""
    found = set()
    for path in sorted((HERE / folder).rglob("*.cpp")):
        active = [True]
        for line in path.read_text().splitlines():
            condition = CONDITION.match(line)
            if condition:
                active.append(major is not None and eval(f"{major} {condition.group(1)} {condition.group(2)}"))
            elif re.match(r"^#\s*if", line):
                active.append(True)
            elif re.match(r"^#\s*else", line):
                active[-1] = not active[-1]
            elif re.match(r"^#\s*endif", line):
                active.pop()
            entry = ENTRY.match(line)
            if entry and all(active):
                suffix, name = entry.groups()
                found.add(name)
                if suffix:
                    found.add(name + suffix.lower())
    return found


def implemented(soname):
    if soname in RUNTIMES:
        return entries("runtime", RUNTIMES[soname])
    return entries("driver" if soname == "libcuda.so.1" else "nvml")


def stubs(soname, out_cpp, out_script):
    names, have = exports(soname), implemented(soname)
    # A function too new for an older runtime is compiled all the same, and not exported.
    known = set().union(*(exports(runtime) for runtime in RUNTIMES)) if soname in RUNTIMES else set(names)
    unknown = sorted(have - known)
    if unknown:
        sys.exit(f"{soname} has no {', '.join(unknown)}")
    with open(out_cpp, "w") as out:
        out.write("// Made by generate.py: what is not implemented. Arguments are not looked at, so none are declared.\n")
        out.write('#include "runtime/api/entry.h"\n\n')
        for name in names:
            if name in have:
                continue
            out.write(f'CUDA_API(int, {name})() {{ return mulciber::api::refuse("{name}"); }}\n')
    with open(out_script, "w") as out:
        node = f"{soname} " if soname in RUNTIMES else ""
        ours = ["mulciberTellUnknownCapability"] if soname in RUNTIMES else []
        out.write(node + "{\n  global:\n" + "".join(f"    {name};\n" for name in names + ours) + "  local: *;\n};\n")


def table(out_cpp):
    names = exports("libcuda.so.1")
    versions = dict(line.split() for line in EXPORTS.joinpath("versions.txt").read_text().splitlines())
    with open(out_cpp, "w") as out:
        out.write('// Made by generate.py.\n#include "runtime/api/driver/procedures.h"\n\nextern "C" {\n')
        out.write("".join(f"void {name}();\n" for name in names if name in versions))
        out.write("}\n\nnamespace mulciber::api {\n\nconst Procedure procedures[] = {\n")
        for name in names:
            if name not in versions:  # exported, and not given by name
                continue
            thread = re.search(r"_(ptsz|ptds)$", name)
            plain = re.sub(r"_(ptsz|ptds)$", "", name)
            base = re.sub(r"_v\d+$", "", plain)
            out.write(f'    {{"{base}", {versions[name]}, {"true" if thread else "false"}, &{name}}},\n')
        out.write("};\nconst unsigned procedureCount = sizeof(procedures) / sizeof(procedures[0]);\n\n}  // namespace mulciber::api\n")


def runtime_names(out_inc):
    majors = {}
    for bit, runtime in enumerate(sorted(RUNTIMES, key=RUNTIMES.get)):
        for name in exports(runtime):
            majors[name] = majors.get(name, 0) | 1 << bit
    lines = (line.split() for line in EXPORTS.joinpath("callback_ids.txt").read_text().splitlines())
    ids = {name: ", ".join(numbers) for name, *numbers in lines}
    pathlib.Path(out_inc).write_text(
        "".join(f'{{"{name}", {majors[name]}, {{{ids.get(name, "")}}}}},\n' for name in sorted(majors)))


def missing(out_inc):
    names = {soname: sorted(set(exports(soname)) - implemented(soname)) for soname in ("libcuda.so.1", *RUNTIMES)}
    names["libcufft.so"] = re.findall(r"^REFUSE\((\w+)\)", REFUSED_TRANSFORMS.read_text(), re.M)
    pathlib.Path(out_inc).write_text(
        "".join(f'{{"{soname}", "{name}"}},\n' for soname in names for name in names[soname]))


def coverage():
    print("# Which API functions exist\n")
    print("Every name that CUDA's own libraries export is there. Those not listed as implemented return")
    print("`CUDA_ERROR_NOT_SUPPORTED`, `cudaErrorNotSupported` or `NVML_ERROR_NOT_SUPPORTED`, and say so once in the log. This page is made by")
    print("`src/runtime/api/generate.py coverage`; a test compares it with the sources.\n")
    print("| library | exported | implemented |\n| --- | --- | --- |")
    sonames = ["libcuda.so.1", *reversed(RUNTIMES), NVML]
    for soname in sonames:
        names = exports(soname)
        print(f"| {soname} | {len(names)} | {len(implemented(soname) & set(names))} |")
    print("\n## Why, and how a program can ask first\n\n| what is not there | why | what says so beforehand |\n| --- | --- | --- |")
    for row in MISSING:
        print("| " + " | ".join(row) + " |")
    for soname in ("libcuda.so.1", "libcudart.so.13", NVML):
        names, have = exports(soname), implemented(soname)
        plain = lambda chosen: sorted({re.sub(r"_(ptsz|ptds)$", "", name) for name in chosen})
        print(f"\n## {soname}\n\nPer-thread variants (`_ptsz`, `_ptds`) go with the plain name.\n\n### Implemented\n")
        print(", ".join(f"`{name}`" for name in plain(n for n in names if n in have)))
        print("\n### Not implemented\n")
        print(", ".join(f"`{name}`" for name in plain(n for n in names if n not in have)))


def main():
    command = sys.argv[1:]
    if len(command) == 4 and command[0] == "stubs":
        stubs(*command[1:])
    elif len(command) == 2 and command[0] == "table":
        table(command[1])
    elif len(command) == 2 and command[0] == "names":
        runtime_names(command[1])
    elif len(command) == 2 and command[0] == "missing":
        missing(command[1])
    elif command == ["coverage"]:
        coverage()
    else:
        sys.exit(__doc__)


main()
