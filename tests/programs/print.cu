#include "program.h"

__global__ void hello(int value, double real, const char* text) {
  if (threadIdx.x == 1) {
    printf("thread %d of block %d says %s\n", threadIdx.x, blockIdx.x, text);
    printf("%5d|%-5d|%05d|%+d|%x|%#X|%o|%u|%c|%%\n", value, value, value, value, value, value, value, -value, 'c');
    printf("%f %.3f %10.2e %g %G %a\n", real, real, real, real, real * 1e20, real);
    printf("%lld %llu %llx %hd %hu %ld\n", -1ll, ~0ull, 0x123456789abcdefll, (short)-7, (unsigned short)65000,
           123456789012l);
    printf("%s|%10s|%-10s|%p\n", "literal", "right", "left", (void*)0x1234);
    int count = printf("no arguments\n");
    printf("%d\n", count);
  }
}

__device__ const char message[] = "a device string";

__global__ void many() { printf("%d ", threadIdx.x); }

int main() {
  void* text;
  CHECK(cudaGetSymbolAddress(&text, message));
  hello<<<1, 2>>>(42, 3.14159265358979, static_cast<const char*>(text));
  finish();
  many<<<1, 1>>>();
  finish();
  std::printf("\ndone\n");
}
