// libFuzzer: any bytes as a file. Built with -DMULCIBER_FUZZ=ON.
#include "runtime/fatbin/fatbin.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mulciber::fatbin::Error error;
  mulciber::fatbin::readFile(std::as_bytes(std::span(data, size)), 90, error);
  return 0;
}
