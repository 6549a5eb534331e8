#include "runtime/core/module.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "mulciber/texture_abi.h"
#include "recordHash.h"
#include "runtime/core/byte_record.h"
#include "runtime/core/context.h"
#include "runtime/core/copy.h"
#include "runtime/core/device.h"
#include "runtime/core/function.h"
#include "runtime/core/kernel_archive.h"
#include "runtime/core/managed_advice.h"
#include "runtime/core/platform.h"
#include "runtime/core/shader_cache.h"
#include "runtime/core/texture_reference.h"
#include "runtime/vk/device.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

constexpr uint64_t pieceBytes = 16 << 20;  // of module data copied to the device at once
// Texts of which the cache keeps an index: below that parsing takes no longer than reading one.
constexpr size_t leastIndexedBytes = 1 << 10, mostIndexBytes = 1 << 20;

void report(const Diagnostics& diagnostics, JitLog* log) {
  const std::string text = diagnostics.toString();
  if (text.empty()) return;
  if (diagnostics.hasErrors()) {
    util::log().error("{}", text);
    if (log) log->errors += text;
  } else if (log) {
    log->info += text;
  }
}

}  // namespace

Error parseSources(const std::vector<PtxSource>& sources, Linking linking, JitLog* log, ModulePtr& out) {
  if (sources.empty()) return Error::InvalidImage;
  Diagnostics diagnostics;
  std::vector<ModulePtr> parsed;
  std::vector<const ParsedModule*> pointers;
  for (const PtxSource& source : sources) {
    parsed.push_back(parseModule(source.text, source.name, diagnostics, source.options));
    pointers.push_back(parsed.back().get());
  }
  const bool allParsed = !diagnostics.hasErrors() && std::ranges::find(pointers, nullptr) == pointers.end();
  ModulePtr whole;
  if (allParsed && (sources.size() > 1 || linking == Linking::Image)) {
    whole = linkModules(pointers, diagnostics);
  } else if (allParsed) {
    whole = std::move(parsed.front());
    if (linking == Linking::Program) checkWholeProgram(*whole, diagnostics);
  }
  report(diagnostics, log);
  if (!whole || diagnostics.hasErrors()) {
    if (diagnostics.hasNewerPtx()) return Error::UnsupportedPtxVersion;
    if (!allParsed || linking != Linking::Image) return Error::InvalidPtx;
    return diagnostics.missesFunctions() ? Error::InvalidSource : Error::Unknown;
  }
  out = std::move(whole);
  return Error::Success;
}

TargetProfile profileOf(const Context& context, bool filtersTextures) {
  TargetProfile profile = context.vulkan().profile();
  profile.computeCapability = context.device().computeCapability();
  profile.samplesLikeCuda &= !filtersTextures;
  return profile;
}

Error Module::load(Context& context, const std::vector<PtxSource>& sources, JitLog* log, ModuleRef& out) {
  std::string contents;
  for (const PtxSource& source : sources)
    contents += ShaderCache::hash(source.text) + ShaderCache::hash(source.options);
  ModuleRef module(new Module(context, ShaderCache::hash(contents)));
  if (sources.size() == 1 && KernelArchive::isArchive(sources.front().text))
    TRY(module->readArchive(sources.front().text, log));
  else TRY(module->readPtx(sources, log));
  module->bind();
  TRY(module->upload());
  out = std::move(module);
  return Error::Success;
}

Module::Module(Context& context, std::string contentKey) : context_(context), contentKey_(std::move(contentKey)) {}

Error Module::readArchive(std::string_view bytes, JitLog* log) {
  std::string problem;
  const Error error = KernelArchive::read(bytes, profileOf(context_), archive_, problem);
  if (error == Error::Success) {
    index_ = archive_->index();
    return error;
  }
  util::log().error("{}", problem);
  if (log) log->errors += problem;
  return error;
}

std::string Module::indexKey() const {
  return fmt::format("module|{}|{}|{}", contentKey_, translatorVersion(), recordHash);
}

