// Runs SPIR-V made by the translator on the test device and gives back what it wrote.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "mulciber/kernel_abi.h"
#include "translator/ir/builder.h"
#include "translator/spirv/spirv.h"
#include "translator/spirv/validation.h"
#include "vk/vulkan_test.h"

namespace mulciber::test {

// Device memory that the host can see.
class Buffer {
 public:
  Buffer(vk::Device& device, uint64_t bytes) : device_(device) {
    EXPECT_EQ(device.allocator().allocate(vk::MemoryUse::Host, std::max<uint64_t>(bytes, 4), memory_), vk::Status::Ok);
    std::memset(memory_.host, 0, bytes);
  }
  ~Buffer() { device_.allocator().free(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t address() const { return memory_.address; }
  const vk::Memory& memory() const { return memory_; }
  template <class T>
  T* as() {
    return static_cast<T*>(memory_.host);
  }

 private:
  vk::Device& device_;
  vk::Memory memory_;
};

struct Launch {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {32, 1, 1};
  uint32_t dynamicSharedBytes = 0, stackBytes = 0;
  std::vector<uint8_t> parameters;
  std::vector<uint32_t> carriedWords;
  uint64_t launchState = 0, moduleData = 0;
  vk::Memory constants;  // what begins at moduleData
  uint32_t constantBytes = 0;
  bool usesTextures = false;
  bool parametersInBuffer = false;  // even if they are small

  template <class T>
  Launch& add(T value) {
    size_t at = (parameters.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    parameters.resize(at + sizeof(T));
    std::memcpy(parameters.data() + at, &value, sizeof(T));
    return *this;
  }
};

class ExecuteTest : public vk::VulkanTest {
 protected:
  // The device's own profile, and reduced ones that the device can run as well: they take the emulated ways.
  std::vector<TargetProfile> profiles() const {
    TargetProfile full = device->profile();
    TargetProfile storage = full;
    storage.name = "narrow storage only";
    storage.int8 = storage.int16 = storage.integerDotProduct = false;
    storage.atomicFloat32Add = storage.atomicSharedFloat32Add = false;
    storage.atomicFloat64Add = storage.atomicSharedFloat64Add = false;
    TargetProfile plain = storage;
    plain.name = "plain";
    plain.storage8 = plain.storage16 = false;
    plain.sharedExplicitLayout = plain.sharedExplicitLayout8 = plain.sharedExplicitLayout16 = false;
    return {full, storage, plain};
  }

  // The device's own profile, and what it is without some of what blocks and warps need: kernels then run in rounds. On
  // a CPU whose vectors are 32 wide, drivers take too long for those without warps: there is a run with 8 lanes
  // instead.
  std::vector<TargetProfile> blockProfiles() const {
    TargetProfile full = device->profile();
    TargetProfile waiting = full;
    waiting.name = "waits for ended threads";
    waiting.exitedThreadsArrive = false;
    TargetProfile narrow = waiting;
    narrow.name = "without warps";
    narrow.subgroupSize = 8;
    narrow.warpsProgress = narrow.barrierYields = false;
    if (device->physical().isCpu()) return {full, waiting};
    return {full, waiting, narrow};
  }

  // Whether to leave a kernel out of a sweep that looks for faults of GPUs' compilers: on a CPU, whose driver takes
  // long for each kernel, one of `count` shows that the sweep itself is right.
  bool isLeftOut(unsigned count) { return device->physical().isCpu() && kernelCount_++ % count != 0; }

  void run(const std::vector<uint32_t>& spirv, const Launch& launch) {
    vk::PipelineDescription description;
    description.spirv = spirv;
    description.isKernel = description.needsWarps = true;
    std::copy_n(launch.block, 3, description.block);
    description.dynamicSharedBytes = launch.dynamicSharedBytes;
    description.stackBytes = launch.stackBytes;
    description.usesTextures = launch.usesTextures;
    std::vector<uint8_t> cache;
    std::unique_ptr<vk::Pipeline> pipeline;
    ASSERT_EQ(vk::Pipeline::create(*device, description, cache, pipeline), vk::Status::Ok);

    abi::PushHeader header{launch.launchState, launch.moduleData, {launch.grid[0], launch.grid[1], launch.grid[2]}, 0};
    std::vector<uint8_t> push(sizeof header);
    std::memcpy(push.data(), &header, sizeof header);
    std::unique_ptr<Buffer> parameters;
    if (!launch.parametersInBuffer && push.size() + launch.parameters.size() <= device->profile().maxPushConstants) {
      push.insert(push.end(), launch.parameters.begin(), launch.parameters.end());
    } else {
      parameters = std::make_unique<Buffer>(*device, launch.parameters.size());
      std::memcpy(parameters->as<uint8_t>(), launch.parameters.data(), launch.parameters.size());
      uint64_t address = parameters->address();
      push.resize(push.size() + sizeof address);
      std::memcpy(push.data() + sizeof header, &address, sizeof address);
    }
    push.resize((push.size() + 3) / 4 * 4);
    for (const uint32_t word : launch.carriedWords) {
      const auto* const bytes = reinterpret_cast<const uint8_t*>(&word);
      push.insert(push.end(), bytes, bytes + sizeof word);
    }
    runNow([&](vk::Commands& commands) {
      if (launch.constantBytes != 0) commands.useConstants(launch.constants, launch.constantBytes);
      commands.dispatch(*pipeline, push.data(), static_cast<uint32_t>(push.size()), launch.grid);
      return vk::Status::Ok;
    });
  }

 private:
  unsigned kernelCount_ = 0;  // of a sweep
};

// A kernel in IR, written with a builder.
struct IrKernel {
  ir::Program program;
  ir::Function* function;
  ir::Builder b;

  IrKernel() : function(makeFunction(program)), b(*function, function->addBlock()) {}
  static ir::Function* makeFunction(ir::Program& program) {
    program.kernel = "k";
    program.functions.push_back(std::make_unique<ir::Function>());
    ir::Function* made = program.functions.front().get();
    made->isKernel = made->isStructured = made->isSsa = true;
    return made;
  }

  ir::MemoryAccess access(ir::Space space, ir::Type type) const {
    ir::MemoryAccess result;
    result.space = space;
    result.alignment = static_cast<uint8_t>(std::min(type.totalBits() / 8, 16u));
    return result;
  }
  ir::Instruction* parameter(ir::Type type, uint32_t offset) {
    program.parameterBytes = std::max(program.parameterBytes, offset + type.totalBits() / 8);
    return b.load(type, b.i32(offset), access(ir::Space::Param, type));
  }
  ir::Instruction* globalIndex() {
    ir::Instruction* block = b.input(ir::InputKind::BlockIdX);
    return b.add(b.mul(block, b.input(ir::InputKind::BlockDimX)), b.input(ir::InputKind::ThreadIdX));
  }
  ir::Instruction* element(ir::Instruction* array, ir::Instruction* index, ir::Type type) {
    ir::Instruction* wide = b.convert(ir::Op::ZExt, ir::I64, index);
    return b.add(array, b.mul(wide, b.i64(type.totalBits() / 8)));
  }

  std::vector<uint32_t> emit(const TargetProfile& profile) {
    if (b.block()->terminator.kind == ir::Terminator::Kind::None) b.ret();
    function->computePredecessors();
    spirv::Refusal refusal;
    auto words = spirv::emit(program, profile, {}, refusal);
    EXPECT_TRUE(words) << profile.name << ": " << refusal.reason;
    if (!words) return {};
    EXPECT_EQ(spirv::validate(*words), "") << spirv::disassemble(*words);
    return *words;
  }
};

}  // namespace mulciber::test
