// `mulciber precompile`: a program's kernels into the cache, as its first start would put them there.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>
#include <optional>
#include <thread>

#include "commands.h"
#include "runtime/api/common/library.h"
#include "runtime/core/device.h"
#include "runtime/core/function.h"
#include "runtime/core/launch.h"
#include "runtime/core/module.h"
#include "runtime/core/platform.h"
#include "terminal.h"

namespace mulciber::tool {

namespace {

using Block = std::array<uint32_t, 3>;

std::optional<Block> parseBlock(std::string_view text) {
  Block block{1, 1, 1};
  for (size_t i = 0; i < block.size(); ++i) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + comma, block[i]);
    if (error != std::errc() || end != text.data() + comma || block[i] == 0) return std::nullopt;
    if (comma == text.size()) return block;
    text.remove_prefix(comma + 1);
  }
  return std::nullopt;
}

struct Counts {
  std::atomic<size_t> kernels{0}, pipelines{0}, failures{0};
};

// What a launch of that block would compile. The arguments do not matter for that.
bool compile(core::Function& function, const KernelInfo& kernel, const Block& block) {
  core::Launch launch;
  std::ranges::copy(block, launch.block);
  const std::vector<uint8_t> zeros(kernel.parameterBytes + 1);
  core::Arguments arguments;
  arguments.packed = zeros.data();
  arguments.packedBytes = zeros.size();
  core::KernelLaunch prepared;
  return core::prepare(function, launch, arguments, function.module().context(), prepared) == core::Error::Success;
}

void compile(core::Function& function, const std::vector<Block>& blocks, Counts& counts) {
  const KernelInfo* kernel = nullptr;
  if (function.info(kernel) != core::Error::Success) {
    ++counts.failures;  // the log has said why
    return;
  }
  ++counts.kernels;
  std::vector<Block> wanted = blocks;
  if (kernel->requiredBlock[0] != 0)
    wanted = {{kernel->requiredBlock[0], kernel->requiredBlock[1], kernel->requiredBlock[2]}};
  for (const Block& block : wanted)
    if (kernel->maxThreads == 0 || block[0] * block[1] * block[2] <= kernel->maxThreads)
      ++(compile(function, *kernel, block) ? counts.pipelines : counts.failures);
}

void compileAll(const std::vector<core::Function*>& functions, const std::vector<Block>& blocks, Counts& counts) {
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < functions.size(); i = next++) compile(*functions[i], blocks, counts);
  };
  std::vector<std::thread> threads(std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 16));
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int precompile(const PrecompileOptions& options) {
  std::vector<Block> blocks;
  for (const std::string& text : options.blocks) {
    const auto block = parseBlock(text);
    if (!block) {
      complain(fmt::format("'{}' is no block size: give 256, 16,16 or 8,8,4", text));
      return ExitUsage;
    }
    blocks.push_back(*block);
  }
  core::Platform& platform = core::Platform::get();
  if (platform.initialize() != core::Error::Success) return ExitFailure;  // the log has said why
  Counts counts;
  bool found = false;
  for (const auto& device : platform.devices()) {
    fatbin::Error error;
    const auto images = fatbin::readFile(options.program, device->computeCapability(), error);
    if (!images) {
      const bool namesFile = error.code == fatbin::Error::Code::FileNotFound;
      complain(namesFile ? error.message : fmt::format("{}: {}", options.program, error.message));
      return ExitFailure;
    }
    core::ContextRef context;
    if (device->retainPrimary(context) != core::Error::Success) return ExitFailure;
    std::vector<core::Function*> functions;
    for (const fatbin::PtxModules& image : *images) {
      core::Module* module = nullptr;
      if (api::loadModule(*context, image, nullptr, module) != core::Error::Success) {
        ++counts.failures;
        continue;
      }
      for (const std::string& name : module->functionNames()) {
        if (!options.kernel.empty() && name != options.kernel) continue;
        core::Function* function = nullptr;
        if (module->function(name, function) == core::Error::Success) functions.push_back(function);
      }
    }
    found |= !functions.empty();
    compileAll(functions, blocks, counts);
  }
  if (!found && counts.failures == 0) {
    complain(options.kernel.empty() ? fmt::format("{} holds no kernel", options.program)
                                    : fmt::format("{} holds no kernel named '{}'", options.program, options.kernel));
    return ExitFailure;
  }
  fmt::print("{} kernels translated, {} compiled for a block size, {} failed\n", counts.kernels.load(),
             counts.pipelines.load(), counts.failures.load());
  return counts.failures == 0 ? ExitSuccess : ExitFailure;
}

}  // namespace mulciber::tool
