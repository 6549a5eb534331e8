// Textures in device memory: what the shader makes of a record, against a model of it on the host.
#include <cmath>
#include <functional>
#include <limits>

#include "execute/ptx_test.h"
#include "mulciber/texture_abi.h"

namespace mulciber::test {
namespace {

using abi::AddressMode;
using abi::ChannelType;
using abi::TextureRecord;

float halfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const float magnitude =
      exponent == 0    ? std::ldexp(static_cast<float>(mantissa), -24)
      : exponent == 31 ? (mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
                       : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return half >> 15 ? -magnitude : magnitude;
}

// One channel as CUDA gives it.
uint32_t convert(const TextureRecord& record, uint32_t field) {
  const uint32_t bits = record.channelBits;
  const int32_t extended =
      bits == 32 ? static_cast<int32_t>(field) : static_cast<int32_t>(field << (32 - bits)) >> (32 - bits);
  const bool isSigned = record.channelType == ChannelType::Signed;
  if (record.channelType == ChannelType::Float)
    return bits == 32 ? field : std::bit_cast<uint32_t>(halfToFloat(static_cast<uint16_t>(field)));
  if ((record.flags & abi::ReadsNormalized) == 0) return isSigned ? static_cast<uint32_t>(extended) : field;
  const auto largest = static_cast<float>((1u << (bits - (isSigned ? 1 : 0))) - 1);
  const float number = isSigned ? static_cast<float>(extended) : static_cast<float>(field);
  return std::bit_cast<uint32_t>(std::max(number / largest, -1.f));
}

uint32_t fieldOf(const uint8_t* texel, uint32_t bits, uint32_t channel) {
  uint32_t field = 0;
  std::memcpy(&field, texel + channel * bits / 8, bits / 8);
  return field;
}

class TexturePtx : public PtxTest {
 protected:
  static constexpr uint32_t generation = 7;
  static constexpr uint64_t handle = abi::textureHandle(1, generation);

  void SetUp() override {
    PtxTest::SetUp();
    if (IsSkipped()) return;
    if (!device->profile().textures) GTEST_SKIP() << "skipped: the device has no arrays of descriptors";
    table_ = std::make_unique<Buffer>(*device, sizeof(abi::TextureTable) + 2 * sizeof(TextureRecord));
    textureTable = abi::textureTable(table_->address(), 1);
  }
  void TearDown() override {
    table_.reset();
    PtxTest::TearDown();
  }

  void describe(TextureRecord record) {
    record.generation = generation;
    record.height = std::max(record.height, 1u);
    record.depth = record.layers = record.levels = 1;
    std::memcpy(table_->as<uint8_t>() + sizeof(abi::TextureTable) + sizeof(record), &record, sizeof(record));
  }

  static TextureRecord linear(const Buffer& texels, uint32_t width, ChannelType type, uint32_t bits, uint32_t channels,
                              uint32_t flags = 0) {
    TextureRecord record{};
    record.kind = abi::TextureKind::Linear;
    record.address = texels.address();
    record.width = width;
    record.channelType = type;
    record.channelBits = bits;
    record.channels = channels;
    record.texelBytes = bits * channels / 8;
    record.flags = flags;
    std::ranges::fill(record.addressModes, static_cast<uint32_t>(AddressMode::Border));
    return record;
  }

  static TextureRecord pitched(const Buffer& texels, uint32_t width, uint32_t height, uint32_t pitch, uint32_t flags,
                               AddressMode mode) {
    TextureRecord record = linear(texels, width, ChannelType::Float, 32, 1, flags);
    record.kind = abi::TextureKind::Pitched;
    record.height = height;
    record.pitch = pitch;
    std::ranges::fill(record.addressModes, static_cast<uint32_t>(mode));
    return record;
  }

  // Four words for each thread, by an instruction that finds its handle in %rd1 and its number in %t.
  std::vector<uint32_t> read(const std::string& instruction, uint32_t threads, uint64_t with = handle,
                             std::string_view declarations = "") {
    TargetProfile filtering = device->profile();
    filtering.samplesLikeCuda = false;  // the records here have no image that a sampler could read
    return wordsOf(filtering,
                   "mov.u64 %rd1, " + std::to_string(with) + ";\n" + instruction +
                       "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};",
                   4, threads, declarations);
  }

