#include "util/file.h"

#include <cerrno>
#include <fstream>

namespace mulciber::util {

std::optional<std::string> readFile(const std::string& path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  std::string bytes;
  char piece[1 << 16];
  do {
    stream.read(piece, sizeof(piece));
    bytes.append(piece, static_cast<size_t>(stream.gcount()));
  } while (stream);
  if (stream.bad()) return std::nullopt;
  return bytes;
}

bool writeFile(const std::string& path, std::string_view contents) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  stream.close();
  return static_cast<bool>(stream);
}

}  // namespace mulciber::util
