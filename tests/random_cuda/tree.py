"""A program as a tree, so that the shrinker can drop its parts: text, expressions, statements and blocks."""

import re


class Expression:
    """Text with operands. An operand of the same type, or a literal, may take the place of the whole; nothing may where
    the type is None."""

    def __init__(self, type, *parts):
        self.type = type
        self.parts = list(parts)

    def __str__(self):
        return "".join(map(str, self.parts))


class Statement:
    """May be dropped as a whole, unless what is left would be undefined. That others need a declaration the compiler says."""

    def __init__(self, *parts, needed=False):
        self.parts = list(parts)
        self.needed = needed

    def __str__(self):
        return "".join(map(str, self.parts))


class Block:
    """Statements in braces, each of which may be dropped."""

    def __init__(self, statements=()):
        self.parts = list(statements)

    def add(self, *parts, needed=False):
        self.parts.append(Statement(*parts, needed=needed))

    def __str__(self):
        return "{\n" + "".join("  " + str(s).replace("\n", "\n  ") + "\n" for s in self.parts) + "}"


class Program:
    """The top level: declarations, functions and kernels, each of which may be dropped, and the launches."""

    def __init__(self, seed, options):
        self.seed = seed
        self.options = options
        self.parts = []
        self.buffers = []
        self.launches = []

    def add(self, *parts):
        self.parts.append(Statement(*parts))


def fill(template, operands):
    """The parts of a template such as "({0} + {1})"."""
    pieces = re.split(r"\{(\d)\}", template)
    return [operands[int(piece)] if i % 2 else piece for i, piece in enumerate(pieces) if piece]
