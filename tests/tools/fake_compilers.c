// Stands in for libnvrtc, libnvfatbin and libnvJitLink, by -DNVRTC, -DFATBIN or neither: see compilers_test.py. Says
// what it is asked.
#include <stdio.h>
#include <string.h>

static int isMachineCode, givesPtx;
static void take(const char* what, int count, const char* const* options) {
  printf("%s", what);
  for (int i = 0; i < count; ++i) {
    printf(" %s", options[i]);
    isMachineCode |= strstr(options[i], "sm_") != NULL;
    givesPtx |= strcmp(options[i], "-ptx") == 0;
  }
  puts("");
}
static int give(const char* text, char* out) { return strcpy(out, text), 0; }
static int sizeOf(const char* text, size_t* size) { return *size = text ? strlen(text) + 1 : 0, 0; }

#ifdef NVRTC
int nvrtcCompileProgram(void* program, int count, const char* const* options) {
  (void)program;
  isMachineCode = 0;
  take("compile", count, options);
  return 0;
}
int nvrtcGetCUBINSize(void* program, size_t* size) { return (void)program, sizeOf(isMachineCode ? "cubin" : NULL, size); }
int nvrtcGetCUBIN(void* program, char* out) { return (void)program, give("cubin", out); }
int nvrtcGetPTXSize(void* program, size_t* size) { return (void)program, sizeOf(".version 8.0", size); }
int nvrtcGetPTX(void* program, char* out) { return (void)program, give(".version 8.0", out); }
#elif defined(FATBIN)
int nvFatbinAddCubin(void* handle, const void* code, size_t size, const char* arch, const char* name) {
  return (void)handle, (void)code, printf("pack cubin %zu %s %s\n", size, arch, name) < 0;
}
int nvFatbinAddPTX(void* handle, const char* code, size_t size, const char* arch, const char* name, const char* line) {
  return (void)handle, (void)code, printf("pack ptx %zu %s %s '%s'\n", size, arch, name, line) < 0;
}
#else
int nvJitLinkCreate(void** handle, unsigned count, const char* const* options) {
  *handle = &givesPtx;
  givesPtx = 0;
  take("create", (int)count, options);
  return 0;
}
int nvJitLinkDestroy(void** handle) { return *handle = NULL, 0; }
int nvJitLinkAddData(void* handle, int type, const void* data, size_t size, const char* name) {
  (void)handle, (void)data, (void)size;
  printf("add %d %s\n", type, name);
  return 0;
}
int nvJitLinkAddFile(void* handle, int type, const char* path) { return (void)handle, printf("file %d %s\n", type, path), 0; }
int nvJitLinkComplete(void* handle) { return (void)handle, 0; }
int nvJitLinkGetLinkedCubinSize(void* handle, size_t* size) { return (void)handle, sizeOf("cubin", size); }
int nvJitLinkGetLinkedCubin(void* handle, char* out) { return (void)handle, give("cubin", out); }
int nvJitLinkGetLinkedPtxSize(void* handle, size_t* size) { return (void)handle, sizeOf(givesPtx ? ".version 9.0" : NULL, size); }
int nvJitLinkGetLinkedPtx(void* handle, char* out) { return (void)handle, give(".version 9.0", out); }
int __nvJitLinkCreate_13_0(void** handle, unsigned count, const char* const* options) { return nvJitLinkCreate(handle, count, options); }
#endif
