#!/usr/bin/env python3
"""Writes a random CUDA program: generate.py SEED [--kernels N] [--size N] [--out FOLDER]

SEED.cu is the program, SEED.launches what its host side does (launches.h). The same seed gives the same program on every
machine. Programs have no undefined behaviour and no races, and print the same however they are compiled and run.
"""

import argparse
import pathlib

import functions
import kernels
from choice import Choice
from scalars import COMMON, TYPES, operations
from tree import Program

KERNELS, SIZE = 6, 1  # by default
_FEATURES = {"half": 25, "groups": 25, "wide": 35, "reduces": 40, "splits": 0}  # chances in percent


class Generator:
    def __init__(self, seed, kernel_count=KERNELS, size=SIZE):
        self.choice = Choice(seed)
        self.count, self.size = 0, size
        self.features = [name for name, chance in _FEATURES.items() if self.choice.percent(chance)]
        self.half, self.groups, self.reduces, self.splits = (name in self.features for name in ("half", "groups", "reduces", "splits"))
        unused = [] if self.half else ["f16", "bf16"]
        unused += [] if "wide" in self.features else ["i128", "u128"]
        self.scalars = [type for type in TYPES.values() if type.name not in unused]
        self.common = COMMON + (["f16", "bf16"] * 2 if self.half else []) + (["i128", "u128"] if "wide" in self.features else [])
        self.operations = operations({type.name for type in self.scalars})
        self.program = Program(seed, self.features)
        self.functions, self.structures = [], []
        self.fuel = 10
        for _ in range(self.choice.between(1, 3)):
            self.structures.append(functions.structure(self))
        makers = [functions.function] * 5 + [functions.template, functions.recursive, functions.table]
        for _ in range(self.choice.between(2, 5)):
            self.fuel = 2
            self.choice.of(makers)(self)
        for _ in range(kernel_count):
            kernels.kernel(self)

    def name(self, prefix):
        self.count += 1
        return f"{prefix}_{self.count}"

    def pick_type(self, choice):
        return choice.of(self.common)

    def spend(self):
        """Whether another nested statement may be made here."""
        self.fuel -= 1
        return self.fuel >= 0


def architecture(program):
    """Of the least device that has what the program uses."""
    return 80 if {"reduces", "half"} & set(program.options) else 75


def launch_text(program):
    threads = max((k.threads * k.blocks for k, _ in program.launches), default=1)
    buffers = [f"buffer in {kernels.INPUT_BYTES} {program.seed}", f"buffer out {threads * kernels.RESULTS * 8} zero",
               f"buffer own {threads * 64} zero", f"buffer acc {kernels.SUMS * 16} zero"]
    return "\n".join(buffers + [line for _, line in program.launches]) + "\n"


def source(program):
    parts = [f"// seed {program.seed}: {' '.join(program.options)}"]
    parts += [f"#define {name.upper()} 1" for name in program.options if name in ("half", "groups")]
    parts += ['#include "device.h"', ""]
    parts += [str(part) for part in program.parts]
    names = ", ".join(f'{{"{k.name}", (const void *){k.name}}}' for k, _ in program.launches)
    parts += ["#ifndef PTX_ONLY", 'static const char launch_list[] = R"(' + launch_text(program) + ')";', "struct Kernel { const char *name; const void *function; };",
              f"static const Kernel kernel_list[] = {{{names}}};", '#include "host.h"', "#endif", ""]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--kernels", type=int, default=KERNELS)
    parser.add_argument("--size", type=int, default=SIZE, help="how long kernels are")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    program = Generator(arguments.seed, arguments.kernels, arguments.size).program
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / f"{arguments.seed}.cu").write_text(source(program))
    (arguments.out / f"{arguments.seed}.launches").write_text(launch_text(program))


if __name__ == "__main__":
    main()