  std::unique_ptr<Buffer> table_;
};

// The first texels are out of range, as are the last.
TEST_F(TexturePtx, LinearTexelsOfEveryFormat) {
  constexpr uint32_t count = 260, threads = count + 4;
  Buffer texels(*device, count * 16);
  for (uint32_t i = 0; i < count * 16; ++i) texels.as<uint8_t>()[i] = static_cast<uint8_t>(i * 167 + i / 256);
  struct Format {
    ChannelType type;
    uint32_t bits, flags;
  };
  for (const Format& format : {Format{ChannelType::Unsigned, 8, 0},
                               {ChannelType::Unsigned, 8, abi::ReadsNormalized},
                               {ChannelType::Signed, 8, 0},
                               {ChannelType::Signed, 8, abi::ReadsNormalized},
                               {ChannelType::Unsigned, 16, 0},
                               {ChannelType::Unsigned, 16, abi::ReadsNormalized},
                               {ChannelType::Signed, 16, 0},
                               {ChannelType::Signed, 16, abi::ReadsNormalized},
                               {ChannelType::Unsigned, 32, 0},
                               {ChannelType::Signed, 32, 0},
                               {ChannelType::Float, 32, 0},
                               {ChannelType::Float, 16, 0}})
    for (const uint32_t channels : {1u, 2u, 4u}) {
      TextureRecord record = linear(texels, count, format.type, format.bits, channels, format.flags);
      // Channels of 32 bits have a way of their own.
      for (const uint32_t sampling : {0u, uint32_t{abi::FetchesWords} | channels}) {
        if (sampling != 0 && format.bits != 32) continue;
        record.sampling = sampling;
        describe(record);
        const auto words =
            read("add.s32 %r10, %t, -2;\ntex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r10}];\n", threads);
        const bool givesFloats = format.type == ChannelType::Float || format.flags != 0;
        for (uint32_t thread = 0; thread < threads; ++thread)
          for (uint32_t channel = 0; channel < 4; ++channel) {
            const bool isInside = thread >= 2 && thread < count + 2;
            uint32_t expected = 0;
            if (isInside && channel < channels) {
              const uint8_t* texel = texels.as<uint8_t>() + (thread - 2) * record.texelBytes;
              expected = convert(record, fieldOf(texel, format.bits, channel));
            }
            const uint32_t got = words[thread * 4 + channel];
            const bool areNans =
                givesFloats && std::isnan(std::bit_cast<float>(got)) && std::isnan(std::bit_cast<float>(expected));
            ASSERT_TRUE(got == expected || areNans)
                << std::hex << got << " for " << expected << std::dec << ", texel " << int(thread) - 2 << " channel "
                << channel << " of " << channels << " x " << format.bits << " bits, type " << int(format.type)
                << (format.flags ? " normalised" : "");
          }
      }
    }
}

// Every number of 16 bits as a fraction.
TEST_F(TexturePtx, FractionsAreCorrectlyRounded) {
  constexpr uint32_t count = 65536;
  Buffer texels(*device, count * 2);
  for (uint32_t i = 0; i < count; ++i) texels.as<uint16_t>()[i] = static_cast<uint16_t>(i);
  for (const ChannelType type : {ChannelType::Unsigned, ChannelType::Signed}) {
    const TextureRecord record = linear(texels, count, type, 16, 1, abi::ReadsNormalized);
    describe(record);
    // 64 texels for each thread.
    Buffer out(*device, count * 4);
    Launch launch;
    launch.block[0] = 1024;
    launch.add(out.address());
    runPtx(R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
.reg .b64 %out, %at, %handle; .reg .b32 %i, %x, %y, %z, %w; .reg .pred %p;
ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mov.u64 %handle, )" +
               std::to_string(handle) + R"(;
again:
tex.1d.v4.f32.s32 {%x, %y, %z, %w}, [%handle, {%i}];
mad.wide.u32 %at, %i, 4, %out;
st.global.b32 [%at], %x;
add.u32 %i, %i, 1024;
setp.lt.u32 %p, %i, 65536;
@%p bra again;
ret;
})",
           launch, device->profile());
    for (uint32_t i = 0; i < count; ++i)
      ASSERT_EQ(out.as<uint32_t>()[i], convert(record, i)) << i << " of type " << int(type);
  }
}

