#include "random_ptx/runner/device.h"

#include <array>
#include <vector>

namespace mulciber::random_ptx {

std::string runOnDevice(const test::CudaDriver& cu, const Program& program, const std::string& text, Buffers& buffers) {
  std::array<char, 4096> log{};
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  std::string error;
  auto check = [&](CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return true;
    error = std::string(what) + ": " + cu.nameOf(result) + (log[0] ? std::string(": ") + log.data() : std::string());
    return false;
  };
  const std::array<std::vector<uint8_t>*, 3> contents = {&buffers.inputs, &buffers.results, &buffers.memory};
  std::array<CUdeviceptr, 3> pointers{};
  auto execute = [&] {
    std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    if (!check(cu.cuCtxSetCurrent_(cu.context), "context") ||
        !check(cu.cuModuleLoadDataEx_(&module, text.c_str(), 2, options.data(), values.data()), "load") ||
        !check(cu.cuModuleGetFunction_(&function, module, kKernelName), "function"))
      return;
    for (size_t i = 0; i < contents.size(); ++i)
      if (!check(cu.cuMemAlloc_(&pointers[i], contents[i]->size()), "memory") ||
          !check(cu.cuMemcpyHtoD_(pointers[i], contents[i]->data(), contents[i]->size()), "copy"))
        return;
    std::array<void*, 4> arguments = {&pointers[0], &pointers[1], &pointers[2], buffers.extra.data()};
    if (!check(cu.cuLaunchKernel_(function, program.blocks, 1, 1, program.width, program.height, 1, 0, nullptr,
                                  arguments.data(), nullptr),
               "launch") ||
        !check(cu.cuCtxSynchronize_(), "run"))
      return;
    for (size_t i = 0; i < contents.size(); ++i)
      if (!check(cu.cuMemcpyDtoH_(contents[i]->data(), pointers[i], contents[i]->size()), "copy")) return;
  };
  execute();
  for (CUdeviceptr pointer : pointers)
    if (pointer) cu.cuMemFree_(pointer);
  if (module) cu.cuModuleUnload_(module);
  return error;
}

}  // namespace mulciber::random_ptx
