#!/usr/bin/env python3
"""Caches miss once a file has changed that decides what they hold: source_hash_test.py CMAKE ROOT NAME=PATH,PATH...

The arguments are what the build hashes. A copy of these files gets another hash with each of them changed."""
import os
import shutil
import subprocess
import sys
import tempfile

cmake, root, *hashed = sys.argv[1:]

# What has to be hashed by some name, whatever else is: a file of each kind.
needed = {
    "translatorHash": ["src/translator/passes/pipeline.cpp", "src/translator/ptx/instruction_table.txt",
                       "include/mulciber/kernel_abi.h"],
    "recordHash": ["src/runtime/core/kernel_record.cpp", "src/runtime/core/kernel_archive.cpp",
                   "src/runtime/core/kernel_pipeline.h"],
    "probeHash": ["src/runtime/vk/probes.cpp", "shaders/probe_float.comp"],
}


def files_of(paths, folder):
    for path in paths:
        whole = os.path.join(folder, path)
        if not os.path.isdir(whole):
            yield path
        for parent, _, names in os.walk(whole):
            yield from (os.path.relpath(os.path.join(parent, name), folder) for name in names)


def hash_of(name, paths, folder):
    header = os.path.join(folder, "hash.h")
    script = os.path.join(root, "cmake", "SourceHash.cmake")
    subprocess.run([cmake, f"-DNAME={name}", f"-DROOT={folder}", "-DPATHS=" + ",".join(paths), f"-DHEADER={header}",
                    "-P", script], check=True)
    with open(header) as text:
        return text.read()


wrong = []
for name, paths in ((name, paths.split(",")) for name, _, paths in (each.partition("=") for each in hashed)):
    with tempfile.TemporaryDirectory() as folder:
        files = list(files_of(paths, root))
        wrong += [f"{name} does not look at {file}" for file in needed.pop(name, []) if file not in files]
        for file in files:
            os.makedirs(os.path.dirname(os.path.join(folder, file)), exist_ok=True)
            shutil.copy(os.path.join(root, file), os.path.join(folder, file))
        before = hash_of(name, paths, folder)
        if hash_of(name, paths, folder) != before:
            wrong.append(f"{name} differs without a change")
        # Each of few files, some of many: one run of CMake for each.
        for file in files[::max(1, len(files) // 12)] + [file for file in files if file.startswith("include")]:
            with open(os.path.join(folder, file), "ab") as changed:
                changed.write(b"\n")
            after = hash_of(name, paths, folder)
            if after == before:
                wrong.append(f"{name} is the same with another {file}")
            before = after
wrong += [f"nothing is called {name}" for name in needed]
print("\n".join(wrong) or "every change is seen")
sys.exit(bool(wrong))
