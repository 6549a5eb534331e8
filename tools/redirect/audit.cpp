// The auditor's part: what the dynamic linker calls for every object (see rtld-audit(7)).
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compilers.h"
#include "known_runtimes.h"
#include "mapped_file.h"
#include "redirect.h"
#include "runtime_inside.h"

namespace mulciber::redirect {
namespace {

using fatbin::Bytes;
using fatbin::Elf;

[[noreturn]] void missingResolver() {
  fail("%s must be in LD_PRELOAD as well as in LD_AUDIT: start the program with `mulciber run`", libraryName);
}

// The resolver in the ordinary copy, and the slots that wait for its address.
void* resolver = nullptr;
std::vector<void**>* waitingSlots = nullptr;

constexpr size_t pageBytes = 4096;
constexpr size_t stubBytes = 32;  // a jump to the target, and the code that calls the resolver
constexpr size_t lazyOffset = 16;
constexpr size_t jumpBytes = 5;

size_t pages(size_t bytes) { return (bytes + pageBytes - 1) / pageBytes * pageBytes; }

// Memory within reach of a 32-bit jump from `address`: the first free place below the object, or above it.
std::byte* allocateNear(uint64_t address, size_t bytes) {
  constexpr uint64_t step = 0x10000, reach = 0x70000000;
  for (const bool below : {true, false}) {
    for (uint64_t distance = step; distance < reach; distance += step) {
      if (below && distance + step > address) break;
      const uint64_t at = (below ? address - distance : address + distance) / step * step;
      void* got = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == reinterpret_cast<void*>(at)) return static_cast<std::byte*>(got);
      if (got != MAP_FAILED) munmap(got, bytes);  // a kernel without MAP_FIXED_NOREPLACE
    }
  }
  return nullptr;
}

void put32(std::byte* at, int64_t value) {
  const auto small = static_cast<int32_t>(value);
  std::memcpy(at, &small, sizeof(small));
}

void putCode(std::byte* at, std::initializer_list<unsigned char> code) {
  for (unsigned char byte : code) *at++ = std::byte{byte};
}

// Stubs and records for all functions of one object; gives the first stub.
std::byte* makeStubs(const std::vector<RuntimeFunction>& functions, uint32_t major, const char* object) {
  const size_t codeBytes = pages(functions.size() * stubBytes);
  size_t nameBytes = 0;
  for (const RuntimeFunction& function : functions) nameBytes += function.name.size() + 1;
  const size_t objectBytes = std::strlen(object) + 1;
  const size_t dataBytes =
      pages(sizeof(void*) + sizeof(Runtime) + functions.size() * sizeof(Record) + nameBytes + objectBytes);
  std::byte* code = allocateNear(functions.front().address, codeBytes + dataBytes);
  if (!code) fail("%s: no free memory near its code to redirect its CUDA runtime", object);
  auto** resolverSlot = reinterpret_cast<void**>(code + codeBytes);
  auto* runtime = reinterpret_cast<Runtime*>(resolverSlot + 1);
  auto* records = reinterpret_cast<Record*>(runtime + 1);
  char* objectName = reinterpret_cast<char*>(records + functions.size());
  char* names = objectName + objectBytes;
  std::memcpy(objectName, object, objectBytes);
  *runtime = {nullptr, objectName, major};
  *resolverSlot = resolver ? resolver : reinterpret_cast<void*>(&missingResolver);
  if (!resolver) {
    if (!waitingSlots) waitingSlots = new std::vector<void**>;
    waitingSlots->push_back(resolverSlot);
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    std::byte* stub = code + i * stubBytes;
    std::byte* lazy = stub + lazyOffset;
    std::memcpy(names, functions[i].name.data(), functions[i].name.size());  // the rest is zero already
    records[i] = {lazy, names, runtime};
    names += functions[i].name.size() + 1;
    auto* record = reinterpret_cast<std::byte*>(&records[i]);
    putCode(stub, {0xFF, 0x25});  // jmp *record.target(%rip)
    put32(stub + 2, record - (stub + 6));
    putCode(lazy, {0x4C, 0x8D, 0x1D});  // lea record(%rip), %r11
    put32(lazy + 3, record - (lazy + 7));
    putCode(lazy + 7, {0xFF, 0x25});  // jmp *resolverSlot(%rip)
    put32(lazy + 9, reinterpret_cast<std::byte*>(resolverSlot) - (lazy + 13));
  }
  if (mprotect(code, codeBytes, PROT_READ | PROT_EXEC) != 0) fail("%s: cannot make code executable", object);
  return code;
}

// Makes every function begin with a jump to its stub. Its pages are writable meanwhile, and never executable at once;
// nothing runs in an object whose constructors have not.
void redirect(std::vector<RuntimeFunction>& functions, uint32_t major, const char* object) {
  std::sort(functions.begin(), functions.end(),
            [](const RuntimeFunction& a, const RuntimeFunction& b) { return a.address < b.address; });
  std::byte* stubs = makeStubs(functions, major, object);
  const uint64_t first = functions.front().address / pageBytes * pageBytes;
  const uint64_t last = pages(functions.back().address + jumpBytes);
  auto* text = reinterpret_cast<void*>(first);
  if (mprotect(text, last - first, PROT_READ | PROT_WRITE) != 0) {
    fail("%s: its code cannot be made writable, so its CUDA runtime cannot be redirected; build it with -cudart shared",
         object);
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    auto* entry = reinterpret_cast<std::byte*>(functions[i].address);
    *entry = std::byte{0xE9};
    put32(entry + 1, stubs + i * stubBytes - (entry + jumpBytes));
  }
  if (mprotect(text, last - first, PROT_READ | PROT_EXEC) != 0) fail("%s: cannot restore its code", object);
}

// Whether the compiler filled up the place behind a very short function, so that a jump fits all the same.
bool isPadded(const RuntimeFunction& function) {
  constexpr uint64_t alignment = 16;
  const auto next = *reinterpret_cast<const unsigned char*>(function.address + function.size);
  const bool isNop = next == 0x90 || next == 0x66 || next == 0x2E || next == 0x0F || next == 0xCC;
  return function.address % alignment == 0 && isNop;
}

bool fitsJump(const RuntimeFunction& function) { return function.size >= jumpBytes || isPadded(function); }

void redirectAll(std::vector<RuntimeFunction> functions, uint64_t base, const char* path) {
  for (RuntimeFunction& function : functions) function.address += base;
  auto firstShort = std::stable_partition(functions.begin(), functions.end(), fitsJump);
  for (auto function = firstShort; function != functions.end(); ++function) {
    dprintf(STDERR_FILENO,
            "mulciber: calls of %.*s inside %s are not redirected, because it is too short; build it with -cudart "
            "shared\n",
            static_cast<int>(function->name.size()), function->name.data(), path);
  }
  functions.erase(firstShort, functions.end());
  if (!functions.empty()) redirect(functions, majorOf(functions), path);
}

void inspect(const char* path, uint64_t base, bool isProgram) {
  const MappedFile file(path);
  const auto elf = Elf::open(file.bytes());
  if (!elf || elf->machine() != Elf::machineX86_64) return;
  RuntimeInside inside;
  if (auto known = knownRuntime(path, *elf, file.bytes())) {
    inside = std::move(*known);
  } else {
    inside = runtimeInside(*elf);
    rememberRuntime(path, *elf, file.bytes(), inside);
  }
  if (isProgram) path = program_invocation_name;
  if (!inside.functions.empty()) return redirectAll(std::move(inside.functions), base, path);
  if (inside.problem.empty()) return;
  constexpr const char* reason =
      "it carries a static CUDA runtime whose symbols were stripped and whose functions cannot be recognised (%s); "
      "build it with -cudart shared, or do not strip it";
  char text[512];
  snprintf(text, sizeof(text), reason, inside.problem.c_str());
  if (isProgram) fail("%s cannot be run: %s", path, text);
  dprintf(STDERR_FILENO, "mulciber: CUDA calls inside %s are not redirected: %s\n", path, text);
}

std::string_view fileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// Whether the object is a copy of our libcudart, which the resolver made.
bool isOwnCopy(const char* path) {
  if (!std::string_view(path).starts_with(copyFolder)) return false;
  char file[256];
  const ssize_t length = readlink(path, file, sizeof(file));
  if (length < 0) return false;
  return std::string_view(file, static_cast<size_t>(length)).starts_with(std::string("/memfd:") + copyPrefix);
}

// What the ordinary copy exports, by name.
using Exports = std::map<std::string, void*, std::less<>>;
Exports* ordinaryCopy = nullptr;

void* exportOf(std::string_view name) {
  if (!ordinaryCopy) return nullptr;
  auto found = ordinaryCopy->find(name);
  return found == ordinaryCopy->end() ? nullptr : found->second;
}

// The names of compilers that were loaded before the ordinary copy was.
std::vector<std::string>* compilerPaths = nullptr;

void tellCompilers() {
  auto* slots = static_cast<CompilerSlot*>(exportOf(compilerSlotsName));
  for (size_t i = 0; slots && compilerPaths && i < compilerPaths->size(); ++i) {
    snprintf(slots[i].path, sizeof(slots[i].path), "%s", (*compilerPaths)[i].c_str());
  }
}

// Gives the library its slot, the same one when it is loaded again; compilerSlots when all are taken.
size_t addCompiler(const char* path) {
  if (!compilerPaths) compilerPaths = new std::vector<std::string>;
  const auto known = std::find(compilerPaths->begin(), compilerPaths->end(), path);
  const auto slot = static_cast<size_t>(known - compilerPaths->begin());
  if (known != compilerPaths->end() || slot == compilerSlots) return slot;
  compilerPaths->push_back(path);
  tellCompilers();
  return slot;
}

void foundOrdinaryCopy(const link_map* map) {
  const MappedFile file(map->l_name);
  const auto elf = Elf::open(file.bytes());
  if (!elf) return;
  ordinaryCopy = new Exports;
  elf->forEachSymbol(".dynsym", [&](const Elf::Symbol& symbol) {
    if (symbol.isDefined) ordinaryCopy->emplace(symbol.name, reinterpret_cast<void*>(map->l_addr + symbol.value));
  });
  tellCompilers();
  resolver = exportOf(resolverName);
  if (!waitingSlots) return;
  for (void** slot : *waitingSlots) *slot = resolver;
  waitingSlots->clear();
}

}  // namespace
}  // namespace mulciber::redirect

