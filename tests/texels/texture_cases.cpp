// Geometry x format x read mode x filter x coordinates x address mode, and every form of tex and tld4.
#include <bit>
#include <cmath>
#include <cstring>

#include "texels.h"

namespace mulciber::texels {

bool hasSpecialPlaces = true;

namespace {

constexpr unsigned reads = 2048;

enum class Form { Plain, Whole, Level, WholeLevel, Gradient, Gather, Halves, Offset, Compare };

struct Texture {
  Geometry geometry;
  Format format;
  Form form = Form::Plain;
  bool readsIntegers = false, isLinear = false, isNormalized = false, isSrgb = false, isSeamless = false;
  unsigned mode = CU_TR_ADDRESS_MODE_CLAMP;
  bool mixesLevels = false;
  float bias = 0, lowest = 0, highest = 100;
  unsigned anisotropy = 0;
  float border[4] = {};
  unsigned channel = 0;  // of gathers
  std::string note{};    // what else is special

  bool isCube() const { return geometry == Geometry::Cube || geometry == Geometry::Cubes; }
  std::string name() const;
  std::string kernel() const;
  std::vector<uint8_t> places(const Resource& resource) const;
  CUDA_TEXTURE_DESC description() const;
};

const char* nameOf(Form form) {
  constexpr const char* names[] = {"tex",  "tex at integers", "tex.level",        "tex.level at integers", "tex.grad",
                                   "tld4", "tex.f16x2",       "tex with offsets", "tex with comparison"};
  return names[static_cast<int>(form)];
}

std::string Texture::name() const {
  constexpr const char* modes[] = {"wrap", "clamp", "mirror", "border"};
  std::string made = std::string(nameOf(form)) + ", " + texels::nameOf(geometry) + " " + format.name;
  if (form == Form::Gather) made += std::string(" ") + "rgba"[channel];
  if (!format.isFloat()) made += readsIntegers ? " as integers" : " as fractions";
  made += isLinear ? ", linear, " : ", point, ";
  made += isNormalized ? "normalized, " : "texels, ";
  made += modes[mode];
  if (isSrgb) made += ", sRGB";
  if (isSeamless) made += ", seamless";
  if (mixesLevels) made += ", between levels";
  return made + note;
}

// %x %y %z %l %d: coordinates, the layer and the level; %a to %f: gradients.
std::string Texture::kernel() const {
  const bool isWhole = form == Form::Whole || form == Form::WholeLevel;
  const char* name = "2d";
  const char* with = "{%x, %y}";
  const char* gradients = "{%a, %b}, {%d, %e}";
  const char* offsets = "{%k, %m}";
  switch (geometry) {
    case Geometry::Linear:
    case Geometry::Line:
    case Geometry::LineLevels: name = "1d", with = "{%x}", gradients = "{%a}, {%d}", offsets = "{%k}"; break;
    case Geometry::Volume:
    case Geometry::VolumeLevels:
      name = "3d", with = "{%x, %y, %z, %z}", gradients = "{%a, %b, %c, %c}, {%d, %e, %f, %f}";
      offsets = "{%k, %m, %n, %n}";
      break;
    case Geometry::Lines: name = "a1d", with = "{%l, %x}", gradients = "{%a}, {%d}", offsets = "{%k}"; break;
    case Geometry::Planes: name = "a2d", with = "{%l, %x, %y, %y}"; break;
    case Geometry::Cube:
      name = "cube", with = "{%x, %y, %z, %z}";
      gradients = "{%a, %b, %c, %c}, {%d, %e, %f, %f}";
      break;
    case Geometry::Cubes:
      name = "acube", with = "{%l, %x, %y, %z}";
      gradients = "{%a, %b, %c, %c}, {%d, %e, %f, %f}";
      break;
    default: break;
  }
  std::string coordinates = with;
  if (isWhole)
    for (const char letter : {'x', 'y', 'z'})
      for (size_t at = 0; (at = coordinates.find(std::string("%") + letter, at)) != std::string::npos; at += 3)
        coordinates.insert(at + 1, "i");
  const bool isInteger = !format.isFloat() && (readsIntegers || format.channelBytes == 4);
  const bool isSigned = std::strchr(format.name, 's') != nullptr;
  const std::string type = isInteger ? isSigned ? "s32" : "u32" : "f32";
  std::string instruction = form == Form::Gather ? std::string("tld4.") + "rgba"[channel] + "." : "tex.";
  if (form == Form::Level || form == Form::WholeLevel) instruction += "level.";
  if (form == Form::Gradient) instruction += "grad.";
  instruction += name;
  if (form == Form::Halves) instruction += ".v2.f16x2.f32 {%r0, %r1}, [%h, ";
  else instruction += ".v4." + type + (isWhole ? ".s32" : ".f32") + " {%r0, %r1, %r2, %r3}, [%h, ";
  instruction += coordinates + "]";
  if (form == Form::Level) instruction += ", %lod";
  if (form == Form::WholeLevel) instruction += ", %li";
  if (form == Form::Gradient) instruction += std::string(", ") + gradients;
  if (form == Form::Offset) instruction += std::string(", ") + offsets;
  if (form == Form::Compare) instruction += ", %lod";
  return R"(.version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 places, .param .u64 out) {
  .reg .b32 %t, %n, %count, %l, %li, %r<4>, %k, %m, %ix, %iy, %iz; .reg .f32 %x, %y, %z, %lod, %a, %b, %c, %d, %e, %f; .reg .b64 %h, %p, %o;
  ld.param.u64 %h, [object]; ld.param.u64 %p, [places]; ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mov.u32 %count, %ntid.x; mad.lo.u32 %t, %n, %count, %t;
  mad.wide.u32 %p, %t, 32, %p; mad.wide.u32 %o, %t, 16, %o;
  ld.global.f32 %x, [%p]; ld.global.f32 %y, [%p+4]; ld.global.f32 %z, [%p+8]; ld.global.u32 %l, [%p+12];
  ld.global.f32 %lod, [%p+16]; ld.global.f32 %a, [%p+20]; ld.global.f32 %b, [%p+24]; ld.global.f32 %d, [%p+28];
  cvt.rmi.s32.f32 %ix, %x; cvt.rmi.s32.f32 %iy, %y; cvt.rmi.s32.f32 %iz, %z; cvt.rni.s32.f32 %li, %lod;
  mov.f32 %c, %a; mov.f32 %e, %d; mov.f32 %f, %d;
  and.b32 %k, %t, 7; sub.s32 %k, %k, 4; and.b32 %m, %l, 3; sub.s32 %m, %m, 1; sub.s32 %n, 1, %m;
  mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
  )" + instruction +
         ";\n  st.global.v4.b32 [%o], {%r0, %r1, %r2, %r3};\n  ret;\n}\n";
}

std::vector<uint8_t> Texture::places(const Resource& resource) const {
  struct Place {
    float x, y, z;
    uint32_t layer;
    float level, a, b, d;
  };
  std::vector<Place> all(reads);
  Random random(5);
  const float special[] = {0,      -0.f,  0.5f, 1,        -1,        2,           1e-30f,   1e10f,
                           -1e10f, 1e30f, NAN,  INFINITY, -INFINITY, 0.99999994f, 1023.75f, -777.125f};
  const bool isWhole = form == Form::Whole || form == Form::WholeLevel;
  for (unsigned i = 0; i < reads; ++i) {
    // A quarter of it on either side of the texture, in steps of 4096ths of a texel, and some at texels' edges.
    const auto along = [&](size_t extent) {
      const auto size = static_cast<uint32_t>(extent ? extent : 1);
      const uint32_t steps = i % 4 == 0 ? 4 : i % 4 == 1 ? 512 : 4096;
      const auto at = static_cast<float>(random.below(size * steps * 3 / 2)) / static_cast<float>(steps) -
                      static_cast<float>(size) / 4;
      return isNormalized && !isWhole ? at / static_cast<float>(size) : at;
    };
    Place& place = all[i];
    place = {along(resource.width()), along(resource.height()), along(resource.depth()), random.below(16), 0, 0, 0, 0};
    if (isCube()) {
      const auto direction = [&] { return static_cast<float>(random.below(4096)) / 1024 - 2; };
      place.x = direction(), place.y = direction(), place.z = direction();
    } else if (hasSpecialPlaces && i % 32 == 31) {
      place.x = special[i / 32 % 16];
    } else if (hasSpecialPlaces && i % 32 == 30) {
      place.y = special[i / 32 % 16];
    }
    place.level = static_cast<float>(random.below(1536)) / 256 - 1;
    const auto gradient = [&] { return std::exp2(static_cast<float>(random.below(10)) - 7); };
    place.a = gradient(), place.b = gradient(), place.d = gradient();
  }
  std::vector<uint8_t> bytes(all.size() * sizeof(Place));
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return bytes;
}

CUDA_TEXTURE_DESC Texture::description() const {
  CUDA_TEXTURE_DESC made{};
  for (CUaddress_mode& each : made.addressMode) each = static_cast<CUaddress_mode>(mode);
  made.filterMode = isLinear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  if (readsIntegers) made.flags |= CU_TRSF_READ_AS_INTEGER;
  if (isNormalized) made.flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (isSrgb) made.flags |= CU_TRSF_SRGB;
  if (isSeamless) made.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  made.mipmapFilterMode = mixesLevels ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  made.mipmapLevelBias = bias;
  made.minMipmapLevelClamp = lowest;
  made.maxMipmapLevelClamp = highest;
  made.maxAnisotropy = anisotropy;
  std::memcpy(made.borderColor, border, sizeof border);
  return made;
}

void run(const Texture& texture, Notes& notes) {
  const Resource resource(notes, texture.geometry, texture.format);
  const CUDA_RESOURCE_DESC what = resource.description();
  const CUDA_TEXTURE_DESC how = texture.description();
  CUtexObject object = 0;
  const CUresult created = cuTexObjectCreate(&object, &what, &how, nullptr);
  notes.code(created);
  if (created != CUDA_SUCCESS) return;
  if (const CUfunction function = kernel(notes, texture.kernel()))
    notes.bytes(launch(notes, function, object, texture.places(resource), reads, 16));
  notes.code(cuTexObjectDestroy(object));
}

void add(const Texture& texture) {
  cases().push_back({texture.name(), [texture](Notes& notes) { run(texture, notes); }});
}

// Everything that a format and a geometry may be combined with.
void addReads(Geometry geometry, const Format& format, bool everyMode) {
  const bool isCube = geometry == Geometry::Cube || geometry == Geometry::Cubes;
  const bool needsNormalized = isCube || geometry >= Geometry::LineLevels;
  for (const bool readsIntegers : {false, true}) {
    if (readsIntegers && format.isFloat()) continue;
    const bool isNumber = format.isFloat() || (!readsIntegers && format.channelBytes < 4);
    for (const bool isLinear : {false, true}) {
      if (isLinear && !isNumber) continue;
      for (const bool isNormalized : {false, true}) {
        if (needsNormalized && !isNormalized) continue;
        for (unsigned mode = 0; mode < 4; ++mode) {
          if (!everyMode && mode != 1 && mode != (format.channels == 1 ? 3u : 0u)) continue;
          if (isCube && mode != 1) continue;
          Texture texture{geometry, format};
          texture.readsIntegers = readsIntegers;
          texture.isLinear = isLinear;
          texture.isNormalized = isNormalized;
          texture.mode = mode;
          add(texture);
        }
      }
    }
  }
}

void addForms() {
  for (const char* name : {"u8x4", "s16", "f16x4", "f32", "u32x2", "f32x4"}) {
    const Format& one = format(name);
    for (const Geometry geometry :
         {Geometry::Linear, Geometry::Pitched, Geometry::Line, Geometry::Plane, Geometry::Volume, Geometry::Lines,
          Geometry::Planes, Geometry::LineLevels, Geometry::Levels, Geometry::VolumeLevels}) {
      const bool hasLevels = geometry >= Geometry::LineLevels;
      for (const bool readsIntegers : {false, true}) {
        if (readsIntegers && one.isFloat()) continue;
        Texture texture{geometry, one, hasLevels ? Form::WholeLevel : Form::Whole};
        texture.readsIntegers = readsIntegers;
        texture.isNormalized = hasLevels;
        add(texture);
      }
    }
    const bool isNumber = name != std::string("u32x2");
    for (const Geometry geometry : {Geometry::Pitched, Geometry::Plane, Geometry::Planes, Geometry::Cube})
      for (const bool isNormalized : {false, true})
        for (unsigned mode = 0; mode < 4; ++mode) {
          if (geometry == Geometry::Cube && (mode != 1 || !isNormalized)) continue;
          if (mode != 1 && geometry != Geometry::Plane) continue;
          Texture texture{geometry, one, Form::Gather};
          texture.isNormalized = isNormalized;
          texture.mode = mode;
          texture.isLinear = isNumber;
          texture.channel = mode % 4;
          add(texture);
        }
    if (!isNumber) continue;
    for (const Geometry geometry : {Geometry::Plane, Geometry::Volume, Geometry::Line, Geometry::Planes})
      for (const Form form : {Form::Halves, Form::Offset})
        for (const bool isLinear : {false, true})
          for (const unsigned mode : {0u, 1u}) {
            Texture texture{geometry, one, form};
            texture.isNormalized = true;
            texture.isLinear = isLinear;
            texture.mode = mode;
            add(texture);
          }
  }
}

void addLevels() {
  for (const char* name : {"u8x4", "f16x2", "f32"})
    for (const Geometry geometry : {Geometry::LineLevels, Geometry::Levels, Geometry::VolumeLevels, Geometry::Plane})
      for (const Form form : {Form::Level, Form::Gradient})
        for (const bool isLinear : {false, true})
          for (const bool mixesLevels : {false, true})
            for (int i = 0; i < 3; ++i) {
              Texture texture{geometry, format(name), form};
              texture.isNormalized = true;
              texture.isLinear = isLinear;
              texture.mixesLevels = mixesLevels;
              texture.mode = i == 1 ? 0 : 1;
              if (i == 1) texture.bias = 0.75f, texture.note = ", bias 0.75";
              if (i == 2) texture.lowest = 0.5f, texture.highest = 1.75f, texture.note = ", levels 0.5 to 1.75";
              add(texture);
              if (form == Form::Gradient && i == 0 && isLinear) {
                texture.anisotropy = 8, texture.note = ", anisotropy 8";
                add(texture);
              }
            }
}

void addSpecials() {
  for (const Geometry geometry : {Geometry::Plane, Geometry::Pitched, Geometry::Volume})
    for (const bool isLinear : {false, true}) {
      for (const char* name : {"u8", "u8x2", "u8x4", "s8x4"}) {
        Texture texture{geometry, format(name)};
        texture.isNormalized = true;
        texture.isLinear = isLinear;
        texture.isSrgb = true;
        add(texture);
      }
      for (const Format& one : formats())
        for (const bool readsIntegers : {false, true}) {
          const bool isNumber = one.isFloat() || (!readsIntegers && one.channelBytes < 4);
          if ((readsIntegers && one.isFloat()) || (isLinear && !isNumber)) continue;
          Texture texture{geometry, one};
          texture.readsIntegers = readsIntegers;
          texture.isNormalized = texture.isLinear = isLinear;
          texture.mode = CU_TR_ADDRESS_MODE_BORDER;
          const float border[] = {0.3f, -0.7f, 2.5f, 100};
          std::memcpy(texture.border, border, sizeof border);
          texture.note = ", a border of 0.3 -0.7 2.5 100";
          add(texture);
        }
    }
  for (const char* name : {"u8x4", "f32", "f16x4"})
    for (const Geometry geometry : {Geometry::Cube, Geometry::Cubes}) {
      Texture texture{geometry, format(name)};
      texture.isNormalized = texture.isLinear = texture.isSeamless = true;
      add(texture);
    }
  for (const Geometry geometry : {Geometry::Plane, Geometry::Planes, Geometry::Cube})
    for (const bool isLinear : {false, true}) {
      Texture texture{geometry, format("f32"), Form::Compare};
      texture.isNormalized = true;
      texture.isLinear = isLinear;
      add(texture);
    }
}

// Formats that say themselves that their texels are numbers.
void addLaterFormats() {
  for (const Format& one : laterFormats())
    for (const Geometry geometry : {Geometry::Plane, Geometry::Planes, Geometry::Cube, Geometry::Levels}) {
      const bool isPlain = geometry == Geometry::Plane;
      for (const bool isLinear : {false, true})
        for (const bool isNormalized : {false, true}) {
          if (!isPlain && !isNormalized) continue;
          Texture texture{geometry, one, geometry == Geometry::Levels ? Form::Level : Form::Plain};
          texture.isLinear = isLinear;
          texture.isNormalized = isNormalized;
          texture.mode = isNormalized ? CU_TR_ADDRESS_MODE_WRAP : CU_TR_ADDRESS_MODE_CLAMP;
          add(texture);
          if (!isPlain || isNormalized) continue;
          texture.mode = CU_TR_ADDRESS_MODE_BORDER;
          add(texture);
          texture.mode = CU_TR_ADDRESS_MODE_CLAMP;
          texture.readsIntegers = true;
          add(texture);
          texture.readsIntegers = false;
          texture.isSrgb = true;
          add(texture);
        }
      if (!isPlain) continue;
      Texture gathered{geometry, one, Form::Gather}, whole{geometry, one, Form::Whole};
      gathered.channel = one.channels - 1;
      add(gathered);
      add(whole);
    }
}

}  // namespace

void addTextures() {
  for (const Geometry geometry : {Geometry::Plane, Geometry::Pitched})
    for (const Format& one : formats()) addReads(geometry, one, one.channels == 4 || one.bytes() == 4);
  for (const Geometry geometry : {Geometry::Line, Geometry::Volume, Geometry::Lines, Geometry::Planes, Geometry::Cube,
                                  Geometry::Cubes, Geometry::LineLevels, Geometry::Levels, Geometry::VolumeLevels})
    for (const char* name : {"u8x4", "s8", "u16x2", "s16x4", "u32", "f16x4", "f32", "f32x4"})
      addReads(geometry, format(name), name == std::string("f32") || name == std::string("u8x4"));
  addForms();
  addLevels();
  addSpecials();
  addLaterFormats();
}

}  // namespace mulciber::texels