TEST_F(TexturePtx, NothingIsBehindWildHandles) {
  Buffer texels(*device, 1024);
  std::memset(texels.as<uint8_t>(), 0xFF, 1024);
  describe(linear(texels, 64, ChannelType::Unsigned, 32, 4));
  for (const uint64_t wild : {uint64_t(0), uint64_t(1), handle + 1, handle + (uint64_t(1) << 32), ~uint64_t(0)}) {
    const auto words = read("tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%t}];\n", 32, wild);
    EXPECT_EQ(std::ranges::count(words, 0u), 128) << std::hex << wild;
  }
}

TEST_F(TexturePtx, QueriesReadTheRecord) {
  Buffer texels(*device, 1024);
  TextureRecord record = pitched(texels, 13, 5, 64, abi::NormalizedCoordinates, AddressMode::Clamp);
  describe(record);
  const auto words = read(
      "txq.width.b32 %r1, [%rd1];\ntxq.height.b32 %r2, [%rd1];\ntxq.normalized_coords.b32 %r3, [%rd1];\n"
      "txq.depth.b32 %r4, [%rd1];\n",
      1);
  EXPECT_EQ(words, (std::vector<uint32_t>{13, 5, 1, 0}));
  const auto levels = read(
      "mov.u32 %r10, 2;\ntxq.level.width.b32 %r1, [%rd1], %r10;\ntxq.level.height.b32 %r2, [%rd1], %r10;\n"
      "mov.u32 %r10, 0;\ntxq.level.width.b32 %r3, [%rd1], %r10;\ntxq.level.height.b32 %r4, [%rd1], %r10;\n",
      1);
  EXPECT_EQ(levels, (std::vector<uint32_t>{0, 0, 13, 5})) << "there is one level";
}

// A model of addressing and filtering. Weights are whole numbers of 256ths, of planes too; sums are exact here.
struct Model {
  const TextureRecord& record;
  const float* texels;

  float texel(int x, int y) const {
    const int sizes[] = {static_cast<int>(record.width), static_cast<int>(record.height)};
    int place[] = {x, y};
    for (int axis = 0; axis < 2; ++axis) {
      const auto mode = static_cast<AddressMode>(record.addressModes[axis]);
      int& at = place[axis];
      if (mode == AddressMode::Border && (at < 0 || at >= sizes[axis])) return std::bit_cast<float>(record.border[0]);
      if (mode == AddressMode::Wrap) at = ((at % sizes[axis]) + sizes[axis]) % sizes[axis];
      at = std::clamp(at, 0, sizes[axis] - 1);
    }
    return texels[place[1] * (record.pitch / 4) + place[0]];
  }
  float reduce(float coordinate, int axis) const {
    const auto mode = static_cast<AddressMode>(record.addressModes[axis]);
    const float whole = std::floor(coordinate), fraction = coordinate - whole;
    if (mode == AddressMode::Wrap) return fraction;
    if (mode == AddressMode::Mirror) return std::fmod(whole, 2.f) != 0 ? 1 - fraction : fraction;
    return coordinate;
  }
  float sample(float x, float y) const {
    const bool isLinear = (record.flags & abi::LinearFilter) != 0;
    const float sizes[] = {static_cast<float>(record.width), static_cast<float>(record.height)};
    float coordinates[] = {x, y};
    int places[2], weights[2], near[2];
    for (int axis = 0; axis < 2; ++axis) {
      float place = reduce(coordinates[axis], axis);
      if (record.flags & abi::NormalizedCoordinates) place *= sizes[axis];
      if (isLinear) place -= 0.5f;
      // Of two texels that meet at a mirrored place it is the one that the place itself has.
      const bool isMirrored = record.addressModes[axis] == static_cast<uint32_t>(AddressMode::Mirror) &&
                              std::fmod(std::floor(coordinates[axis]), 2.f) != 0;
      places[axis] = static_cast<int>(isMirrored && !isLinear ? std::ceil(place) - 1 : std::floor(place));
      // Of a mirrored pair the filter meets the second one first.
      const int second = static_cast<int>(std::floor((place - std::floor(place)) * 256 + 0.5f));
      near[axis] = isMirrored ? 1 : 0;
      weights[axis] = isMirrored ? 256 - second : second;
    }
    if (!isLinear) return texel(places[0], places[1]);
    const int a = weights[0], b = weights[1], both = (a * b + 128) >> 8;
    const auto part = [&](int weight, int farX, int farY) {
      return static_cast<float>(weight) * texel(places[0] + (farX ^ near[0]), places[1] + (farY ^ near[1]));
    };
    return (part(256 - a - b + both, 0, 0) + part(a - both, 1, 0) + part(b - both, 0, 1) + part(both, 1, 1)) / 256;
  }
};