using namespace mulciber::redirect;

extern "C" __attribute__((visibility("default"))) unsigned la_version(unsigned) { return LAV_CURRENT; }

// Ours go first however a program names them: its own library path would win over LD_LIBRARY_PATH.
extern "C" __attribute__((visibility("default"))) char* la_objsearch(const char* name, uintptr_t*, unsigned flag) {
  static char path[4096];
  const std::string_view file = fileName(name);
  const bool isReplaced = file == "libcuda.so.1" || file == "libcuda.so" || file == "libnvidia-ml.so.1" ||
                          file.starts_with("libcudart.so.") || file.starts_with("libcufft.so.");
  if (flag != LA_SER_ORIG || !isReplaced) return const_cast<char*>(name);
  Dl_info self;
  if (!dladdr(reinterpret_cast<void*>(&la_version), &self)) return const_cast<char*>(name);
  const std::string_view own = self.dli_fname;
  const std::string_view folder = own.substr(0, own.size() - fileName(own).size());
  snprintf(path, sizeof(path), "%.*s%.*s", static_cast<int>(folder.size()), folder.data(),
           static_cast<int>(file.size()), file.data());
  return access(path, R_OK) == 0 ? path : const_cast<char*>(name);
}

// The cookie of an object says what it is when a symbol is bound: 0 for any, this, else the slot of a compiler and 1.
constexpr uintptr_t ordinaryCopyCookie = UINTPTR_MAX;

