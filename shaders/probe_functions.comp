// What approximations make of denormals where f32 arithmetic keeps them, minimum and maximum of zeros and NaNs, and operations
// with a zero that is a constant.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_spirv_intrinsics : require

#if defined(DENORM_PRESERVE)
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4464], 4459, 32);
#endif
#if defined(ZERO_PRESERVE)
spirv_execution_mode(extensions = ["SPV_KHR_float_controls"], capabilities = [4466], 4461, 32);
#endif
spirv_instruction(set = "GLSL.std.450", id = 79) float nMin(float x, float y);
spirv_instruction(set = "GLSL.std.450", id = 80) float nMax(float x, float y);

layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Functions {
  float denormal, low, huge, zero, minusZero;
  float inverseRoot, logarithm, power, reciprocal;
  float minimum[2], maximum[2], nans[2], unitedNans[2];
  float exponents[1024], powers[1024], tiny[4], tangents[4];
  float sum, difference, quotient, nothing;
};
layout(push_constant) uniform Push { uint64_t data; };

void main() {
  Functions f = Functions(data);
  f.inverseRoot = inversesqrt(f.denormal);
  f.logarithm = log2(f.denormal);
  f.power = exp2(f.low);
  precise float reciprocal = 1.0 / f.huge;
  f.reciprocal = reciprocal;
  f.minimum[0] = nMin(f.zero, f.minusZero);
  f.minimum[1] = nMin(f.minusZero, f.zero);
  f.maximum[0] = nMax(f.zero, f.minusZero);
  f.maximum[1] = nMax(f.minusZero, f.zero);
  f.unitedNans[0] = nMin(f.nans[0], f.nans[1]);
  f.unitedNans[1] = nMax(f.nans[1], f.nans[0]);
  precise float sum = f.minusZero + 0.0, difference = 0.0 - f.zero, quotient = -f.huge / 0.0, nothing = 0.0 / f.zero;
  f.sum = sum;
  f.difference = difference;
  f.quotient = quotient;
  f.nothing = nothing;
  for (int i = 0; i < 1024; ++i) f.powers[i] = exp2(f.exponents[i]);
  for (int i = 0; i < 4; ++i) f.tangents[i] = tanh(f.tiny[i]);
}
