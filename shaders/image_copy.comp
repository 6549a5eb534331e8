// Copies a box of texels between an image and memory. IMAGE is the type of the image, PLACE its coordinates.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_image_load_formatted : require

layout(local_size_x = 32, local_size_y = 8) in;
layout(set = 1, binding = 2) uniform IMAGE images[];
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Texel1 { uint8_t value; };
layout(buffer_reference, std430, buffer_reference_align = 2) buffer Texel2 { uint16_t value; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Texel4 { uint32_t value; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Texel8 { u32vec2 value; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Texel16 { u32vec4 value; };

layout(push_constant) uniform Push {
  uint64_t address, pitch, slice;
  uint32_t image, texelBytes;
  uint32_t firstX, firstY, firstZ;  // in the image
  uint32_t width, height;
  uint32_t toImage;
};

uvec4 load(uint64_t texel) {
  switch (texelBytes) {
    case 1: return uvec4(Texel1(texel).value, 0, 0, 0);
    case 2: return uvec4(Texel2(texel).value, 0, 0, 0);
    case 4: return uvec4(Texel4(texel).value, 0, 0, 0);
    case 8: return uvec4(Texel8(texel).value, 0, 0);
    default: return Texel16(texel).value;
  }
}

void store(uint64_t texel, uvec4 value) {
  switch (texelBytes) {
    case 1: Texel1(texel).value = uint8_t(value.x); break;
    case 2: Texel2(texel).value = uint16_t(value.x); break;
    case 4: Texel4(texel).value = value.x; break;
    case 8: Texel8(texel).value = value.xy; break;
    default: Texel16(texel).value = value; break;
  }
}

void main() {
  const uvec3 at = gl_GlobalInvocationID;
  if (at.x >= width || at.y >= height) return;
  const uint64_t texel = address + at.z * slice + at.y * pitch + at.x * texelBytes;
  const ivec3 p = ivec3(at + uvec3(firstX, firstY, firstZ));
  if (toImage != 0) imageStore(images[image], PLACE, load(texel));
  else store(texel, imageLoad(images[image], PLACE));
}
