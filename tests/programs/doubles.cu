// Double precision, with those functions of the mathematics library whose last bit does not hang on how good the
// approximations are that they begin with.
#include "program.h"

__global__ void evaluate(const double* x, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], p = fabs(v) + 0.001;
  double* row = out + i * 20;
  row[0] = sqrt(p), row[1] = 1 / v, row[2] = v / p, row[3] = exp(v), row[4] = log(p), row[5] = sin(v), row[6] = cos(v),
  row[7] = tan(v);
  row[8] = pow(p, v * 0.25), row[9] = trunc(v), row[10] = cbrt(v), row[11] = erf(v), row[12] = ceil(v),
  row[13] = fmod(v, 1.7);
  row[14] = floor(v), row[15] = rint(v), row[16] = fma(v, v, -v), row[17] = sinh(v), row[18] = rsqrt(p),
  row[19] = hypot(v, p);
}

__global__ void rounding(const double* x, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double a = x[i], b = x[(i + 1) % n];
  double* row = out + i * 12;
  row[0] = __dadd_ru(a, b), row[1] = __dadd_rd(a, b), row[2] = __dadd_rz(a, b), row[3] = __dmul_ru(a, b),
  row[4] = __dmul_rd(a, b);
  row[5] = __dmul_rz(a, b), row[6] = __ddiv_ru(a, b), row[7] = __ddiv_rz(a, b), row[8] = __fma_rd(a, b, a),
  row[9] = __dsqrt_ru(fabs(a));
  row[10] = __drcp_rd(b), row[11] = __fma_rz(a, b, -b);
}

int main() {
  const int n = 500;
  Random random;
  std::vector<double> x(n);
  for (auto& value : x) value = random.unit() * 20.0 - 10.0;
  DeviceArray<double> device(x), out(n * 20), rounded(n * 12);
  evaluate<<<4, 128>>>(device.get(), out.get(), n);
  rounding<<<4, 128>>>(device.get(), rounded.get(), n);
  finish();
  auto values = out.host();
  oneNan(values);
  show("functions", values, 20);
  const char* names[] = {"sqrt", "rcp", "div",  "exp",  "log",   "sin",  "cos", "tan",  "pow",   "trunc",
                         "cbrt", "erf", "ceil", "fmod", "floor", "rint", "fma", "sinh", "rsqrt", "hypot"};
  for (int f = 0; f < 20; ++f) {
    std::vector<double> column(n);
    for (int i = 0; i < n; ++i) column[i] = values[i * 20 + f];
    show(names[f], column, 2);
  }
  auto roundings = rounded.host();
  oneNan(roundings);
  show("rounding", roundings, 12);
}
