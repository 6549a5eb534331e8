#include "runtime/vk/bfloat_probe.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "runtime/vk/device.h"
#include "runtime/vk/probe_run.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

struct Pair {
  uint32_t low, high, unused;
};

// Each lane converts every 32nd pair. The operation beside it decides in which mode the kernel computes: with .ftz it
// flushes denormals, without it keeps them.
constexpr char text[] = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 data) {{
  .reg .b32 %i, %pair;
  .reg .f32 %low, %high, %other;
  .reg .b64 %at, %offset;
  .reg .pred %more;
  ld.param.u64 %at, [data];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %offset, %i, {0};
  add.u64 %at, %at, %offset;
next:
  ld.global.f32 %low, [%at];
  ld.global.f32 %high, [%at + 4];
  {1} %other, %low{2};
  cvt.rn.bf16x2.f32 %pair, %high, %low;
  st.global.u32 [%at], %pair;
  st.global.f32 [%at + 8], %other;
  add.u64 %at, %at, {3};
  add.u32 %i, %i, 32;
  setp.lt.u32 %more, %i, {4};
  @%more bra next;
  ret;
}}
)";

// Every exponent of both signs, with significands on both sides of the steps between numbers of bf16, and in the
// middle.
std::vector<Pair> pairs() {
  std::vector<uint32_t> numbers;
  for (uint32_t top = 0; top < 512; ++top)
    for (const uint32_t kept : {0x00u, 0x01u, 0x7Eu, 0x7Fu})
      for (const uint32_t dropped : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
        numbers.push_back(top << 23 | kept << 16 | dropped);
  std::vector<Pair> all;
  for (size_t i = 0; i < numbers.size(); ++i) all.push_back({numbers[i], numbers[(i * 7 + 3) % numbers.size()], 0});
  return all;
}

uint32_t nearestBfloat(uint32_t bits) {
  if ((bits & 0x7FFF'FFFF) > 0x7F80'0000) return 0x7FFF;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

// What the driver's compiler makes of numbers that it knows.
constexpr uint32_t constants[] = {0x3F80'8000, 0x3F81'8000, 0x3F80'8001, 0x0000'0001, 0x0001'8000, 0x807F'FFFF,
                                  0x7F7F'FFFF, 0xFF7F'0000, 0x7F80'0000, 0x7F80'0001, 0xFFC0'0000, 0x8000'0000};

std::string textOfConstants() {
  std::string body;
  for (size_t i = 0; i < std::size(constants); ++i)
    body += fmt::format(
        "  mov.b32 %low, 0f{:08X};\n  cvt.rn.bf16x2.f32 %pair, 0f{:08X}, %low;\n"
        "  st.global.u32 [%at + {}], %pair;\n",
        constants[i], constants[(i + 1) % std::size(constants)], 4 * i);
  return fmt::format(
      ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry probe(.param .u64 data) {{\n"
      "  .reg .b32 %pair;\n  .reg .f32 %low;\n  .reg .b64 %at;\n  ld.param.u64 %at, [data];\n{}  ret;\n}}\n",
      body);
}

}  // namespace

bool packsBfloats(Device& device, const ProbeResults& known, bool byDevice) {
  TargetProfile profile;
  profile.denormPreserve32 = known.denormPreserve32;
  profile.denormFlush32 = known.denormFlush32;
  profile.denormsByDefault32 = known.denormsByDefault32;
  profile.packsBfloats = byDevice;
  const std::vector<Pair> given = pairs();
  auto isRight = [&](const char* operation, const char* operand) {
    std::vector<Pair> data = given;
    const std::string kernel = fmt::format(text, sizeof(Pair), operation, operand, 32 * sizeof(Pair), given.size());
    if (!runWarp(device, kernel, profile, data.data(), data.size() * sizeof(Pair))) return false;
    return std::ranges::equal(data, given, {}, &Pair::low, [](const Pair& pair) {
      return nearestBfloat(pair.low) | nearestBfloat(pair.high) << 16;
    });
  };
  auto foldsRight = [&] {
    uint32_t data[std::size(constants)] = {};
    if (!runWarp(device, textOfConstants(), profile, data, sizeof(data))) return false;
    for (size_t i = 0; i < std::size(constants); ++i)
      if (data[i] != (nearestBfloat(constants[i]) | nearestBfloat(constants[(i + 1) % std::size(constants)]) << 16))
        return false;
    return true;
  };
  const bool plain = isRight("mov.f32", ""), keeping = isRight("add.f32", ", 0f3F800000"),
             flushing = isRight("add.ftz.f32", ", 0f3F800000"), folded = foldsRight();
  util::log().info("probed {}: f32 to bf16 {}, beside denormals that are kept {} and flushed {}, of constants {}",
                   device.physical().properties().deviceName, plain, keeping, flushing, folded);
  return plain && keeping && flushing && folded;
}

}  // namespace mulciber::vk
