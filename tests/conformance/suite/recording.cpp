#include "conformance/suite/recording.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace mulciber::conformance {
namespace {

constexpr std::string_view kMagic = "Mulciber conformance recording 2\n";

class Writer {
 public:
  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(std::string_view text) { bytes_ += text; }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value{};
    if (bytes_.size() < sizeof(T)) failed_ = true, bytes_ = {};
    else std::memcpy(&value, bytes_.data(), sizeof(T)), bytes_.remove_prefix(sizeof(T));
    return value;
  }
  bool failed() const { return failed_; }
  bool atEnd() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

// Samples are written byte by byte over all cases of one width, which compresses best; the width is that of the values.
unsigned bytesFor(const std::vector<uint64_t>& values) {
  uint64_t all = 0;
  for (uint64_t value : values) all |= value;
  unsigned bytes = 0;
  while (bytes < 8 && all >> (8 * bytes) != 0) ++bytes;
  return bytes;
}

uint32_t essenceOf(const Case& one, const Outcome& outcome, const InputTable& inputs) {
  std::vector<uint64_t> values = outcome.values;
  auto row = values.begin();
  for (size_t i = 0; i < one.results.size(); ++i)
    for (unsigned word = 0; word < (one.results[i] == ptx::Type::B128 ? 2u : 1u); ++word)
      for (unsigned n = 0; n < inputs.rows; ++n, ++row) *row = withOneNan(one.formats[i], *row);
  for (size_t i = 0; one.guard >= 0 && i < values.size(); ++i)
    if (one.isSkipped(inputs.columns[static_cast<size_t>(one.guard)][i % inputs.rows])) values[i] = 0;
  return static_cast<uint32_t>(XXH64(values.data(), values.size() * sizeof(uint64_t), 0));
}

}  // namespace

RecordedCase Recording::summarize(const Case& one, const Outcome& outcome, const InputTable& inputs) {
  const unsigned rows = inputs.rows;
  RecordedCase recorded;
  recorded.isRefused = !outcome.message.empty();
  if (recorded.isRefused) return recorded;
  const unsigned columns = columnsOf(one);
  for (unsigned begin = 0; begin < rows; begin += kBlockRows) {
    XXH64_hash_t hash = 0;
    for (unsigned column = 0; column < columns; ++column)
      hash = XXH64(&outcome.values[size_t(column) * rows + begin], kBlockRows * sizeof(uint64_t), hash);
    recorded.blockHashes.push_back(static_cast<uint32_t>(hash));
  }
  for (unsigned column = 0; column < columns; ++column)
    for (unsigned i = 0; i < kSampleRows; ++i)
      recorded.samples.push_back(outcome.values[size_t(column) * rows + sampleRow(i, rows)]);
  recorded.essence = essenceOf(one, outcome, inputs);
  return recorded;
}

const RecordedCase* Recording::find(const Case& one) const {
  const auto found = cases_.find(one.key());
  return found == cases_.end() ? nullptr : &found->second;
}

std::string Recording::write(const std::string& path) const {
  std::vector<uint64_t> keys;
  for (const auto& [key, recorded] : cases_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  Writer head;
  head.text(kMagic);
  head.put<uint32_t>(static_cast<uint32_t>(description.size()));
  head.text(description);
  head.put<uint32_t>(static_cast<uint32_t>(keys.size()));
  for (uint64_t key : keys) head.put(key);
  // One kind of data after the other compresses better than case by case.
  Writer counts, hashes, samples;
  for (uint64_t key : keys) {
    const RecordedCase& one = cases_.at(key);
    const unsigned width = bytesFor(one.samples);
    counts.put<uint8_t>(static_cast<uint8_t>(one.blockHashes.size()));
    counts.put<uint8_t>(static_cast<uint8_t>(one.samples.size() / kSampleRows));
    counts.put<uint8_t>(static_cast<uint8_t>(width));
    for (uint32_t hash : one.blockHashes) hashes.put(hash);
    hashes.put(one.essence);
    for (unsigned byte = 0; byte < width; ++byte)
      for (uint64_t value : one.samples) samples.put<uint8_t>(static_cast<uint8_t>(value >> (8 * byte)));
  }
  const std::string bytes = head.bytes() + counts.bytes() + hashes.bytes() + samples.bytes();
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 19);
  if (ZSTD_isError(size)) return ZSTD_getErrorName(size);
  std::ofstream file(path, std::ios::binary);
  file.write(packed.data(), static_cast<std::streamsize>(size));
  file.close();
  return file ? "" : "cannot write " + path;
}

std::string Recording::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "cannot read " + path;
  std::ostringstream all;
  all << file.rdbuf();
  const std::string packed = all.str();
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size > (1u << 30)) return path + " is no recording";
  std::string bytes(size, '\0');
  if (ZSTD_isError(ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size())) ||
      bytes.compare(0, kMagic.size(), kMagic) != 0)
    return path + " is no recording";
  Reader reader(std::string_view(bytes).substr(kMagic.size()));
  description.resize(std::min<size_t>(reader.get<uint32_t>(), bytes.size()));
  for (char& c : description) c = reader.get<char>();
  std::vector<uint64_t> keys(std::min<size_t>(reader.get<uint32_t>(), bytes.size() / 8));
  for (uint64_t& key : keys) key = reader.get<uint64_t>();
  std::vector<std::array<uint8_t, 3>> counts(keys.size());
  for (auto& count : counts)
    for (uint8_t& number : count) number = reader.get<uint8_t>();
  for (size_t i = 0; i < keys.size(); ++i) {
    RecordedCase& one = cases_[keys[i]];
    one.isRefused = counts[i][0] == 0;
    one.blockHashes.resize(counts[i][0]);
    for (uint32_t& hash : one.blockHashes) hash = reader.get<uint32_t>();
    one.essence = reader.get<uint32_t>();
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    std::vector<uint64_t>& samples = cases_[keys[i]].samples;
    samples.resize(size_t(counts[i][1]) * kSampleRows);
    for (unsigned byte = 0; byte < counts[i][2]; ++byte)
      for (uint64_t& value : samples) value |= uint64_t(reader.get<uint8_t>()) << (8 * byte);
  }
  return reader.failed() || !reader.atEnd() ? path + " is cut short" : "";
}

}  // namespace mulciber::conformance
