// Every kernel of the PTX files in a folder translates, but for what is refused by name. To be run over what nvcc makes
// of the programs in tests/ptx/cuda (docs/ptx.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "mulciber/translator.h"

namespace mulciber {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view refused[] = {"matrices of less than 8 bits with a scale"};

TEST(Folder, KernelsTranslate) {
  const char* folder = std::getenv("MULCIBER_PTX_FOLDER");
  if (!folder) GTEST_SKIP() << "skipped: set MULCIBER_PTX_FOLDER to a folder with PTX files";
  size_t files = 0, kernels = 0, bytes = 0;
  std::map<std::string_view, size_t> refusals;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".ptx") continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    Diagnostics diagnostics;
    const ModulePtr module = parseModule(text, entry.path().string(), diagnostics);
    ASSERT_TRUE(module) << diagnostics.toString();
    ++files;
    for (const std::string& name : kernelNames(*module)) {
      Diagnostics messages;
      ++kernels;
      if (const auto kernel = translate(*module, name, *builtinProfile("nvidia"), {}, messages)) {
        bytes += kernel->spirv.size() * sizeof(kernel->spirv[0]);
        continue;
      }
      const std::string why = messages.toString();
      const auto reason = std::ranges::find_if(refused, [&](auto each) { return why.find(each) != std::string::npos; });
      if (reason != std::end(refused)) ++refusals[*reason];
      else ADD_FAILURE() << entry.path() << " " << name << "\n" << why;
    }
  }
  std::printf("%zu files, %zu kernels, %zu bytes of SPIR-V\n", files, kernels, bytes);
  for (const auto& [reason, count] : refusals) std::printf("%zu refused: %s\n", count, reason.data());
}

}  // namespace
}  // namespace mulciber
