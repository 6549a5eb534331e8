// NVRTC and nvJitLink are compilers: they work without a GPU, and Mulciber leaves them as they are. Most programs ask
// them for machine code, though, which no Vulkan device takes. So a few of their functions are put behind ours, which
// ask the compiler for PTX and hand it out in the machine code's place; a module is loaded from either. nvFatbin, which
// packs what they made, is told that it is PTX.
//
// The auditor sees which function a program binds to which library (la_symbind64) and names ours instead. It cannot
// call the ordinary copy, whose relocations may not be done yet, but finds what it exports and fills in `path`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mulciber::redirect {

// A process may hold several: CUDA 12's and 13's of each.
inline constexpr size_t compilerSlots = 6;

// The compiler libraries loaded, in the order of loading; `path` is empty for a free slot.
struct CompilerSlot {
  char path[4096];
};
inline constexpr const char* compilerSlotsName = "mulciberCompilers";

bool isCompiler(std::string_view fileName);

// Functions of nvJitLink and nvFatbin carry a version, __nvJitLinkCreate_13_0; this is the name without it.
std::string_view plainCompilerName(std::string_view name);

// What the ordinary copy exports for a function of the library in a slot, when it has one.
std::string compilerHookName(size_t slot, std::string_view plainName);

}  // namespace mulciber::redirect
