// suld, sust and sured: geometry x texel x width of the access x what happens beyond the edge.
#include <algorithm>
#include <bit>
#include <cstring>

#include "texels.h"

namespace mulciber::texels {
namespace {

struct Access {
  unsigned count, bits;
  unsigned bytes() const { return count * bits / 8; }
  std::string type() const { return (count == 1 ? "" : ".v" + std::to_string(count)) + ".b" + std::to_string(bits); }
  std::string registers() const {
    const std::string kind = bits == 64 ? "%d" : bits == 32 ? "%r" : "%h";
    std::string list = kind + "0";
    for (unsigned i = 1; i < count; ++i) list += ", " + kind + std::to_string(i);
    return count == 1 ? list : "{" + list + "}";
  }
};
constexpr Access accesses[] = {{1, 8},  {1, 16}, {1, 32}, {1, 64}, {2, 8}, {2, 16},
                               {2, 32}, {2, 64}, {4, 8},  {4, 16}, {4, 32}};

struct Form {
  const char *name, *coordinates;
};
Form formOf(Geometry geometry) {
  switch (geometry) {
    case Geometry::Line: return {"1d", "{%x}"};
    case Geometry::Volume: return {"3d", "{%x, %y, %z, %z}"};
    case Geometry::Lines: return {"a1d", "{%z, %x}"};
    case Geometry::Planes:
    case Geometry::Cube:
    case Geometry::Cubes: return {"a2d", "{%z, %x, %y, %y}"};
    default: return {"2d", "{%x, %y}"};
  }
}

// Where each thread goes, and what it brings.
struct Place {
  int32_t x, y, z, unused;
  uint32_t data[4];
};

std::string kernelOf(const std::string& body) {
  return R"(.version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 places, .param .u64 out) {
  .reg .b16 %h<4>; .reg .b32 %r<4>, %x, %y, %z, %t, %n, %count; .reg .b64 %d<4>, %s, %p, %in, %out;
  ld.param.u64 %s, [object]; ld.param.u64 %p, [places]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mov.u32 %n, %ctaid.x; mov.u32 %count, %ntid.x; mad.lo.u32 %t, %n, %count, %t;
  mad.wide.u32 %p, %t, 32, %p; mad.wide.u32 %out, %t, 16, %out; add.u64 %in, %p, 16;
  ld.global.v2.b32 {%x, %y}, [%p]; ld.global.b32 %z, [%p+8];
  )" + body +
         "\n  ret;\n}\n";
}

std::vector<uint8_t> bytesOf(const std::vector<Place>& places) {
  std::vector<uint8_t> bytes(places.size() * sizeof(Place));
  std::memcpy(bytes.data(), places.data(), bytes.size());
  return bytes;
}

// Runs a kernel on a surface, and notes the results and what the surface holds afterwards.
void runOn(Notes& notes, Geometry geometry, const Format& format, const std::string& text,
           const std::function<std::vector<Place>(const Resource&)>& places) {
  const Resource resource(notes, geometry, format, true);
  const CUDA_RESOURCE_DESC what = resource.description();
  CUsurfObject object = 0;
  if (!resource.isThere()) return;
  const CUresult created = cuSurfObjectCreate(&object, &what);
  notes.code(created);
  if (created != CUDA_SUCCESS) return;
  const std::vector<Place> all = places(resource);
  if (const CUfunction function = kernel(notes, text)) {
    const auto results = launch(notes, function, object, bytesOf(all), static_cast<unsigned>(all.size()), 16);
    if (cuCtxSynchronize() == CUDA_SUCCESS) notes.bytes(results).bytes(resource.contents());
  }
  notes.code(cuSurfObjectDestroy(object));
}

enum class Where { Inside, Around, Misaligned };

// Every place once, so that what stores leave is known. Where some lie beyond the edges, and may come to be the same,
// all bring the same bytes.
std::vector<Place> placesOn(const Resource& resource, const Format& format, unsigned step, Where where) {
  Random random(3);
  std::vector<Place> all;
  const auto row = static_cast<int32_t>(resource.width() * format.bytes()), width = static_cast<int32_t>(step);
  const auto height = static_cast<int32_t>(resource.height()), depth = static_cast<int32_t>(resource.depth());
  const auto add = [&](int32_t x, int32_t y, int32_t z) {
    Place place{x, y, z, 0, {}};
    for (uint32_t& word : place.data) word = where == Where::Around ? 0x5AC3961E : random.next() ^ random.next() << 12;
    all.push_back(place);
  };
  for (int32_t x = 0; x + width <= row; x += width)
    add(x + (where == Where::Misaligned ? 1 + static_cast<int32_t>(random.below(step - 1)) : 0),
        height ? x / width % height : 0, depth ? x / width % depth : 0);
  if (where == Where::Around)
    for (const int32_t x : {row, row + 4 * width, -width, -100 * width, 1 << 20, INT32_MIN, INT32_MAX & -width}) {
      add(x, 0, 0);
      add(0, x, 0);
      add(0, 0, x);
    }
  while (all.size() % 64 != 0) all.push_back(all[0]);
  return all;
}

const char* nameOf(Where where) {
  constexpr const char* names[] = {"inside", "around the edges", "misaligned"};
  return names[static_cast<int>(where)];
}

void addAccess(Geometry geometry, const Format& format, const Access& access, const char* mode, Where where) {
  const Form form = formOf(geometry);
  const std::string place = std::string("[%s, ") + form.coordinates + "]";
  const std::string ending = std::string(form.name) + access.type() + "." + mode;
  const std::string moves = access.type() + " [%out], " + access.registers() + ";";
  for (const bool isStore : {false, true}) {
    const std::string text =
        isStore ? kernelOf("ld.global" + access.type() + " " + access.registers() + ", [%in];\n  sust.b." + ending +
                           " " + place + ", " + access.registers() + ";")
                : kernelOf("suld.b." + ending + " " + access.registers() + ", " + place + ";\n  st.global" + moves);
    const std::string name = std::string(isStore ? "sust.b." : "suld.b.") + ending + ", " + texels::nameOf(geometry) +
                             " " + format.name + ", " + nameOf(where);
    cases().push_back({name, [=](Notes& notes) {
                         runOn(notes, geometry, format, text, [&](const Resource& resource) {
                           return placesOn(resource, format, access.bytes(), where);
                         });
                       }});
  }
}

void addFormatted() {
  for (const Geometry geometry : {Geometry::Line, Geometry::Plane, Geometry::Volume})
    for (const Format& one : formats())
      for (const bool isAround : {false, true}) {
        if (isAround && one.channels != 1) continue;
        const Form form = formOf(geometry);
        const std::string text =
            kernelOf("ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%in];\n  sust.p." + std::string(form.name) + ".v4.b32." +
                     (isAround ? "clamp" : "zero") + " [%s, " + form.coordinates + "], {%r0, %r1, %r2, %r3};");
        const std::string name = std::string("sust.p, ") + texels::nameOf(geometry) + " " + one.name + ", " +
                                 (isAround ? "around the edges" : "inside");
        cases().push_back({name, [=](Notes& notes) {
                             runOn(notes, geometry, one, text, [&](const Resource& resource) {
                               // Integers and floats of all sizes, as either may be meant.
                               const uint32_t values[] = {0,
                                                          1,
                                                          127,
                                                          128,
                                                          255,
                                                          256,
                                                          300,
                                                          32767,
                                                          32768,
                                                          65535,
                                                          65536,
                                                          0x7FFFFFFF,
                                                          0x80000000,
                                                          ~0u,
                                                          ~99u,
                                                          ~200u,
                                                          ~40000u,
                                                          std::bit_cast<uint32_t>(0.5f),
                                                          std::bit_cast<uint32_t>(1.f),
                                                          std::bit_cast<uint32_t>(-1.f),
                                                          std::bit_cast<uint32_t>(1.f / 3),
                                                          std::bit_cast<uint32_t>(-0.25f),
                                                          std::bit_cast<uint32_t>(70000.f),
                                                          std::bit_cast<uint32_t>(65519.f),
                                                          std::bit_cast<uint32_t>(1e-7f),
                                                          std::bit_cast<uint32_t>(1e-40f),
                                                          0x7F800000,
                                                          0xFF800000,
                                                          0x7FC00000,
                                                          std::bit_cast<uint32_t>(0.00196f)};
                               std::vector<Place> all;
                               unsigned next = 0;
                               const auto height = static_cast<int32_t>(resource.height() ? resource.height() : 1);
                               for (int32_t y = 0; y < height; ++y)
                                 for (int32_t x = 0; x < 16; ++x) {
                                   Place place{x, y, y % 5, 0, {}};
                                   for (uint32_t& word : place.data) word = values[next++ % std::size(values)];
                                   all.push_back(place);
                                 }
                               if (isAround) {
                                 // Two come to another's texel. They bring the same bytes, so that no order counts.
                                 std::ranges::copy(all[1].data, all[all.size() - 15].data);
                                 std::ranges::copy(all[2].data, all[15].data);
                                 all[0].x = -5, all[1].y = 100, all[2].x = 16, all[3].z = 9;
                               }
                               return all;
                             });
                           }});
      }
}

void addReductions() {
  for (const char* texel : {"u32", "s32", "f32", "u8x4", "u32x2", "u8", "u32x4"})
    for (const char* operation : {"b.add.2d.u32", "b.add.2d.s32", "b.add.2d.u64", "b.min.2d.u32", "b.min.2d.s32",
                                  "b.max.2d.s32", "b.max.2d.u64", "b.min.2d.s64", "b.and.2d.b32", "b.or.2d.b32",
                                  "p.add.2d.b32", "p.min.2d.b32", "p.max.2d.b32", "p.and.2d.b32", "p.or.2d.b32"})
      for (const char* mode : {"zero", "clamp"}) {
        const bool isWide = std::strstr(operation, "64") != nullptr, isFormatted = operation[0] == 'p';
        const Format one = format(texel);
        const std::string text =
            kernelOf(std::string("ld.global.b") + (isWide ? "64 %d0" : "32 %r0") + ", [%in];\n  sured." + operation +
                     "." + mode + " [%s, {%x, %y}], " + (isWide ? "%d0" : "%r0") + ";");
        cases().push_back({std::string("sured.") + operation + "." + mode + ", 2d " + texel, [=](Notes& notes) {
                             runOn(notes, Geometry::Plane, one, text, [&](const Resource& resource) {
                               auto all = placesOn(resource, one, isWide ? 8 : 4, Where::Around);
                               // Twice, for the order does not matter. Formatted ones count texels.
                               for (Place& place : all)
                                 if (isFormatted) place.x /= static_cast<int32_t>(one.bytes());
                               auto both = all;
                               both.insert(both.end(), all.begin(), all.end());
                               return both;
                             });
                           }});
      }
}

// Each in a process of its own, since it ends the context: beyond each edge by one, and far beyond.
void addTraps() {
  for (const Geometry geometry : {Geometry::Line, Geometry::Plane, Geometry::Volume, Geometry::Planes})
    for (const bool isStore : {false, true})
      for (const bool isFar : {false, true}) {
        const Form form = formOf(geometry);
        const std::string place = std::string("[%s, ") + form.coordinates + "]";
        const std::string text = isStore ? kernelOf(std::string("sust.b.") + form.name + ".b32.trap " + place + ", %x;")
                                         : kernelOf(std::string("suld.b.") + form.name + ".b32.trap %r0, " + place +
                                                    "; st.global.b32 [%out], %r0;");
        const std::string name = std::string(isStore ? "sust" : "suld") + ".b." + form.name +
                                 ".b32.trap, beyond the edge" + (isFar ? " by far" : "");
        cases().push_back({name, [=](Notes& notes) {
                             runOn(notes, geometry, format("f32"), text, [&](const Resource&) {
                               return std::vector<Place>{{isFar ? 1 << 20 : 64, 0, 0, 0, {}}};
                             });
                           }});
      }
}

}  // namespace

void addSurfaces() {
  const char* const texels[] = {"u8", "s16", "f32", "f16x4", "u32x4"};
  for (const char* texel : texels)
    for (const Access& access : accesses)
      for (const char* mode : {"zero", "clamp", "trap"}) {
        addAccess(Geometry::Plane, format(texel), access, mode, Where::Inside);
        if (mode != std::string("trap")) addAccess(Geometry::Plane, format(texel), access, mode, Where::Around);
      }
  for (const Geometry geometry :
       {Geometry::Line, Geometry::Volume, Geometry::Lines, Geometry::Planes, Geometry::Cube, Geometry::Cubes})
    for (const char* texel : texels)
      for (const Access& access : {accesses[0], accesses[2], accesses[10]})
        for (const char* mode : {"zero", "clamp"}) addAccess(geometry, format(texel), access, mode, Where::Around);
  for (const char* texel : {"f32", "f16x4"})
    for (const Access& access : {accesses[1], accesses[2], accesses[3], accesses[10]})
      for (const char* mode : {"zero", "clamp"})
        addAccess(Geometry::Plane, format(texel), access, mode, Where::Misaligned);
  addFormatted();
  addReductions();
  addTraps();
}

}  // namespace mulciber::texels
