// Whether one step from the device's reciprocal gives the nearest one of all significands, as ExactFloat makes it, and
// the same wherever the exponent is: `wrong` counts the others.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_spirv_intrinsics : require

#if defined(DENORM_PRESERVE)
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4464], 4459, 32);
#elif defined(DENORM_FLUSH)
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4465], 4460, 32);
#endif
#if defined(ZERO_PRESERVE)
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
#endif

layout(local_size_x = 256) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Answer { uint wrong; };
layout(push_constant) uniform Push { uint64_t data; };

float reciprocal(float y) {
  precise float estimate = 1.0 / y;
  precise float error = fma(-estimate, y, 1.0);
  precise float refined = fma(estimate, error, estimate);
  return refined;
}

uint64_t significand(float x) { return (floatBitsToUint(x) & 0x7FFFFFu) | 0x800000u; }

// 1 / y, for y from 1 up to 2, is r * 2^-24.
bool isNearestReciprocal(float y, float refined) {
  if (y == 1.0) return refined == 1.0;
  const uint64_t product = significand(y) * significand(refined), one = uint64_t(1) << 47;
  const uint64_t off = product < one ? one - product : product - one;
  return (floatBitsToUint(refined) >> 23) == 126u && 2 * off < significand(y);
}

uint scaled(uint bits, int exponent) { return bits + uint(exponent << 23); }

void main() {
  uint wrong = 0;
  for (uint part = 0; part < 8; ++part) {
    const uint n = gl_GlobalInvocationID.x * 8 + part;  // up to 2^23
    const float y = uintBitsToFloat(0x3F800000u + n), inverse = reciprocal(y);
    // An exponent of its own for each, from -125 to 124: all that the quick way is for.
    const int exponent = int((n * 0x9E3779B1u) >> 16) % 250 - 125;
    const float other = reciprocal(uintBitsToFloat(scaled(floatBitsToUint(y), exponent)));
    const bool isSame = floatBitsToUint(other) == scaled(floatBitsToUint(inverse), -exponent);
    if (!isNearestReciprocal(y, inverse) || !isSame) ++wrong;
  }
  if (wrong != 0) atomicAdd(Answer(data).wrong, wrong);
}