extern "C" __attribute__((visibility("default"))) unsigned la_objopen(link_map* map, Lmid_t space, uintptr_t* cookie) {
  *cookie = 0;
  if (space != LM_ID_BASE) return 0;
  const bool isProgram = map->l_name[0] == '\0';
  const std::string_view file = fileName(map->l_name);
  if (file == libraryName) {
    *cookie = ordinaryCopyCookie;
    foundOrdinaryCopy(map);
    return 0;
  }
  if (isCompiler(file)) {
    const size_t slot = addCompiler(map->l_name);
    if (slot == compilerSlots) return 0;
    *cookie = slot + 1;
    return LA_FLG_BINDTO;
  }
  if (!file.starts_with("libcudart.so") && !file.starts_with("libcuda.so") && !file.starts_with("libmulciber") &&
      !isOwnCopy(map->l_name)) {
    inspect(isProgram ? "/proc/self/exe" : map->l_name, map->l_addr, isProgram);
  }
  return LA_FLG_BINDFROM;
}

extern "C" __attribute__((visibility("default"))) uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned, uintptr_t* user,
                                                                         uintptr_t* definer, unsigned*,
                                                                         const char* name) {
  if (*definer == 0 || *definer == ordinaryCopyCookie || *user == ordinaryCopyCookie) return symbol->st_value;
  void* hook = exportOf(compilerHookName(*definer - 1, plainCompilerName(name)));
  return hook ? reinterpret_cast<uintptr_t>(hook) : symbol->st_value;
}
