"""Which statements there are, how often each is made, and where it may be."""

import block_work
import control
import memory
import warp_work
from context import BLOCK, WARP

MOST_ROUNDS = 24  # of all loops around a statement together
_DEEPEST = 4

_ANYWHERE = [(20, control.assign), (8, control.accumulate), (5, control.declare), (5, memory.vector_store),
             (4, memory.own_atomic), (4, memory.shared_atomic), (5, control.call), (3, control.leave), (3, memory.retarget)]
_NESTING = [(9, control.branch), (6, control.counted_loop), (5, control.conditional_loop), (4, control.switch), (3, control.jumps)]
_DECLARING = [(3, memory.local_array), (2, memory.local_bytes), (3, memory.pointer), (2, memory.pointer_table)]
_WITH_LANES = [(14, warp_work.exchange), (3, warp_work.through_memory)]
_WITH_LANES_NESTING = [(8, control.tracked_branch), (5, control.tracked_loop)]
_WITH_TILES = [(8, warp_work.tile)]
_WITH_BLOCK = [(10, block_work.exchange), (6, block_work.vote), (4, block_work.bins), (3, block_work.named)]
_SPLIT = [(2, block_work.split_barrier)]


def fill_block(c, count):
    for _ in range(count):
        make(c)


def make(c):
    deep = c.depth >= _DEEPEST or not c.generator.spend()
    options = list(_ANYWHERE)
    if not deep:
        options += _NESTING
    if c.depth <= 2:
        options += _DECLARING
    if c.mask:
        options += _WITH_LANES
        if not deep:
            options += _WITH_LANES_NESTING
        if c.level >= WARP and c.whole_warp and c.kernel and c.generator.groups:
            options += _WITH_TILES
    if c.level == BLOCK and c.kernel:
        options += _WITH_BLOCK
        if c.generator.splits:
            options += _SPLIT
    c.choice.weighted(options)(c)
