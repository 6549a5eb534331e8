// 64-bit arithmetic, divisions by variables, bit operations.
#include "program.h"

__global__ void arithmetic(const long long* a, const long long* b, long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long x = a[i], y = b[i] | 1;
  unsigned long long ux = x, uy = y;
  long long* row = out + i * 16;
  row[0] = x + y, row[1] = x - y, row[2] = x * y, row[3] = x / y, row[4] = x % y;
  row[5] = ux / uy, row[6] = ux % uy, row[7] = __mul64hi(x, y), row[8] = __umul64hi(ux, uy);
  row[9] = x << (y & 63), row[10] = x >> (y & 63), row[11] = ux >> (y & 63);
  row[12] = __popcll(x), row[13] = __clzll(x), row[14] = __brevll(x), row[15] = __ffsll(x);
}

__global__ void narrow(const int* a, const int* b, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i], y = b[i] | 1;
  unsigned ux = x, uy = y;
  int* row = out + i * 16;
  row[0] = x / y, row[1] = x % y, row[2] = ux / uy, row[3] = ux % uy;
  row[4] = __mulhi(x, y), row[5] = __umulhi(ux, uy), row[6] = __mul24(x, y), row[7] = __umul24(ux, uy);
  row[8] = __popc(x), row[9] = __clz(x), row[10] = __brev(x), row[11] = __ffs(x);
  row[12] = __byte_perm(x, y, ux & 0x7777), row[13] = __funnelshift_l(x, y, uy), row[14] = __sad(x, y, uy);
  row[15] = static_cast<short>(x) * static_cast<signed char>(y) + static_cast<unsigned char>(ux);
}

int main() {
  const int n = 1000;
  Random random;
  std::vector<long long> a(n), b(n);
  std::vector<int> c(n), d(n);
  for (int i = 0; i < n; ++i) {
    a[i] = static_cast<long long>(random.next()) << 32 | random.next();
    b[i] = (static_cast<long long>(random.next()) << 32 | random.next()) >> (random.next() & 63);
    c[i] = random.next(), d[i] = static_cast<int>(random.next()) >> (random.next() & 31);
  }
  DeviceArray<long long> da(a), db(b), wide(n * 16);
  DeviceArray<int> dc(c), dd(d), thin(n * 16);
  arithmetic<<<(n + 127) / 128, 128>>>(da.get(), db.get(), wide.get(), n);
  narrow<<<(n + 127) / 128, 128>>>(dc.get(), dd.get(), thin.get(), n);
  finish();
  show("wide", wide.host(), 16);
  show("narrow", thin.host(), 16);
}
