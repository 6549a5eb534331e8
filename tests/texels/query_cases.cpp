// What kernels may ask of textures and surfaces.
#include "texels.h"

namespace mulciber::texels {
namespace {

std::string kernelOf(const std::string& body, const std::string& globals = "") {
  return ".version 7.8\n.target sm_70\n.address_size 64\n" + globals +
         ".visible .entry k(.param .u64 object, .param .u64 places, .param .u64 out) {\n"
         "  .reg .b32 %r<4>; .reg .pred %q; .reg .b64 %h, %out;\n"
         "  ld.param.u64 %h, [object]; ld.param.u64 %out, [out]; mov.u32 %r0, 0xABCD;\n  " +
         body + "\n  st.global.b32 [%out], %r0;\n  ret;\n}\n";
}

void ask(Notes& notes, Geometry geometry, const Format& format, bool isSurface, const std::string& text) {
  const Resource resource(notes, geometry, format, isSurface);
  const CUDA_RESOURCE_DESC what = resource.description();
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES;
  how.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
  how.addressMode[1] = CU_TR_ADDRESS_MODE_MIRROR;
  how.addressMode[2] = CU_TR_ADDRESS_MODE_BORDER;
  how.maxMipmapLevelClamp = 10;
  if (format.isFloat()) how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  unsigned long long object = 0;
  const CUresult created =
      isSurface ? cuSurfObjectCreate(&object, &what) : cuTexObjectCreate(&object, &what, &how, nullptr);
  notes.code(created);
  if (created != CUDA_SUCCESS) return;
  if (const CUfunction function = kernel(notes, text)) notes.bytes(launch(notes, function, object, {0}, 1, 4));
}

}  // namespace

void addQueries() {
  const Geometry geometries[] = {Geometry::Linear, Geometry::Pitched, Geometry::Line,   Geometry::Plane,
                                 Geometry::Volume, Geometry::Lines,   Geometry::Planes, Geometry::Cube,
                                 Geometry::Cubes,  Geometry::Levels};
  const auto add = [](const std::string& instruction, Geometry geometry, const char* texel, bool isSurface) {
    const std::string text = kernelOf(instruction);
    const Format one = format(texel);
    cases().push_back({instruction + " of " + nameOf(geometry) + " " + texel,
                       [=](Notes& notes) { ask(notes, geometry, one, isSurface, text); }});
  };
  for (const Geometry geometry : geometries) {
    for (const char* what :
         {"width", "height", "depth", "array_size", "num_mipmap_levels", "num_samples", "normalized_coords",
          "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2", "force_unnormalized_coords"})
      add(std::string("txq.") + what + ".b32 %r0, [%h];", geometry, "f32", false);
    for (const char* what : {"width", "height", "depth"})
      for (const char* level : {"0", "1", "3", "9"})
        add("txq.level." + std::string(what) + ".b32 %r0, [%h], " + level + ";", geometry, "f32", false);
    if (geometry == Geometry::Linear || geometry == Geometry::Pitched || geometry == Geometry::Levels) continue;
    for (const char* what : {"width", "height", "depth", "array_size", "memory_layout"})
      add(std::string("suq.") + what + ".b32 %r0, [%h];", geometry, "f32", true);
  }
  for (const Format& one : formats())
    for (const char* what : {"channel_data_type", "channel_order"}) {
      add(std::string("txq.") + what + ".b32 %r0, [%h];", Geometry::Plane, one.name, false);
      add(std::string("suq.") + what + ".b32 %r0, [%h];", Geometry::Plane, one.name, true);
    }
  for (const char* kind : {"texref", "samplerref", "surfref"}) {
    for (const bool isSurface : {false, true})
      add(std::string("istypep.") + kind + " %q, %h; selp.u32 %r0, 1, 0, %q;", Geometry::Plane,
          isSurface ? "u32" : "f32", isSurface);
    for (const char* named : {"texref", "surfref"}) {
      const std::string text =
          kernelOf(std::string("mov.u64 %h, thing; istypep.") + kind + " %q, %h; selp.u32 %r0, 1, 0, %q;",
                   std::string(".global .") + named + " thing;\n");
      cases().push_back({std::string("istypep.") + kind + " of a named " + named,
                         [=](Notes& notes) { ask(notes, Geometry::Plane, format("f32"), false, text); }});
    }
  }
}

}  // namespace mulciber::texels
