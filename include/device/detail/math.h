// The mathematical functions, each within the error that CUDA documents; docs/compiler.md says how that is tested.
#ifndef MULCIBER_DEVICE_MATH_H
#define MULCIBER_DEVICE_MATH_H

// The order matters.
// clang-format off
#include "math/basic.h"
#include "math/pairs.h"
#include "math/exponential.h"
#include "math/trigonometric.h"
#include "math/roots.h"
#include "math/special.h"
#include "math/bessel.h"
// clang-format on

// Names without an f take float too.
#define MULCIBER_OVERLOAD(name) \
  MULCIBER_DEVICE float name(float x) { return name##f(x); }
MULCIBER_OVERLOAD(rsqrt)
MULCIBER_OVERLOAD(rcbrt)
MULCIBER_OVERLOAD(exp10)
MULCIBER_OVERLOAD(sinpi)
MULCIBER_OVERLOAD(cospi)
MULCIBER_OVERLOAD(erfinv)
MULCIBER_OVERLOAD(erfcinv)
MULCIBER_OVERLOAD(erfcx)
MULCIBER_OVERLOAD(normcdf)
MULCIBER_OVERLOAD(normcdfinv)
#undef MULCIBER_OVERLOAD
MULCIBER_DEVICE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
MULCIBER_DEVICE void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }

#endif
