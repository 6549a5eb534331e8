// The ordinary copy's part: find a function of our libcudart at its first call.
#include <dlfcn.h>

#include <unistd.h>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "redirect.h"

namespace mulciber::redirect {

void fail(const char* format, ...) {
  char line[1024];
  int length = std::snprintf(line, sizeof(line), "mulciber: ");
  va_list arguments;
  va_start(arguments, format);
  length += std::vsnprintf(line + length, sizeof(line) - static_cast<size_t>(length) - 1, format, arguments);
  va_end(arguments);
  if (length > static_cast<int>(sizeof(line)) - 2) length = sizeof(line) - 2;
  line[length++] = '\n';
  const ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(length));
  _exit(written < 0 ? 126 : 125);
}

namespace {

// The libcudart of that version in this library's own folder.
void* openRuntime(uint32_t major) {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&openRuntime), &self)) fail("cannot find where %s lies", libraryName);
  char path[4096];
  const char* slash = std::strrchr(self.dli_fname, '/');
  const int folder = slash ? static_cast<int>(slash - self.dli_fname + 1) : 0;
  std::snprintf(path, sizeof(path), "%.*slibcudart.so.%s", folder, self.dli_fname,
                major == 11   ? "11.0"
                : major == 12 ? "12"
                              : "13");
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("cannot load %s: %s", path, dlerror());
  return library;
}

}  // namespace
}  // namespace mulciber::redirect

// Called by the code below with a record; gives the address to go on at.
extern "C" void* mulciberRedirectFind(mulciber::redirect::Record* record) {
  void* library = mulciber::redirect::openRuntime(record->runtimeMajor);  // counted: the library stays
  void* target = dlsym(library, record->name);
  if (!target) mulciber::redirect::fail("the program calls %s, which Mulciber's runtime does not have", record->name);
  __atomic_store_n(&record->target, target, __ATOMIC_RELEASE);
  return target;
}

// Keeps every register that may carry an argument (System V ABI, x86-64).
asm(R"(
.text
.globl mulciberRedirectResolve
.type mulciberRedirectResolve, @function
mulciberRedirectResolve:
  push %rbp
  mov %rsp, %rbp
  sub $192, %rsp
  movups %xmm0, (%rsp)
  movups %xmm1, 16(%rsp)
  movups %xmm2, 32(%rsp)
  movups %xmm3, 48(%rsp)
  movups %xmm4, 64(%rsp)
  movups %xmm5, 80(%rsp)
  movups %xmm6, 96(%rsp)
  movups %xmm7, 112(%rsp)
  mov %rdi, 128(%rsp)
  mov %rsi, 136(%rsp)
  mov %rdx, 144(%rsp)
  mov %rcx, 152(%rsp)
  mov %r8, 160(%rsp)
  mov %r9, 168(%rsp)
  mov %rax, 176(%rsp)
  mov %r11, %rdi
  call mulciberRedirectFind@PLT
  mov %rax, %r11
  movups (%rsp), %xmm0
  movups 16(%rsp), %xmm1
  movups 32(%rsp), %xmm2
  movups 48(%rsp), %xmm3
  movups 64(%rsp), %xmm4
  movups 80(%rsp), %xmm5
  movups 96(%rsp), %xmm6
  movups 112(%rsp), %xmm7
  mov 128(%rsp), %rdi
  mov 136(%rsp), %rsi
  mov 144(%rsp), %rdx
  mov 152(%rsp), %rcx
  mov 160(%rsp), %r8
  mov 168(%rsp), %r9
  mov 176(%rsp), %rax
  leave
  jmp *%r11
.size mulciberRedirectResolve, .-mulciberRedirectResolve
)");