TEST_F(TexturePtx, PitchedTexturesAreAddressedAndFiltered) {
  constexpr uint32_t width = 8, height = 4, pitch = 64, threads = 1024;
  Buffer texels(*device, pitch * height), places(*device, threads * 8);
  for (uint32_t i = 0; i < pitch * height / 4; ++i) texels.as<float>()[i] = static_cast<float>(i * i % 61);
  for (const AddressMode mode : {AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border})
    for (const uint32_t filter : {0u, uint32_t(abi::LinearFilter)})
      for (const uint32_t coordinates : {0u, uint32_t(abi::NormalizedCoordinates)}) {
        if (!coordinates && (mode == AddressMode::Wrap || mode == AddressMode::Mirror)) continue;
        TextureRecord record = pitched(texels, width, height, pitch, filter | coordinates, mode);
        record.border[0] = std::bit_cast<uint32_t>(100.f);
        describe(record);
        for (uint32_t i = 0; i < threads; ++i) {
          const float scale = coordinates ? 1.f : width;
          places.as<float>()[2 * i] = (static_cast<float>(i) - 300) / 256 * scale;
          places.as<float>()[2 * i + 1] = (static_cast<float>(i * 5 % 1024) - 500) / 256 * scale;
        }
        const auto words = read("mov.u64 %rd2, " + std::to_string(places.address()) +
                                    ";\nmad.wide.u32 %rd2, %t, 8, %rd2;\nld.global.v2.f32 {%f1, %f2}, [%rd2];\n"
                                    "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1, %f2}];\n",
                                threads);
        const Model model{record, texels.as<float>()};
        for (uint32_t i = 0; i < threads; ++i) {
          const float x = places.as<float>()[2 * i], y = places.as<float>()[2 * i + 1];
          ASSERT_EQ(std::bit_cast<float>(words[4 * i]), model.sample(x, y))
              << x << ", " << y << " mode " << int(mode) << " flags " << record.flags;
        }
      }
}

// Offsets count texels, and what lies beyond the edge is the edge's own.
TEST_F(TexturePtx, OffsetsMoveTheTexelsOfAFilter) {
  Buffer texels(*device, 512);
  for (uint32_t i = 0; i < 128; ++i) texels.as<float>()[i] = static_cast<float>(i);
  describe(pitched(texels, 8, 4, 64, abi::LinearFilter, AddressMode::Clamp));
  const auto words = read(
      "mov.f32 %f1, 0f3f400000;\nmov.f32 %f2, 0f3fc00000;\nmov.u32 %r11, 0;\n"  // 0.75, 1.5
      "mov.u32 %r10, 3;\ntex.2d.v4.f32.f32 {%r1, %r12, %r12, %r12}, [%rd1, {%f1, %f2}], {%r10, %r11};\n"
      "mov.u32 %r10, -1;\ntex.2d.v4.f32.f32 {%r2, %r12, %r12, %r12}, [%rd1, {%f1, %f2}], {%r10, %r11};\n"
      "mov.f32 %f1, 0fbfa00000;\nmov.u32 %r10, 2;\n"  // -1.25
      "tex.2d.v4.f32.f32 {%r3, %r12, %r12, %r12}, [%rd1, {%f1, %f2}], {%r10, %r11};\nmov.u32 %r4, 0;\n",
      1);
  EXPECT_EQ(std::bit_cast<float>(words[0]), 19.25f);
  EXPECT_EQ(std::bit_cast<float>(words[1]), 16);
  EXPECT_EQ(std::bit_cast<float>(words[2]), 16.25f);
  describe(linear(texels, 128, ChannelType::Float, 32, 1));
  const auto line = read(
      "mov.f32 %f1, 0f40a00000;\nmov.u32 %r10, 3;\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r2, 0;\n"  // 5
      "tex.1d.v4.f32.f32 {%r1, %r12, %r12, %r12}, [%rd1, {%f1}], {%r10};\n",
      1);
  EXPECT_EQ(std::bit_cast<float>(line[0]), 8);
}

