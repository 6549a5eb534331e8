#!/usr/bin/env python3
"""The examples draw, small, what they have drawn before: each picture is compared with the one kept here.

usage: examples_test.py MULCIBER [--renew]      --renew: keep what they draw now; look at it before you commit it
"""
import pathlib
import subprocess
import sys
import tempfile

import pictures

MULCIBER = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).parent
SMALL = ["--width", "160", "--height", "90"]
EXAMPLES = {
    "your_engine": [],
    "particles": ["--count", "20000", "--frames", "40", *SMALL],
    "ocean": ["--points", "64", "--frames", "2", *SMALL],
    "fluid": ["--frames", "120", "--width", "96", "--height", "54"],
    "galaxy": ["--stars", "2048", "--steps", "24", *SMALL],
}
MOST_MEAN, MOST_ANYWHERE = 3, 30  # of 255
failures = 0


def mirrored(picture):
    width, height, rgb = picture
    rows = [rgb[y * width * 3:(y + 1) * width * 3] for y in range(height)]
    return width, height, b"".join(b"".join(row[x * 3:x * 3 + 3] for x in reversed(range(width))) for row in rows)


with tempfile.TemporaryDirectory() as folder:
    for name, arguments in EXAMPLES.items():
        program, drawn, kept = MULCIBER.with_name(name), pathlib.Path(folder) / f"{name}.png", HERE / f"{name}.png"
        if not program.exists():
            print(f"skipped: {name}, because nvcc was not there to build it")
            continue
        if name == "your_engine":
            command = [program, drawn]
        else:
            command = ([MULCIBER, "run"] if name == "galaxy" else []) + [program, *arguments, "--output", drawn]
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if result.returncode != 0 or not drawn.exists():
            print(f"wrong: {name} ended with {result.returncode}: {result.stdout}{result.stderr}")
            failures += 1
            continue
        picture = pictures.read(drawn)
        if "--renew" in sys.argv:
            pictures.write(kept, *picture)
        reference = pictures.read(kept)
        mean, most = pictures.difference(picture, reference)
        # The comparison must be able to fail: nothing that is drawn is like its mirror image.
        other = pictures.difference(mirrored(picture), reference)
        good = mean <= MOST_MEAN and most <= MOST_ANYWHERE and (other[0] > MOST_MEAN or other[1] > MOST_ANYWHERE)
        print(f"{'right' if good else 'wrong'}: {name} differs by {mean:.2f} on average and {most:.1f} at most; mirrored by {other[0]:.1f}, {other[1]:.1f}")
        failures += not good
sys.exit(1 if failures else 0)
