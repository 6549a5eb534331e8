// Attributes of launches and streams: which are obeyed, which are hints, which are refused. Both APIs number them alike
// and lay them out alike.
#pragma once

#include <cuda.h>

#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/graph_node.h"

namespace mulciber::api {

struct LaunchAttributes {
  bool isCooperative = false, hasClusters = false, prefersClusters = false;
  std::vector<CUevent> events;  // recorded behind the kernel
  core::LaunchHints hints;      // the rest, for the kernel node when the launch is captured
};

core::Error readAttributes(const CUlaunchAttribute* attributes, unsigned count, LaunchAttributes& out);
core::Error recordEvents(core::Stream& stream, const LaunchAttributes& attributes);

// How many clusters of blocks run at once: none of several blocks, which Vulkan cannot place together.
core::Error maxActiveClusters(core::Function& function, const CUlaunchAttribute* attributes, unsigned count,
                              uint64_t blockThreads, size_t dynamicShared, int& clusters);
// How many blocks the largest cluster of a launch has: one, where such a block fits.
core::Error maxClusterSize(core::Function& function, uint64_t blockThreads, size_t dynamicShared, int& blocks);

// Of a stream: hints, told back as they were set.
core::Error streamAttribute(core::Stream& stream, int id, CUlaunchAttributeValue* out);
core::Error setStreamAttribute(core::Stream& stream, int id, const CUlaunchAttributeValue* value);

// Of a kernel node: the same, and whether the launch is cooperative.
core::Error kernelNodeAttribute(const core::KernelNode& node, int id, CUlaunchAttributeValue* out);
core::Error setKernelNodeAttribute(core::KernelNode& node, int id, const CUlaunchAttributeValue* value);

}  // namespace mulciber::api
