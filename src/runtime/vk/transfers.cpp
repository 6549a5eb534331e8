// Copies and fills of memory by the built-in shaders.
#include <algorithm>

#include "runtime/vk/builtins.h"
#include "runtime/vk/commands.h"
#include "runtime/vk/device.h"

namespace mulciber::vk {

namespace {

// The largest unit copies have that all of these are multiples of.
uint32_t copyUnit(uint64_t bits) { return bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1; }

// The same for fills.
uint32_t fillUnit(uint64_t bits) { return bits % 16 == 0 ? 16 : bits % 4 == 0 ? 4 : bits % 2 == 0 ? 2 : 1; }

uint32_t groupsFor(uint64_t units, uint32_t perGroup) {
  return static_cast<uint32_t>((units + perGroup - 1) / perGroup);
}

}  // namespace

// body(x, y, z, width, height, depth) for each part of a box that one dispatch can take.
template <typename Body>
void Commands::inParts(uint32_t unitsPerGroup, uint64_t width, uint64_t height, uint64_t depth, Body&& body) {
  const uint32_t(&most)[3] = device_.physical().limits().maxComputeWorkGroupCount;
  const uint64_t mostUnits = uint64_t(most[0]) * unitsPerGroup;
  for (uint64_t z = 0; z < depth; z += most[2])
    for (uint64_t y = 0; y < height; y += most[1])
      for (uint64_t x = 0; x < width; x += mostUnits)
        body(x, y, z, std::min(mostUnits, width - x), static_cast<uint32_t>(std::min<uint64_t>(most[1], height - y)),
             static_cast<uint32_t>(std::min<uint64_t>(most[2], depth - z)));
}

void Commands::copyUnits(const CopyRegion& region, uint32_t unitBytes) {
  inParts(copyUnitsPerGroup, region.width / unitBytes, region.height, region.depth,
          [&](uint64_t x, uint64_t y, uint64_t z, uint64_t width, uint32_t height, uint32_t depth) {
            const struct {
              uint64_t destination, source, width, destinationPitch, sourcePitch, destinationSlice, sourceSlice;
            } push = {region.destination + z * region.destinationSlice + y * region.destinationPitch + x * unitBytes,
                      region.source + z * region.sourceSlice + y * region.sourcePitch + x * unitBytes,
                      width,
                      region.destinationPitch,
                      region.sourcePitch,
                      region.destinationSlice,
                      region.sourceSlice};
            dispatch(device_.builtins().copy(unitBytes), &push, sizeof(push),
                     {groupsFor(width, copyUnitsPerGroup), height, depth});
          });
}

void Commands::copy(const CopyRegion& region) {
  if (region.width == 0 || region.height == 0 || region.depth == 0) return;
  if (region.height > 1 || region.depth > 1) {
    uint64_t bits = region.destination | region.source | region.width;
    if (region.height > 1) bits |= region.destinationPitch | region.sourcePitch;
    if (region.depth > 1) bits |= region.destinationSlice | region.sourceSlice;
    copyUnits(region, copyUnit(bits));
    return;
  }
  // A long run of bytes: the ragged ends by bytes, the middle by the largest unit both sides agree on.
  const uint32_t unit = copyUnit(region.destination - region.source);
  const uint64_t head = std::min((unit - region.destination % unit) % unit, region.width);
  const uint64_t body = (region.width - head) / unit * unit;
  const uint64_t tail = region.width - head - body;
  auto piece = [&](uint64_t offset, uint64_t bytes, uint32_t by) {
    copyUnits({region.destination + offset, region.source + offset, bytes}, by);
  };
  piece(0, head, 1);
  piece(head, body, unit);
  piece(head + body, tail, 1);
}

void Commands::fillUnits(const FillRegion& region, uint32_t unitBytes) {
  inParts(fillUnitsPerGroup, region.width / unitBytes, region.height, region.depth,
          [&](uint64_t x, uint64_t y, uint64_t z, uint64_t width, uint32_t height, uint32_t depth) {
            const struct {
              uint64_t destination, width, pitch, slice;
              uint32_t pattern, padding;
            } push = {region.destination + z * region.slice + y * region.pitch + x * unitBytes,
                      width,
                      region.pitch,
                      region.slice,
                      region.value,
                      0};
            dispatch(device_.builtins().fill(unitBytes), &push, sizeof(push),
                     {groupsFor(width, fillUnitsPerGroup), height, depth});
          });
}

void Commands::fill(const FillRegion& given) {
  if (given.width == 0 || given.height == 0 || given.depth == 0) return;
  FillRegion region = given;
  region.width *= given.valueBytes;  // in bytes from here
  if (given.valueBytes == 1) region.value = (given.value & 0xFF) * 0x01010101u;
  if (given.valueBytes == 2) region.value = (given.value & 0xFFFF) * 0x00010001u;
  if (region.height > 1 || region.depth > 1) {
    uint64_t bits = region.destination | region.width;
    if (region.height > 1) bits |= region.pitch;
    if (region.depth > 1) bits |= region.slice;
    fillUnits(region, fillUnit(bits));
    return;
  }
  const uint64_t head = std::min((16 - region.destination % 16) % 16, region.width);
  const uint64_t body = (region.width - head) / 16 * 16;
  auto piece = [&](uint64_t offset, uint64_t bytes, uint32_t unit) {
    fillUnits({region.destination + offset, region.value, 4, bytes}, unit);
  };
  // The value's own width at the ends: the pattern starts anew with every value.
  piece(0, head, given.valueBytes);
  piece(head, body, 16);
  piece(head + body, region.width - head - body, given.valueBytes);
}

}  // namespace mulciber::vk
