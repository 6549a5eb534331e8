// Runs a libFuzzer target without libFuzzer: on every file of its corpus, then on mutations of them, the same each
// time.
//
//   replay_NAME SECONDS CORPUS_FOLDER...
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

void run(const Bytes& bytes) { LLVMFuzzerTestOneInput(bytes.data(), bytes.size()); }

// A few small edits: what a careless hand or a damaged disk does.
Bytes mutate(const std::vector<Bytes>& corpus, std::mt19937& random) {
  auto below = [&](size_t limit) { return limit == 0 ? 0 : random() % limit; };
  Bytes bytes = corpus[below(corpus.size())];
  for (size_t edits = 1 + below(4); edits > 0; --edits) {
    const size_t at = below(bytes.size() + 1), length = below(std::min<size_t>(bytes.size() - at, 32) + 1);
    const auto begin = bytes.begin() + static_cast<ptrdiff_t>(at), end = begin + static_cast<ptrdiff_t>(length);
    switch (below(4)) {
      case 0: bytes.erase(begin, end); break;
      case 1: {
        const Bytes copy(begin, end);
        bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(below(bytes.size() + 1)), copy.begin(), copy.end());
        break;
      }
      case 2:
        if (at < bytes.size()) bytes[at] = static_cast<uint8_t>(random());
        break;
      default: {
        const Bytes& other = corpus[below(corpus.size())];
        const size_t from = below(other.size() + 1), count = below(std::min<size_t>(other.size() - from, 64) + 1);
        bytes.insert(begin, other.begin() + static_cast<ptrdiff_t>(from),
                     other.begin() + static_cast<ptrdiff_t>(from + count));
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SECONDS CORPUS_FOLDER...\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (int i = 2; i < argc; ++i)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const auto& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    run(corpus.back());
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "no files in %s\n", argv[2]);
    return 1;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(argv[1]));
  std::mt19937 random(1);
  unsigned long count = 0;
  for (; std::chrono::steady_clock::now() < end; ++count) run(mutate(corpus, random));
  std::printf("%zu files of the corpus and %lu mutations\n", corpus.size(), count);
  return 0;
}
