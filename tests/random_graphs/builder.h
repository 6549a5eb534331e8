// Makes graphs of instances, node by node or by capturing streams.
#pragma once

#include <vector>

#include "device.h"

namespace mulciber::random_graphs {

struct Built {
  CUgraph graph = nullptr;
  std::vector<CUgraphNode> nodes;  // as the instance has them
  std::vector<Built> children;     // of the nodes that have a graph which was moved; empty ones of the others
};

Built build(Device& device, const Instance& instance);
// New parameters for a node: of a graph, or of an executable one.
void setNode(Device& device, CUgraphNode node, const Work& work, bool isUnified);
void setNode(Device& device, CUgraphExec executable, CUgraphNode node, const Work& work, bool isUnified);

}  // namespace mulciber::random_graphs