// What was parsed before without a word has its index in the cache, and is parsed again when a kernel is translated.
Error Module::readPtx(const std::vector<PtxSource>& sources, JitLog* log) {
  size_t bytes = 0;
  for (const PtxSource& source : sources) bytes += source.text.size();
  ShaderCache& cache = context_.device().cache();
  const std::string key = indexKey();
  if (const auto cached = bytes < leastIndexedBytes ? std::nullopt : cache.load(key)) {
    ByteReader reader(*cached);
    read(reader, index_);
    if (reader.isGood && reader.left.empty()) {
      for (const PtxSource& source : sources)
        sources_.push_back({std::string(source.text), source.name, std::string(source.options)});
      return Error::Success;
    }
  }
  JitLog said;
  const Error error = parseSources(sources, Linking::Program, &said, parsed_);
  if (log) {
    log->info += said.info;
    log->errors += said.errors;
  }
  if (error != Error::Success) return error;
  index_ = indexOf(*parsed_);
  if (bytes < leastIndexedBytes || !said.info.empty()) return Error::Success;
  ByteWriter writer;
  write(writer, index_);
  if (writer.bytes.size() <= mostIndexBytes) cache.store(key, writer.bytes);
  return Error::Success;
}

Error Module::parsed(const ParsedModule*& out) {
  std::lock_guard lock(parsing_);
  if (!parsed_) {
    std::vector<PtxSource> sources;
    for (const OwnedSource& source : sources_) sources.push_back({source.text, source.name, source.options});
    TRY(parseSources(sources, Linking::Program, nullptr, parsed_));
    sources_.clear();
  }
  out = parsed_.get();
  return Error::Success;
}

void Module::bind() {
  for (const ModuleData::Symbol& symbol : index_.data.symbols) symbols_.emplace(symbol.name, &symbol);
  for (const std::string& name : index_.kernels) functions_.emplace(name, std::make_unique<Function>(*this, name));
  for (const Reference& reference : index_.references) {
    BoundReference& bound = references_.emplace_back();
    bound.name = reference.name;
    if (reference.isSurface)
      bound.surface = context_.surfaceReferences().add(std::make_shared<SurfaceReference>(context_));
    else bound.texture = context_.textureReferences().add(std::make_shared<TextureReference>(context_));
  }
}

Module::~Module() {
  functions_.clear();
  for (const BoundReference& reference : references_) {
    context_.textureReferences().remove(reference.texture);
    context_.surfaceReferences().remove(reference.surface);
  }
  if (data_) context_.releaseMemory(data_);
}

// The variables' block goes to the device with every address in it made real; zeros are made there. The host holds one
// piece of it at a time, whatever the variables' size.
Error Module::upload() {
  const ModuleData& contents = index_.data;
  uint64_t bytes = contents.image.size();
  std::vector<Allocation::Part> managed;
  for (const ModuleData::Symbol& symbol : contents.symbols) {
    bytes = std::max(bytes, symbol.offset + symbol.size);
    if (symbol.isManaged) managed.push_back({symbol.offset, symbol.size});
  }
  if (bytes == 0) return Error::Success;
  const auto use = managed.empty() ? vk::MemoryUse::Device : vk::MemoryUse::Host;
  TRY(context_.addMemory(MemoryKind::Module, use, bytes, 0, data_));
  if (!managed.empty()) data_->advice = std::make_shared<AdviceMap>(bytes);
  std::ranges::sort(managed, {}, &Allocation::Part::offset);
  data_->managed = std::move(managed);
  // A stream of its own: kernels are loaded when they are first launched, which may be while others are captured.
  const auto own =
      std::make_shared<Stream>(context_, Stream::Role::Ordinary, Stream::NonBlocking, 0, context_.vulkan().queue(0));
  Stream& stream = *own;
  if (const uint64_t begin = contents.image.size(); begin < bytes) {
    Fill zeros;
    zeros.destination = data_->deviceAddress + begin;
    zeros.width = bytes - begin;
    TRY(fill(stream, zeros, false));
  }
  for (uint64_t begin = 0; begin < contents.image.size(); begin += pieceBytes) TRY(uploadPiece(stream, begin));
  return stream.finish();
}

