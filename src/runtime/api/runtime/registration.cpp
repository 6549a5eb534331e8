// What nvcc's programs call before main and around each launch: they register their fat binaries, kernels and
// variables. Nothing here touches a device; modules are loaded when something in them is first used.
#include "runtime/api/runtime/runtime.h"

#include <algorithm>
#include <list>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/api/runtime/references.h"
#include "util/log.h"

namespace mulciber::api {

namespace {

struct FatBinary;

struct Variable {
  FatBinary* binary;
  std::string name;
  size_t bytes;
  void** managedSlot;  // where the program keeps a managed variable's address; null for others
};

// A texture or surface reference of toolkits before 12.
struct NamedReference {
  FatBinary* binary;
  std::string name;
  bool readsFractions;
};

struct FatBinary {
  explicit FatBinary(const void* image) : library(image) {}
  Library library;
  std::vector<const void*> functions, variables, references;  // keys in the registry
  uint64_t initializedContext = 0;                            // whose managed variables are in their slots
};

struct Registry {
  std::shared_mutex mutex;
  std::list<FatBinary> binaries;
  std::unordered_map<const void*, Kernel*> kernels;
  std::unordered_map<const void*, Variable> variables;
  std::unordered_map<const void*, NamedReference> references;
};

// Programs unregister from exit handlers, after static destructors: this is never destroyed.
Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
}

// What `<<<>>>` was given. A launch's arguments may hold launches, which come and go before it. Static destructors
// launch as well, and thread_local objects are gone by then: this has no destructor.
struct CallConfiguration {
  dim3 grid, block;
  size_t sharedBytes;
  cudaStream_t stream;
  CallConfiguration* outer;
};
thread_local CallConfiguration* innermostCall = nullptr;

FatBinary* binaryOf(void** handle) { return reinterpret_cast<FatBinary*>(handle); }

void addVariable(void** handle, const void* key, const char* name, size_t bytes, void** managedSlot) {
  FatBinary* binary = binaryOf(handle);
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  if (managedSlot) binary->initializedContext = 0;  // this one is not in its slot
  binary->variables.push_back(key);
  all.variables.insert_or_assign(key, Variable{binary, name, bytes, managedSlot});
}

void addReference(void** handle, const void* key, const char* name, bool readsFractions) {
  FatBinary* binary = binaryOf(handle);
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  binary->references.push_back(key);
  all.references.insert_or_assign(key, NamedReference{binary, name, readsFractions});
}

// What a binary registered last goes with it.
template <class Map>
void forget(Map& map, const std::vector<const void*>& keys, const FatBinary* binary) {
  for (const void* key : keys) {
    auto found = map.find(key);
    if (found != map.end() && found->second.binary == binary) map.erase(found);
  }
}

Error addressOf(const Variable& variable, core::Context& context, uint64_t& address, size_t& bytes) {
  core::Module* module = nullptr;
  TRY(variable.binary->library.module(context, module));
  return module->global(variable.name, address, bytes);
}

// Puts the addresses of a binary's managed variables where the program looks for them.
Error initializeManaged(FatBinary& binary, core::Context& context) {
  if (binary.initializedContext == context.id()) return Error::Success;
  std::vector<Variable> managed;
  {
    std::shared_lock lock(registry().mutex);
    for (const void* key : binary.variables) {
      const Variable& variable = registry().variables.at(key);
      if (variable.binary == &binary && variable.managedSlot) managed.push_back(variable);
    }
  }
  for (const Variable& variable : managed) {
    uint64_t address = 0;
    size_t bytes = 0;
    TRY(addressOf(variable, context, address, bytes));
    *variable.managedSlot = reinterpret_cast<void*>(address);
  }
  binary.initializedContext = context.id();
  return Error::Success;
}

}  // namespace

Kernel* findKernel(const void* entry) {
  if (Kernel* kernel = Kernel::ofLive(entry)) return kernel;
  Registry& all = registry();
  {
    std::shared_lock lock(all.mutex);
    if (auto found = all.kernels.find(entry); found != all.kernels.end()) return found->second;
  }
  util::log().error("no kernel was registered for the function at {}", entry);
  return nullptr;
}

Error findFunction(const void* entry, core::Context& context, core::Function*& out) {
  Kernel* kernel = entry ? findKernel(entry) : nullptr;
  return kernel ? kernel->function(context, out) : Error::InvalidHandle;
}

cudaError_t findSymbol(const void* symbol, core::Context& context, uint64_t& address, size_t& bytes) {
  Variable variable;
  {
    std::shared_lock lock(registry().mutex);
    const auto& all = registry().variables;
    auto found = all.find(symbol);
    // The name of a managed variable means where it lies.
    if (found == all.end())
      found = std::find_if(all.begin(), all.end(), [&](const auto& entry) {
        return entry.second.managedSlot && *entry.second.managedSlot == symbol;
      });
    if (found == all.end()) return cudaErrorInvalidSymbol;
    variable = found->second;
  }
  return codeOf(addressOf(variable, context, address, bytes));
}

bool isReference(const void* host) {
  std::shared_lock lock(registry().mutex);
  return registry().references.contains(host);
}

