// atom.inc and atom.dec with every kind of limit. Lanes of a warp that count in one place do so together.
#include <algorithm>

#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

struct Cell {
  uint32_t value, limit;
};

// From below, at and beyond the limit; a warp's steps wrap often, once or not at all.
const std::vector<Cell> starts = {{0, 0},       {5, 0},    {0, 1},          {3, 4},    {9, 4},
                                  {0, 30},      {100, 31}, {7, 32},         {0, 999},  {990, 1000},
                                  {1001, 1000}, {~0u, 7},  {~0u - 40, ~0u}, {20, ~0u}, {~0u, ~0u - 1}};

// Which cell thread %i counts in.
struct Sharing {
  const char* name;
  const char* cell;
  uint32_t (*cellOf)(uint32_t i);
};
constexpr Sharing sharings[] = {
    {"warps", "shr.u32 %c, %i, 5;", [](uint32_t i) { return i / 32; }},
    {"neighbours", "shr.u32 %c, %i, 2;", [](uint32_t i) { return i / 4; }},
    {"strangers", "mov.b32 %c, %i;", [](uint32_t i) { return i; }},
};

class CountPtx : public PtxTest {
 protected:
  static constexpr uint32_t blocks = 6, threads = 160, all = blocks * threads;

  std::vector<uint32_t> count(const char* operation, const char* limit, const char* cell, std::vector<Cell>& cells,
                              const TargetProfile& profile) {
    const std::string text = std::string(R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 cells, .param .u64 oldValues)
{
  .reg .pred %p<2>; .reg .b32 %r<5>, %c, %i; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [cells]; ld.param.u64 %rd2, [oldValues];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %i, %r2, 160, %r1;
  )") + cell + " rem.u32 %c, %c, " +
                             std::to_string(cells.size()) + R"(;
  mul.wide.u32 %rd3, %c, 8; add.s64 %rd3, %rd1, %rd3;
  ld.global.u32 %r3, [%rd3+4];
  mul.wide.u32 %rd4, %i, 4; add.s64 %rd4, %rd2, %rd4;
  setp.eq.u32 %p1, %r1, 77;  // takes no part
  @%p1 bra DONE;
  atom.global.)" + operation +
                             ".u32 %r4, [%rd3], " + limit + R"(;
  st.global.u32 [%rd4], %r4;
DONE:
  ret;
})";
    Buffer places(*device, cells.size() * sizeof(Cell)), olds(*device, all * 4);
    std::ranges::copy(cells, places.as<Cell>());
    Launch launch;
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.add(places.address()).add(olds.address());
    runPtx(text, launch, profile);
    cells.assign(places.as<Cell>(), places.as<Cell>() + cells.size());
    return {olds.as<uint32_t>(), olds.as<uint32_t>() + all};
  }

  // What a cell's threads saw, and left, in whichever order they came.
  void check(const Sharing& sharing, bool isUp, bool isUnlimited, const TargetProfile& profile) {
    std::vector<Cell> cells = starts, expected = starts;
    const std::vector<uint32_t> olds =
        count(isUp ? "inc" : "dec", isUnlimited ? "-1" : "%r3", sharing.cell, cells, profile);
    std::vector<std::vector<uint32_t>> seen(cells.size()), wanted(cells.size());
    for (uint32_t i = 0; i < all; i++) {
      if (i % threads == 77) continue;
      const size_t c = sharing.cellOf(i) % cells.size();
      uint32_t& value = expected[c].value;
      const uint32_t limit = isUnlimited ? ~0u : expected[c].limit;
      wanted[c].push_back(value);
      seen[c].push_back(olds[i]);
      if (isUp) value = value >= limit ? 0 : value + 1;
      else value = value == 0 || value > limit ? limit : value - 1;
    }
    for (size_t c = 0; c < cells.size(); c++) {
      std::ranges::sort(seen[c]);
      std::ranges::sort(wanted[c]);
      EXPECT_EQ(seen[c], wanted[c]) << c;
      EXPECT_EQ(cells[c].value, expected[c].value) << c;
    }
  }
};

TEST_F(CountPtx, GoesAroundAtTheLimit) {
  TargetProfile alone = device->profile();
  alone.subgroupBallot = false;
  for (const TargetProfile& profile : {device->profile(), alone})
    for (const Sharing& sharing : sharings)
      for (bool isUp : {true, false})
        for (bool isUnlimited : {true, false}) {
          SCOPED_TRACE(std::string(sharing.name) + (isUp ? " up" : " down") + (isUnlimited ? " without limit" : "") +
                       (profile.hasWarps() ? "" : " without warps"));
          check(sharing, isUp, isUnlimited, profile);
        }
}

}  // namespace
}  // namespace mulciber::test
