// Memory that nodes of graphs allocate and free. Its address is fixed when the allocating node is made, and is the same
// in all launches. So the memory is there as long as a graph or an executable graph with the node is, or until it is
// freed when a launch left it allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/marker.h"
#include "runtime/core/memory_map.h"

namespace mulciber::core {

class Graph;
class Stream;

class GraphMemory : public std::enable_shared_from_this<GraphMemory> {
 public:
  static Error create(Context& context, MemoryKind kind, size_t bytes, std::shared_ptr<GraphMemory>& out);
  // At the same address as memory that is freed before it in the same graph, and has at least as many bytes.
  static std::shared_ptr<GraphMemory> after(GraphMemory& freed, size_t bytes);
  // The one that was made last there; null when no graph's memory begins there.
  static std::shared_ptr<GraphMemory> find(const MemoryMap& memory, uint64_t address);
  static std::shared_ptr<GraphMemory> of(const Allocation& allocation);

  bool isLast() const { return of(*place_->allocation).get() == this; }
  uint64_t address() const { return place_->allocation->deviceAddress; }
  MemoryKind kind() const { return place_->allocation->kind; }
  size_t bytes() const { return bytes_; }
  size_t mostBytes() const { return place_->allocation->size; }  // of what may take its address

  // Whether a node may free it: no node of the graph that allocates it does so yet. From now on one does, when it is of
  // that graph.
  bool letFree(bool isOfAllocatingGraph);
  // The program frees what a launch has left allocated: InvalidValue when none has. Work behind the marker may use the
  // memory; null: all work has ended.
  Error free(MarkerRef marker, uint64_t stream);

 private:
  friend class GraphMemoryUse;
  // Where memory lies, maybe that of several nodes one after the other. Goes back to the pool behind its last use.
  struct Place {
    AllocationRef allocation;
    MarkerRef last;
    uint64_t lastStream = 0;
    ~Place();
  };
  GraphMemory(std::shared_ptr<Place> place, size_t bytes) : place_(std::move(place)), bytes_(bytes) {}

  const std::shared_ptr<Place> place_;
  const size_t bytes_;
  bool isFreedByGraph_ = false;
  bool isInstantiated_ = false;  // there is an executable graph that allocates it
};
using GraphMemoryRef = std::shared_ptr<GraphMemory>;

// The memory of an executable graph.
class GraphMemoryUse {
 public:
  // NotSupported when another executable graph allocates the same memory.
  Error take(const Graph& graph);
  void letGo();  // the executable graph is no more

  // What a launch has to come after. InvalidValue when it would allocate what is still allocated, unless that is freed
  // first, or would free what is not.
  Error begin(bool freesFirst, std::vector<MarkerRef>& after) const;
  void launched(const MarkerRef& end, uint64_t stream);

 private:
  std::vector<GraphMemoryRef> allocated_;  // by this graph
  std::vector<GraphMemoryRef> left_;       // of those, what it does not free
  std::vector<GraphMemoryRef> freed_;      // by this graph, allocated by others
};

}  // namespace mulciber::core
