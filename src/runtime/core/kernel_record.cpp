#include "runtime/core/kernel_record.h"

#include "runtime/core/byte_record.h"

namespace mulciber::core {

namespace {

// One list of fields for both directions.
template <typename Archive, typename Info>
void fields(Archive& archive, Info& info) {
  archive.list(info.parameters);
  archive.value(info.parameterBytes);
  archive.value(info.parametersInBuffer);
  archive.list(info.carriedWords);
  archive.value(info.staticSharedBytes);
  archive.value(info.dynamicSharedOffset);
  archive.value(info.localBytes);
  archive.value(info.constantBytes);
  archive.value(info.maxThreads);
  archive.value(info.requiredBlock);
  archive.value(info.usesPrintf);
  archive.value(info.usesHeap);
  archive.value(info.usesLocks);
  archive.value(info.usesTextures);
  archive.value(info.reportsErrors);
  archive.value(info.sharedInScratch);
  archive.value(info.localInScratch);
  archive.value(info.stackCount);
  archive.value(info.usesWarpOperations);
  archive.value(info.usesMatrixUnits);
  archive.value(info.usesDotProducts);
  archive.value(info.readsHostWrites);
}

}  // namespace

std::vector<uint8_t> writeKernel(const Kernel& kernel) {
  ByteWriter writer;
  writer.list(kernel.spirv);
  fields(writer, kernel.info);
  return std::move(writer.bytes);
}

bool readKernel(std::span<const uint8_t> bytes, Kernel& kernel) {
  ByteReader reader(bytes);
  reader.list(kernel.spirv);
  fields(reader, kernel.info);
  return reader.isGood && reader.left.empty();
}

std::vector<uint8_t> writeInfo(const KernelInfo& info) {
  ByteWriter writer;
  fields(writer, info);
  return std::move(writer.bytes);
}

bool readInfo(std::span<const uint8_t> bytes, KernelInfo& info) {
  ByteReader reader(bytes);
  fields(reader, info);
  return reader.isGood && reader.left.empty();
}

}  // namespace mulciber::core
