// What the device makes of REAL arithmetic: the host compares with its own.
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

layout(local_size_x = 64) in;
struct Case { REAL a, b, c, sum, product, quotient, root, fused; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Cases { Case item[]; };
layout(push_constant) uniform Push { uint64_t data; };

void main() {
  const Case given = Cases(data).item[gl_GlobalInvocationID.x];
#if defined(DOT)  // a multiply-add as a dot product, by itself or with its product beside it
  precise REAL dotted = dot(vec2(given.a, given.c), vec2(given.b, 1));
#if defined(SHARED)
  precise REAL alone = given.a * given.b;
  Cases(data).item[gl_GlobalInvocationID.x].product = alone;
#endif
  Cases(data).item[gl_GlobalInvocationID.x].fused = dotted;
#else
  precise REAL sum = given.a + given.b;
  precise REAL product = given.a * given.b;
  precise REAL quotient = given.a / given.b;
  precise REAL root = sqrt(abs(given.a));
  precise REAL fused = fma(given.a, given.b, given.c);
  Case result = given;
  result.sum = sum;
  result.product = product;
  result.quotient = quotient;
  result.root = root;
  result.fused = fused;
  Cases(data).item[gl_GlobalInvocationID.x] = result;
#endif
}
