#!/usr/bin/env python3
"""Runs a folder of programs natively and under Mulciber, in turns on one device, and compares what they print.

Programs print their times and results. Times become ratios (native / ours; above 1.00x Mulciber is faster), results
are compared: a program that gives something else fails, and its times do not count. docs/programs.md says what a
manifest holds.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from compare import device, environment, number, ratio_text  # noqa: E402
from kernels import first_launches, of_native, of_ours, side_by_side  # noqa: E402
from output import Output, difference  # noqa: E402

GOOD, BAD = 0.8, 0.5
LEAST = 1.0  # microseconds: what takes less is the clock's noise


class Interrupted(BaseException):
    pass


def interrupt(*_):
    raise Interrupted


class Program:
    def __init__(self, entry, folder):
        self.name, self.command = entry["name"], entry["command"]
        self.folder = pathlib.Path(folder, entry.get("folder", "."))
        self.build = entry.get("build")
        self.times, self.results = entry.get("times"), entry.get("results")
        self.tolerance = entry.get("tolerance", 1e-4)
        self.outputs = {"native": [], "ours": []}
        self.seconds = {"native": [], "ours": []}
        self.problem, self.kernels, self.first = "", [], None

    def execute(self, side, arguments, scratch, options=(), keep=True, seconds=None, **variables):
        """One run. What it printed on standard error, or None and a problem."""
        seconds = seconds or arguments.seconds
        variables = environment(scratch) | variables
        command = list(self.command)
        if side == "native":
            variables.pop("LD_LIBRARY_PATH", None)  # libcuda is the system's
        else:
            command = [arguments.mulciber, "run", *options, *command]
        begin = time.monotonic()
        try:
            result = subprocess.run(command, capture_output=True, cwd=self.folder, env=variables, timeout=seconds)
        except subprocess.TimeoutExpired:
            self.problem = f"{side}: {seconds} s passed"
            return None
        except OSError as error:
            self.problem = f"{side}: {error}"
            return None
        errors = result.stderr.decode(errors="replace")
        if result.returncode:
            self.problem = f"{side}: status {result.returncode}: {errors.strip()[-200:]}"
            return None
        if keep:
            self.outputs[side].append(Output(result.stdout.decode(errors="replace"), self.times, self.results))
            self.seconds[side].append(time.monotonic() - begin)
        return errors

    def make(self):
        try:
            if self.build:
                subprocess.run(self.build, shell=True, cwd=self.folder, check=True, capture_output=True, timeout=600)
        except subprocess.SubprocessError as error:
            self.problem = f"not built: {(getattr(error, 'stderr', None) or b'').decode(errors='replace')[-200:]}"

    def prepare(self, arguments, scratch):
        """Runs it natively, to see whether it ends, and once under Mulciber, which translates and compiles its kernels.
        A result that is another may be another natively too: that is asked then."""
        if self.problem or self.execute("native", arguments, scratch) is None:
            return
        if self.execute("ours", arguments, scratch, seconds=arguments.prepare_seconds) is not None and self.differs():
            self.execute("native", arguments, scratch)

    def forget_times(self):
        """Of runs of many programs at once results count alone. True if it prints times."""
        printed = bool(self.outputs["native"] and self.outputs["native"][0].times)
        for output in self.outputs["native"] + self.outputs["ours"]:
            output.times = {}
        return printed

    def profile(self, arguments, scratch):
        """The time of each kernel, natively where there is a library that tells it."""
        told = ""
        if arguments.native_profile:
            path = os.path.join(scratch, "native_profile")
            if self.execute("native", arguments, scratch, keep=False, CUDA_INJECTION64_PATH=arguments.native_profile,
                            NATIVE_PROFILE=path) is not None and os.path.exists(path):
                told = pathlib.Path(path).read_text()
                os.remove(path)
        ours = self.execute("ours", arguments, scratch, ["--profile"], keep=False)
        self.kernels = side_by_side(of_native(told), of_ours(ours or ""))
        self.first = first_launches(ours or "")

    def ratios(self):
        """[(label, native, ours)] in microseconds, medians over the rounds."""
        def medians(side):
            times = [output.times for output in self.outputs[side] if output.times]
            return {label: statistics.median(run.get(label, 0) for run in times) for label in (times[0] if times else ())}

        native, ours = medians("native"), medians("ours")
        return [(label, native[label], ours[label]) for label in native
                if label in ours and min(native[label], ours[label]) >= LEAST]

    def differs(self):
        return difference(self.outputs["native"], self.outputs["ours"], self.tolerance)

    def judge(self):
        if not self.problem and not (self.outputs["native"] and self.outputs["ours"]):
            self.problem = "not run"
        if not self.problem and (told := self.differs()):
            self.problem = f"other result: {told}"
        rows = [] if self.problem else [{"label": label, "native": native, "ours": ours, "ratio": native / ours}
                                        for label, native, ours in self.ratios()]
        return {"name": self.name, "command": self.command, "problem": self.problem, "times": rows, "kernels": self.kernels,
                "first launches": self.first,
                "seconds": {side: statistics.median(values) for side, values in self.seconds.items() if values}}


def all_at_once(step, items, jobs, end):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda item: step(item) if time.monotonic() < end else None, items))


def build(programs, arguments, end):
    """Programs of one folder with one command share what it makes."""
    shared = {}
    for program in programs:
        shared.setdefault((program.folder, program.build), []).append(program)

    def make(group):
        group[0].make()
        for other in group[1:]:
            other.problem = group[0].problem

    all_at_once(make, shared.values(), arguments.jobs, end)


def prepare(programs, arguments, scratch, end):
    """Runs many at once, for their results. Returns those that are worth measuring, the quickest first."""
    all_at_once(lambda program: program.prepare(arguments, scratch), programs, arguments.jobs, end)
    print(f"{sum(bool(program.outputs['ours']) for program in programs)} of {len(programs)} programs run", file=sys.stderr)
    timed = [program for program in programs if program.forget_times() and not program.problem and program.outputs["ours"]]
    timed.sort(key=lambda program: program.seconds["native"][0])
    for program in programs:
        program.seconds = {"native": [], "ours": []}
    return timed


def measure(programs, arguments, scratch, end):
    # Many at once make the driver lose some of what it keeps of their kernels: each runs once more by itself.
    for program in programs:
        if time.monotonic() < end:
            program.execute("ours", arguments, scratch, keep=False)
    for round_ in range(arguments.rounds):
        for program in programs:
            sides = ["native", "ours"] if round_ % 2 == 0 else ["ours", "native"]
            if program.problem or time.monotonic() > end:
                continue
            ran = all(program.execute(side, arguments, scratch) is not None for side in sides)
            slow = any(native / ours < arguments.profile for _, native, ours in program.ratios())
            if ran and slow and round_ == arguments.rounds - 1:
                program.profile(arguments, scratch)


def geometric(values):
    return statistics.geometric_mean(values) if values else None


def summary(results):
    """Of all timings, and with each program counted once."""
    ratios = [row["ratio"] for result in results for row in result["times"]]
    means = [geometric([row["ratio"] for row in result["times"]]) for result in results if result["times"]]
    wrong = [result for result in results if result["problem"].startswith(("other result", "ours"))]
    lines = ["| | timings | programs |", "|---|---:|---:|"]
    for what, text in (("compared", lambda v: str(len(v))), ("geometric mean", lambda v: ratio_text(geometric(v))),
                       ("median", lambda v: ratio_text(statistics.median(v)) if v else "-"),
                       (f"at least {GOOD:.2f}x", lambda v: f"{100 * sum(r >= GOOD for r in v) / max(1, len(v)):.0f} %"),
                       (f"below {BAD:.2f}x", lambda v: str(sum(r < BAD for r in v)))):
        lines.append(f"| {what} | {text(ratios)} | {text(means)} |")
    return lines + [f"| wrong or failing | | {len(wrong)} |"]


def table(results):
    """Programs by the geometric mean of their timings, the worst first, with their worst timing."""
    lines = ["| program | timings | mean | worst timing | CUDA | Mulciber | |", "|---|---:|---:|---|---:|---:|---:|"]
    compared = [result for result in results if result["times"]]
    for result in sorted(compared, key=lambda result: geometric([row["ratio"] for row in result["times"]])):
        worst = min(result["times"], key=lambda row: row["ratio"])
        lines.append(f"| {result['name']} | {len(result['times'])} | {ratio_text(geometric([row['ratio'] for row in result['times']]))} | "
                     f"{worst['label'][:60].replace('|', '/')} | {number(worst['native'])} us | {number(worst['ours'])} us | {ratio_text(worst['ratio'])} |")
    return lines


def kernel_table(results):
    """Of programs that were profiled: their kernels, without those of little time."""
    lines = ["| program | kernel | calls | CUDA | Mulciber | | native registers | first launches |", "|---|---|---:|---:|---:|---:|---:|---:|"]
    for result in results:
        all_time = sum(row["ours"] * row["calls"] for row in result["kernels"])
        for row in result["kernels"]:
            if row["ours"] * row["calls"] > 0.05 * all_time:
                native = row.get("native")
                lines.append(f"| {result['name']} | {row['kernel'][:60]} | {row['calls']} | {number(native)} us | {number(row['ours'])} us | "
                             f"{ratio_text(native and native / row['ours'])} | {row.get('registers', '-')} | {number(result['first launches'])} us |")
    return lines if len(lines) > 2 else []


def problems(results):
    return [f"{result['name']}: {result['problem']}" for result in results if result["problem"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mulciber")
    parser.add_argument("manifest", type=pathlib.Path)
    parser.add_argument("--folder", help="where the programs' folders are; by default where the manifest is")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these programs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="how many to build and to translate at once")
    parser.add_argument("--seconds", type=float, default=60, help="limit of one run of one program")
    parser.add_argument("--prepare-seconds", type=float, help="limit of its first run, which fills the cache; by default the same")
    parser.add_argument("--results", action="store_true", help="compare results alone, of --jobs programs at once")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds after which nothing new is begun")
    parser.add_argument("--profile", type=float, default=0, metavar="RATIO", help="profile programs with a timing below this")
    parser.add_argument("--native-profile", type=os.path.abspath, help="the library made of native_profile.cpp, for native kernels' times")
    parser.add_argument("--json", help="write all numbers to this file")
    parser.add_argument("--markdown", help="write the tables to this file")
    arguments = parser.parse_args()
    arguments.prepare_seconds = arguments.prepare_seconds or arguments.seconds
    end = time.monotonic() + arguments.limit
    signal.signal(signal.SIGTERM, interrupt)
    arguments.mulciber = os.path.abspath(arguments.mulciber)

    entries = json.loads(arguments.manifest.read_text())
    unknown = set(arguments.only or ()) - {entry["name"] for entry in entries}
    if unknown:
        parser.error(f"not in the manifest: {', '.join(sorted(unknown))}")
    folder = arguments.folder or arguments.manifest.resolve().parent
    programs = [Program(entry, folder) for entry in entries if not arguments.only or entry["name"] in arguments.only]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            build(programs, arguments, end)
            timed = prepare(programs, arguments, scratch, end)
            if not arguments.results:
                measure(timed, arguments, scratch, end)
        except Interrupted:
            print("interrupted: what follows was measured until then", file=sys.stderr)
    results = [program.judge() for program in programs]
    lines = summary(results) + [""] + table(results) + [""] + kernel_table(results)
    print("\n".join(lines + [""] + problems(results)))
    header = {"device": device(arguments.mulciber), "date": datetime.date.today().isoformat(), "rounds": arguments.rounds}
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(header | {"programs": results}, indent=1))
    if arguments.markdown:
        pathlib.Path(arguments.markdown).write_text("\n".join(lines) + "\n")
    return 1 if not results or any(result["problem"].startswith(("other result", "ours")) for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
