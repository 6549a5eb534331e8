#include "runtime/core/graph_memory.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/graph.h"
#include "runtime/core/memory_pool.h"

namespace mulciber::core {

namespace {

// What launches have left allocated lives on without its graph.
struct Live {
  std::mutex mutex;  // also guards the last use of each place, and which memory was made last there
  std::unordered_set<GraphMemoryRef> memory;
};
Live& live() {
  static auto* const one = new Live;  // programs free memory until the very end of the process
  return *one;
}

}  // namespace

GraphMemory::Place::~Place() {
  if (!allocation) return;  // there was no memory
  // A context that has ended has given back all its memory.
  if (const ContextRef context = allocation->context.lock()) context->release(allocation, lastStream, std::move(last));
}

Error GraphMemory::create(Context& context, MemoryKind kind, size_t bytes, GraphMemoryRef& out) {
  if (bytes == 0) return Error::InvalidValue;
  auto place = std::make_shared<Place>();
  TRY(context.allocateForGraph(kind, bytes, place->allocation));
  out = GraphMemoryRef(new GraphMemory(std::move(place), bytes));
  std::lock_guard lock(live().mutex);
  out->place_->allocation->graphMemory = out;
  return Error::Success;
}

GraphMemoryRef GraphMemory::after(GraphMemory& freed, size_t bytes) {
  GraphMemoryRef made(new GraphMemory(freed.place_, bytes));
  std::lock_guard lock(live().mutex);
  made->place_->allocation->graphMemory = made;
  return made;
}

GraphMemoryRef GraphMemory::find(const MemoryMap& memory, uint64_t address) {
  const AllocationRef allocation = memory.find(address);
  return allocation && allocation->deviceAddress == address ? of(*allocation) : nullptr;
}

GraphMemoryRef GraphMemory::of(const Allocation& allocation) {
  if (!allocation.pool) return nullptr;  // graphs allocate from one
  std::lock_guard lock(live().mutex);
  return allocation.graphMemory.lock();
}

bool GraphMemory::letFree(bool isOfAllocatingGraph) {
  std::lock_guard lock(live().mutex);
  if (isFreedByGraph_) return false;
  isFreedByGraph_ = isOfAllocatingGraph;
  return true;
}

Error GraphMemory::free(MarkerRef marker, uint64_t stream) {
  std::lock_guard lock(live().mutex);
  const GraphMemoryRef self = shared_from_this();
  if (live().memory.erase(self) == 0) return Error::InvalidValue;
  place_->last = std::move(marker);
  place_->lastStream = stream;
  return Error::Success;
}

Error GraphMemoryUse::take(const Graph& graph) {
  std::vector<GraphMemoryRef> allocated;
  for (const auto& node : graph.nodes())
    if (const auto* allocation = node->as<AllocationNode>()) allocated.push_back(allocation->memory);
  std::lock_guard lock(live().mutex);
  if (std::ranges::any_of(allocated, [](const auto& memory) { return memory->isInstantiated_; }))
    return Error::NotSupported;
  for (const GraphMemoryRef& memory : allocated) memory->isInstantiated_ = true;
  allocated_ = std::move(allocated);
  left_ = allocated_;
  for (const auto& node : graph.nodes())
    if (const auto* free = node->as<FreeNode>())
      if (std::erase(left_, free->memory) == 0) freed_.push_back(free->memory);
  return Error::Success;
}

void GraphMemoryUse::letGo() {
  std::lock_guard lock(live().mutex);
  for (const GraphMemoryRef& memory : allocated_) memory->isInstantiated_ = false;
}

Error GraphMemoryUse::begin(bool freesFirst, std::vector<MarkerRef>& after) const {
  std::lock_guard lock(live().mutex);
  const auto isLive = [](const GraphMemoryRef& memory) { return live().memory.contains(memory); };
  if (!freesFirst && std::ranges::any_of(left_, isLive)) return Error::InvalidValue;
  if (!std::ranges::all_of(freed_, isLive)) return Error::InvalidValue;
  for (const auto* list : {&allocated_, &freed_})
    for (const GraphMemoryRef& memory : *list)
      if (const MarkerRef& last = memory->place_->last; last && std::ranges::find(after, last) == after.end())
        after.push_back(last);
  return Error::Success;
}

void GraphMemoryUse::launched(const MarkerRef& end, uint64_t stream) {
  std::lock_guard lock(live().mutex);
  for (const auto* list : {&allocated_, &freed_})
    for (const GraphMemoryRef& memory : *list) {
      memory->place_->last = end;
      memory->place_->lastStream = stream;
    }
  for (const GraphMemoryRef& memory : left_) live().memory.insert(memory);
  for (const GraphMemoryRef& memory : freed_) live().memory.erase(memory);
}

}  // namespace mulciber::core
