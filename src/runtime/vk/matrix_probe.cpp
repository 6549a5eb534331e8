#include "runtime/vk/matrix_probe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include <fmt/format.h>

#include "mulciber/kernel_abi.h"
#include "mulciber/translator.h"
#include "runtime/vk/device.h"
#include "runtime/vk/probe_run.h"
#include "util/log.h"

namespace mulciber::vk {

namespace {

constexpr unsigned lanes = 32, rows = 16, columns = 8, mostDepth = 32;
constexpr VkComponentTypeKHR brainFloat = VK_COMPONENT_TYPE_BFLOAT16_KHR;

// What one lane has: the fragments of mma, C and then D in the same place.
struct Fragments {
  uint32_t a[4] = {}, b[2] = {}, unused[2] = {}, sums[4] = {};
};

struct Product {
  VkComponentTypeKHR factor, sum;
  unsigned columns;  // of the cooperative matrices that multiply them
  bool TargetProfile::*unit;
  uint8_t ProbeResults::*found;
  const char* instruction;
};

constexpr Product products[] = {
    {VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT32_KHR, columns, &TargetProfile::matricesF16F32,
     &ProbeResults::matricesF16F32, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
    {VK_COMPONENT_TYPE_FLOAT16_KHR, VK_COMPONENT_TYPE_FLOAT16_KHR, columns, &TargetProfile::matricesF16F16,
     &ProbeResults::matricesF16F16, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"},
    {brainFloat, VK_COMPONENT_TYPE_FLOAT32_KHR, 16, &TargetProfile::matricesBF16, &ProbeResults::matricesBF16,
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
    {VK_COMPONENT_TYPE_SINT8_KHR, VK_COMPONENT_TYPE_SINT32_KHR, columns, &TargetProfile::matricesS8,
     &ProbeResults::matricesS8, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    {VK_COMPONENT_TYPE_UINT8_KHR, VK_COMPONENT_TYPE_UINT32_KHR, columns, &TargetProfile::matricesU8,
     &ProbeResults::matricesU8, "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32"},
};

unsigned bitsOf(VkComponentTypeKHR type) {
  if (type == brainFloat) return 16;
  switch (type) {
    case VK_COMPONENT_TYPE_FLOAT32_KHR:
    case VK_COMPONENT_TYPE_SINT32_KHR:
    case VK_COMPONENT_TYPE_UINT32_KHR: return 32;
    case VK_COMPONENT_TYPE_FLOAT16_KHR: return 16;
    default: return 8;
  }
}

bool isListed(const PhysicalDevice& physical, const Product& product) {
  // An engine may not have switched them on.
  if (physical.cooperativeMatrix.cooperativeMatrix == VK_FALSE) return false;
  if (product.factor == brainFloat && physical.brainFloats.shaderBFloat16CooperativeMatrix == VK_FALSE) return false;
  return std::ranges::any_of(physical.matrices, [&](const VkCooperativeMatrixPropertiesKHR& one) {
    return one.scope == VK_SCOPE_SUBGROUP_KHR && one.saturatingAccumulation == VK_FALSE && one.MSize == rows &&
           one.NSize == product.columns && one.KSize * bitsOf(product.factor) == mostDepth * 8 &&
           one.AType == product.factor && one.BType == product.factor && one.CType == product.sum &&
           one.ResultType == product.sum;
  });
}

// A small whole number as one of that type.
uint32_t encode(int number, VkComponentTypeKHR type) {
  if (type == VK_COMPONENT_TYPE_FLOAT32_KHR) return std::bit_cast<uint32_t>(static_cast<float>(number));
  if (type == brainFloat) return std::bit_cast<uint32_t>(static_cast<float>(number)) >> 16;
  if (type != VK_COMPONENT_TYPE_FLOAT16_KHR)
    return bitsOf(type) == 8 ? static_cast<uint8_t>(number) : static_cast<uint32_t>(number);
  if (number == 0) return 0;
  const auto magnitude = static_cast<unsigned>(number < 0 ? -number : number);
  const auto exponent = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  return (number < 0 ? 0x8000u : 0u) | (exponent + 15) << 10 | ((magnitude << (10 - exponent)) & 0x3FF);
}

// Whole numbers that differ from place to place, so that no component can be another one's, and whose sums are exact.
struct Matrices {
  std::array<std::array<int, mostDepth>, rows> a;
  std::array<std::array<int, columns>, mostDepth> b;
  std::array<std::array<int, columns>, rows> c, d;

  explicit Matrices(const Product& product) {
    uint32_t state = 1;
    auto next = [&](int lowest, int highest) {
      state = state * 1664525 + 1013904223;
      return lowest + static_cast<int>((state >> 8) % static_cast<uint32_t>(highest - lowest + 1));
    };
    const bool isByte = bitsOf(product.factor) == 8, isSigned = product.factor != VK_COMPONENT_TYPE_UINT8_KHR;
    const int highest = isByte ? (isSigned ? 127 : 255) : 7, lowest = isSigned ? -highest : 0;
    const unsigned depth = mostDepth * 8 / bitsOf(product.factor);
    for (auto& row : a)
      for (int& number : row) number = next(lowest, highest);
    for (auto& row : b)
      for (int& number : row) number = next(lowest, highest);
    for (unsigned i = 0; i < rows; ++i)
      for (unsigned j = 0; j < columns; ++j) {
        d[i][j] = c[i][j] = next(-99, 99);
        for (unsigned k = 0; k < depth; ++k) d[i][j] += a[i][k] * b[k][j];
      }
  }

  // The fragments of a lane, as PTX lays them out.
  Fragments fragments(unsigned lane, const Product& product, bool isResult) const {
    const unsigned bits = bitsOf(product.factor), packed = 32 / bits, g = lane / 4, t = lane % 4;
    Fragments one;
    for (unsigned word = 0; word < 4; ++word)
      for (unsigned i = 0; i < packed; ++i) {
        const unsigned k = packed * (t + 4 * (word / 2)) + i;
        one.a[word] |= encode(a[g + 8 * (word % 2)][k], product.factor) << (i * bits);
        if (word % 2 == 0) one.b[word / 2] |= encode(b[k][g], product.factor) << (i * bits);
      }
    const unsigned sumBits = bitsOf(product.sum);
    for (unsigned i = 0; i < 4; ++i) {
      const int number = (isResult ? d : c)[g + 8 * (i / 2)][2 * t + i % 2];
      one.sums[i * sumBits / 32] |= encode(number, product.sum) << (i * sumBits % 32);
    }
    return one;
  }
};

std::string probeText(const Product& product) {
  const char* sums = bitsOf(product.sum) == 16 ? "{%c0, %c1}" : "{%c0, %c1, %c2, %c3}";
  return fmt::format(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 data) {{
  .reg .b32 %a<4>, %b<2>, %c<4>, %lane;
  .reg .b64 %at, %offset;
  ld.param.u64 %at, [data];
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %offset, %lane, {0};
  add.u64 %at, %at, %offset;
  ld.global.v4.b32 {{%a0, %a1, %a2, %a3}}, [%at];
  ld.global.v2.b32 {{%b0, %b1}}, [%at + 16];
  ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%at + 32];
  {1} {2}, {{%a0, %a1, %a2, %a3}}, {{%b0, %b1}}, {2};
  st.global.v4.b32 [%at + 32], {{%c0, %c1, %c2, %c3}};
  ret;
}}
)",
                     sizeof(Fragments), product.instruction, sums);
}

bool multipliesAsMma(Device& device, const Product& product, bool onUnits, bool byCasts = false) {
  TargetProfile profile;
  profile.*product.unit = onUnits;
  profile.castsMatrices = byCasts;
  const Matrices matrices(product);
  std::array<Fragments, lanes> data;
  for (unsigned lane = 0; lane < lanes; ++lane) data[lane] = matrices.fragments(lane, product, false);
  if (!runWarp(device, probeText(product), profile, data.data(), sizeof(data))) return false;
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (!std::ranges::equal(data[lane].sums, matrices.fragments(lane, product, true).sums)) return false;
  return true;
}

// What a lane brings to ldmatrix, and what it gets of four and of two matrices, each also transposed.
struct LaneOfRows {
  uint32_t row = 0, unused[3] = {}, words[4][4] = {};
};

// Each lane writes eight numbers of 16 bits, which count on from lane to lane, into a row of its own.
constexpr char rowsText[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 data) {
  .shared .align 16 .b8 rows[512];
  .reg .b32 %lane, %row, %base, %w<4>;
  .reg .b64 %at, %offset;
  ld.param.u64 %at, [data];
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %offset, %lane, 80;
  add.u64 %at, %at, %offset;
  mad.lo.u32 %w0, %lane, 0x80008, 0x10000;
  add.u32 %w1, %w0, 0x20002;
  add.u32 %w2, %w1, 0x20002;
  add.u32 %w3, %w2, 0x20002;
  mov.u32 %base, rows;
  mad.lo.u32 %row, %lane, 16, %base;
  st.shared.v4.b32 [%row], {%w0, %w1, %w2, %w3};
  bar.sync 0;
  ld.global.u32 %row, [%at];
  mad.lo.u32 %row, %row, 16, %base;
  ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%w0, %w1, %w2, %w3}, [%row];
  st.global.v4.b32 [%at + 16], {%w0, %w1, %w2, %w3};
  ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%w0, %w1, %w2, %w3}, [%row];
  st.global.v4.b32 [%at + 32], {%w0, %w1, %w2, %w3};
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%w0, %w1}, [%row];
  st.global.v2.b32 [%at + 48], {%w0, %w1};
  ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%w0, %w1}, [%row];
  st.global.v2.b32 [%at + 64], {%w0, %w1};
  ret;
}
)";

