#include "runtime/core/pipelines_ahead.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>

#include "recordHash.h"
#include "runtime/core/byte_record.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/shader_cache.h"
#include "runtime/vk/device.h"
#include "runtime/vk/pipeline.h"
#include "util/environment.h"
#include "util/exit_gate.h"
#include "util/file.h"

namespace mulciber::core {

namespace {

constexpr size_t mostUses = 256;                                 // remembered of a program, and made for a context
constexpr size_t mostWords = 1 << 19, mostWordsInAll = 1 << 22;  // of a kernel's SPIR-V, and of all kernels'
// A launch that does not tell the thread of its end is noticed this late.
constexpr auto lookInterval = std::chrono::milliseconds(1);

// The file that runs; of an interpreter also what it is given to run.
std::string programKey(const Context& context) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  struct stat status {};
  if (error || stat(path.c_str(), &status) != 0) return {};
  std::string script;
  const std::string line = util::readFile("/proc/self/cmdline").value_or("");
  for (size_t at = line.find('\0') + 1; at != 0 && at < line.size() && script.empty();) {
    const std::string argument = line.c_str() + at;
    if (path.filename().string().starts_with("python") && !argument.starts_with('-')) script = argument;
    at += argument.size() + 1;
  }
  return fmt::format("program|{}|{}|{}.{}|{}|{}|{}", path.string(), status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, script, recordHash, context.vulkan().physical().identity());
}

// Drivers for CPUs may make no pipeline while a kernel runs: where one has failed, the thread would never end.
bool isWanted(const vk::Device& device) {
  const int64_t asked = util::environment().pipelinesAhead;
  return asked < 0 ? !device.physical().isCpu() : asked != 0;
}

}  // namespace

std::vector<uint8_t> writeUses(std::span<const KernelUse> uses) {
  ByteWriter writer;
  writer.value(uint64_t{uses.size()});
  for (const KernelUse& use : uses) {
    writer.text(use.contentKey);
    writer.text(use.kernel);
    writer.value(use.variant);
  }
  return std::move(writer.bytes);
}

std::vector<KernelUse> readUses(std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  std::vector<KernelUse> uses(std::min(reader.count(1), mostUses));
  for (KernelUse& use : uses) {
    reader.text(use.contentKey);
    reader.text(use.kernel);
    reader.value(use.variant);
  }
  if (!reader.isGood || !reader.left.empty()) uses.clear();
  return uses;
}

void PipelinesAhead::begin() {
  const ShaderCache& cache = context_.device().cache();
  if (!isWanted(context_.vulkan()) || !util::environment().dump.empty() || cache.folder().empty()) return;
  std::lock_guard lock(mutex_);
  if (!programKey_.empty()) return;
  programKey_ = programKey(context_);
  if (programKey_.empty()) return;
  if (const auto known = context_.device().cache().load(programKey_)) uses_ = readUses(*known);
  if (uses_.empty()) return;
  isDone_ = false;
  thread_ = std::thread([this] { run(); });
}

void PipelinesAhead::stop() {
  {
    std::lock_guard lock(mutex_);
    isStopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  items_.clear();
}

std::shared_ptr<const vk::Pipeline> PipelinesAhead::take(const std::string& key) {
  if (!thread_.joinable()) return nullptr;
  std::unique_lock lock(mutex_);
  Item& item = items_[key];
  item.isTaken = true;
  changed_.wait(lock, [&] { return !item.isUnderWay; });
  return std::move(item.pipeline);
}

void PipelinesAhead::remember(const KernelUse& use) {
  std::lock_guard lock(mutex_);
  if (programKey_.empty() || std::ranges::find(uses_, use) != uses_.end()) return;
  if (uses_.size() == mostUses) uses_.erase(uses_.begin());
  uses_.push_back(use);
  context_.device().cache().store(programKey_, writeUses(uses_));
}

void PipelinesAhead::run() {
  size_t wordsLeft = mostWordsInAll;
  const std::vector<KernelUse> uses = [&] {
    std::lock_guard lock(mutex_);
    return uses_;
  }();
  {
    const util::Inside inside(util::Caller::Service);
    if (!inside || context_.vulkan().queue(0).warmUp() != vk::Status::Ok) return;
  }
  for (const KernelUse& use : uses) {
    const util::Inside inside(util::Caller::Service);
    if (!inside) return;
    const TranslationRequest request = translationRequest(context_, use.contentKey, use.kernel, use.variant.needs);
    const std::string key = pipelineKey(request.key, use.variant);
    std::unique_lock lock(mutex_);
    while (launches_.load() != 0 && !isStopping_) changed_.wait_for(lock, lookInterval);
    if (isStopping_) return;
    Item& item = items_[key];
    if (item.isTaken || item.pipeline) continue;
    item.isUnderWay = true;
    lock.unlock();
    std::shared_ptr<const vk::Pipeline> pipeline = make(use, request.key, key, wordsLeft);
    lock.lock();
    item.isUnderWay = false;
    item.pipeline = std::move(pipeline);
    changed_.notify_all();
  }
  isDone_ = true;
}

// Those whose pipeline is no longer in the cache are left to their launches: the driver may take long for them. A CPU
// driver keeps its own cache.
std::shared_ptr<const vk::Pipeline> PipelinesAhead::make(const KernelUse& use, const std::string& translationKey,
                                                         const std::string& key, size_t& wordsLeft) {
  ShaderCache& cache = context_.device().cache();
  Kernel kernel;
  if (!context_.vulkan().physical().isCpu() && !cache.load(key)) return nullptr;
  if (!loadInfo(cache, translationKey, kernel.info) || !loadCode(cache, translationKey, kernel.spirv)) return nullptr;
  kernel.info.name = use.kernel;
  const size_t words = kernel.spirv.size();
  if (words > mostWords || words > wordsLeft) return nullptr;
  wordsLeft -= words;
  std::shared_ptr<const vk::Pipeline> pipeline;
  (void)makePipeline(context_, kernel, use.variant, key, false, pipeline);
  return pipeline;
}

}  // namespace mulciber::core
