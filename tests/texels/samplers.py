#!/usr/bin/env python3
"""Reads points by the device's samplers and by the shader's filter, which have to give the same.

usage: samplers.py TEXELS

The filter gives what an H200 gave (compare.py). Coordinates are ordinary numbers here: lavapipe's samplers take those
beyond 32 bits for the smallest one, and NaNs for what lies beyond the border. They also round fractions and the colours
of borders otherwise, so that these are left out, with the formats that are fractions by themselves.
"""
import os
import re
import subprocess
import sys

CASES = "point, texels"
ROUNDED = re.compile(" as fractions| [us]norm\d|f16.* a border of")


def run(program, samplers):
    environment = dict(os.environ, MULCIBER_SAMPLERS=samplers)
    command = [program, "--ordinary", "--only", CASES]
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment).stdout
    return dict(line.split("\t") for line in output.splitlines() if "\t" in line and not ROUNDED.search(line))


def main():
    sampled, filtered = (run(sys.argv[1], which) for which in "10")
    if not sampled:
        print("skipped: no case could be run, so there is no Vulkan device")
        return
    wrong = [name for name in filtered if sampled.get(name) != filtered[name]]
    for name in wrong:
        print(f"{name}\n    filtered {filtered[name]}\n    sampled  {sampled.get(name)}")
    print(f"{len(filtered)} cases: {len(wrong)} differ")
    sys.exit(bool(wrong) or sampled.keys() != filtered.keys())


main()