bool loadsRowsAsLdmatrix(Device& device, bool onUnits) {
  TargetProfile profile;
  profile.sharedExplicitLayout = device.physical().explicitLayout.workgroupMemoryExplicitLayout;
  profile.loadsMatrixRows = onUnits;
  for (auto rowOf :
       {+[](unsigned lane) { return (lane * 13 + 5) % lanes; }, +[](unsigned lane) { return lane * lane % 23; }}) {
    std::array<LaneOfRows, lanes> data;
    for (unsigned lane = 0; lane < lanes; ++lane) data[lane].row = rowOf(lane);
    if (!runWarp(device, rowsText, profile, data.data(), sizeof(data))) return false;
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned way = 0; way < 4; ++way)
        for (unsigned j = 0; j < (way < 2 ? 4u : 2u); ++j) {
          const unsigned g = lane / 4, t = lane % 4;
          const bool isTransposed = way % 2 != 0;
          const unsigned low = isTransposed ? rowOf(8 * j + 2 * t) * 8 + g : rowOf(8 * j + g) * 8 + 2 * t;
          const unsigned high = isTransposed ? rowOf(8 * j + 2 * t + 1) * 8 + g : low + 1;
          if (data[lane].words[way][j] != (high << 16 | low)) return false;
        }
  }
  return true;
}

}  // namespace

void probeMatrices(Device& device, ProbeResults& out, bool onUnits) {
  for (const Product& product : products) {
    if (onUnits && !isListed(device.physical(), product)) continue;
    out.*product.found = multipliesAsMma(device, product, onUnits);
    util::log().info("probed {}: {} {}", device.physical().properties().deviceName, product.instruction,
                     out.*product.found ? "lies as PTX says" : "lies otherwise");
  }
  if (device.physical().driver() == Driver::Nvidia && out.matricesS8 && out.matricesU8)
    out.castsMatrices = std::ranges::all_of(products, [&](const Product& product) {
      return bitsOf(product.factor) != 8 || multipliesAsMma(device, product, onUnits, true);
    });
  if (!onUnits || (device.physical().driver() == Driver::Nvidia && out.matricesF16F32))
    out.loadsMatrixRows = loadsRowsAsLdmatrix(device, onUnits);
  util::log().info("probed {}: matrices of bytes by casts {}, rows of matrices from each lane's address {}",
                   device.physical().properties().deviceName, out.castsMatrices, out.loadsMatrixRows);
}

}  // namespace mulciber::vk
