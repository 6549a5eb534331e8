#!/usr/bin/env python3
"""Runs a benchmark natively and under Mulciber, in turns, and prints medians and their ratio.

usage: compare.py MULCIBER PROGRAM [--rounds N] [--json FILE]
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys

LINE = re.compile(r"^(.+?)\s+([0-9.]+) (us|ms|GB/s)$")


def measure(command):
    environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH" or command[0].endswith("mulciber")}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode:
        print(f"{' '.join(command)} failed ({result.returncode}): {result.stderr[-500:]}", file=sys.stderr)
    return {m[1]: (float(m[2]), m[3]) for m in map(LINE.match, result.stdout.splitlines()) if m}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mulciber")
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()

    samples = {}
    for _ in range(arguments.rounds):
        for side, command in (("native", [arguments.program]), ("ours", [arguments.mulciber, "run", arguments.program])):
            for name, (value, unit) in measure(command).items():
                samples.setdefault(name, {"unit": unit, "native": [], "ours": []})[side].append(value)

    rows, ratios = [], []
    for name, sample in samples.items():
        native, ours = (statistics.median(sample[s]) if sample[s] else None for s in ("native", "ours"))
        ratio = None
        if native and ours:  # above 1: we are faster
            ratio = ours / native if sample["unit"] == "GB/s" else native / ours
            ratios.append(ratio)
        rows.append({"name": name, "unit": sample["unit"], "native": native, "ours": ours, "ratio": ratio})

    print(f"{'':28} {'CUDA':>12} {'Mulciber':>12}        faster")
    for row in rows:
        cell = lambda v: f"{v:12.3f}" if v is not None else f"{'-':>12}"
        print(f"{row['name']:28} {cell(row['native'])} {cell(row['ours'])} {row['unit']:5} {row['ratio'] or 0:7.2f}x")
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.3f}x over {len(ratios)}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
