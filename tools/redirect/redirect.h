// Programs that carry NVIDIA's static CUDA runtime, which is nvcc's default, call it inside themselves, where no
// library path reaches. `mulciber run` loads this library twice: as an auditor (LD_AUDIT), which sees every object
// before its constructors run and makes the runtime functions it finds there jump to small stubs; and as an ordinary
// library (LD_PRELOAD), where the stubs find ours at the first call of each.
#pragma once

#include <cstdint>

namespace mulciber::redirect {

// The runtime inside one object.
struct Runtime {
  void* library;  // ours in its place, when one of its functions was called
  const char* object;
  uint32_t major;
};

// One redirected function. The stub jumps to `target`: at first a piece of code that calls the resolver with the
// record's address in r11, then the function itself.
struct Record {
  void* target;
  const char* name;
  Runtime* runtime;
};

inline constexpr const char* libraryName = "libmulciber_audit.so";
inline constexpr const char* resolverName = "mulciberRedirectResolve";

// The resolver loads our libcudart from copies in memory of this name and folder.
inline constexpr const char* copyPrefix = "mulciber/";
inline constexpr const char* copyFolder = "/proc/self/fd/";

// Writes one line to standard error and ends the process, without running anything else of it.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace mulciber::redirect
