#!/usr/bin/env python3
"""Runs the replay of API calls and compares it with what NVIDIA's libraries answered.

usage: compare.py API_REPLAY RECORDED DIFFERENCES          (LD_LIBRARY_PATH names the libraries to test)
       compare.py --files OURS RECORDED DIFFERENCES
       compare.py --step N TEXELS RECORDED DIFFERENCES     (one case of N, of tests/texels)
       compare.py --only TEXT TEXELS RECORDED DIFFERENCES  (the cases with this text in their names)

DIFFERENCES holds the deliberate ones: a reason on a line that begins with "#", then patterns (regular expressions that
a case's whole name matches) until the next reason. A pattern that explains nothing is a failure too, but where its
reason begins with "# Without samplers": devices differ in that.
"""
import pathlib
import re
import subprocess
import sys


def read(text):
    return dict(line.split("\t") for line in text.splitlines() if "\t" in line)


def main():
    arguments = sys.argv[1:]
    is_sample = len(arguments) == 5 and arguments[0] in ("--step", "--only")
    if is_sample:
        ours = subprocess.run([arguments[2], *arguments[:2]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    elif len(arguments) == 4 and arguments[0] == "--files":
        ours = pathlib.Path(arguments[1]).read_text()
    elif len(arguments) == 3:
        ours = subprocess.run([arguments[0]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    else:
        sys.exit(__doc__)
    ours, recorded = read(ours), read(pathlib.Path(arguments[-2]).read_text())
    if not ours:
        print("skipped: no case could be run, so there is no Vulkan device")
        return
    patterns, of_some_devices = [], set()
    for line in pathlib.Path(arguments[-1]).read_text().splitlines():
        if line.startswith("#"):
            is_of_some = line.startswith("# Without samplers")
        elif line:
            patterns.append(line)
            if is_of_some:
                of_some_devices.add(line)
    used, wrong, deliberate, ended = set(), [], 0, 0
    if is_sample:
        recorded = {name: recorded[name] for name in ours if name in recorded}
    for name, answer in recorded.items():
        if answer in ("crash", "hang"):  # nothing to compare with, but ours must not
            ended += 1
            if ours.get(name) in ("crash", "hang"):
                wrong.append((name, "anything", ours[name]))
        elif ours.get(name) != answer:
            why = [pattern for pattern in patterns if re.fullmatch(pattern, name)]
            used.update(why)
            if why and ours.get(name) not in ("crash", "hang", None):
                deliberate += 1
            else:
                wrong.append((name, answer, ours.get(name)))
    for name, theirs, here in wrong:
        print(f"{name}\n    recorded {theirs}\n    here     {here}")
    unused = [] if is_sample else [pattern for pattern in patterns if pattern not in used | of_some_devices]
    for pattern in unused:
        print(f"explains no difference: {pattern}")
    print(f"{len(recorded)} cases: {len(recorded) - ended - deliberate - len(wrong)} agree, {deliberate} differ "
          f"deliberately, {ended} end the process on NVIDIA's libraries, {len(wrong)} are wrong")
    sys.exit(bool(wrong or unused))


main()