Error Module::uploadPiece(Stream& stream, uint64_t begin) {
  const ModuleData& contents = index_.data;
  const uint64_t end = std::min<uint64_t>(begin + pieceBytes, contents.image.size());
  std::vector<uint8_t> piece(contents.image.begin() + static_cast<ptrdiff_t>(begin),
                             contents.image.begin() + static_cast<ptrdiff_t>(end));
  for (const ModuleData::Relocation& relocation : contents.relocations) {
    if (relocation.size > 8 || relocation.offset + relocation.size > contents.image.size()) return Error::InvalidImage;
    if (relocation.offset >= end || relocation.offset + relocation.size <= begin) continue;
    const uint64_t base = relocation.isFunction ? 0 : data_->deviceAddress;
    const uint64_t value = (base + relocation.targetOffset) >> relocation.shift;
    for (uint32_t i = 0; i < relocation.size; ++i)
      if (const uint64_t at = relocation.offset + i; at >= begin && at < end)
        piece[at - begin] = static_cast<uint8_t>(value >> (8 * i));
  }
  Copy copy;
  copy.destination = data_->deviceAddress + begin;
  copy.source = reinterpret_cast<uint64_t>(piece.data());
  copy.width = piece.size();
  copy.kind = CopyKind::HostToDevice;
  return core::copy(stream, copy, false);
}

Error Module::function(std::string_view name, Function*& out) {
  const auto found = functions_.find(name);
  if (found == functions_.end()) return Error::NotFound;
  out = found->second.get();
  return Error::Success;
}

Error Module::global(std::string_view name, uint64_t& address, size_t& bytes) const {
  const auto found = symbols_.find(name);
  const bool isReference = std::ranges::find(references_, name, &BoundReference::name) != references_.end();
  if (found == symbols_.end()) return isReference ? Error::InvalidValue : Error::NotFound;
  address = dataAddress() + found->second->offset;
  bytes = found->second->size;
  return Error::Success;
}

Error Module::textureReference(std::string_view name, TextureReference*& out) const {
  const auto found = std::ranges::find(references_, name, &BoundReference::name);
  if (found == references_.end() || !found->texture) return Error::NotFound;
  out = found->texture;
  return Error::Success;
}

Error Module::surfaceReference(std::string_view name, SurfaceReference*& out) const {
  const auto found = std::ranges::find(references_, name, &BoundReference::name);
  if (found == references_.end() || !found->surface) return Error::NotFound;
  out = found->surface;
  return Error::Success;
}

Error Module::referenceHandles(uint8_t* out) const {
  uint32_t number = 0;
  for (const BoundReference& reference : references_) {
    uint64_t handle = reference.surface ? reference.surface->handle() : 0;
    if (reference.texture) TRY(reference.texture->handle(handle));
    // One that is not bound is no object, and still another than the rest, which istypep asks.
    ++number;
    if (handle == 0) handle = abi::textureHandle(0, number);
    std::memcpy(out, &handle, referenceBytes);
    out += referenceBytes;
  }
  return Error::Success;
}

uint64_t Module::constantBytes() const {
  uint64_t bytes = 0;
  for (const auto& [name, symbol] : symbols_)
    if (symbol->isConstant) bytes += symbol->size;
  return bytes;
}

std::vector<std::string> Module::functionNames() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_) names.push_back(name);
  return names;
}

bool Module::string(uint64_t address, std::string& out) const {
  const std::vector<uint8_t>& image = index_.data.image;
  if (!data_ || address - data_->deviceAddress >= image.size()) return false;
  const uint64_t offset = address - data_->deviceAddress;
  const auto* text = reinterpret_cast<const char*>(image.data() + offset);
  out.assign(text, strnlen(text, image.size() - offset));
  return true;
}

}  // namespace mulciber::core
