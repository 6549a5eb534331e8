// CRC-32, MD5, XTEA, ChaCha20 and RC4: integers, rotations and tables in constant, shared and local memory.
#include "program.h"

__constant__ unsigned crcTable[256];
__constant__ unsigned char shifts[16] = {7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21};

__device__ unsigned rotate(unsigned x, unsigned n) { return x << n | x >> (32 - n); }

__global__ void crc(const unsigned char* in, unsigned* out) {
  unsigned c = ~0u;
  for (int i = 0; i < 64; ++i) c = crcTable[(c ^ in[threadIdx.x * 64 + i]) & 0xFF] ^ c >> 8;
  out[threadIdx.x] = ~c;
}
__global__ void md5(const unsigned* in, const unsigned* sines, unsigned* out) {
  unsigned a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  for (int i = 0; i < 64; ++i) {
    unsigned f, g;
    if (i < 16) f = (b & c) | (~b & d), g = i;
    else if (i < 32) f = (d & b) | (~d & c), g = (5 * i + 1) % 16;
    else if (i < 48) f = b ^ c ^ d, g = (3 * i + 5) % 16;
    else f = c ^ (b | ~d), g = (7 * i) % 16;
    f += a + sines[i] + in[threadIdx.x * 16 + g];
    a = d, d = c, c = b, b += rotate(f, shifts[i / 16 * 4 + i % 4]);
  }
  out[threadIdx.x] = a ^ b ^ c ^ d;
}
__global__ void xtea(const uint2* in, uint4 key, uint2* out) {
  const unsigned k[4] = {key.x, key.y, key.z, key.w};
  uint2 v = in[threadIdx.x];
  unsigned sum = 0;
  for (int i = 0; i < 32; ++i) {
    v.x += ((v.y << 4 ^ v.y >> 5) + v.y) ^ (sum + k[sum & 3]);
    sum += 0x9E3779B9;
    v.y += ((v.x << 4 ^ v.x >> 5) + v.x) ^ (sum + k[sum >> 11 & 3]);
  }
  out[threadIdx.x] = v;
}
__device__ void quarter(unsigned& a, unsigned& b, unsigned& c, unsigned& d) {
  a += b, d = rotate(d ^ a, 16), c += d, b = rotate(b ^ c, 12), a += b, d = rotate(d ^ a, 8), c += d,
          b = rotate(b ^ c, 7);
}
__global__ void chacha(const unsigned* in, unsigned* out) {
  unsigned x[16];
  for (int i = 0; i < 16; ++i) x[i] = in[i] + (i == 12 ? threadIdx.x : 0);
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 4; ++j) quarter(x[j], x[4 + j], x[8 + j], x[12 + j]);
    for (int j = 0; j < 4; ++j) quarter(x[j], x[4 + (j + 1) % 4], x[8 + (j + 2) % 4], x[12 + (j + 3) % 4]);
  }
  for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = x[i] + in[i];
}
__global__ void rc4(const unsigned char* keys, unsigned char* out) {
  unsigned char s[256];
  for (int i = 0; i < 256; ++i) s[i] = i;
  for (int i = 0, j = 0; i < 256; ++i) {
    j = (j + s[i] + keys[threadIdx.x * 16 + i % 16]) & 255;
    const unsigned char t = s[i];
    s[i] = s[j], s[j] = t;
  }
  for (int n = 0, i = 0, j = 0; n < 32; ++n) {
    i = (i + 1) & 255, j = (j + s[i]) & 255;
    const unsigned char t = s[i];
    s[i] = s[j], s[j] = t;
    out[threadIdx.x * 32 + n] = s[(s[i] + s[j]) & 255];
  }
}

int main() {
  Random random;
  std::vector<unsigned> table(256), words(64 * 16), sines(64);
  for (unsigned i = 0; i < 256; ++i) {
    table[i] = i;
    for (int k = 0; k < 8; ++k) table[i] = table[i] & 1 ? 0xEDB88320 ^ table[i] >> 1 : table[i] >> 1;
  }
  for (auto& word : words) word = random.next();
  for (auto& sine : sines) sine = random.next();
  CHECK(cudaMemcpyToSymbol(crcTable, table.data(), 1024));
  DeviceArray<unsigned> in(words), s(sines), a(64), b(64), c(128), d(64 * 16);
  DeviceArray<unsigned char> e(64 * 32);
  const auto* raw = reinterpret_cast<const unsigned char*>(in.get());
  crc<<<1, 64>>>(raw, a.get());
  md5<<<1, 64>>>(in.get(), s.get(), b.get());
  xtea<<<1, 64>>>(reinterpret_cast<const uint2*>(in.get()), uint4{1, 2, 3, 0xDEADBEEF},
                  reinterpret_cast<uint2*>(c.get()));
  chacha<<<1, 64>>>(in.get(), d.get());
  rc4<<<1, 64>>>(raw, e.get());
  finish();
  show("crc", a.host());
  show("md5", b.host());
  show("xtea", c.host());
  show("chacha", d.host());
  show("rc4", e.host());
}
