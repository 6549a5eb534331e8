// Clang has managed variables in its HIP mode alone, in which `mulciberc++` compiles the host's side of sources that
// have some. There Clang calls these in place of CUDA's functions.
#ifndef MULCIBER_DEVICE_MANAGED_H
#define MULCIBER_DEVICE_MANAGED_H

#define MULCIBER_SHARED extern "C" __attribute__((weak, visibility("hidden")))  // by the objects of a program

extern "C" {
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* sharedBytes, void* stream);
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* function, const char* name, int threadLimit,
                            uint3* thread, uint3* block, dim3* blockDimensions, dim3* gridDimensions, int* warpSize);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int isExternal, size_t bytes,
                       int isConstant, int isGlobal);
void __cudaRegisterManagedVar(void** handle, void** slot, char* device, const char* name, int isExternal, size_t bytes,
                              int isConstant, int isGlobal);
char __cudaInitModule(void** handle);
}

MULCIBER_SHARED unsigned __hipPushCallConfiguration(dim3 grid, dim3 block, size_t sharedBytes = 0,
                                                    cudaStream_t stream = 0) {
  return __cudaPushCallConfiguration(grid, block, sharedBytes, stream);
}
MULCIBER_SHARED cudaError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* sharedBytes, void* stream) {
  return __cudaPopCallConfiguration(grid, block, sharedBytes, stream);
}
MULCIBER_SHARED cudaError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                            size_t sharedBytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, sharedBytes, stream);
}

MULCIBER_SHARED void** __hipRegisterFatBinary(const void* wrapper) {
  struct Wrapper {
    int magic, version;
    const void* data;
    void* unused;
  };
  // It is looked at as long as the program runs.
  auto* const own = new Wrapper(*static_cast<const Wrapper*>(wrapper));
  own->magic = 0x466243b1;
  void** const handle = __cudaRegisterFatBinary(own);
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}
MULCIBER_SHARED void __hipUnregisterFatBinary(void** handle) { __cudaUnregisterFatBinary(handle); }
MULCIBER_SHARED int __hipRegisterFunction(void** handle, const void* host, char* function, const char* name,
                                          unsigned threadLimit, void*, void*, void*, void*, int*) {
  __cudaRegisterFunction(handle, static_cast<const char*>(host), function, name, static_cast<int>(threadLimit), nullptr,
                         nullptr, nullptr, nullptr, nullptr);
  return 0;
}
MULCIBER_SHARED void __hipRegisterVar(void** handle, void* host, char* device, const char* name, int isExternal,
                                      size_t bytes, int isConstant, int isGlobal) {
  __cudaRegisterVar(handle, static_cast<char*>(host), device, name, isExternal, bytes, isConstant, isGlobal);
}
// Compiled code looks for the variable in its slot at once.
MULCIBER_SHARED void __hipRegisterManagedVar(void** handle, void** slot, void* initial, const char* name, size_t bytes,
                                             unsigned) {
  if (!*slot) *slot = initial;  // where there is no device
  __cudaRegisterManagedVar(handle, slot, nullptr, name, 0, bytes, 0, 0);
  __cudaInitModule(handle);
}

#undef MULCIBER_SHARED

// Clang registers all this behind the source's own constructors, which may look for managed variables already. So its
// function is called before them too; what is registered twice is the same. It is there for a source that has anything
// to register. Its name is not mangled, so mulciberc++ does not look for it in the device's code.
static __attribute__((device, used)) char mulciberRegistersThisSource __asm__("mulciberRegistersThisSource");
asm(".pushsection .init_array.101, \"aw\", @init_array\n.balign 8\n.quad __hip_module_ctor\n.popsection");

#endif
