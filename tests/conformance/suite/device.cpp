#include "conformance/suite/device.h"

#include <array>

namespace mulciber::conformance {

std::unique_ptr<Device> Device::open(const std::string& library, std::string& error) {
  std::unique_ptr<test::CudaDriver> cu = test::CudaDriver::open(library, error);
  return cu ? std::unique_ptr<Device>(new Device(std::move(cu))) : nullptr;
}

std::string Device::launch(const Batch& batch, const InputTable& inputs, std::vector<uint64_t>& results) {
  test::CudaDriver& cu = *cu_;
  std::string error;
  std::array<char, 4096> log{};
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr in = 0, out = 0, memory = 0;
  const size_t column = size_t(inputs.rows) * 8, outBytes = column * columnsOf(batch);
  const size_t memoryBytes = size_t(inputs.rows) * kThreadBytes;

  auto check = [&](CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return true;
    error = std::string(what) + ": " + cu.nameOf(result) + (log[0] ? std::string(": ") + log.data() : std::string());
    return false;
  };
  auto execute = [&] {
    const std::string text = kernelText(batch, inputs.rows);
    std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
    if (!check(cu.cuCtxSetCurrent_(cu.context), "context") ||
        !check(cu.cuModuleLoadDataEx_(&module, text.c_str(), 2, options.data(), values.data()), "load") ||
        !check(cu.cuModuleGetFunction_(&function, module, "cases"), "function") ||
        !check(cu.cuMemAlloc_(&in, column * std::max<size_t>(inputs.columns.size(), 1)), "memory") ||
        !check(cu.cuMemAlloc_(&out, outBytes), "memory") || !check(cu.cuMemAlloc_(&memory, memoryBytes), "memory") ||
        !check(cu.cuMemsetD8_(out, 0, outBytes), "fill") || !check(cu.cuMemsetD8_(memory, 0, memoryBytes), "fill"))
      return false;
    for (size_t i = 0; i < inputs.columns.size(); ++i)
      if (!check(cu.cuMemcpyHtoD_(in + i * column, inputs.columns[i].data(), column), "copy")) return false;
    std::array<uint8_t, kExtraBytes> extra = extraBytes();
    std::array<void*, 4> arguments = {&in, &out, &memory, &extra};
    if (!check(cu.cuLaunchKernel_(function, inputs.rows / kBlockThreads, 1, 1, kBlockThreads, 1, 1, 0, nullptr,
                                  arguments.data(), nullptr),
               "launch") ||
        !check(cu.cuCtxSynchronize_(), "run"))
      return false;
    results.resize(outBytes / 8);
    return check(cu.cuMemcpyDtoH_(results.data(), out, outBytes), "copy");
  };
  execute();
  for (CUdeviceptr pointer : {in, out, memory})
    if (pointer) cu.cuMemFree_(pointer);
  if (module) cu.cuModuleUnload_(module);
  return error;
}

}  // namespace mulciber::conformance
