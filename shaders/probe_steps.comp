// Whether one step from the device's estimates gives what RoundedArithmetic makes of them, for all significands, and the
// same wherever the exponent is: the nearest reciprocals and roots, and for quotients the nearest reciprocal or a
// neighbour. The answer counts the others.
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
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Answer { uint refinements, divisors; };
layout(push_constant) uniform Push { uint64_t data; };

float refined(float estimate, float y) {
  precise float error = fma(-estimate, y, 1.0);
  precise float result = fma(estimate, error, estimate);
  return result;
}

float reciprocal(float y) {
  precise float estimate = 1.0 / y;
  return refined(estimate, y);
}

float reciprocalByRoot(float y) {
  precise float square = y * y;
  const uint size = floatBitsToUint(inversesqrt(square));
  return refined(uintBitsToFloat((size & 0x7FFFFFFEu) | (floatBitsToUint(y) & 0x80000001u)), y);
}

float root(float x) {
  precise float inverse = inversesqrt(x);
  precise float near = x * inverse, half_ = inverse * 0.5;
  precise float rest = fma(-near, near, x);
  precise float result = fma(rest, half_, near);
  return result;
}

uint64_t significand(float x) { return (floatBitsToUint(x) & 0x7FFFFFu) | 0x800000u; }

// 1 / y, for y from 1 up to 2, is r * 2^-24: how far from it, and whether at most half a unit and 2^-`bits` of one.
bool isReciprocal(float y, float r, int bits) {
  if (y == 1.0) return r == 1.0;
  const uint64_t product = significand(y) * significand(r), one = uint64_t(1) << 47;
  const uint64_t off = product < one ? one - product : product - one;
  return (floatBitsToUint(r) >> 23) == 126u && 2 * off <= significand(y) + (significand(y) >> bits);
}

bool isNearestReciprocal(float y, float r) { return isReciprocal(y, r, 24); }

// Of the largest significands the neighbours give wrong quotients (docs/arithmetic.md).
bool isNearReciprocal(float y, float r) { return isReciprocal(y, r, significand(y) < 0xFFFFF5u ? 17 : 24); }

// x is from 1 up to 4, so its root's square lies between those of r - 1/2 and r + 1/2, all times 2^-23.
bool isNearestRoot(float x, float r_) {
  const uint64_t square = significand(x) << (x < 2.0 ? 23 : 24), r = significand(r_);
  return (floatBitsToUint(r_) >> 23) == 127u && r * r - r < square && square <= r * r + r;
}

float scaled(float x, int exponent) { return uintBitsToFloat(floatBitsToUint(x) + uint(exponent << 23)); }

void main() {
  uint refinements = 0, divisors = 0;
  for (uint part = 0; part < 8; ++part) {
    const uint n = gl_GlobalInvocationID.x * 8 + part;  // up to 2^24
    const float x = uintBitsToFloat(0x3F800000u + n);
    // An exponent of its own for each, from all that the quick ways are for.
    const int exponent = int((n * 0x9E3779B1u) >> 16), even = 2 * (exponent % 100) - 78;  // -78 to 120
    const float squareRoot = root(x);
    if (!isNearestRoot(x, squareRoot) || root(scaled(x, even)) != scaled(squareRoot, even / 2)) ++refinements;
    if (n >= 0x800000u) continue;
    const float inverse = reciprocal(x), near = reciprocalByRoot(x);
    const int any = exponent % 250 - 125, small = exponent % 123 - 62;  // -125 to 124, -62 to 60
    if (!isNearestReciprocal(x, inverse) || reciprocal(scaled(x, any)) != scaled(inverse, -any)) ++refinements;
    if (!isNearReciprocal(x, near) || reciprocalByRoot(scaled(x, small)) != scaled(near, -small)) ++divisors;
  }
  if (refinements != 0) atomicAdd(Answer(data).refinements, refinements);
  if (divisors != 0) atomicAdd(Answer(data).divisors, divisors);
}
