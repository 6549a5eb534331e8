// Writes docs/ptx-coverage.md.  usage: ptx-coverage FILE
#include <cstdio>
#include <fstream>

#include "forms/form_coverage.h"
#include "translator/ptx/coverage.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: ptx-coverage FILE\n");
    return 2;
  }
  std::ofstream file(argv[1]);
  file << mulciber::ptx::coverageTable(mulciber::translatedColumn);
  if (file.flush()) return 0;
  std::fprintf(stderr, "ptx-coverage: cannot write %s\n", argv[1]);
  return 1;
}
