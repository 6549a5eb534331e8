// Stands in for libcudart.so.13 in the tests of the redirection: says what is called, and does nothing else.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  unsigned x, y, z;
} Dim3;

static void* handle;
static Dim3 grid, block;
static size_t sharedBytes;
static void* stream;

void** __cudaRegisterFatBinary(void* image) {
  printf("__cudaRegisterFatBinary %s\n", *(unsigned*)image == 0x466243B1u ? "wrapper" : "other");
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void** at) { printf("__cudaRegisterFatBinaryEnd %d\n", at == &handle); }
void __cudaUnregisterFatBinary(void** at) { printf("__cudaUnregisterFatBinary %d\n", at == &handle); }
void __cudaRegisterFunction(void** at, const char* host, char* device, const char* name, int limit, void* a, void* b,
                            void* c, void* d, int* e) {
  (void)host, (void)device, (void)a, (void)b, (void)c, (void)d, (void)e;
  printf("__cudaRegisterFunction %d %s %d\n", at == &handle, name, limit);
}
void __cudaRegisterVar(void** at, char* host, char* device, const char* name, int ext, size_t bytes, int constant,
                       int global) {
  (void)host, (void)device, (void)ext, (void)global;
  printf("__cudaRegisterVar %d %s %zu %d\n", at == &handle, name, bytes, constant);
}
unsigned __cudaPushCallConfiguration(Dim3 g, Dim3 b, size_t s, void* on) {
  grid = g, block = b, sharedBytes = s, stream = on;
  return 0;
}
int __cudaPopCallConfiguration(Dim3* g, Dim3* b, size_t* s, void** on) {
  *g = grid, *b = block, *s = sharedBytes, *on = stream;
  return 0;
}
int __cudaGetKernel(void** kernel, const void* host) {
  *kernel = (void*)host;
  return 0;
}
int __cudaLaunchKernel(void* kernel, Dim3 g, Dim3 b, void** arguments, size_t s, void* on) {
  (void)kernel, (void)on;
  printf("launch %u %u %u, %u %u %u, %zu, argument %d\n", g.x, g.y, g.z, b.x, b.y, b.z, s, *(int*)arguments[1]);
  return 0;
}
int cudaMalloc(void** out, size_t bytes) {
  printf("cudaMalloc %zu\n", bytes);
  *out = malloc(bytes);
  return 0;
}
int cudaFree(void* pointer) {
  free(pointer);
  return 0;
}
int cudaDeviceSynchronize(void) {
  printf("cudaDeviceSynchronize\n");
  return 0;
}
