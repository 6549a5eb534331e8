#!/usr/bin/env python3
"""Random CUDA programs, compiled with and without optimisation and run: all runs of a program must print the same.

check.py --seeds FIRST COUNT --library FOLDER        Mulciber's libcuda.so.1, in that folder
check.py --new COUNT ...                             seeds that change from run to run, from MULCIBER_FUZZ_SEED if set
    --interpreter PROGRAM                            the interpreter of PTX too (tests/interpreter)
    --native                                         NVIDIA's driver too
    --record FILE                                    write what it printed natively: a line for each program
    --recorded FILE                                  programs of such a file, against what it says

Prints a line for each program that differs or fails, and counts. Needs nvcc.
"""

import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import generate

HERE = pathlib.Path(__file__).resolve().parent
WATCH = HERE.parent / "tools" / "watch.py"
MODES = {"O3": ["-O3"], "G": ["-G"]}
SKIPPED = 77
# What the interpreter says of programs that it cannot judge.
NO_JUDGEMENT = ["unknown instruction", "approximate"]


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


class Checker:
    def __init__(self, arguments):
        self.arguments = arguments

    def compile(self, source, ptx, mode, architecture):
        target = f"arch=compute_{architecture},code=compute_{architecture}"
        subprocess.run([self.arguments.nvcc, *MODES[mode], "-w", "-std=c++17", "-fmad=false", "-gencode", target, "-DPTX_ONLY", "-I", HERE,
                        "-ptx", source, "-o", ptx], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, runner, ptx, launches, library=None):
        """What the program prints; the last line says how it ended, if that was not well."""
        environment = dict(os.environ)
        if library:
            environment["LD_LIBRARY_PATH"] = f"{library}:{environment.get('LD_LIBRARY_PATH', '')}"
        watch = [sys.executable, WATCH, "--processor", str(self.arguments.processor)]
        done = subprocess.run([*watch, runner, ptx, launches], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace")
        if done.returncode != 0:
            return done.stdout + f"ended with {done.returncode}\n"
        return done.stdout

    def outputs(self, source_text, launch_text, architecture, folder):
        """The output of each run, by its name."""
        folder = pathlib.Path(folder)
        source, launches = folder / "program.cu", folder / "program.launches"
        source.write_text(source_text)
        launches.write_text(launch_text)
        results = {}
        for mode in self.arguments.modes:
            ptx = folder / f"program.{mode}.ptx"
            self.compile(source, ptx, mode, architecture)
            if self.arguments.native:
                results[f"native {mode}"] = self.run(self.arguments.runner, ptx, launches)
            if self.arguments.interpreter:
                text = self.run(self.arguments.interpreter, ptx, launches)
                if not any(f": {reason}, line" in text for reason in NO_JUDGEMENT):
                    results[f"interpreted {mode}"] = text
            if self.arguments.library:
                results[mode] = self.run(self.arguments.runner, ptx, launches, self.arguments.library)
        return results

    def check(self, seed, kernels, size, expected=None):
        """(verdict, text, line to record) of a program; the verdict is empty where all is well."""
        program = generate.Generator(seed, kernels, size).program
        source = generate.source(program)
        identity = f"{seed} {kernels} {size} {digest(source)}"
        if expected and expected[0] != identity:
            return "not recorded", f"{identity}: the recording is of another generator", None
        with tempfile.TemporaryDirectory() as folder:
            try:
                results = self.outputs(source, generate.launch_text(program), generate.architecture(program), folder)
            except subprocess.CalledProcessError as error:
                return "does not compile", f"{seed}: {' '.join(l for l in error.stdout.splitlines() if 'error' in l)[:300]}", None
        recorded = [f"{identity} {launch_digests(text)}" for name, text in results.items() if name.startswith("native")]
        line = recorded[0] if recorded and all(r == recorded[0] for r in recorded) else None
        if recorded and line is None:
            return "native modes differ", f"{seed}: {difference(results)}", None
        if expected and launch_digests(next(iter(results.values()))) != expected[1]:
            return "differs", f"{seed}: not what was recorded", line
        if len(set(results.values())) > 1 or any(is_failure(text) for text in results.values()):
            failed = [f"{name}: {' '.join(text.splitlines()[-2:])[-300:]}" for name, text in results.items() if is_failure(text)]
            return ("fails", f"{seed}: {'; '.join(failed)}", line) if failed else ("differs", f"{seed}: {difference(results)}", line)
        return "", "", line


def is_failure(output):
    return not output or not all(len(line.split()) == 4 or line.startswith("  ") for line in output.splitlines())


def launch_digests(output):
    launches = {}
    for line in output.splitlines():
        launches.setdefault(line.split()[0], []).append(line)
    return " ".join(digest("\n".join(lines)) for lines in launches.values())


def difference(results):
    """The first line in which runs differ, and what each has there."""
    lines = {name: text.splitlines() for name, text in results.items()}
    for at in range(max(map(len, lines.values()))):
        values = {name: text[at] if at < len(text) else "nothing" for name, text in lines.items()}
        if len(set(values.values())) > 1:
            return "; ".join(f"{name}: {value}" for name, value in values.items())
    return "nothing"


def add_options(parser):
    parser.add_argument("--kernels", type=int, default=generate.KERNELS)
    parser.add_argument("--size", type=int, default=generate.SIZE)
    parser.add_argument("--library")
    parser.add_argument("--interpreter", help="the program interpret_ptx, for what has no recording")
    parser.add_argument("--runner", default="run_ptx", help="the program run_ptx")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--processor", type=int, default=60, help="seconds of processor time for each run of a program")
    parser.add_argument("--seconds", type=float, default=0, help="start nothing more after that time")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs=2, type=int, metavar=("FIRST", "COUNT"))
    parser.add_argument("--new", type=int, metavar="COUNT")
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--record", type=pathlib.Path)
    parser.add_argument("--recorded", type=pathlib.Path)
    parser.add_argument("--first", type=int, help="only this many of the recorded programs")
    add_options(parser)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    checker, start = Checker(arguments), time.monotonic()
    if shutil.which(arguments.nvcc) is None:
        print(f"skipped: there is no {arguments.nvcc}")
        return SKIPPED
    work = []
    if arguments.new:
        first = int(os.environ.get("MULCIBER_FUZZ_SEED", time.time_ns() // 1000 % 1000000000))
        arguments.seeds = (first, arguments.new)
        print(f"seeds from {first}", flush=True)
    if arguments.seeds:
        first, count = arguments.seeds
        work += [(seed, arguments.kernels, arguments.size) for seed in range(first, first + count)]
    if arguments.recorded:
        for line in arguments.recorded.read_text().splitlines()[:arguments.first]:
            seed, kernels, size, source, digests = line.split(" ", 4)
            work.append((int(seed), int(kernels), int(size), (f"{seed} {kernels} {size} {source}", digests)))

    def check(task):
        if arguments.seconds and time.monotonic() - start > arguments.seconds:
            return None
        return checker.check(*task)

    counts, lines = {}, []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for result in pool.map(check, work):
            if result is None:
                continue
            verdict, text, line = result
            counts[verdict] = counts.get(verdict, 0) + 1
            lines += [line] if line else []
            if verdict:
                print(f"{verdict}: {text}", flush=True)
    if arguments.record:
        arguments.record.write_text("".join(line + "\n" for line in lines))
    agree = counts.pop("", 0)
    total = agree + sum(counts.values())
    print(f"{total} programs of {arguments.kernels} kernels: {agree} agree" + "".join(f", {count} {verdict}" for verdict, count in sorted(counts.items())) +
          f" ({time.monotonic() - start:.0f} s)")
    return 1 if counts or not total else 0


if __name__ == "__main__":
    sys.exit(main())
