#!/usr/bin/env python3
"""The generator and the shrinker, without a compiler.

generator_test.py [RECORDED]     a file whose programs the generator must still make
"""

import pathlib
import re
import sys

import check
import generate
import shrink


def is_balanced(text):
    return all(text.count(a) == text.count(b) for a, b in ("()", "{}", "[]"))


def programs_are_well_formed():
    """One seed, one program; another seed, another."""
    sources = [generate.source(generate.Generator(seed, 2).program) for seed in range(20)]
    assert sources[3] == generate.source(generate.Generator(3, 2).program), "a seed gave two programs"
    assert len(set(sources)) == len(sources), "two seeds gave one program"
    assert all(map(is_balanced, sources)), "brackets without partners"


def arrays_are_aligned():
    """Functions read vectors and integers of 128 bits in the arrays of u32 that they get."""
    arrays = [a for seed in range(60) for a in re.findall(r"(?:__align__\(16\) )?\bu32 a_\d+\[(?:16|32)\]", generate.source(generate.Generator(seed, 2).program))]
    assert arrays and all(a.startswith("__align__(16)") for a in arrays), "an array of u32 without alignment"


def recorded_programs_are_made_again(recorded):
    for line in recorded.read_text().splitlines()[:50]:
        seed, kernels, size, source = line.split()[:4]
        made = generate.source(generate.Generator(int(seed), int(kernels), int(size)).program)
        assert check.digest(made) == source, f"seed {seed} was recorded of another program: record again (docs/conformance.md)"


class Wrong:
    """A device that goes wrong where a program has the text."""

    def __init__(self, text):
        self.text = text

    def outputs(self, source, launches, architecture, folder):
        name = launches.partition("launch ")[2].split()[0]
        return {"right": f"0 {name} out 1", "wrong": f"0 {name} out {2 if self.text in source.partition('__global__')[2] else 1}"}


def programs_are_made_small(text):
    for seed in range(100):
        program = generate.Generator(seed, 2).program
        before = generate.source(program)
        if text in before.partition("__global__")[2]:
            shrinker = shrink.Shrinker(Wrong(text), program, ("right", "wrong"), 1, 60)
            shrinker.shrink()
            after = generate.source(program)
            assert text in after and len(after) < len(before) / 3, f"seed {seed}: {len(before)} to {len(after)} characters"
            return
    raise AssertionError(f"no program has {text}")


if __name__ == "__main__":
    programs_are_well_formed()
    arrays_are_aligned()
    programs_are_made_small("__match_any_sync(")
    programs_are_made_small("switch (")
    if len(sys.argv) > 1:
        recorded_programs_are_made_again(pathlib.Path(sys.argv[1]))
