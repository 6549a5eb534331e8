#!/usr/bin/env python3
"""Checks that the built libraries export what the real ones do, under the same soname and version node, and of our own
only what tools/redirect calls; and that docs/api-coverage.md says what the sources say.

usage: check_exports.py SOURCE_FOLDER LIBRARY_FOLDER
"""
import re
import pathlib
import subprocess
import sys


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    source, libraries = map(pathlib.Path, sys.argv[1:])
    api = source / "src/runtime/api"
    problems = []
    for soname in ("libcuda.so.1", "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13", "libnvidia-ml.so.1"):
        library = libraries / soname
        wanted = set((api / "exports" / f"{soname}.txt").read_text().split())
        if "cudart" in soname:
            wanted.add("mulciberTellUnknownCapability")
        found, nodes = set(), set()
        for line in run("nm", "-D", "--defined-only", str(library)).splitlines():
            _, kind, name = line.split()[-3:]
            name, _, node = name.partition("@")
            if kind == "A":
                continue
            found.add(name)
            nodes.add(node.lstrip("@"))
        problems += [f"{soname} lacks {name}" for name in sorted(wanted - found)]
        problems += [f"{soname} exports {name}" for name in sorted(found - wanted)]
        if nodes != {soname if "cudart" in soname else ""}:
            problems.append(f"{soname} has the version nodes {sorted(nodes)}")
        if f"Library soname: [{soname}]" not in run("readelf", "-d", str(library)):
            problems.append(f"{soname} has another soname")
    engine = set(re.findall(r"\b(mulciber[A-Z]\w*)\(", (source / "include/mulciber/engine.h").read_text()))
    offered = set()
    for line in run("nm", "-DC", "--defined-only", str(libraries / "libmulciber.so")).splitlines():
        name = line.split()[-1]
        if name in engine:
            offered.add(name)
        elif "mulciber::" not in line:
            problems.append(f"libmulciber.so exports what is not Mulciber's: {line}")
    problems += [f"libmulciber.so lacks {name}" for name in sorted(engine - offered)]
    made = run(sys.executable, str(api / "generate.py"), "coverage")
    if made != (source / "docs/api-coverage.md").read_text():
        problems.append("docs/api-coverage.md is out of date: python3 src/runtime/api/generate.py coverage > docs/api-coverage.md")
    print("\n".join(problems[:40]) or "every name is there, and no other")
    sys.exit(1 if problems else 0)


main()
