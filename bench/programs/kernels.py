"""Kernels and their times: as `mulciber run --profile` prints them, and as native_profile.cpp writes them."""
import re

MICROSECONDS = {"us": 1, "ms": 1e3, "s": 1e6}
TIME = r"([\d.]+) (us|ms|s)\s+"
LINE = re.compile(rf"\s*[\d.]+%\s+{TIME}(\d+)\s+(?:{TIME.replace('(', '(?:')}){{3}}(?:[\d.]+ (?:%|GB/s))?\s+(\S.*)$")


def of_ours(text):
    """{name: (microseconds, calls)}"""
    found = {}
    for line in text.splitlines():
        match = LINE.match(line)
        if match:
            total, unit, calls, name = match.groups()
            found[name[1:-1] if name.startswith("(") else name] = (float(total) * MICROSECONDS[unit], int(calls))
    return found


COMPILING = re.compile(r"([\d.]+) (us|ms|s) of compiling on the host")


def first_launches(text):
    """Microseconds that the host took to translate kernels and to make their pipelines, or None."""
    match = COMPILING.search(text)
    return match and float(match[1]) * MICROSECONDS[match[2]]


def of_native(text):
    """{name: (microseconds, calls, registers, local bytes)}"""
    found = {}
    for line in text.splitlines():
        nanoseconds, calls, registers, local, name = line.split("\t", 4)
        found[name] = (int(nanoseconds) / 1e3, int(calls), int(registers), int(local))
    return found


def side_by_side(native, ours):
    """[{kernel, native, ours (microseconds a call), calls, registers, local}], what takes most of our time first."""
    rows = []
    for name, (total, calls) in sorted(ours.items(), key=lambda item: -item[1][0]):
        row = {"kernel": name, "ours": total / calls, "calls": calls}
        if name in native and native[name][1]:
            row |= {"native": native[name][0] / native[name][1], "native calls": native[name][1],
                    "registers": native[name][2], "local bytes": native[name][3]}
        rows.append(row)
    return rows
