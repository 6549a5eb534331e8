#!/usr/bin/env python3
"""Runs the replay of API calls and compares it with what NVIDIA's libraries answered.

usage: compare.py API_REPLAY RECORDED DIFFERENCES          (LD_LIBRARY_PATH names the libraries to test)
       compare.py --files OURS RECORDED DIFFERENCES
       compare.py --step N TEXELS RECORDED DIFFERENCES     (one case of N, of tests/texels)
       compare.py --only TEXT TEXELS RECORDED DIFFERENCES  (the cases with this text in their names)
       compare.py --exact ...                              (a case that is listed and agrees is a failure too)
       compare.py --samplers ...                           (the device's samplers read textures)

DIFFERENCES holds the deliberate ones: a reason on a line that begins with "#", then patterns (regular expressions that
a case's whole name matches) until the next reason. A pattern that explains nothing is a failure too. A reason that
begins with "# Without samplers" or "# With samplers" is one of such devices alone.
"""
import pathlib
import re
import subprocess
import sys


def read(text):
    return dict(line.split("\t") for line in text.splitlines() if "\t" in line)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument not in ("--exact", "--samplers")]
    is_exact, has_samplers = "--exact" in sys.argv, "--samplers" in sys.argv
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
    patterns, others = [], "# Without samplers" if has_samplers else "# With samplers"
    is_reason = False
    for line in pathlib.Path(arguments[-1]).read_text().splitlines():
        if line.startswith("#"):
            is_of_others = is_of_others if is_reason else line.startswith(others)  # a reason may take several lines
        elif line and not is_of_others:
            patterns.append(line)
        is_reason = line.startswith("#")
    used, wrong, needless, deliberate, ended = set(), [], [], 0, 0
    if is_sample:
        recorded = {name: recorded[name] for name in ours if name in recorded}
    for name, answer in recorded.items():
        why = [pattern for pattern in patterns if re.fullmatch(pattern, name)]
        if answer in ("crash", "hang"):  # nothing to compare with, but ours must not
            ended += 1
            if ours.get(name) in ("crash", "hang"):
                wrong.append((name, "anything", ours[name]))
        elif ours.get(name) == answer:
            if why and is_exact:
                needless.append(name)
        else:
            used.update(why)
            if why and ours.get(name) not in ("crash", "hang", None):
                deliberate += 1
            else:
                wrong.append((name, answer, ours.get(name)))
    for name, theirs, here in wrong:
        print(f"{name}\n    recorded {theirs}\n    here     {here}")
    for name in needless:
        print(f"is listed, and agrees: {name}")
    unused = [] if is_sample else [pattern for pattern in patterns if pattern not in used]
    for pattern in unused:
        print(f"explains no difference: {pattern}")
    print(f"{len(recorded)} cases: {len(recorded) - ended - deliberate - len(wrong)} agree, {deliberate} differ "
          f"deliberately, {ended} end the process on NVIDIA's libraries, {len(wrong)} are wrong")
    sys.exit(bool(wrong or needless or unused))


main()
