// How the work of the translator and of the driver's compiler grows with kernels of each shape
// (tests/support/kernel_shapes.h): processor time, memory and size at growing counts, a line each.
//
//   bench_growth [--translate | --nvidia] [SHAPE [COUNT...]]     --translate: without the driver, for lavapipe
//                                                                --nvidia: without the driver, for NVIDIA's
//   bench_growth --shapes                             their names and usual counts
//
// MESA_SHADER_CACHE_DISABLE=1 keeps Mesa from reusing what it compiled before.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "mulciber/kernel_abi.h"
#include "mulciber/translator.h"
#include "runtime/vk/device.h"
#include "runtime/vk/instance.h"
#include "support/kernel_shapes.h"

using namespace mulciber;

namespace {

double processorSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Some drivers compile at the first dispatch only: the kernel runs once, over zeros, with which it does nothing.
bool compile(vk::Device& device, const Kernel& kernel) {
  constexpr uint32_t threads = 64, grid[3] = {1, 1, 1};
  vk::PipelineDescription description;
  description.spirv = kernel.spirv;
  description.isKernel = description.needsWarps = true;
  description.block[0] = threads;
  std::vector<uint8_t> cache;
  std::unique_ptr<vk::Pipeline> pipeline;
  vk::Memory words;
  const uint64_t scratchBytes =
      kernel.info.localInScratch ? threads * abi::scratchThreadBytes(kernel.info.localBytes, 0, 0) : 0;
  const uint64_t bytes = threads * 4 + sizeof(abi::LaunchState) + scratchBytes;
  if (vk::Pipeline::create(device, description, cache, pipeline) != vk::Status::Ok ||
      device.allocator().allocate(vk::MemoryUse::Host, bytes, words) != vk::Status::Ok)
    return false;
  std::memset(words.host, 0, bytes);
  abi::LaunchState state{};
  state.scratch = words.address + threads * 4 + sizeof state;
  std::memcpy(static_cast<char*>(words.host) + threads * 4, &state, sizeof state);
  struct {
    abi::PushHeader header;
    uint64_t array;
  } push = {};
  std::copy_n(grid, 3, push.header.gridDim);
  push.header.launchState = words.address + threads * 4;
  push.array = words.address;
  vk::Queue& queue = device.queue(0);
  vk::Position position(queue);
  const auto record = [&](vk::Commands& commands) {
    commands.dispatch(*pipeline, &push, sizeof push, grid);
    return vk::Status::Ok;
  };
  const bool hasRun = queue.record(position, record) == vk::Status::Ok &&
                      queue.wait(position.last.value, vk::WaitMode::Auto) == vk::Status::Ok;
  device.allocator().free(words);
  return hasRun;
}

// In a process of its own, so that its memory is its own: prints one line.
void measure(const test::KernelShape& shape, unsigned count, const TargetProfile& profile, bool withDriver) {
  const std::string text = shape.text(count);
  const double begin = processorSeconds();
  Diagnostics diagnostics;
  const ModulePtr module = parseModule(text, "k.ptx", diagnostics);
  TranslateOptions options;
  options.dotProducts = true;  // as the runtime has it
  const auto kernel = module ? translate(*module, "k", profile, options, diagnostics) : std::nullopt;
  const double translated = processorSeconds();
  if (!kernel) {
    std::printf("%-16s %7u  refused: %s\n", shape.name.data(), count, diagnostics.toString().substr(0, 200).c_str());
    return;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-16s %7u %9.3f s %7ld MiB %9.1f KiB", shape.name.data(), count, translated - begin,
              usage.ru_maxrss / 1024, double(kernel->spirv.size()) / 256);
  std::fflush(stdout);
  std::shared_ptr<vk::Device> device;
  if (withDriver && vk::Device::create(*vk::Instance::get().devices().front(), nullptr, device) == vk::Status::Ok) {
    const double begun = processorSeconds();
    const bool isCompiled = compile(*device, *kernel);
    getrusage(RUSAGE_SELF, &usage);
    std::printf(" %9.3f s %7ld MiB%s", processorSeconds() - begun, usage.ru_maxrss / 1024,
                isCompiled ? "" : " (no pipeline)");
  }
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  if (std::ranges::find(words, "--shapes") != words.end()) {
    for (const test::KernelShape& shape : test::kernelShapes()) std::printf("%s %u\n", shape.name.data(), shape.count);
    return 0;
  }
  const bool forNvidia = std::erase(words, "--nvidia") != 0;
  const bool withDriver = std::erase(words, "--translate") == 0 && !forNvidia;
  const TargetProfile profile = *builtinProfile(forNvidia ? "nvidia" : "lavapipe");
  std::vector<unsigned> counts;
  for (size_t i = 1; i < words.size(); ++i) counts.push_back(static_cast<unsigned>(std::stoul(words[i])));
  std::printf("%-16s %7s %11s %11s %13s%s\n", "shape", "count", "translator", "memory", "SPIR-V",
              withDriver ? "      driver      memory" : "");
  for (const test::KernelShape& shape : test::kernelShapes()) {
    if (!words.empty() && words[0] != shape.name) continue;
    const std::vector<unsigned> sizes =
        counts.empty() ? std::vector{shape.count / 8, shape.count / 4, shape.count / 2} : counts;
    for (const unsigned size : sizes) {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) {
        measure(shape, size, profile, withDriver);
        std::fflush(stdout);
        _exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) std::printf("%-16s %7u  ended by %d\n", shape.name.data(), size, status);
    }
  }
  return 0;
}
