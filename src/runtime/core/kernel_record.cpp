#include "runtime/core/kernel_record.h"

#include <cstring>
#include <type_traits>

namespace mulciber::core {

namespace {

class Writer {
 public:
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* data = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), data, data + sizeof(T));
  }
  template <typename T>
  void list(const std::vector<T>& list) {
    value(static_cast<uint64_t>(list.size()));
    for (const T& item : list) value(item);
  }
  std::vector<uint8_t> bytes;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> source) : left(source) {}
  template <typename T>
  void value(T& value) {
    if (left.size() < sizeof(T)) {
      isGood = false;
      return;
    }
    std::memcpy(&value, left.data(), sizeof(T));
    left = left.subspan(sizeof(T));
  }
  template <typename T>
  void list(std::vector<T>& list) {
    uint64_t count = 0;
    value(count);
    if (count > left.size() / sizeof(T)) {
      isGood = false;
      return;
    }
    list.resize(count);
    for (T& item : list) value(item);
  }
  std::span<const uint8_t> left;
  bool isGood = true;
};

// One list of fields for both directions.
template <typename Archive, typename KernelType>
void fields(Archive& archive, KernelType& kernel) {
  archive.list(kernel.spirv);
  archive.list(kernel.info.parameters);
  archive.value(kernel.info.parameterBytes);
  archive.value(kernel.info.parametersInBuffer);
  archive.value(kernel.info.staticSharedBytes);
  archive.value(kernel.info.dynamicSharedOffset);
  archive.value(kernel.info.localBytes);
  archive.value(kernel.info.constantBytes);
  archive.value(kernel.info.maxThreads);
  archive.value(kernel.info.requiredBlock);
  archive.value(kernel.info.usesPrintf);
  archive.value(kernel.info.usesHeap);
  archive.value(kernel.info.usesLocks);
  archive.value(kernel.info.usesTextures);
  archive.value(kernel.info.reportsErrors);
  archive.value(kernel.info.sharedInScratch);
  archive.value(kernel.info.localInScratch);
  archive.value(kernel.info.stackCount);
  archive.value(kernel.info.usesWarpOperations);
  archive.value(kernel.info.usesMatrixUnits);
  archive.value(kernel.info.readsHostWrites);
}

}  // namespace

std::vector<uint8_t> writeKernel(const Kernel& kernel) {
  Writer writer;
  fields(writer, kernel);
  return std::move(writer.bytes);
}

bool readKernel(std::span<const uint8_t> bytes, Kernel& kernel) {
  Reader reader(bytes);
  fields(reader, kernel);
  return reader.isGood && reader.left.empty();
}

}  // namespace mulciber::core