// Texel coordinates that are no numbers end at the texture's edge.
TEST_F(TexturePtx, CoordinatesThatAreNoNumbers) {
  Buffer texels(*device, 256);
  for (uint32_t i = 0; i < 64; ++i) texels.as<float>()[i] = static_cast<float>(i + 1);
  describe(pitched(texels, 4, 2, 32, abi::LinearFilter, AddressMode::Clamp));
  const auto words = read(
      "mov.b32 %f1, 0x7fc00000;\nmov.b32 %f2, 0x7f800000;\nmov.b32 %f3, 0xff800000;\n"
      "tex.2d.v4.f32.f32 {%r1, %r10, %r10, %r10}, [%rd1, {%f1, %f1}];\n"
      "tex.2d.v4.f32.f32 {%r2, %r10, %r10, %r10}, [%rd1, {%f2, %f2}];\n"
      "tex.2d.v4.f32.f32 {%r3, %r10, %r10, %r10}, [%rd1, {%f3, %f3}];\nmov.u32 %r4, 0;\n",
      1);
  EXPECT_EQ(std::bit_cast<float>(words[0]), 1);
  EXPECT_EQ(std::bit_cast<float>(words[1]), 12);
  EXPECT_EQ(std::bit_cast<float>(words[2]), 1);
}

// The manual's order: (0, 1), (1, 1), (1, 0), (0, 0).
TEST_F(TexturePtx, GathersTheFourTexelsOfAFilter) {
  Buffer texels(*device, 256);
  for (uint32_t i = 0; i < 64; ++i) texels.as<float>()[i] = static_cast<float>(i);
  describe(pitched(texels, 8, 8, 32, 0, AddressMode::Clamp));
  const auto words = read(
      "mov.f32 %f1, 0f40400000;\nmov.f32 %f2, 0f40400000;\n"
      "tld4.r.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1, %f2}];\n",
      1);
  for (int i = 0; i < 4; ++i) {
    const int x[] = {2, 3, 3, 2}, y[] = {3, 3, 2, 2};
    EXPECT_EQ(std::bit_cast<float>(words[i]), static_cast<float>(y[i] * 8 + x[i])) << i;
  }
}

TEST_F(TexturePtx, HalvesAreRounded) {
  Buffer texels(*device, 64);
  const float values[] = {1.f / 3, -2.f, 65504.f, 1e-7f};
  std::memcpy(texels.as<float>(), values, sizeof values);
  describe(linear(texels, 1, ChannelType::Float, 32, 4));
  const auto words =
      read("mov.u32 %r10, 0;\ntex.1d.v2.f16x2.s32 {%r1, %r2}, [%rd1, {%r10}];\nmov.u32 %r3, 0;\nmov.u32 %r4, 0;\n", 1);
  EXPECT_EQ(words[0], 0xC0003555u);
  EXPECT_EQ(words[1], 0x00027BFFu);
}

// A function that finds no texel ends the thread, whoever has called it.
TEST_F(TexturePtx, SurfacesInFunctions) {
  describe({});
  for (const uint32_t limit : {TranslateOptions().inlineLimit, 0u}) {
    inlineLimit = limit;
    const std::vector<uint32_t> words = wordsOf(R"(
      st.global.b32 [%out], 1;
      setp.lt.u32 %p1, %t, 16;
      @%p1 bra done;
      mov.u64 %rd1, )" + std::to_string(handle) + R"(;
      call (%r1), texel, (%rd1);
      st.global.b32 [%out], %r1;
      call (%r1), texel, (%rd1);
      st.global.b32 [%out], %r1;
    done:)",
                                                1, 32, R"(
      .func (.param .b32 r) texel(.param .b64 surface)
      {
        .reg .b32 %r1; .reg .b64 %d1;
        ld.param.b64 %d1, [surface];
        suld.b.1d.b32.trap {%r1}, [%d1, {4}];
        st.param.b32 [r], 2;
        ret;
      })");
    EXPECT_EQ(error.error, static_cast<uint32_t>(abi::KernelError::IllegalAddress));
    EXPECT_EQ(words, std::vector<uint32_t>(32, 1));
  }
}

}  // namespace
}  // namespace mulciber::test
