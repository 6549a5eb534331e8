#!/usr/bin/env python3
"""An example shows in a window, on a display that only memory has, what it saves as a picture.

usage: window_test.py PROGRAM          PROGRAM: ocean, beside mulciber
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import pictures

PROGRAM = pathlib.Path(sys.argv[1])
SMALL = ["--points", "32", "--frames", "6", "--width", "160", "--height", "90"]
# The distribution's driver has windows; the 32-lane one of third_party/lavapipe is built without.
DRIVER = pathlib.Path("/usr/share/vulkan/icd.d/lvp_icd.json")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(0)


def screen(dump, width, height):
    """The upper left corner of what Xvfb has drawn (XWD, of 32 bits a pixel), as pictures.read() gives it."""
    data = dump.read_bytes()
    header = struct.unpack(">25I", data[:100])
    line, first = header[12], header[0] + header[19] * 12
    rows = [data[first + y * line:first + y * line + width * 4] for y in range(height)]
    rgb = bytearray()
    for row in rows:
        for x in range(width):
            blue, green, red = row[x * 4:x * 4 + 3]
            rgb += bytes((red, green, blue))
    return width, height, bytes(rgb)


if shutil.which("Xvfb") is None:
    skip("Xvfb is not here")
if not DRIVER.exists():
    skip("the distribution's Vulkan driver is not here")

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "320x240x24", "-nolisten", "tcp", "-fbdir", folder],
                              pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    display = os.read(reading, 16).decode().strip()
    environment = {**os.environ, "DISPLAY": ":" + display, "VK_DRIVER_FILES": str(DRIVER)}
    environment.pop("LP_NATIVE_VECTOR_WIDTH", None)
    saved = folder / "saved.png"
    example = subprocess.Popen([PROGRAM, *SMALL, "--window", "--output", saved], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    shown = []
    while example.poll() is None:
        shown.append(screen(folder / "Xvfb_screen0", 160, 90))
        time.sleep(0.02)
    output = example.stdout.read()
    server.terminate()
    server.wait()
    if "the examples were built" in output:
        skip(output.strip())
    if example.returncode != 0 or not saved.exists():
        print(f"wrong: it ended with {example.returncode}: {output}")
        sys.exit(1)
    # The last frame is on the screen for a moment; waves move little from frame to frame.
    picture = pictures.read(saved)
    mean, most = min(pictures.difference(one, picture) for one in shown)
    good = mean <= 2 and most <= 20
    print(f"{'right' if good else 'wrong'}: the window differed from the picture by {mean:.2f} on average and {most:.1f} at most")
    sys.exit(0 if good else 1)
