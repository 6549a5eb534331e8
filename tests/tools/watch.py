#!/usr/bin/env python3
"""Runs a command, and ends it when it hangs. The clock does not count, because a loaded machine may take any time: a
hang is a command none of whose processes uses the processor for a long while, or one process that uses very much of it.

usage: watch.py [--processor SECONDS] [--stall SECONDS] COMMAND [ARGUMENT...]

Ends as the command does, or with 124 when it hangs, and then says on standard error which processes there were.
"""
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

HANGS = 124
TICKS = os.sysconf("SC_CLK_TCK")


def processes():
    """Of every process: its parent, its name, and its processor time with that of its children which have ended."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "stat").read_text()
        except OSError:
            continue  # it has ended meanwhile
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        found[int(folder.name)] = (int(rest[1]), name, sum(map(int, rest[11:15])) / TICKS)
    return found


def family(root):
    """The process and all that it started, as processes() describes them."""
    everyone, members = processes(), {}
    children = {}
    for pid, (parent, _, _) in everyone.items():
        children.setdefault(parent, []).append(pid)
    queue = [root]
    while queue:
        pid = queue.pop()
        if pid in everyone:
            members[pid] = everyone[pid]
            queue += children.get(pid, [])
    return members


def main():
    limits, arguments = {"--processor": 900.0, "--stall": 180.0}, sys.argv[1:]
    while len(arguments) > 2 and arguments[0] in limits:
        limits[arguments[0]] = float(arguments[1])
        arguments = arguments[2:]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)

    def limit():
        seconds = int(limits["--processor"])
        # A command within a watched one keeps the lower limit: not every user may raise it.
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        most = seconds + 5 if hard == resource.RLIM_INFINITY else min(seconds + 5, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (min(seconds, most), most))  # SIGXCPU, then SIGKILL

    child = subprocess.Popen(arguments, preexec_fn=limit)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: child.send_signal(received))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to the command too
    used, since = None, time.monotonic()
    while True:
        try:
            status = child.wait(min(1.0, limits["--stall"] / 4))
            break
        except subprocess.TimeoutExpired:
            pass
        members = family(child.pid)
        now = {pid: time for pid, (_, _, time) in members.items()}
        if now != used:
            used, since = now, time.monotonic()
        elif time.monotonic() - since >= limits["--stall"]:
            names = ", ".join(f"{name} ({pid})" for pid, (_, name, _) in members.items())
            print(f"watch: no progress for {limits['--stall']:g} s: {names}", file=sys.stderr)
            for pid in members:
                os.kill(pid, signal.SIGKILL)
            child.wait()
            sys.exit(HANGS)
    if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
        print(f"watch: more than {limits['--processor']:g} s of processor time: {arguments[0]}", file=sys.stderr)
        sys.exit(HANGS)
    sys.exit(status if status >= 0 else 128 - status)


main()
