// NVIDIA's libraries of products have machine code for the devices that they know, and PTX for those to come: for a
// compute capability that they do not know they choose kernels that they have as PTX. So a library of that kind is told
// one (tools/redirect/resolve.cpp says which); the program and its other libraries are told the device's own.
#include <spdlog/fmt/fmt.h>

#include <atomic>

#include "runtime/api/runtime/runtime.h"
#include "runtime/core/explanation.h"
#include "util/environment.h"
#include "util/log.h"

namespace mulciber::api {
namespace {

// 10 * major + minor, or 0 for the device's own. Each static runtime has a copy of this library, and so of this number.
std::atomic<uint32_t> told = 0;

}  // namespace

Error attributeOf(const core::Device& device, int attribute, int& value) {
  TRY(device.attribute(attribute, value));
  const auto capability = static_cast<int>(told.load(std::memory_order_relaxed));
  if (capability == 0) return Error::Success;
  if (attribute == cudaDevAttrComputeCapabilityMajor) value = capability / 10;
  if (attribute == cudaDevAttrComputeCapabilityMinor) value = capability % 10;
  return Error::Success;
}

}  // namespace mulciber::api

// Called once for a copy of this library, before any other function of it. `object` has the static runtime.
extern "C" __attribute__((visibility("default"))) void mulciberTellUnknownCapability(const char* object) {
  const int64_t wanted = mulciber::util::environment().cublasCapability;
  if (wanted <= 0 || wanted >= 1000) return;
  mulciber::api::told = static_cast<uint32_t>(wanted);
  const std::string note =
      fmt::format("{} is told compute capability {}.{}, so that it takes kernels that it has as PTX", object,
                  wanted / 10, wanted % 10);
  mulciber::util::log().info("{}", note);
  if (auto* const explanation = mulciber::core::Explanation::active()) explanation->addNote(note);
}
