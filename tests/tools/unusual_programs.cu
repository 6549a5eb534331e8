// A library whose static runtime runs a kernel, and with PROGRAM the program that opens it in unusual ways: see
// unusual_programs_test.py.
#include <cstdio>

#ifndef PROGRAM

__global__ void add(int* values, int n) { values[threadIdx.x] += n; }

// The sum of what the kernel made, or less than 0: the error.
extern "C" int sum(int n) {
  int* values = nullptr;
  int host[32] = {};
  cudaError_t error = cudaMalloc(&values, sizeof(host));
  if (error == cudaSuccess) error = cudaMemset(values, 0, sizeof(host));
  if (error == cudaSuccess) add<<<1, 32>>>(values, n);
  if (error == cudaSuccess) error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaMemcpy(host, values, sizeof(host), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return -error;
  cudaFree(values);
  int all = 0;
  for (int value : host) all += value;
  return all;
}

extern "C" int version() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version / 1000;
}

#else

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

template <class Function>
Function* function(void* library, const char* name) {
  if (!library) std::printf("%s\n", dlerror()), std::exit(1);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

int sumOf(const char* path, int mode, int n) {
  void* library = dlopen(path, mode);
  const int sum = function<int(int)>(library, "sum")(n);
  dlclose(library);
  return sum;
}

int sumOfChild(const char* path, int n) {
  const pid_t child = fork();
  if (child == 0) {
    std::printf("child %d\n", sumOf(path, RTLD_NOW, n));
    std::fflush(stdout);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// How the runtime of that version, which the program opens itself, sees memory of the library's runtime.
void versions(const char* path, const char* runtime) {
  void* other = dlopen(runtime, RTLD_NOW | RTLD_LOCAL);
  int version = 0, *memory = nullptr, host = 0;
  function<int(int*)>(other, "cudaRuntimeGetVersion")(&version);
  function<int(int**, size_t)>(other, "cudaMalloc")(&memory, 4);
  function<int(int*, int, size_t)>(other, "cudaMemset")(memory, 1, 4);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  std::printf("versions %d %d, sum %d", version / 1000, function<int()>(library, "version")(),
              function<int(int)>(library, "sum")(3));
  function<int(int*, int*, size_t, int)>(other, "cudaMemcpy")(&host, memory, 4, 2);
  std::printf(", memory %x\n", host);
}

int main(int count, char** arguments) {
  const char *way = arguments[1], *path = arguments[2];
  if (!std::strcmp(way, "local")) std::printf("sum %d\n", sumOf(path, RTLD_NOW | RTLD_LOCAL, 2));
  if (!std::strcmp(way, "lazy")) std::printf("sum %d\n", sumOf(path, RTLD_LAZY | RTLD_GLOBAL, 2));
  if (!std::strcmp(way, "reloaded")) {
    for (int i = 0; i < 20; ++i) std::printf("%d ", sumOf(path, RTLD_NOW, i));
    std::puts("");
  }
  if (!std::strcmp(way, "both")) {  // the same library under two names
    const int one = sumOf(path, RTLD_NOW, 1), two = sumOf(arguments[3], RTLD_NOW, 2);
    std::printf("sums %d %d\n", one, two);
  }
  if (!std::strcmp(way, "versions")) versions(path, arguments[3]);
  if (!std::strcmp(way, "forked")) {
    const int status = sumOfChild(path, 5);
    std::printf("status %d, parent %d\n", status, sumOf(path, RTLD_NOW, 6));
  }
  if (!std::strcmp(way, "used and forked")) {
    std::printf("parent %d\n", sumOf(path, RTLD_NOW, 6));
    std::fflush(stdout);
    const int status = sumOfChild(path, 5);
    std::printf("status %d, parent %d\n", status, sumOf(path, RTLD_NOW, 7));
  }
  return count < 3;
}

#endif
