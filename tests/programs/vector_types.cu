// Built-in vector types: sizes, alignment, loads and stores of all of them.
#include "program.h"

template <class T>
__global__ void move(const T* in, T* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[n - 1 - i] = in[i];
}

template <class T>
void run(const char* name, Random& random) {
  std::vector<T> in(100);
  for (size_t i = 0; i < in.size() * sizeof(T); ++i)
    reinterpret_cast<unsigned char*>(in.data())[i] = random.next() & 0xFF;
  DeviceArray<T> a(in), b(100);
  move<<<1, 64>>>(a.get(), b.get(), 100);
  finish();
  std::printf("%s: size %zu, alignment %zu\n", name, sizeof(T), alignof(T));
  show(name, b.host(), 1);
}

int main() {
  Random random;
#define RUN(type) run<type>(#type, random);
  RUN(char1)
  RUN(uchar2) RUN(char3) RUN(uchar4) RUN(short1) RUN(ushort2) RUN(short3) RUN(ushort4) RUN(int1) RUN(uint2) RUN(int3)
      RUN(uint4) RUN(long1) RUN(ulong2) RUN(longlong2) RUN(float1) RUN(float2) RUN(float3) RUN(float4) RUN(double1)
          RUN(double2)
}
