#include "util/uncached_read.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mulciber::util {

#if defined(__x86_64__)

namespace {

constexpr size_t lineBytes = 64;

// Loads that the processor does not keep in order: it fetches each line once, and the next ones meanwhile.
__attribute__((target("avx2"))) void readLines(char* to, const char* from, size_t lines) {
  for (size_t i = 0; i < lines; ++i, to += lineBytes, from += lineBytes) {
    const __m256i first = _mm256_stream_load_si256(reinterpret_cast<const __m256i*>(from));
    const __m256i second = _mm256_stream_load_si256(reinterpret_cast<const __m256i*>(from + lineBytes / 2));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), first);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + lineBytes / 2), second);
  }
}

}  // namespace

bool readsUncachedLines() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

void readUncached(void* to, const void* from, size_t bytes) {
  if (!readsUncachedLines()) {
    std::memcpy(to, from, bytes);
    return;
  }
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  // Lines that were fetched before must not serve again: the device may have written since.
  _mm_mfence();
  const auto readPart = [&](size_t count) {  // up to the end of a line
    alignas(lineBytes) char line[lineBytes];
    const size_t before = reinterpret_cast<uintptr_t>(in) % lineBytes;
    readLines(line, in - before, 1);
    std::memcpy(out, line + before, count);
    out += count, in += count, bytes -= count;
  };
  const size_t head = (lineBytes - reinterpret_cast<uintptr_t>(in) % lineBytes) % lineBytes;
  if (head != 0 && bytes != 0) readPart(std::min(head, bytes));
  const size_t whole = bytes / lineBytes;
  readLines(out, in, whole);
  out += whole * lineBytes, in += whole * lineBytes, bytes -= whole * lineBytes;
  if (bytes != 0) readPart(bytes);
  _mm_mfence();
}

#else

bool readsUncachedLines() { return false; }
void readUncached(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

#endif

}  // namespace mulciber::util
