// Containers and entries.
#include <fmt/core.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <tuple>

#include "runtime/fatbin/fatbin.h"

namespace mulciber::fatbin {

namespace {

struct ContainerHeader {
  uint32_t magic;
  uint16_t version;
  uint16_t headerBytes;
  uint64_t entryBytes;
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t headerBytes;      // with the extension that follows
  uint64_t payloadBytes;     // padded to 8
  uint32_t compressedBytes;  // exact; 0 when stored
  uint32_t optionsRecord;    // offset from the entry's start; 0 for none
  uint16_t minor;
  uint16_t major;
  uint32_t architecture;
  uint32_t nameOffset;
  uint32_t nameBytes;
  uint64_t flags;
  uint64_t id;
  uint64_t textBytes;  // uncompressed; 0 when stored
};
static_assert(sizeof(EntryHeader) == 64);

std::nullopt_t invalid(Error& error, std::string message) {
  error = {Error::Code::InvalidImage, "corrupt fat binary: " + std::move(message)};
  return std::nullopt;
}

std::string_view textOf(Bytes bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

std::optional<Entry> readEntry(Bytes bytes, uint64_t& used, Error& error) {
  EntryHeader header;
  if (!readAt(bytes, 0, header)) return invalid(error, "it ends inside an entry's header");
  if (header.headerBytes < sizeof(EntryHeader) || header.headerBytes > bytes.size()) {
    return invalid(error, fmt::format("an entry's header claims {} bytes", header.headerBytes));
  }
  auto payload = slice(bytes, header.headerBytes, header.payloadBytes);
  if (!payload) return invalid(error, fmt::format("an entry of {} bytes overruns its container", header.payloadBytes));
  const Bytes head = bytes.first(header.headerBytes);

  Entry entry;
  entry.kind = static_cast<Kind>(header.kind);
  entry.major = header.major;
  entry.minor = header.minor;
  entry.architecture = header.architecture;
  entry.flags = header.flags;
  entry.payload = *payload;
  entry.textBytes = header.payloadBytes;
  if (header.nameOffset != 0) {
    auto name = slice(head, header.nameOffset, header.nameBytes);
    if (!name) return invalid(error, "an entry's name lies outside its header");
    entry.name = textOf(*name);
  }
  if (header.optionsRecord != 0) {
    uint32_t record[2];  // offset and length
    if (!readAt(head, header.optionsRecord, record)) return invalid(error, "an entry's options lie outside its header");
    // Machine code keeps something else here; only PTX has its options as text.
    if (entry.kind == Kind::Ptx) {
      auto options = slice(head, record[0], record[1]);
      if (!options) return invalid(error, "an entry's options lie outside its header");
      entry.options = textOf(*options);
    }
  }
  if (entry.isCompressed()) {
    auto compressed = slice(*payload, 0, header.compressedBytes);
    if (!compressed) return invalid(error, "an entry's compressed bytes overrun it");
    entry.payload = *compressed;
    entry.textBytes = header.textBytes;
  }
  used = header.headerBytes + header.payloadBytes;
  return entry;
}

bool decompress(const Entry& entry, std::string& text) {
  const size_t size = text.size(), compressed = entry.payload.size();
  if (entry.flags & Entry::zstd) {
    const auto stated = ZSTD_getFrameContentSize(entry.payload.data(), compressed);
    if (stated == ZSTD_CONTENTSIZE_ERROR || (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != size)) return false;
    return ZSTD_decompress(text.data(), size, entry.payload.data(), compressed) == size;
  }
  const int written = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()), text.data(),
                                          static_cast<int>(compressed), static_cast<int>(size));
  return written >= 0 && static_cast<size_t>(written) == size;
}

std::string describe(const Entry& entry) {
  const char* what = entry.kind == Kind::Ptx     ? "PTX compute_"
                     : entry.kind == Kind::Cubin ? "machine code sm_"
                                                 : "LTO IR lto_";
  const char* suffix = entry.flags & Entry::architectureSpecific ? "a" : entry.flags & Entry::familySpecific ? "f" : "";
  return fmt::format("{}{}{}", what, entry.architecture, suffix);
}

}  // namespace

std::optional<std::vector<Entry>> readContainer(Bytes bytes, uint64_t& used, Error& error) {
  ContainerHeader header;
  if (!readAt(bytes, 0, header)) return invalid(error, "it ends inside the container's header");
  if (header.magic != containerMagic) return invalid(error, fmt::format("no container magic ({:#010x})", header.magic));
  if (header.version != 1) return invalid(error, fmt::format("unknown container version {}", header.version));
  if (header.headerBytes < sizeof(ContainerHeader)) return invalid(error, "the container's header is too short");
  auto body = slice(bytes, header.headerBytes, header.entryBytes);
  if (!body) return invalid(error, fmt::format("its {} bytes of entries are cut off", header.entryBytes));

  std::vector<Entry> entries;
  for (Bytes rest = *body; !rest.empty();) {
    uint64_t length = 0;
    auto entry = readEntry(rest, length, error);
    if (!entry) return std::nullopt;
    entries.push_back(*entry);
    rest = rest.subspan(length);
  }
  used = header.headerBytes + header.entryBytes;
  return entries;
}

std::optional<std::string> contentsOf(const Entry& entry, Error& error) {
  if (!entry.isCompressed())
    return std::string(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
  if (entry.textBytes == 0 || entry.textBytes > maxTextBytes) {
    return invalid(error,
                   fmt::format("an entry claims {} bytes of text (the limit is {})", entry.textBytes, maxTextBytes));
  }
  // An LZ4 byte expands to 255 at most: do not reserve memory for what cannot be.
  if (!(entry.flags & Entry::zstd) && entry.textBytes / 255 > entry.payload.size()) {
    return invalid(error, "an entry's stated size does not fit its compressed bytes");
  }
  std::string contents(entry.textBytes, '\0');
  if (!decompress(entry, contents)) return invalid(error, "an entry does not decompress");
  return contents;
}

std::optional<std::string> ptxText(const Entry& entry, Error& error) {
  auto text = contentsOf(entry, error);
  if (!text) return std::nullopt;
  if (auto end = text->find('\0'); end != std::string::npos) text->resize(end);
  return text;
}

const Entry* choosePtx(const std::vector<Entry>& entries, uint32_t computeCapability, Error& error) {
  // The smallest is the best.
  const auto rank = [&](const Entry& entry) {
    const bool isAbove = entry.architecture > computeCapability;
    const uint32_t distance = isAbove ? entry.architecture - computeCapability : computeCapability - entry.architecture;
    return std::tuple(entry.isSpecific(), isAbove, distance);
  };
  const Entry* best = nullptr;
  for (const Entry& entry : entries)
    if (entry.kind == Kind::Ptx && (!best || rank(entry) < rank(*best))) best = &entry;
  if (best) return best;
  std::string found;
  for (const Entry& entry : entries) {
    const std::string text = describe(entry);
    if (found.find(text) == std::string::npos) found += (found.empty() ? "" : ", ") + text;
  }
  error.code = Error::Code::NoBinaryForGpu;
  error.message = fmt::format(
      "no PTX in this program (it holds {}): rebuild it with -gencode arch=compute_75,code=compute_75, for example",
      found.empty() ? "no device code" : found);
  return nullptr;
}

}  // namespace mulciber::fatbin
