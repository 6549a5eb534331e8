#!/usr/bin/env python3
"""Runs benchmarks natively and under Mulciber, in turns on one device, and compares them.

Prints a table (medians over rounds; above 1.00x Mulciber is faster), and writes JSON for machines, Markdown and an SVG
chart for people. A benchmark whose results differ, or that one side does not finish, fails the comparison.
"""
import argparse
import datetime
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from chart import chart

GROUPS = ["streaming", "numeric", "integer", "irregular", "matrices", "textures", "libraries"]  # of kernels
# Of single operations, without goals: they show where to look. All else is overhead.
OPERATIONS = ["integer operations", "floating-point operations", "memory operations", "control operations",
              "exact operations"]
KERNEL_MEAN, KERNEL_LEAST = 1.00, 0.90
# What docs/performance.md promises: at most this many of the unit, or at least this ratio.
GOALS = {
    "launch, in a chain": ("value", 1.3),
    "launch, host time": ("value", 1.0),
    "launch + synchronise": ("value", 12),
    "malloc + free 1 MiB": ("value", 1.0),
    "D2D 256 MiB, read + write": ("ratio", 0.98),
    "memset 256 MiB": ("ratio", 0.98),
    "H2D pinned 256 MiB": ("ratio", 0.95),
    "D2H pinned 256 MiB": ("ratio", 0.95),
}
TOLERANCE = 1e-4  # of checks that go through approximate instructions


def environment(scratch):
    """Every run of either side keeps what it caches in one folder, empty at first."""
    return dict(os.environ, MULCIBER_CACHE_DIR=scratch + "/mulciber", CUDA_CACHE_PATH=scratch + "/cuda",
                __GL_SHADER_DISK_CACHE_PATH=scratch, MESA_SHADER_CACHE_DIR=scratch)


def execute(command, scratch, seconds):
    variables = environment(scratch)
    if not command[0].endswith("mulciber"):
        variables.pop("LD_LIBRARY_PATH", None)  # natively, libcuda is the system's
    begin = time.monotonic()
    try:
        result = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=seconds)
        status, output, errors = result.returncode, result.stdout, result.stderr
    except subprocess.TimeoutExpired as late:
        status, output, errors = f"{seconds} s passed", (late.stdout or b"").decode(), ""
    if status:
        print(f"{' '.join(command)} failed ({status}): {errors[-500:]}", file=sys.stderr)
    return output, time.monotonic() - begin


def measure(arguments, scratch):
    """{name: {unit, group, native: [...], ours: [...], checks: {...}}}"""
    samples = {}

    def add(side, name, value, unit, group, check="-"):
        sample = samples.setdefault(name, {"unit": unit, "group": group, "native": [], "ours": [], "checks": {}})
        sample[side].append(value)
        sample["checks"].setdefault(side, set()).add(check)

    for round_ in range(arguments.rounds):
        for program in arguments.programs:
            sides = {"ours": [arguments.mulciber, "run", program]}
            if not arguments.ours_only:
                sides["native"] = [program]
            for side in sorted(sides):
                if os.path.basename(program) == "overheads":
                    with tempfile.TemporaryDirectory() as empty:
                        for name in ("start to end, first ever", "start to end, again"):
                            _, seconds = execute(sides[side] + ["--start"], empty, arguments.seconds)
                            add(side, name, seconds * 1000, "ms", "overheads")
                command = sides[side] + (["--small"] if arguments.small else [])
                output, _ = execute(command, scratch, arguments.seconds)
                for line in output.splitlines():
                    parts = line.split("\t")
                    if len(parts) == 5:
                        add(side, parts[0], float(parts[1]), *parts[2:])
        print(f"round {round_ + 1} of {arguments.rounds} done", file=sys.stderr)
    return samples


def same(checks):
    """Whether both sides, in every round, computed the same."""
    values = set().union(*checks.values())
    if len(values) <= 1:
        return True
    if not all(value.startswith("~") for value in values):
        return False
    numbers = [float(value[1:]) for value in values]
    return max(numbers) - min(numbers) <= TOLERANCE * max(map(abs, numbers))


def evaluate(samples, ours_only):
    rows = []
    for name, sample in samples.items():
        native, ours = (statistics.median(sample[side]) if sample[side] else None for side in ("native", "ours"))
        row = {"name": name, "group": sample["group"], "unit": sample["unit"], "native": native, "ours": ours}
        row["ratio"] = None
        if native and ours:
            row["ratio"] = ours / native if sample["unit"] == "GB/s" else native / ours
        row["problem"] = "" if same(sample["checks"]) else "other result"
        if ours is None or (native is None and not ours_only):
            row["problem"] = "no result of Mulciber" if ours is None else "no result of CUDA"
        if row["problem"]:
            row["ratio"] = None
        if name in GOALS:
            kind, goal = GOALS[name]
            row["goal"] = f"{goal} {sample['unit']}" if kind == "value" else f"{goal:.2f}x"
            reached = row["ours"] is not None and (
                row["ours"] <= goal if kind == "value" else (row["ratio"] or 0) >= goal)
            row["reached"] = bool(reached)
        elif sample["group"] in GROUPS:
            row["goal"], row["reached"] = f"{KERNEL_LEAST:.2f}x", (row["ratio"] or 0) >= KERNEL_LEAST
        rows.append(row)
    return rows