Error findReference(const void* host, core::Context& context, RegisteredReference& out) {
  NamedReference reference;
  {
    std::shared_lock lock(registry().mutex);
    const auto found = registry().references.find(host);
    if (found == registry().references.end()) return Error::NotFound;
    reference = found->second;
  }
  out.name = reference.name;
  out.readsFractions = reference.readsFractions;
  return reference.binary->library.module(context, out.module);
}

}  // namespace mulciber::api

using namespace mulciber::api;
namespace core = mulciber::core;

CUDA_API(void**, __cudaRegisterFatBinary)(void* image) {
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  return reinterpret_cast<void**>(&all.binaries.emplace_back(image));
}

// Objects made before CUDA 10.1 do not call this.
CUDA_API(void, __cudaRegisterFatBinaryEnd)(void**) {}

CUDA_API(void, __cudaUnregisterFatBinary)(void** handle) {
  if (!handle) return;
  FatBinary* binary = binaryOf(handle);
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  for (const void* key : binary->functions) {
    auto found = all.kernels.find(key);
    if (found != all.kernels.end() && &found->second->library() == &binary->library) all.kernels.erase(found);
  }
  forget(all.variables, binary->variables, binary);
  forget(all.references, binary->references, binary);
  // At exit the device may be gone or in use: what it holds goes with the process. A library that is closed while the
  // program runs leaves its modules to the context.
  const auto entry = std::find_if(all.binaries.begin(), all.binaries.end(), [&](FatBinary& b) { return &b == binary; });
  if (entry != all.binaries.end()) all.binaries.erase(entry);
}

CUDA_API(void, __cudaRegisterFunction)
(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  FatBinary* binary = binaryOf(handle);
  Kernel& kernel = binary->library.registerKernel(name);
  Registry& all = registry();
  std::unique_lock lock(all.mutex);
  binary->functions.push_back(host);
  mulciber::util::log().trace("{} belongs to the function at {}", name, static_cast<const void*>(host));
  all.kernels.insert_or_assign(host, &kernel);
}

CUDA_API(void, __cudaRegisterVar)(void** handle, char* host, char*, const char* name, int, size_t bytes, int, int) {
  addVariable(handle, host, name, bytes, nullptr);
}

CUDA_API(void, __cudaRegisterManagedVar)
(void** handle, void** slot, char*, const char* name, int, size_t bytes, int, int) {
  addVariable(handle, slot, name, bytes, slot);
}

CUDA_API(void, __cudaRegisterTexture)
(void** handle, const void* host, const void**, const char* name, int, int readsFractions, int) {
  addReference(handle, host, name, readsFractions != 0);
}

CUDA_API(void, __cudaRegisterSurface)(void** handle, const void* host, const void**, const char* name, int, int) {
  addReference(handle, host, name, false);
}

CUDA_API(void, __cudaRegisterHostVar)(void**, const char*, char*, size_t) {}

// Called by generated code before the host first touches a managed variable.
CUDA_API(char, __cudaInitModule)(void** handle) {
  const cudaError_t error =
      withContext([&](core::Context& context) { return initializeManaged(*binaryOf(handle), context); });
  if (error != cudaSuccess)
    mulciber::util::log().error("managed variables cannot be set up: {}", cudaGetErrorString(error));
  return error == cudaSuccess;
}

CUDA_API(unsigned, __cudaPushCallConfiguration)(dim3 grid, dim3 block, size_t sharedBytes, void* stream) {
  auto* const made =
      new (std::nothrow) CallConfiguration{grid, block, sharedBytes, static_cast<cudaStream_t>(stream), innermostCall};
  if (!made) return static_cast<unsigned>(record(cudaErrorMemoryAllocation));
  innermostCall = made;
  return 0;
}

CUDA_API(cudaError_t, __cudaPopCallConfiguration)(dim3* grid, dim3* block, size_t* sharedBytes, void* stream) {
  const std::unique_ptr<CallConfiguration> call(innermostCall);
  if (!call) return record(cudaErrorMissingConfiguration);
  innermostCall = call->outer;
  *grid = call->grid;
  *block = call->block;
  *sharedBytes = call->sharedBytes;
  *static_cast<cudaStream_t*>(stream) = call->stream;
  return cudaSuccess;
}

CUDA_API(cudaError_t, cudaGetSymbolAddress)(void** out, const void* symbol) {
  return withContext([&](core::Context& context) {
    uint64_t address = 0;
    size_t bytes = 0;
    const cudaError_t error = findSymbol(symbol, context, address, bytes);
    if (error == cudaSuccess && !out) return cudaErrorInvalidValue;
    if (error == cudaSuccess) *out = reinterpret_cast<void*>(address);
    return error;
  });
}

CUDA_API(cudaError_t, cudaGetSymbolSize)(size_t* out, const void* symbol) {
  return withContext([&](core::Context& context) {
    uint64_t address = 0;
    size_t bytes = 0;
    const cudaError_t error = findSymbol(symbol, context, address, bytes);
    if (error == cudaSuccess && !out) return cudaErrorInvalidValue;
    if (error == cudaSuccess) *out = bytes;
    return error;
  });
}
