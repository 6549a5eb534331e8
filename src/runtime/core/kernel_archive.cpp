#include "runtime/core/kernel_archive.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <xxhash.h>

#include "mulciber/offline.h"
#include "recordHash.h"
#include "runtime/core/byte_record.h"
#include "runtime/core/function.h"
#include "runtime/core/kernel_record.h"

namespace mulciber::core {

namespace {

constexpr std::string_view magic = "\x7FMULKERN";  // no text begins so, nor any file that holds PTX
constexpr uint32_t notThere = UINT32_MAX;

struct Header {
  char magic[8];
  uint32_t translator, record;  // what wrote it: kernels and their launches go by one contract
  XXH128_hash_t contents;
};

LaunchNeeds needsAt(size_t index) {
  return {(index & 1) != 0, (index & 2) != 0, (index & 4) != 0, (index & 8) != 0, (index & 16) != 0};
}
const size_t repairedSums = LaunchNeeds{false, false, false, false, true}.index();

}  // namespace

bool KernelArchive::isArchive(std::string_view bytes) { return bytes.starts_with(magic); }

std::vector<uint8_t> KernelArchive::write(const ParsedModule& module, const std::vector<TargetProfile>& profiles,
                                          const TranslateOptions& options, Diagnostics& diagnostics) {
  const ModuleIndex contents = indexOf(module);
  std::vector<std::vector<uint8_t>> records;
  std::map<std::vector<uint8_t>, uint32_t> placeOf;
  ByteWriter editions;
  for (const TargetProfile& profile : profiles) {
    editions.text(toBriefJson(profile));
    for (const std::string& name : contents.kernels) {
      Places places;
      places.fill(notThere);
      bool usesMatrixUnits = false, samples = false, usesDotProducts = false;
      for (size_t index = 0; index < LaunchNeeds::count; ++index) {
        const LaunchNeeds needs = needsAt(index);
        if (needs.repairedSums && !usesDotProducts) {
          places[index] = places[index - repairedSums];
          continue;
        }
        if ((needs.partialWarps && !usesMatrixUnits) || (needs.filtersTextures && !samples)) continue;
        TranslateOptions one = options;
        one.sharedInScratch = needs.sharedInScratch;
        one.localInScratch = needs.localInScratch;
        one.partialWarps = needs.partialWarps;
        one.dotProducts = !needs.repairedSums;
        TargetProfile target = profile;
        target.samplesLikeCuda &= !needs.filtersTextures;
        const auto kernel = translate(module, name, target, one, diagnostics);
        if (!kernel) return {};
        usesMatrixUnits |= kernel->info.usesMatrixUnits;
        usesDotProducts |= kernel->info.usesDotProducts;
        samples |= kernel->info.usesTextures && profile.samplesLikeCuda;
        const auto [place, isNew] = placeOf.try_emplace(writeKernel(*kernel), static_cast<uint32_t>(records.size()));
        if (isNew) records.push_back(place->first);
        places[index] = place->second;
      }
      editions.value(places);
    }
  }
  ByteWriter body;
  core::write(body, contents);
  body.value(uint64_t{profiles.size()});
  body.bytes.insert(body.bytes.end(), editions.bytes.begin(), editions.bytes.end());
  body.value(uint64_t{records.size()});
  for (const auto& record : records) body.list(record);

  Header header{};
  std::memcpy(header.magic, magic.data(), sizeof(header.magic));
  header.translator = translatorVersion();
  header.record = recordHash;
  header.contents = XXH3_128bits(body.bytes.data(), body.bytes.size());
  ByteWriter whole;
  whole.value(header);
  whole.bytes.insert(whole.bytes.end(), body.bytes.begin(), body.bytes.end());
  return std::move(whole.bytes);
}

Error KernelArchive::read(std::string_view bytes, const TargetProfile& device,
                          std::unique_ptr<const KernelArchive>& out, std::string& problem) {
  ByteReader reader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  Header header;
  reader.value(header);
  if (!reader.isGood || !isArchive(bytes)) {
    problem = "these are no translated kernels";
    return Error::InvalidImage;
  }
  if (header.translator != translatorVersion() || header.record != recordHash) {
    problem = "the kernels were translated by another version of Mulciber: translate them again";
    return Error::InvalidImage;
  }
  if (!XXH128_isEqual(header.contents, XXH3_128bits(reader.left.data(), reader.left.size()))) {
    problem = "the translated kernels are damaged";
    return Error::InvalidImage;
  }
  auto archive = std::make_unique<KernelArchive>();
  if (!archive->readContents(reader.left, device, problem)) {
    problem = "the translated kernels are damaged";
    return Error::InvalidImage;
  }
  if (!archive->isForDevice_) return Error::NoBinaryForGpu;
  out = std::move(archive);
  return Error::Success;
}

// False when they are damaged. `problem` names what keeps each profile from suiting the device.
bool KernelArchive::readContents(std::span<const uint8_t> bytes, const TargetProfile& device, std::string& problem) {
  ByteReader reader(bytes);
  core::read(reader, index_);
  std::vector<std::pair<std::string, std::string>> lacking;  // of each name of a profile the least
  for (size_t left = reader.count(1); left != 0 && reader.isGood; --left) {
    std::string json, error;
    reader.text(json);
    const auto profile = profileFromJson(json, error);
    if (!profile) return false;
    TargetProfile able = device;
    able.exactDot32 = true;  // kernels with dot products are there without them too
    const std::string lacks = whatKeepsFrom(*profile, able);
    const bool isChosen = lacks.empty() && !isForDevice_;
    if (isChosen) repairsSums_ = profile->exactDot32 && !device.exactDot32;
    const auto named = std::ranges::find(lacking, profile->name, &std::pair<std::string, std::string>::first);
    if (named == lacking.end()) lacking.emplace_back(profile->name, lacks);
    else if (lacks.size() < named->second.size()) named->second = lacks;
    for (const std::string& name : index_.kernels) {
      Places places{};
      reader.value(places);
      if (isChosen) kernels_[name] = places;
    }
    isForDevice_ |= isChosen;
  }
  for (const auto& [name, lacks] : lacking)
    if (!isForDevice_)
      problem += fmt::format("{}the kernels were translated for the profile {}, which this device does not suit: {}",
                             problem.empty() ? "" : "; ", name, lacks);
  records_.resize(reader.count(sizeof(uint64_t)));
  for (auto& record : records_) reader.list(record);
  return reader.isGood && reader.left.empty();
}

bool KernelArchive::kernel(std::string_view name, size_t needs, Kernel& out) const {
  const auto found = kernels_.find(name);
  if (found == kernels_.end() || needs >= LaunchNeeds::count) return false;
  const uint32_t place = found->second[repairsSums_ ? needs | repairedSums : needs];
  return place < records_.size() && readKernel(records_[place], out);
}

}  // namespace mulciber::core
