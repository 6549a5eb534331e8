#include "runtime/core/kernel_record.h"

#include "runtime/core/byte_record.h"

namespace mulciber::core {

namespace {

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
  ByteWriter writer;
  fields(writer, kernel);
  return std::move(writer.bytes);
}

bool readKernel(std::span<const uint8_t> bytes, Kernel& kernel) {
  ByteReader reader(bytes);
  fields(reader, kernel);
  return reader.isGood && reader.left.empty();
}

}  // namespace mulciber::core
