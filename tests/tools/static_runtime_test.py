#!/usr/bin/env python3
"""What redirection finds in stripped static CUDA runtimes is what their symbols say: every function, and no other.

usage: static_runtime_test.py LIST_STATIC_RUNTIME CC EXPORTS_FOLDER RUNTIME...

RUNTIME is a libcudart_static.a. MULCIBER_STATIC_RUNTIMES names more of them, of other toolkits, with colons between.
"""
import os
import pathlib
import subprocess
import sys
import tempfile


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    lister, cc, exports, *runtimes = sys.argv[1:]
    runtimes += [name for name in os.environ.get("MULCIBER_STATIC_RUNTIMES", "").split(":") if name]
    names = set()
    for path in pathlib.Path(exports).glob("libcudart.so.*.txt"):
        names |= set(path.read_text().split())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        library = str(pathlib.Path(folder) / "library.so")
        for runtime in runtimes:
            output(cc, "-shared", "-o", library, "-Wl,--whole-archive", runtime, "-Wl,--no-whole-archive", "-lpthread",
                   "-ldl", "-lrt")
            symbols = (line.split() for line in output("nm", library).splitlines())
            expected = {words[2]: int(words[0], 16) for words in symbols
                        if len(words) == 3 and words[1] in "tTwW" and words[2] in names}
            output("strip", library)
            version, *lines = output(lister, library).splitlines()
            found = {name: int(address, 16) for address, name, _ in map(str.split, lines)} if version.startswith("CUDA") else {}
            same = found == expected and len(expected) > 300
            failed += not same
            wrong = sum(expected.get(name) != address for name, address in found.items())
            print(f"{runtime}: {version}, {len(found)} of {len(expected)} functions, {wrong} wrong: {'good' if same else 'BAD'}")
    sys.exit(failed != 0)


main()
