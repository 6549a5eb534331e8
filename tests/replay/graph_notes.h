// What the cases about graphs share.
#pragma once

#include "replay.h"

namespace mulciber::replay {

inline CUgraph newGraph() {
  CUgraph made = nullptr;
  FUNCTION(cuGraphCreate)(&made, 0u);
  return made;
}

inline int add(CUgraph graph, CUgraphNodeParams& parameters, CUgraphNode* out = nullptr) {
  CUgraphNode made = nullptr;
  return FUNCTION(cuGraphAddNode)(out ? out : &made, graph, nullptr, nullptr, size_t{0}, &parameters);
}

// Code of the instantiation, its result, and whether a node is named. What was made is destroyed.
inline void noteInstantiation(Notes& notes, CUgraph graph, CUgraphExec* out = nullptr) {
  CUgraphExec made = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  notes << FUNCTION(cuGraphInstantiateWithParams)(&made, graph, &parameters);
  notes << parameters.result_out << (parameters.hErrNode_out != nullptr);
  if (out) *out = made;
  else if (made) FUNCTION(cuGraphExecDestroy)(made);
}

inline void noteUpdate(Notes& notes, CUgraphExec exec, CUgraph graph) {
  CUgraphExecUpdateResultInfo told{};
  notes << FUNCTION(cuGraphExecUpdate)(exec, graph, &told);
  notes << told.result << (told.errorNode != nullptr) << (told.errorFromNode != nullptr);
}

inline CUgraphNodeParams allocationNode() {
  CUgraphNodeParams made{};
  made.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  made.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  made.alloc.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  made.alloc.bytesize = 4096;
  return made;
}

}  // namespace mulciber::replay
