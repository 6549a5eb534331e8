// Runs PTX on the test device, through the whole translator.
#pragma once

#include <string>
#include <string_view>

#include "execute/execute_test.h"
#include "mulciber/translator.h"

namespace mulciber::test {

class PtxTest : public ExecuteTest {
 protected:
  // The kernel `k` of the text, with its module's data and a launch state in place.
  void runPtx(std::string_view text, Launch launch, const TargetProfile& profile) {
    Diagnostics diagnostics;
    ModulePtr module = parseModule(text, "test.ptx", diagnostics);
    ASSERT_TRUE(module) << diagnostics.toString();
    TranslateOptions options;
    options.validate = true;
    options.inlineLimit = inlineLimit;
    auto kernel = translate(*module, "k", profile, options, diagnostics);
    if (!kernel) skipIfDeviceLacks(diagnostics.toString());
    if (kernel) info = kernel->info;
    options.sharedInScratch = info.dynamicSharedOffset + launch.dynamicSharedBytes > profile.maxSharedBytes;
    options.localInScratch = threadBytes(launch) > profile.maxLocalBytes;
    if (kernel && (options.sharedInScratch || options.localInScratch))
      kernel = translate(*module, "k", profile, options, diagnostics);
    ASSERT_TRUE(kernel) << diagnostics.toString();
    info = kernel->info;
    if (device->physical().isCpu()) expectTranslationForNvidia(*module, options);

    const ModuleData& data = moduleData(*module);
    Buffer variables(*device, (data.size + 16) / 16 * 16);
    std::ranges::copy(data.image, variables.as<uint8_t>());
    for (const ModuleData::Relocation& relocation : data.relocations) {
      uint64_t value = relocation.isFunction ? relocation.targetOffset : variables.address() + relocation.targetOffset;
      value >>= relocation.shift;
      std::memcpy(variables.as<uint8_t>() + relocation.offset, &value, relocation.size);
    }
    Buffer errors(*device, sizeof(abi::ErrorRecord)), state(*device, sizeof(abi::LaunchState));
    Buffer prints(*device, 65536), heap(*device, 1 << 20);
    *prints.as<abi::PrintfBuffer>() = {65536 - 8, 0};
    auto* header = heap.as<abi::Heap>();
    header->size = 1 << 20;
    header->used = sizeof(abi::Heap);
    Buffer locks(*device, abi::lockCount * 4);
    uint64_t stride = info.sharedInScratch ? (info.dynamicSharedOffset + launch.dynamicSharedBytes + 31) / 32 * 32 : 0;
    if (info.localInScratch) stride += threadBytes(launch) * launch.block[0] * launch.block[1] * launch.block[2];
    Buffer scratch(*device, std::max<uint64_t>(stride * launch.grid[0] * launch.grid[1] * launch.grid[2], 16));
    *state.as<abi::LaunchState>() = {errors.address(),
                                     prints.address(),
                                     heap.address(),
                                     scratch.address(),
                                     {stride, stride * launch.grid[0], stride * launch.grid[0] * launch.grid[1]},
                                     0,
                                     locks.address(),
                                     textureTable};
    launch.launchState = state.address();
    launch.moduleData = variables.address();
    launch.constants = variables.memory();
    launch.constantBytes = info.constantBytes;
    launch.usesTextures = info.usesTextures;
    launch.parametersInBuffer = info.parametersInBuffer;
    launch.carriedWords = info.carriedWords;
    spirv = kernel->spirv;
    run(spirv, launch);
    error = *errors.as<abi::ErrorRecord>();
    printed.assign(prints.as<uint8_t>() + 8, prints.as<uint8_t>() + 8 + prints.as<abi::PrintfBuffer>()->used);
  }

  // Devices on which wide atomics are done under locks.
  std::vector<TargetProfile> profilesThatLock() const {
    TargetProfile locking = profiles()[0], narrow = profiles()[2];
    locking.name = "no 64-bit atomics in shared memory";
    locking.atomicSharedInt64 = false;
    narrow.name = "no 64-bit atomics";
    narrow.atomicInt64 = narrow.atomicSharedInt64 = false;
    return {locking, narrow};
  }

  // What one kernel of `threads` threads writes: `results` words for each thread. The body finds the thread's number in
  // %t and stores with  st.global.u32 [%out+4*i], %r;  parameters and declarations as in PTX.
  std::vector<uint32_t> wordsOf(std::string_view body, uint32_t results, uint32_t threads = 32,
                                std::string_view declarations = "") {
    return wordsOf(device->profile(), body, results, threads, declarations);
  }
  std::vector<uint32_t> wordsOf(const TargetProfile& profile, std::string_view body, uint32_t results,
                                uint32_t threads = 32, std::string_view declarations = "",
                                std::string_view target = ".version 8.7\n.target sm_90\n") {
    std::string text = std::string(target) + ".address_size 64\n" + std::string(declarations) +
                       "\n.visible .entry k(.param .u64 parameter)\n{\n.reg .pred %p<30>; .reg .b16 %rs<30>; "
                       ".reg .b32 %r<60>, %t; .reg .b64 %rd<60>, %out; .reg .f32 %f<30>; .reg .f64 %fd<30>;\n"
                       "ld.param.u64 %out, [parameter]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, " +
                       std::to_string(results * 4) + ", %out;\n" + std::string(body) + "\nret;\n}\n";
    Buffer out(*device, threads * results * 4);
    Launch launch;
    launch.block[0] = threads;
    launch.add(out.address());
    runPtx(text, launch, profile);
    return {out.as<uint32_t>(), out.as<uint32_t>() + size_t(threads) * results};
  }

  abi::ErrorRecord error{};
  std::vector<uint8_t> printed;
  KernelInfo info;
  std::vector<uint32_t> spirv;  // of the last kernel
  uint32_t inlineLimit = TranslateOptions().inlineLimit;
  uint64_t textureTable = 0;  // its address

 private:
  // Passes that avoid the faults of NVIDIA's compiler would run on its devices alone.
  void expectTranslationForNvidia(const ParsedModule& module, const TranslateOptions& options) {
    Diagnostics diagnostics;
    if (!translate(module, "k", *builtinProfile("nvidia"), options, diagnostics)) {
      EXPECT_EQ(diagnostics.toString().find("internal error"), std::string::npos) << diagnostics.toString();
    }
  }

  uint64_t threadBytes(const Launch& launch) const {
    const uint32_t stackBytes = launch.stackBytes != 0 ? launch.stackBytes : abi::defaultStackBytes;
    return abi::scratchThreadBytes(info.localBytes, info.stackCount, stackBytes);
  }
};

}  // namespace mulciber::test
