// The kernels of a native CUDA program and their times, as `mulciber run --profile` tells ours: a library that the
// driver loads where CUDA_INJECTION64_PATH names it. When the process ends it writes, to the file that
// NATIVE_PROFILE names, a line for each kernel: nanoseconds, calls, registers of a thread, bytes of local memory of a
// thread, name.
#include <cupti.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace {

struct Row {
  unsigned long long nanoseconds = 0, calls = 0;
  unsigned registers = 0, localBytes = 0;
};
std::mutex mutex;
std::map<std::string, Row> rows;

constexpr size_t bufferBytes = 1 << 20;

void CUPTIAPI give(uint8_t** buffer, size_t* size, size_t* records) {
  *size = bufferBytes;
  *records = 0;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, bufferBytes));
}

void CUPTIAPI take(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  std::lock_guard lock(mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* kernel = reinterpret_cast<CUpti_ActivityKernel10*>(record);
      Row& row = rows[kernel->name];
      row.nanoseconds += kernel->end - kernel->start;
      ++row.calls;
      row.registers = kernel->registersPerThread;
      row.localBytes = kernel->localMemoryPerThread;
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto* copy = reinterpret_cast<CUpti_ActivityMemcpy6*>(record);
      Row& row = rows["copy"];
      row.nanoseconds += copy->end - copy->start;
      ++row.calls;
    }
  }
  std::free(buffer);
}

void write() {
  cuptiActivityFlushAll(1);
  const char* path = std::getenv("NATIVE_PROFILE");
  FILE* file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  for (const auto& [name, row] : rows)
    std::fprintf(file, "%llu\t%llu\t%u\t%u\t%s\n", row.nanoseconds, row.calls, row.registers, row.localBytes,
                 name.c_str());
  std::fclose(file);
}

}  // namespace

extern "C" int InitializeInjection() {
  cuptiActivityRegisterCallbacks(give, take);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY);
  std::atexit(write);
  return 1;
}