def mean(rows):
    ratios = [row["ratio"] for row in rows if row["ratio"]]
    return statistics.geometric_mean(ratios) if ratios else None


def compared(rows):
    failed = sum(row["ratio"] is None for row in rows)
    return f"{len(rows)}" if not failed else f"{len(rows) - failed} of {len(rows)}"


def number(value):
    if value is None:
        return "-"
    return f"{value:.{max(0, 2 - int(math.log10(max(value, 0.01))))}f}"


def ratio_text(ratio):
    return "-" if ratio is None else f"{ratio:.2f}x"


def table(rows, title):
    """Markdown, the worst first."""
    lines = [f"| {title} | CUDA | Mulciber | | goal | |", "|---|---:|---:|---:|---:|---|"]
    for row in sorted(rows, key=lambda row: row["ratio"] or 0):
        verdict = f"**{row['problem']}**" if row["problem"] else ("" if "reached" not in row else "reached" if row["reached"] else "**not reached**")
        unit = f" {row['unit']}"
        lines.append(f"| {row['name']} | {number(row['native'])}{unit} | {number(row['ours'])}{unit} | "
                     f"{ratio_text(row['ratio'])} | {row.get('goal', '')} | {verdict} |")
    return lines


def summary(rows):
    kernels = [row for row in rows if row["group"] in GROUPS]
    lines = ["| geometric means | kernels compared | | goal | |", "|---|---:|---:|---:|---|"]
    for group in GROUPS:
        members = [row for row in kernels if row["group"] == group]
        if members:
            lines.append(f"| {group} | {compared(members)} | {ratio_text(mean(members))} | | |")
    if kernels:
        total = mean(kernels)
        verdict = "" if total is None else "reached" if total >= KERNEL_MEAN and "of" not in compared(kernels) else "**not reached**"
        lines.append(f"| all kernels | {compared(kernels)} | {ratio_text(total)} | {KERNEL_MEAN:.2f}x | {verdict} |")
    for group in OPERATIONS:
        members = [row for row in rows if row["group"] == group]
        if members:
            slow = sum((row["ratio"] or KERNEL_LEAST) < KERNEL_LEAST for row in members)
            lines.append(f"| {group} | {compared(members)} | {ratio_text(mean(members))} | | {slow} below {KERNEL_LEAST:.2f}x |")
    return lines


def markdown(rows):
    overheads = [row for row in rows if row["group"] not in GROUPS + OPERATIONS]
    lines = summary(rows) if len(overheads) < len(rows) else []
    for group in GROUPS + OPERATIONS:
        members = [row for row in rows if row["group"] == group]
        if members:
            lines += [""] + table(members, group)
    if overheads:
        lines += [""] + table(overheads, "overhead")
    return lines


def plain(lines):
    """The Markdown tables, aligned for a terminal."""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] if line else [] for line in lines]
    widths = [max((len(row[i]) for row in cells if i < len(row)), default=0) for i in range(6)]
    for row in cells:
        if not row or not set("".join(row)) <= set("-:"):
            print("  ".join(c.ljust(widths[i]) if i == 0 else c.rjust(widths[i]) for i, c in enumerate(row)).rstrip())


def first_line(command):
    variables = dict(os.environ)
    if command[0] == "nvidia-smi":
        variables.pop("LD_LIBRARY_PATH", None)  # which may lead to our NVML
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=60, env=variables).stdout
        return next((line.strip() for line in output.splitlines() if line.strip()), "")
    except (OSError, subprocess.SubprocessError):
        return ""


def device(mulciber):
    """Name and driver: as NVIDIA's tool says, else as Mulciber does."""
    name = first_line(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    return name.replace(", ", ", driver ") or first_line([mulciber, "info"]).removeprefix("Device 0: ") or "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mulciber")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=300, help="limit of one run of one program")
    parser.add_argument("--ours-only", action="store_true", help="where there is no NVIDIA device")
    parser.add_argument("--small", action="store_true", help="tiny sizes: whether kernels run, not how fast")
    parser.add_argument("--json", help="write all numbers to this file")
    parser.add_argument("--markdown", help="write the tables to this file")
    parser.add_argument("--svg", help="write a chart to this file")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        rows = evaluate(measure(arguments, scratch), arguments.ours_only)
    header = {"device": device(arguments.mulciber), "date": datetime.date.today().isoformat(),
              "rounds": arguments.rounds}
    lines = markdown(rows)
    plain(lines)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(header | {"results": rows}, file, indent=1)
    if arguments.markdown:
        with open(arguments.markdown, "w") as file:
            file.write("\n".join(lines) + "\n")
    if arguments.svg:
        with open(arguments.svg, "w") as file:
            file.write(chart(header, [row for row in rows if row["group"] in GROUPS], GROUPS))
    wrong = [row for row in rows if row["problem"]]
    for row in wrong:
        print(f"WRONG: {row['name']}: {row['problem']}")
    return 1 if wrong or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
