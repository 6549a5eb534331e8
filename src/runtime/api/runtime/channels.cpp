#include "runtime/api/runtime/channels.h"

#include <algorithm>
#include <iterator>

namespace mulciber::api {

cudaChannelFormatDesc channelsOf(const core::ArrayFormat& format) {
  const auto bits = [&](uint32_t channel) { return channel < format.channels ? static_cast<int>(format.bits) : 0; };
  const int last = format.bits == 10 ? 2 : bits(3);  // 10, 10, 10 and 2
  return {bits(0), bits(1), bits(2), last, static_cast<cudaChannelFormatKind>(format.kind)};
}

const core::ArrayFormat* formatOf(const cudaChannelFormatDesc& given) {
  const int bits[] = {given.x, given.y, given.z, given.w};
  const auto channels = std::find(bits, std::end(bits), 0) - bits;
  if (given.x <= 0) return nullptr;
  const core::ArrayFormat* format = core::findArrayFormatByKind(
      static_cast<uint32_t>(given.f), static_cast<uint32_t>(given.x), static_cast<uint32_t>(channels));
  if (!format) return nullptr;
  const cudaChannelFormatDesc same = channelsOf(*format);
  return same.y == given.y && same.z == given.z && same.w == given.w ? format : nullptr;
}

}  // namespace mulciber::api
