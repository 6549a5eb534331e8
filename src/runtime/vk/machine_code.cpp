#include "runtime/vk/machine_code.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <zstd.h>

namespace mulciber::vk {
namespace {

using Bytes = std::span<const uint8_t>;

template <typename T>
std::optional<T> read(Bytes bytes, size_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

bool hasText(Bytes bytes, size_t at, std::string_view text) {
  return at <= bytes.size() && bytes.size() - at >= text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

// Behind Vulkan's header stand the number of entries, a hash, the size of what the entry holds, and the entry itself:
// its mark and hashes, the size again, the size of the contents, and these, compressed.
std::vector<uint8_t> contentsOf(Bytes cache) {
  constexpr size_t countAt = 32, sizeAt = 52, markAt = 56, sizeAgainAt = 88, contentSizeAt = 96, contentsAt = 100;
  constexpr size_t mostBytes = 256 << 20;
  const size_t held = cache.size() - std::min(cache.size(), contentSizeAt);
  if (read<uint32_t>(cache, countAt) != 1u || !hasText(cache, markAt, "CPKV") ||
      read<uint32_t>(cache, sizeAt) != held || read<uint32_t>(cache, sizeAgainAt) != held)
    return {};
  const auto size = read<uint32_t>(cache, contentSizeAt);
  if (!size || *size > mostBytes) return {};
  const Bytes frame = cache.subspan(contentsAt);
  std::vector<uint8_t> contents(*size);
  if (ZSTD_decompress(contents.data(), contents.size(), frame.data(), frame.size()) != contents.size()) return {};
  return contents;
}

// The sections that hold instructions. The container begins behind 8 bytes, and has a table of sections: their kind,
// size and place from its beginning.
std::vector<Bytes> codeOf(Bytes contents) {
  constexpr std::string_view marks = "NVDANVVMNVuc";
  constexpr size_t containerAt = 8, countAt = 8, tableAt = 32, rowBytes = 32, mostSections = 64;
  constexpr uint32_t kindOfCode = 1;
  if (!hasText(contents, 0, marks)) return {};
  const Bytes container = contents.subspan(containerAt);
  const auto count = read<uint16_t>(container, countAt);
  if (!count || *count > mostSections) return {};
  std::vector<Bytes> code;
  for (size_t n = 0; n < *count; ++n) {
    const size_t row = tableAt + n * rowBytes;
    const auto kind = read<uint32_t>(container, row), size = read<uint32_t>(container, row + 4),
               at = read<uint32_t>(container, row + 8);
    if (!at || *at > container.size() || *size > container.size() - *at) return {};
    if (*kind == kindOfCode) code.push_back(container.subspan(*at, *size));
  }
  return code;
}

struct Instruction {
  static constexpr size_t bytes = 16;
  uint64_t low, high;

  unsigned operation() const { return low & 0x1FF; }
  unsigned form() const { return low >> 9 & 7; }
  unsigned destination() const { return low >> 16 & 0xFF; }
  unsigned first() const { return low >> 24 & 0xFF; }
  unsigned second() const { return low >> 32 & 0xFF; }
  unsigned third() const { return high & 0xFF; }
  bool negatesThird() const { return (high >> 11 & 1) != 0; }
  uint32_t immediate() const { return static_cast<uint32_t>(low >> 32); }
};

namespace operation {
constexpr unsigned move = 0x002, select = 0x008, product = 0x020, sum = 0x021, multiplyAdd = 0x023, integers = 0x024,
                   estimate = 0x108;
}
// Which operand is no register. Where it is the third one, it takes the bits of the second register, and that the
// third's.
namespace form {
constexpr unsigned registers = 1, thirdImmediate = 2, thirdConstant = 3, secondImmediate = 4, thirdUniform = 7;
}
constexpr unsigned zeroRegister = 255, uniformZeroRegister = 63;

// First and last of the operations that nvdisasm of CUDA 13.0 names for compute capability 9.0, or that the driver was
// seen to use there. Others might multiply too.
constexpr std::pair<unsigned, unsigned> knownOperations[] = {
    {0x001, 0x00D}, {0x00F, 0x017}, {0x019, 0x02B}, {0x02D, 0x040}, {0x043, 0x048}, {0x082, 0x082}, {0x086, 0x087},
    {0x08C, 0x08C}, {0x090, 0x092}, {0x096, 0x096}, {0x099, 0x099}, {0x09C, 0x09C}, {0x0A4, 0x0A5}, {0x0B9, 0x0B9},
    {0x0BB, 0x0BB}, {0x0CA, 0x0CA}, {0x100, 0x102}, {0x105, 0x109}, {0x110, 0x110}, {0x112, 0x113}, {0x118, 0x11D},
    {0x11F, 0x120}, {0x123, 0x127}, {0x141, 0x14A}, {0x14C, 0x14E}, {0x150, 0x150}, {0x152, 0x157}, {0x15B, 0x15B},
    {0x15D, 0x15D}, {0x160, 0x174}, {0x180, 0x1A3}, {0x1A6, 0x1A6}, {0x1A8, 0x1AB}, {0x1AF, 0x1AF}, {0x1B1, 0x1B1},
    {0x1B3, 0x1B3}, {0x1B7, 0x1B7}, {0x1B9, 0x1B9}, {0x1C0, 0x1C1}, {0x1C3, 0x1C6}};

// Comparisons, uniform and control instructions, and stores have something else where others have the register that
// they write.
constexpr std::pair<unsigned, unsigned> operationsWithoutRegister[] = {{0x00B, 0x00C}, {0x01C, 0x01C}, {0x02A, 0x02A},
                                                                       {0x034, 0x034}, {0x080, 0x0BF}, {0x118, 0x118},
                                                                       {0x141, 0x15D}, {0x185, 0x188}};

bool isAmong(std::span<const std::pair<unsigned, unsigned>> ranges, unsigned operation) {
  return std::ranges::any_of(ranges,
                             [=](const auto& range) { return range.first <= operation && operation <= range.second; });
}

class Reader {
 public:
  Products read(Bytes code) {
    for (size_t at = 0; at + Instruction::bytes <= code.size(); at += Instruction::bytes) {
      Instruction i;
      std::memcpy(&i, code.data() + at, sizeof(i));
      if (!isAmong(knownOperations, i.operation())) return Products::Unknown;
      if (isProductAlone(i)) return Products::TakenApart;
    }
    return Products::Fused;
  }

 private:
  // Of the driver's own: for a denormal divisor it scales what it estimates the reciprocal of, and the estimate.
  static constexpr uint32_t scale = 0x4B7F'FFF0;  // 16,777,200
  static constexpr uint32_t turns = 0x3E22'F983;  // 1 / 2 pi, in front of sines
  enum class Made : uint8_t { Other, Factor, Scale, Estimate };

  bool isProductAlone(const Instruction& i) {
    Made made = Made::Other;
    bool isAlone = false;
    switch (i.operation()) {
      case operation::move:
      case operation::integers:  // 0 * y + the immediate
        if (hasImmediate(i, scale) && (i.operation() == operation::move || i.first() == zeroRegister))
          made = Made::Factor;
        break;
      // Of the factor and 1, either of which may be the immediate.
      case operation::select:
        if (hasImmediate(i, scale) || made_[i.first()] == Made::Factor) made = Made::Scale;
        break;
      case operation::estimate: made = Made::Estimate; break;
      case operation::product: isAlone = !isOfDriver(i); break;
      // Twice a number: it is a product that may overflow.
      case operation::sum:
        isAlone = i.form() == form::registers && i.first() == i.second() && i.first() != zeroRegister;
        break;
      case operation::multiplyAdd: isAlone = addsNothing(i); break;
      default: break;
    }
    if (!isAmong(operationsWithoutRegister, i.operation())) made_[i.destination()] = made;
    return isAlone;
  }

  static bool hasImmediate(const Instruction& i, uint32_t value) {
    return (i.form() == form::secondImmediate || i.form() == form::thirdImmediate) && i.immediate() == value;
  }

  bool isOfDriver(const Instruction& product) {
    if (product.form() == form::secondImmediate) {
      scaled_ += product.immediate() == scale;
      return product.immediate() == scale || product.immediate() == turns;
    }
    if (product.form() != form::registers) return false;
    Made &x = made_[product.first()], &y = made_[product.second()];
    const bool isScaledBack = (x == Made::Scale && y == Made::Estimate) || (x == Made::Estimate && y == Made::Scale);
    x = y = Made::Other;
    return isScaledBack && ++scaledBack_ <= scaled_;
  }

  // x * y - 0 is how that driver writes some products. What adds the other zero is a sum.
  static bool addsNothing(const Instruction& i) {
    switch (i.form()) {
      case form::thirdImmediate: return i.immediate() == 0x8000'0000;
      case form::thirdConstant: return false;
      case form::thirdUniform: return (i.immediate() & 0x3F) == uniformZeroRegister;
      default: return i.third() == zeroRegister && i.negatesThird();
    }
  }

  std::array<Made, 256> made_{};  // by register: what wrote it last, line by line
  unsigned scaled_ = 0, scaledBack_ = 0;
};

}  // namespace

Products productsIn(std::span<const uint8_t> cache) {
  const std::vector<uint8_t> contents = contentsOf(cache);
  const std::vector<Bytes> code = codeOf(contents);
  Products result = code.empty() ? Products::Unknown : Products::Fused;
  for (const Bytes& part : code)
    if (const Products products = Reader().read(part); products != Products::Fused) result = products;
  return result;
}

}  // namespace mulciber::vk
