// How many Vulkan calls an operation on a stream costs: a line for each kind of operation. The device is kept busy
// while they are counted, so that batches grow as they do under load, whatever the machine's speed.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "runtime/core/context.h"
#include "runtime/core/copy.h"
#include "runtime/core/event.h"
#include "runtime/core/function.h"
#include "runtime/core/launch.h"
#include "runtime/core/module.h"
#include "runtime/core/platform.h"
#include "runtime/vk/device.h"

using namespace mulciber;

namespace {

std::atomic<unsigned> calls;

// A function of the device's table that counts, and calls the one that was there before.
template <auto member, typename Function>
struct Counted;
template <auto member, typename Result, typename... Arguments>
struct Counted<member, Result(VKAPI_PTR*)(Arguments...)> {
  static inline Result(VKAPI_PTR* original)(Arguments...) = nullptr;
  static VKAPI_ATTR Result VKAPI_CALL call(Arguments... arguments) {
    ++calls;
    return original(arguments...);
  }
};

template <auto member>
void countCallsOf(VolkDeviceTable& table) {
  using Wrapper = Counted<member, std::remove_reference_t<decltype(table.*member)>>;
  Wrapper::original = table.*member;
  if (table.*member) table.*member = Wrapper::call;
}

void countCalls(const vk::Device& device) {
  auto& table = const_cast<VolkDeviceTable&>(device.api());
#define MULCIBER_VULKAN_CALL(name) countCallsOf<&VolkDeviceTable::name>(table);
#include "vulkan_calls.inc"  // every name the runtime's sources use, but for vkWaitSemaphores: waits take what they take
#undef MULCIBER_VULKAN_CALL
}

constexpr const char* kernels = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry waitFor(.param .u64 flag) {
  .reg .pred %p;
  .reg .b32 %value;
  .reg .b64 %flag;
  ld.param.u64 %flag, [flag];
again:
  ld.volatile.global.u32 %value, [%flag];
  setp.eq.u32 %p, %value, 0;
  @%p bra again;
  ret;
}
.visible .entry nothing(.param .u32 number) { ret; }
)";

void require(core::Error error, const char* what) {
  if (error == core::Error::Success) return;
  std::fprintf(stderr, "%s failed: %s\n", what, core::errorName(error));
  std::exit(1);
}

class Bench {
 public:
  explicit Bench(core::Device& device) {
    require(device.createContext(0, context_), "making a context");
    countCalls(context_->vulkan());
    core::Module* module = nullptr;
    require(context_->loadModule({{kernels, "kernels"}}, nullptr, module), "loading the kernels");
    require(module->function("waitFor", waitFor_), "finding a kernel");
    require(module->function("nothing", nothing_), "finding a kernel");
    void* flag = nullptr;
    require(context_->allocateHost(4096, 0, flag), "allocating memory");
    flag_ = static_cast<std::atomic<uint32_t>*>(flag);
    require(context_->hostToDevicePointer(flag, flagAddress_), "finding the flag's address");
    require(context_->allocate(2 << 20, memory_), "allocating memory");
    for (core::Stream*& stream : streams_) require(context_->createStream(1, 0, stream), "making a stream");
    require(context_->createEvent(0, event_), "making an event");
  }
  ~Bench() { context_->destroy(); }

  // Behind a kernel that waits, `operation(i)` many times; the calls of all for each of them. The first round, in which
  // the kernel does not wait, compiles the pipelines: some drivers do so only when nothing runs.
  void measure(const char* name, const std::function<core::Error(unsigned)>& operation) {
    constexpr unsigned times = 1000;
    double each = 0;
    for (int round = 0; round < 2; ++round) {
      flag_->store(round == 0 ? 1 : 0);
      for (core::Stream* stream : streams_) {
        void* pointers[] = {&flagAddress_};
        require(launchOn(*stream, *waitFor_, pointers), "a launch");
      }
      calls = 0;
      for (unsigned i = 0; i < times; ++i) require(operation(i), name);
      each = static_cast<double>(calls) / times;
      flag_->store(1);
      require(context_->synchronize(), "waiting");
    }
    std::printf("%s %.3f\n", name, each);
  }

  core::Error launchEmpty(unsigned stream, uint32_t number) {
    void* pointers[] = {&number};
    return launchOn(*streams_[stream], *nothing_, pointers);
  }
  core::Error fill(unsigned stream) {
    core::Fill fill;
    fill.destination = memory_;
    fill.valueBytes = 4;
    fill.width = 1 << 10;
    fill.height = 1;
    return core::fill(*streams_[stream], fill, true);
  }
  core::Error copy(unsigned stream) {
    core::Copy copy;
    copy.destination = memory_;
    copy.source = memory_ + (1 << 20);
    copy.width = 1 << 16;
    copy.kind = core::CopyKind::DeviceToDevice;
    return core::copy(*streams_[stream], copy, true);
  }
  core::Error record(unsigned stream) {
    core::EventRef event;
    const core::Error error = context_->event(event_, event);
    return error == core::Error::Success ? streams_[stream]->record(*event) : error;
  }

 private:
  static core::Error launchOn(core::Stream& stream, core::Function& function, void* const* pointers) {
    core::Arguments arguments;
    arguments.pointers = pointers;
    return core::launch(function, {{1, 1, 1}, {32, 1, 1}, 0, false}, arguments, stream);
  }

  core::ContextRef context_;
  core::Function *waitFor_ = nullptr, *nothing_ = nullptr;
  std::atomic<uint32_t>* flag_ = nullptr;
  uint64_t flagAddress_ = 0, memory_ = 0;
  core::Stream* streams_[2] = {};
  core::Event* event_ = nullptr;
};

}  // namespace

int main() {
  setenv("MULCIBER_QUEUES", "1", 1);           // devices differ in how many they have
  setenv("MULCIBER_PIPELINES_AHEAD", "0", 1);  // of whatever ran before
  if (core::Platform::get().initialize() != core::Error::Success) {
    std::printf("skipped: there is no Vulkan device\n");
    return 0;
  }
  Bench bench(*core::Platform::get().device(0));
  bench.measure("launch", [&](unsigned i) { return bench.launchEmpty(0, i); });
  bench.measure("launch, two streams in turn", [&](unsigned i) { return bench.launchEmpty(i % 2, i); });
  bench.measure("fill", [&](unsigned) { return bench.fill(0); });
  bench.measure("copy on the device", [&](unsigned) { return bench.copy(0); });
  bench.measure("record an event", [&](unsigned) { return bench.record(0); });
  return 0;
}
