// Writes a picture as PNG, uncompressed: no library is needed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

namespace png {

inline void put(std::vector<uint8_t>& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<uint8_t>(value >> shift));
}

inline uint32_t crc(const uint8_t* bytes, size_t count) {
  uint32_t sum = ~0u;
  for (size_t i = 0; i < count; ++i) {
    sum ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~sum;
}

inline void chunk(std::vector<uint8_t>& out, const char* type, const std::vector<uint8_t>& data) {
  put(out, static_cast<uint32_t>(data.size()));
  const size_t begin = out.size();
  out.insert(out.end(), type, type + 4);
  out.insert(out.end(), data.begin(), data.end());
  put(out, crc(out.data() + begin, out.size() - begin));
}

}  // namespace png

// `rgb` holds three bytes for each pixel, row by row from the top.
inline void writePng(const std::string& path, uint32_t width, uint32_t height, const std::vector<uint8_t>& rgb) {
  std::vector<uint8_t> rows;  // each begins with its filter: none
  for (uint32_t y = 0; y < height; ++y) {
    rows.push_back(0);
    rows.insert(rows.end(), rgb.begin() + size_t{y} * width * 3, rgb.begin() + (size_t{y} + 1) * width * 3);
  }
  std::vector<uint8_t> deflated{0x78, 0x01};  // blocks that are stored as they are
  for (size_t at = 0; at < rows.size(); at += 65535) {
    const auto bytes = static_cast<uint16_t>(rows.size() - at < 65535 ? rows.size() - at : 65535);
    deflated.push_back(at + bytes == rows.size() ? 1 : 0);
    for (const uint16_t length : {bytes, static_cast<uint16_t>(~bytes)}) {
      deflated.push_back(static_cast<uint8_t>(length & 255));
      deflated.push_back(static_cast<uint8_t>(length >> 8));
    }
    deflated.insert(deflated.end(), rows.begin() + at, rows.begin() + at + bytes);
  }
  uint32_t a = 1, b = 0;  // Adler-32
  for (const uint8_t byte : rows) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  png::put(deflated, b << 16 | a);

  std::vector<uint8_t> header;
  png::put(header, width);
  png::put(header, height);
  header.insert(header.end(), {8, 2, 0, 0, 0});  // 8 bits, RGB
  std::vector<uint8_t> out{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  png::chunk(out, "IHDR", header);
  png::chunk(out, "IDAT", deflated);
  png::chunk(out, "IEND", {});
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  const bool good = file && std::fwrite(out.data(), 1, out.size(), file) == out.size();
  if ((file && std::fclose(file) != 0) || !good) throw std::runtime_error("cannot write " + path);
}

}  // namespace example
