#!/usr/bin/env python3
"""The examples say how they are used, and refuse what they cannot do in one sentence.

usage: command_line_test.py MULCIBER
"""
import os
import pathlib
import subprocess
import sys
import tempfile

MULCIBER = pathlib.Path(sys.argv[1])
NO_DRIVER = {"VK_DRIVER_FILES": "/nonexistent.json"}
failures = 0


def check(name, arguments, status, said, where="stderr", more=None):
    """`said` begins the first line."""
    global failures
    program = MULCIBER.with_name(name)
    if not program.exists():
        print(f"skipped: {name}, because nvcc was not there to build it")
        return
    command = [MULCIBER, "run", program] if name == "galaxy" else [program]
    result = subprocess.run([*command, *arguments], capture_output=True, text=True, env={**os.environ, **(more or {})})
    lines = getattr(result, where).splitlines()
    right = result.returncode == status and lines and lines[-1 if status == 1 else 0].startswith(said)
    print(f"{'right' if right else 'wrong'}: {name} {' '.join(arguments)}" + ("" if right else f"\n  {result}"))
    failures += not right


with tempfile.TemporaryDirectory() as folder:
    for name, less in (("particles", ["--count", "256", "--frames", "1"]), ("ocean", ["--points", "16", "--frames", "1"]),
                       ("fluid", ["--frames", "1"]), ("galaxy", ["--stars", "256", "--steps", "1"])):
        check(name, ["--help"], 0, f"usage: {name} [--", "stdout")
        check(name, ["--colour", "red"], 2, f"{name}: there is no option '--colour'")
        check(name, ["--width"], 2, f"{name}: --width needs a value")
        for value in ("wide", "-1", "0", "99999999999"):
            check(name, ["--width", value], 2, f"{name}: --width takes a number from 1 to 999999999, not '{value}'")
        check(name, ["--output", f"{folder}/none/out.png"], 1, f"{name}: cannot write {folder}/none")
        if name != "galaxy":
            check(name, [*less, "--width", "200000", "--height", "36", "--output", f"{folder}/out.png"], 1, f"{name}: the device's images")
    check("your_engine", ["--help"], 2, "usage: your_engine [")
    check("your_engine", [f"{folder}/none/out.png"], 1, f"your_engine: cannot write {folder}/none")
    check("ocean", ["--points", "48"], 2, "ocean: --points must be a power of two")
    check("fluid", ["--width", "16"], 2, "fluid: the picture must have 32 x 32")
    for name in ("particles", "ocean", "fluid", "your_engine"):
        check(name, [], 1, f"{name}: ", more=NO_DRIVER)
sys.exit(failures != 0)
