#include "runtime/core/module_index.h"

#include "runtime/core/byte_record.h"

namespace mulciber::core {

namespace {

// One list of fields for both directions.
template <typename Archive, typename Data>
void fields(Archive& archive, Data& data) {
  archive.list(data.image);
  archive.value(data.size);
  archive.value(data.alignment);
  archive.list(data.relocations);
}

}  // namespace

ModuleIndex indexOf(const ParsedModule& module) {
  return {moduleData(module), references(module), targetArchitecture(module), kernelNames(module)};
}

void write(ByteWriter& writer, const ModuleIndex& index) {
  fields(writer, index.data);
  writer.value(uint64_t{index.data.symbols.size()});
  for (const ModuleData::Symbol& symbol : index.data.symbols) {
    writer.text(symbol.name);
    writer.value(symbol.offset);
    writer.value(symbol.size);
    writer.value(symbol.alignment);
    writer.value(symbol.isConstant);
    writer.value(symbol.isManaged);
  }
  writer.value(uint64_t{index.references.size()});
  for (const Reference& reference : index.references) {
    writer.text(reference.name);
    writer.value(reference.isSurface);
  }
  writer.value(index.architecture);
  writer.value(uint64_t{index.kernels.size()});
  for (const std::string& name : index.kernels) writer.text(name);
}

void read(ByteReader& reader, ModuleIndex& index) {
  fields(reader, index.data);
  index.data.symbols.resize(reader.count(1));
  for (ModuleData::Symbol& symbol : index.data.symbols) {
    reader.text(symbol.name);
    reader.value(symbol.offset);
    reader.value(symbol.size);
    reader.value(symbol.alignment);
    reader.value(symbol.isConstant);
    reader.value(symbol.isManaged);
  }
  index.references.resize(reader.count(1));
  for (Reference& reference : index.references) {
    reader.text(reference.name);
    reader.value(reference.isSurface);
  }
  reader.value(index.architecture);
  index.kernels.resize(reader.count(1));
  for (std::string& name : index.kernels) reader.text(name);
}

}  // namespace mulciber::core
