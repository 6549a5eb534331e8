// Prints what redirection finds in a file without looking at its symbols: see static_runtime_test.py.
// usage: list_static_runtime FILE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>

#include "static_runtime.h"

int main(int, char** arguments) {
  const int file = open(arguments[1], O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return std::puts("no file"), 1;
  const auto begin = std::chrono::steady_clock::now();
  const auto size = static_cast<size_t>(status.st_size);
  const void* content = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (content == MAP_FAILED) return std::puts("no memory"), 1;
  const auto elf = mulciber::fatbin::Elf::open({static_cast<const std::byte*>(content), size});
  if (!elf) return std::puts("no ELF file"), 1;
  const auto runtime = mulciber::redirect::findStaticRuntime(*elf);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "%.1f ms\n", taken.count());
  if (!runtime.problem.empty()) return std::printf("problem: %s\n", runtime.problem.c_str()), 0;
  if (runtime.functions.empty()) return std::puts("none"), 0;
  std::printf("CUDA %u\n", runtime.major);
  for (const auto& function : runtime.functions) {
    std::printf("%llx %.*s\n", static_cast<unsigned long long>(function.address),
                static_cast<int>(function.name.size()), function.name.data());
  }
}
