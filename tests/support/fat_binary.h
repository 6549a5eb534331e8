// A fat binary with one text of PTX, as nvcc --no-compress writes it, and what nvcc's code registers it with.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int limit, uint3*, uint3*,
                            dim3*, dim3*, int*);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int ext, size_t bytes, int constant,
                       int global);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name, int ext, size_t bytes,
                              int constant, int global);
char __cudaInitModule(void** handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
}

namespace mulciber::test {

struct Wrapper {
  uint32_t magic = 0x466243B1, version = 1;
  const void* container = nullptr;
  const void* file = nullptr;
};

class FatBinary {
 public:
  explicit FatBinary(std::string ptx) {
    ptx.resize((ptx.size() + 8) / 8 * 8);
    Header header;
    Entry entry;
    entry.payloadBytes = ptx.size();
    header.entryBytes = sizeof(entry) + ptx.size();
    const auto* const first = reinterpret_cast<const char*>(&header);
    const auto* const second = reinterpret_cast<const char*>(&entry);
    bytes_.assign(first, sizeof(header)).append(second, sizeof(entry)).append(ptx);
    wrapper.container = bytes_.data();
  }
  FatBinary(const FatBinary&) = delete;
  FatBinary& operator=(const FatBinary&) = delete;

  Wrapper wrapper;

 private:
  struct Header {
    uint32_t magic = 0xBA55ED50;
    uint16_t version = 1, headerBytes = 16;
    uint64_t entryBytes = 0;
  };
  struct Entry {
    uint16_t kind = 1, version = 0x101;
    uint32_t headerBytes = 80;
    uint64_t payloadBytes = 0;
    uint32_t compressedBytes = 0, optionsRecord = 64;
    uint16_t minor = 0, major = 7;
    uint32_t architecture = 70, nameOffset = 0, nameBytes = 0;
    uint64_t flags = 0x11, id = 0, textBytes = 0;
    uint64_t options[2] = {72, 0};
  };
  static_assert(sizeof(Header) == 16 && sizeof(Entry) == 80);

  std::string bytes_;
};

}  // namespace mulciber::test
