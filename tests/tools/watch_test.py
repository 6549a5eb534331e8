#!/usr/bin/env python3
"""tests/tools/watch.py: what it takes for a hang and what not, and that it ends everything the command started."""
import os
import pathlib
import subprocess
import sys
import time

WATCH = pathlib.Path(__file__).parent / "watch.py"


def watch(*arguments):
    return subprocess.run([sys.executable, WATCH, *arguments], capture_output=True, text=True)


def check(what, condition, result):
    if not condition:
        sys.exit(f"{what}: status {result.returncode}\n{result.stdout}{result.stderr}")
    print(f"{what}: as it should be")


def python(text):
    return (sys.executable, "-c", text)


def main():
    result = watch("sh", "-c", "echo out; echo err >&2; exit 7")
    check("output and status", (result.returncode, result.stdout, result.stderr) == (7, "out\n", "err\n"), result)
    result = watch("sh", "-c", "kill -ABRT $$")
    check("a signal", result.returncode == 128 + 6 and not result.stderr, result)
    result = watch("--stall", "1", *python("import time; time.sleep(1000)"))
    check("a process that waits", result.returncode == 124 and "no progress for 1 s: python" in result.stderr, result)
    # Longer than the limit by the clock, and never without progress.
    slowly = "import time\nfor i in range(30):\n  time.sleep(0.1)\n  end = time.process_time() + 0.02\n  while time.process_time() < end: pass"
    result = watch("--stall", "1", *python(slowly))
    check("a process that is slow", result.returncode == 0 and not result.stderr, result)
    result = watch("--stall", "1", *python(f"import subprocess, sys; subprocess.run([sys.executable, '-c', {slowly!r}])"))
    check("a process that waits for a slow one", result.returncode == 0 and not result.stderr, result)
    result = watch("--processor", "1", *python("while True: pass"))
    check("a process that never ends", result.returncode == 124 and "more than 1 s of processor time" in result.stderr, result)
    limits = python("import resource; print(*resource.getrlimit(resource.RLIMIT_CPU))")
    result = watch("--processor", "50", sys.executable, str(WATCH), "--processor", "900", *limits)
    check("a watched command in another", result.stdout == "55 55\n" and result.returncode == 0, result)
    result = watch("--stall", "1", "sh", "-c", "sleep 1000 & echo $!; wait")
    pid = int(result.stdout)
    for _ in range(100):
        if not os.path.exists(f"/proc/{pid}") or "Z" in pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1][:3]:
            break
        time.sleep(0.1)
    else:
        sys.exit("what the command started is still there")
    check("what the command started", result.returncode == 124 and "sleep" in result.stderr, result)


main()
