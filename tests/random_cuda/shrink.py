#!/usr/bin/env python3
"""Makes a random CUDA program smaller as long as two of its runs print different things.

shrink.py SEED --differ "native O3" O3 --library FOLDER ...     (the other options are check.py's)

The runs are named as check.py prints them: O3 and G for Mulciber's, "native ..." and "interpreted ..." for the judges'.
Writes SEED.small.cu and SEED.small.launches.
"""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile
import time

import check
import generate
from scalars import BOOL, Scalar
from tree import Block, Expression, Program


def nodes(node):
    yield node
    for part in getattr(node, "parts", []):
        if not isinstance(part, str):
            yield from nodes(part)


def runs_of_statements(program, length):
    for node in nodes(program):
        if isinstance(node, (Block, Program)):
            for at in range(0, len(node.parts), length):
                gone = node.parts[at:at + length]
                if not any(s.needed for s in gone):
                    yield node.parts, at, gone, []


def unwrapped_statements(program):
    for node in nodes(program):
        if isinstance(node, Block):
            for at, statement in enumerate(node.parts):
                for block in (part for part in statement.parts if isinstance(part, Block)):
                    yield node.parts, at, [statement], block.parts


def smaller_expressions(program):
    for node in nodes(program):
        for at, part in enumerate(getattr(node, "parts", [])):
            if not isinstance(part, Expression) or part.type is None:
                continue
            simple = Expression(part.type, "false" if part.type is BOOL else f"({part.type})1")
            if isinstance(part.type, Scalar) and len(str(part)) > len(str(simple)) and not part.type.name.endswith("f16"):
                yield node.parts, at, [part], [simple]
            for inner in nodes(part):
                if inner is not part and isinstance(inner, Expression) and inner.type is part.type:
                    yield node.parts, at, [part], [inner]


class Shrinker:
    def __init__(self, checker, program, differ, jobs, seconds):
        self.checker, self.program, self.differ, self.jobs = checker, program, differ, jobs
        self.end = time.monotonic() + seconds
        self.tests = 0

    def text(self):
        return generate.source(self.program), generate.launch_text(self.program)

    def still_differs(self, text):
        with tempfile.TemporaryDirectory() as folder:
            try:
                results = self.checker.outputs(*text, generate.architecture(self.program), folder)
            except subprocess.CalledProcessError:
                return False
        first, second = (results[name] for name in self.differ)
        return first != second and not check.is_failure(first)

    def drop_other_kernels(self, names):
        """Keeps the first kernel that differs by itself, if one does."""
        launches, parts = self.program.launches, self.program.parts
        for kernel, line in launches:
            if kernel.name in names:
                self.program.launches = [(kernel, line)]
                self.program.parts = [p for p in parts if not any(f" {k.name}(" in str(p) for k, _ in launches if k is not kernel)]
                if self.still_differs(self.text()):
                    return
        self.program.launches, self.program.parts = launches, parts

    def one_step(self, edits):
        """Makes edits of those that can be made; whether any was."""
        changed = False
        pending = list(edits)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            while pending and time.monotonic() < self.end:
                batch, pending = pending[:self.jobs], pending[self.jobs:]
                texts = []
                batch = [edit for edit in batch if self.applies(edit)]
                for edit in batch:
                    self.make(edit)
                    texts.append(self.text())
                    self.undo(edit)
                self.tests += len(batch)
                for edit, good in zip(batch, list(pool.map(self.still_differs, texts))):
                    # Edits that are each good need not be so together, and one may have taken away another's place.
                    if good and self.applies(edit):
                        self.make(edit)
                        if len(batch) == 1 or self.still_differs(self.text()):
                            changed = True
                        else:
                            self.undo(edit)
        return changed

    @staticmethod
    def applies(edit):
        parts, at, old, _ = edit
        return len(parts) >= at + len(old) and all(a is b for a, b in zip(parts[at:at + len(old)], old))

    @staticmethod
    def make(edit):
        parts, at, old, new = edit
        parts[at:at + len(old)] = new

    @staticmethod
    def undo(edit):
        parts, at, old, new = edit
        parts[at:at + len(new)] = old

    def shrink(self):
        changed = True
        while changed and time.monotonic() < self.end:
            changed = False
            for length in (16, 8, 4, 2, 1):
                changed |= self.one_step(runs_of_statements(self.program, length))
            changed |= self.one_step(unwrapped_statements(self.program))
            changed |= self.one_step(smaller_expressions(self.program))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--differ", nargs=2, required=True, metavar="RUN")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    check.add_options(parser)
    arguments = parser.parse_args()
    arguments.modes = sorted({name.split()[-1] for name in arguments.differ})
    arguments.native = any(name.startswith("native") for name in arguments.differ)
    program = generate.Generator(arguments.seed, arguments.kernels, arguments.size).program
    checker = check.Checker(arguments)
    shrinker = Shrinker(checker, program, arguments.differ, arguments.jobs, arguments.seconds or 1e9)
    with tempfile.TemporaryDirectory() as folder:
        results = checker.outputs(*shrinker.text(), generate.architecture(program), folder)
    first, second = (results[name].splitlines() for name in arguments.differ)
    if first == second:
        print(f"{arguments.seed}: {arguments.differ[0]} and {arguments.differ[1]} print the same")
        return 1
    shrinker.drop_other_kernels({line.split()[1] for line in set(first) ^ set(second) if len(line.split()) == 4})
    shrinker.shrink()
    source, launches = shrinker.text()
    (arguments.out / f"{arguments.seed}.small.cu").write_text(source)
    (arguments.out / f"{arguments.seed}.small.launches").write_text(launches)
    print(f"{arguments.seed}: {len(source.splitlines())} lines after {shrinker.tests} tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
