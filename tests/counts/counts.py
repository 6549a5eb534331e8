#!/usr/bin/env python3
"""Guards speed without a GPU: counts that no other load on the machine changes, compared with those in expected.json.

usage: counts.py check PROGRAM_FOLDER COMPILER [--vulkan]   --vulkan: the Vulkan calls; else the translator's part
       counts.py growth PROGRAM_FOLDER                      how translation grows with kernels of each shape
       counts.py renew PROGRAM_FOLDER COMPILER              write what is counted now to expected.json
       counts.py calls VULKAN_FOLDER OUT                    the Vulkan functions called by the sources there

PROGRAM_FOLDER is build/bin, COMPILER what the build is made with, such as GNU-12: instructions executed are compared
only with those of the same compiler.

What is counted, and how much more than expected is a failure (less is good news: renew; of instructions executed as
much less is a failure too, for later losses would hide in what was gained):
  SPIR-V instructions executed, for each kernel of bench/:
  all of them, and those of memory, atomics, barriers and subgroups       {SPIRV:.0%}, and {SLACK} instructions
  instructions executed to translate them, by callgrind                   {EXECUTED:.0%}
  Vulkan calls of one operation on a busy stream                          {CALLS:.0%}
Translating a kernel four times as large may execute {GROWTH} times as many instructions (squares would be 16 times).
NAME.ptx here is made of NAME.cu in bench: nvcc -std=c++17 -O3 -arch=compute_90 -ptx NAME.cu
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SLOW = ("memory", "atomic", "barrier", "subgroup")
SPIRV, SLACK, EXECUTED, CALLS, GROWTH = 0.03, 4, 0.05, 0.03, 5
HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected.json"
CORPUS = sorted(HERE.glob("*.ptx"))


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def spirv_counts(programs):
    counts = {}
    for file in CORPUS:
        for line in run(programs / "spirv_counts", file).splitlines():
            kernel, *kinds = line.split()
            counts[f"{file.stem} {kernel}"] = {kind: int(count) for kind, count in (k.split("=") for k in kinds)}
    return counts


def executed(programs):
    """Instructions; None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        run("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", programs / "spirv_counts", *CORPUS)
        return int(re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.M).group(1))


def executed_by_child(*command):
    """Instructions of the longest of the processes that the command starts."""
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", "--trace-children=yes"]
    result = subprocess.run([*valgrind, *map(str, command)], capture_output=True, text=True, check=True)
    return max(int(count.replace(",", "")) for count in re.findall(r"I +refs: +([0-9,]+)", result.stderr))


def vulkan_calls(programs):
    """Calls for each operation; None without a device."""
    lines = run(programs / "vulkan_counts").splitlines()
    if lines and lines[0].startswith("skipped"):
        return None
    return {name: float(count) for name, count in (line.rsplit(" ", 1) for line in lines)}


def compare(what, found, expected, tolerance, slack=0.0):
    """Whether it is right. What was not expected at all counts as 0."""
    if found > expected * (1 + tolerance) + slack:
        print(f"wrong: {what}: {found:g}, expected at most {expected * (1 + tolerance) + slack:g}")
        return False
    if found < expected * (1 - tolerance) - slack:
        print(f"better: {what}: {found:g}, expected {expected:g}")
    return True


def check_translator(programs, compiler, expected):
    right = True
    counts = spirv_counts(programs)
    for kernel in sorted(counts.keys() | expected["spirv"].keys()):
        found, wanted = counts.get(kernel), expected["spirv"].get(kernel)
        if found is None or wanted is None:
            print(f"wrong: {kernel}: {'not translated' if found is None else 'nothing is expected of it'}")
            right = False
            continue
        parts = {"memory and barrier": SLOW, "all": (found.keys() | wanted.keys()) - {"declaration"}}
        good = True
        for part, kinds in parts.items():
            sums = [sum(counted.get(kind, 0) for kind in kinds) for counted in (found, wanted)]
            good &= compare(f"{kernel}: {part} instructions", *sums, SPIRV, SLACK)
        if not good:
            print(f"  found    {found}\n  expected {wanted}")
        right &= good
    print(f"SPIR-V instructions of {len(counts)} kernels compared")
    if compiler not in expected["executed"]:
        print(f"skipped: instructions executed, because none are recorded for {compiler}")
    elif (count := executed(programs)) is None:
        print("skipped: instructions executed, because valgrind is not here")
    else:
        wanted = expected["executed"][compiler]
        right &= compare("instructions executed to translate", count, wanted, EXECUTED)
        if count < wanted * (1 - EXECUTED):
            print("wrong: that many fewer have to be recorded: renew")
            right = False
        print(f"{count / 1e6:.0f} million instructions executed, {expected['executed'][compiler] / 1e6:.0f} expected")
    return right


def check_growth(programs):
    if not shutil.which("valgrind"):
        print("skipped: growth, because valgrind is not here")
        return True
    right = True
    for line in run(programs / "bench_growth", "--shapes").splitlines():
        shape, count = line.rsplit(" ", 1)
        for target in ("--translate", "--nvidia"):
            small, large = (executed_by_child(programs / "bench_growth", target, shape, int(count) * factor // 2)
                            for factor in (1, 4))
            name = shape if target == "--translate" else f"{shape}, for NVIDIA"
            print(f"{name}: {small / 1e6:.0f} and {large / 1e6:.0f} million instructions, {large / small:.2f} times")
            if large > GROWTH * small:
                print(f"wrong: {name}: more than {GROWTH} times")
                right = False
    return right


def check_vulkan(programs, expected):
    calls = vulkan_calls(programs)
    if calls is None:
        print("skipped: Vulkan calls, because there is no device")
        return True
    right = True
    for name, count in calls.items():
        right &= compare(f"Vulkan calls: {name}", count, expected["vulkan"].get(name, 0), CALLS)
        print(f"{count:.3f} Vulkan calls: {name}")
    return right


def renew(programs, compiler):
    record = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {"executed": {}}
    record["spirv"] = spirv_counts(programs)
    if (count := executed(programs)) is not None:
        record["executed"][compiler] = count
    if (calls := vulkan_calls(programs)) is not None:
        record["vulkan"] = calls
    # A line for each kernel, so that differences can be read.
    parts = []
    for part in ("executed", "vulkan", "spirv"):
        rows = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(record.get(part, {}).items()))
        parts.append(f'  "{part}": {{\n{rows}\n  }}')
    EXPECTED.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def write_calls(folder, out):
    names = set()
    for path in pathlib.Path(folder).glob("*.cpp"):
        names |= set(re.findall(r"\bapi(?:_|\(\))?\.(vk\w+)", path.read_text()))
    names.discard("vkWaitSemaphores")
    pathlib.Path(out).write_text("".join(f"MULCIBER_VULKAN_CALL({name})\n" for name in sorted(names)))


def main():
    match sys.argv[1:]:
        case ["calls", folder, out]:
            write_calls(folder, out)
        case ["renew", programs, compiler]:
            renew(pathlib.Path(programs), compiler)
        case ["check", programs, compiler]:
            sys.exit(0 if check_translator(pathlib.Path(programs), compiler, json.loads(EXPECTED.read_text())) else 1)
        case ["growth", programs]:
            sys.exit(0 if check_growth(pathlib.Path(programs)) else 1)
        case ["check", programs, _, "--vulkan"]:
            sys.exit(0 if check_vulkan(pathlib.Path(programs), json.loads(EXPECTED.read_text())) else 1)
        case _:
            sys.exit(__doc__.format(**globals()))


main()
