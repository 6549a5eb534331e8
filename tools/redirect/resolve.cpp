// The ordinary copy's part: find a function of our libcudart at its first call.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

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

// Where the libcudart of that version lies: in this library's own folder.
std::string runtimePath(uint32_t major) {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&runtimePath), &self)) fail("cannot find where %s lies", libraryName);
  const std::string own = self.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + "libcudart.so." + (major == 11 ? "11.0" : std::to_string(major));
}

void* load(const std::string& path, const std::string& shownPath) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) fail("cannot load %s: %s", shownPath.c_str(), dlerror());
  return library;
}

// A file in memory with the contents of the one at `path`. Its number was not used for another copy before: the dynamic
// linker takes a path that it knows for the library that it has.
int copyInMemory(const std::string& path) {
  static std::mutex mutex;
  static int nextNumber = 0;
  const std::lock_guard lock(mutex);
  const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int made = memfd_create((copyPrefix + path.substr(path.rfind('/') + 1)).c_str(), MFD_CLOEXEC);
  const int copy = made < 0 ? -1 : fcntl(made, F_DUPFD_CLOEXEC, nextNumber);
  struct stat status;
  bool isWhole = from >= 0 && copy >= 0 && fstat(from, &status) == 0;
  for (off_t done = 0; isWhole && done < status.st_size;) {
    isWhole = sendfile(copy, from, &done, static_cast<size_t>(status.st_size - done)) > 0;
  }
  if (!isWhole) fail("cannot copy %s into memory: %s", path.c_str(), std::strerror(errno));
  nextNumber = copy + 1;
  close(made);
  close(from);
  return copy;
}

// Libraries that have kernels as machine code alone for the compute capabilities that they know, and others as PTX.
bool choosesByCapability(const char* object) {
  const char* slash = std::strrchr(object, '/');
  const std::string_view file = slash ? slash + 1 : object;
  return file.starts_with("libcublas.so") || file.starts_with("libcublasLt.so");
}

// A static runtime has state of its own: the last error of each thread, the kernels registered with it, the launch
// being prepared. So each has a libcudart of its own in its place, and not just the jump to one that all share.
void* loadCopy(uint32_t major, const char* object) {
  const std::string path = runtimePath(major);
  load(path, path);  // counted: it stays, and so does what the dynamic linker finds beside it
  const int file = copyInMemory(path);
  void* library = load(copyFolder + std::to_string(file), path);
  close(file);
  if (choosesByCapability(object)) {
    auto* tell = reinterpret_cast<void (*)(const char*)>(dlsym(library, "mulciberTellUnknownCapability"));
    if (!tell) fail("%s has no mulciberTellUnknownCapability", path.c_str());
    tell(object);
  }
  return library;
}

// The library in the place of the runtime in that object; the same one when a program loads the object again. No lock
// is held while the dynamic linker works, since it has one of its own, which a thread that comes here may hold.
void* libraryFor(Runtime& runtime) {
  static std::mutex mutex;
  static auto* const libraries = new std::map<std::string, void*, std::less<>>;
  auto find = [&] {
    const auto found = libraries->find(runtime.object);
    return found == libraries->end() ? nullptr : found->second;
  };
  void* known = nullptr;
  {
    const std::lock_guard lock(mutex);
    known = find();
  }
  if (known) return known;
  void* made = loadCopy(runtime.major, runtime.object);
  {
    const std::lock_guard lock(mutex);
    known = find();
    if (!known) libraries->emplace(runtime.object, made);
  }
  if (!known) return made;
  dlclose(made);  // another thread was first
  return known;
}

}  // namespace
}  // namespace mulciber::redirect

// Called by the code below with a record; gives the address to continue at.
extern "C" void* mulciberRedirectFind(mulciber::redirect::Record* record) {
  mulciber::redirect::Runtime& runtime = *record->runtime;
  void* library = __atomic_load_n(&runtime.library, __ATOMIC_ACQUIRE);
  if (!library) {
    library = mulciber::redirect::libraryFor(runtime);
    __atomic_store_n(&runtime.library, library, __ATOMIC_RELEASE);
  }
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
