// What translation costs a kernel: CUDA kernels, translated, beside shaders written by hand for the same work (glsl/),
// on whatever Vulkan device there is. Prints a Markdown table; fails where the results differ.
//
//   bench_translation [--rounds N] KERNELS.ptx...
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mulciber/kernel_abi.h"
#include "mulciber/translator.h"
#include "runtime/vk/device.h"
#include "shaders/bench_copy.h"
#include "shaders/bench_histogram.h"
#include "shaders/bench_matmul.h"
#include "shaders/bench_nbody.h"
#include "shaders/bench_reduce.h"
#include "util/file.h"

using namespace mulciber;

namespace {

struct Case {
  const char* name;
  const char* kernel;
  std::span<const uint32_t> shader;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t inputs;   // arrays before the output
  int32_t n;         // the kernel's last parameter
  bool accumulates;  // into the output, which must be zero before
  uint32_t results;  // words of output to compare
  bool areIntegers;
};

constexpr uint32_t arrayWords = 1 << 22;

const Case cases[] = {
    {"copy float4",
     "_Z4copyI6float4EvPKT_PS1_i",
     bench_copy,
     {4096, 1, 1},
     {256, 1, 1},
     1,
     1 << 20,
     false,
     1 << 22,
     true},
    {"reduction", "_Z6reducePKfPfi", bench_reduce, {64, 1, 1}, {256, 1, 1}, 1, 1 << 22, false, 64, false},
    {"matmul 32x32 tiles",
     "_Z6matmulIfLi32EEvPKT_S2_PS0_i",
     bench_matmul,
     {8, 8, 1},
     {32, 32, 1},
     2,
     256,
     false,
     256 * 256,
     false},
    {"n-body", "_Z5nbodyPK6float4PS_i", bench_nbody, {8, 1, 1}, {256, 1, 1}, 1, 2048, false, 2048 * 4, false},
    {"histogram", "_Z9histogramPKjPji", bench_histogram, {64, 1, 1}, {256, 1, 1}, 1, 1 << 22, true, 256, true},
};

void require(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

size_t instructionCount(std::span<const uint32_t> spirv) {
  constexpr size_t headerWords = 5;
  size_t count = 0;
  for (size_t at = headerWords; at < spirv.size(); at += spirv[at] >> 16) ++count;
  return count;
}

class Bench {
 public:
  explicit Bench(vk::Device& device) : device_(device) {
    for (vk::Memory& array : arrays_)
      require(device.allocator().allocate(vk::MemoryUse::Host, arrayWords * 4, array) == vk::Status::Ok,
              "no memory for the arrays");
    for (uint32_t i = 0; i < arrayWords; ++i)
      for (vk::Memory* input : {&arrays_[0], &arrays_[1]})
        static_cast<float*>(input->host)[i] = static_cast<float>(i * 2654435761u >> 16) / 65536.0f + 0.1f;
  }
  ~Bench() {
    for (vk::Memory& array : arrays_) device_.allocator().free(array);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::unique_ptr<vk::Pipeline> pipeline(const Case& test, std::span<const uint32_t> spirv) {
    vk::PipelineDescription description;
    description.spirv = spirv;
    description.isKernel = description.needsWarps = true;
    std::copy_n(test.block, 3, description.block);
    std::vector<uint8_t> cache;
    std::unique_ptr<vk::Pipeline> result;
    require(vk::Pipeline::create(device_, description, cache, result) == vk::Status::Ok,
            std::string(test.name) + ": no pipeline");
    return result;
  }

  // Microseconds until the work is done.
  double run(const Case& test, const vk::Pipeline& pipeline) {
    struct {
      abi::PushHeader header;
      uint64_t arrays[3];
      int32_t n[2];
    } push = {};
    std::copy_n(test.grid, 3, push.header.gridDim);
    for (uint32_t i = 0; i < test.inputs; ++i) push.arrays[i] = arrays_[i].address;
    push.arrays[test.inputs] = arrays_[2].address;
    if (test.inputs == 2) {
      push.n[0] = test.n;
    } else {
      push.arrays[2] = static_cast<uint64_t>(test.n);
    }
    if (test.accumulates) std::memset(arrays_[2].host, 0, test.results * 4);
    const auto begin = std::chrono::steady_clock::now();
    vk::Queue& queue = device_.queue(0);
    vk::Position position(queue);
    const auto record = [&](vk::Commands& commands) {
      commands.dispatch(pipeline, &push, sizeof push, test.grid);
      return vk::Status::Ok;
    };
    require(queue.record(position, record) == vk::Status::Ok &&
                queue.wait(position.last.value, vk::WaitMode::Auto) == vk::Status::Ok,
            std::string(test.name) + ": not run");
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }

  std::vector<uint32_t> results(const Case& test) const {
    const uint32_t* words = static_cast<uint32_t*>(arrays_[2].host);
    return {words, words + test.results};
  }

 private:
  vk::Device& device_;
  vk::Memory arrays_[3];
};

bool areSame(const Case& test, const std::vector<uint32_t>& left, const std::vector<uint32_t>& right) {
  if (test.areIntegers) return left == right;
  for (size_t i = 0; i < left.size(); ++i) {
    float l, r;
    std::memcpy(&l, &left[i], 4);
    std::memcpy(&r, &right[i], 4);
    // Sums in another order; those of forces cancel.
    if (!(std::fabs(l - r) <= 1e-3f * (std::fabs(l) + 1))) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool hasRounds = argc > 2 && std::string_view(argv[1]) == "--rounds";
  const int rounds = hasRounds ? std::max(1, std::atoi(argv[2])) : 11;
  const int firstFile = hasRounds ? 3 : 1;
  require(argc > firstFile, "usage: bench_translation [--rounds N] KERNELS.ptx...");
  if (vk::Instance::get().devices().empty()) {
    std::printf("skipped: %s\n", vk::Instance::get().problem().c_str());
    return 77;
  }
  std::shared_ptr<vk::Device> device;
  require(vk::Device::create(*vk::Instance::get().devices().front(), nullptr, device) == vk::Status::Ok, "no device");
  if (device->profile().subgroupSize != 32) {
    std::printf("skipped: the shaders written by hand are for subgroups of 32 lanes\n");
    return 77;
  }

  Diagnostics diagnostics;
  std::vector<ModulePtr> modules;
  for (int i = firstFile; i < argc; ++i) {
    modules.push_back(parseModule(util::readFile(argv[i]).value_or(""), argv[i], diagnostics));
    require(modules.back() != nullptr, diagnostics.toString());
  }
  Bench bench(*device);
  std::printf(
      "| kernel | GLSL µs | translated µs | | GLSL instructions | translated | "
      "|\n|---|---:|---:|---:|---:|---:|---:|\n");
  double product = 1;
  bool allSame = true;
  for (const Case& test : cases) {
    const auto module = std::ranges::find_if(modules, [&](const ModulePtr& candidate) {
      return std::ranges::count(kernelNames(*candidate), test.kernel) != 0;
    });
    require(module != modules.end(), std::string("no file has the kernel ") + test.kernel);
    const auto kernel = translate(**module, test.kernel, device->profile(), {}, diagnostics);
    require(kernel.has_value(), diagnostics.toString());
    const auto shader = bench.pipeline(test, test.shader), translated = bench.pipeline(test, kernel->spirv);
    bench.run(test, *shader);
    const auto expected = bench.results(test);
    bench.run(test, *translated);
    const bool same = areSame(test, expected, bench.results(test));
    allSame &= same;
    // In turns, and the best of each: what else the machine does only adds.
    double shaderTime = 1e30, translatedTime = 1e30;
    for (int round = 0; round < rounds; ++round) {
      shaderTime = std::min(shaderTime, bench.run(test, *shader));
      translatedTime = std::min(translatedTime, bench.run(test, *translated));
    }
    const size_t shaderCount = instructionCount(test.shader), translatedCount = instructionCount(kernel->spirv);
    product *= shaderTime / translatedTime;
    std::printf("| %s | %.0f | %.0f | %.2fx | %zu | %zu | %.2fx |%s\n", test.name, shaderTime, translatedTime,
                shaderTime / translatedTime, shaderCount, translatedCount,
                double(translatedCount) / double(shaderCount), same ? "" : " other result");
  }
  std::printf("| geometric mean | | | %.2fx | | | |\n", std::pow(product, 1.0 / std::size(cases)));
  return allSame ? 0 : 1;
}
