// The CUDA driver that programs run on: their memory, kernels and streams, and how a work becomes a call or the
// parameters of a node. Linked to libcuda.so.1 alone, so that the same programs run on NVIDIA's driver.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <deque>
#include <list>
#include <stdexcept>
#include <string>

#include "model.h"

namespace mulciber::random_graphs {

// A call that should have succeeded and did not.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
void succeed(CUresult result, const char* call);
#define SUCCEED(call) ::mulciber::random_graphs::succeed(call, #call)

class Device {
 public:
  static constexpr unsigned lanes = 4;

  Device();  // throws Failure
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  CUstream stream(unsigned index) const { return streams_[index]; }
  CUstream lane(unsigned index) const { return lanes_[index]; }  // to capture in
  CUevent event(unsigned graph) const { return events_[graph]; }
  CUevent nextEvent();  // one that nobody has used for long

  void write(const Memory& memory);
  Memory read();

  void give(const Work& work, CUstream stream);  // also to a captured one
  void giveNow(const Work& work) const;          // a copy or a fill, by a synchronous call
  // What the host reaches of its memory.
  const uint8_t* hostOf(const Range& range) const { return reinterpret_cast<const uint8_t*>(addressOf(range)); }

  CUDA_KERNEL_NODE_PARAMS kernelNode(const Work& work);  // good until the next call
  // A scratch work as nodes of a graph: the first and the last of them.
  std::pair<CUgraphNode, CUgraphNode> addScratch(const Work& work, CUgraph graph,
                                                 const std::vector<CUgraphNode>& after);
  // What a conditional node goes by: a kernel before it, and one behind all else in a loop's graph.
  CUDA_KERNEL_NODE_PARAMS decideNode(const Work& work, CUgraphConditionalHandle handle, unsigned limit,
                                     CUdeviceptr counter);
  CUDA_KERNEL_NODE_PARAMS stepNode(CUgraphConditionalHandle handle, CUdeviceptr counter);
  CUdeviceptr nextCounter();
  CUDA_MEMCPY3D copyNode(const Work& work, bool isUnified) const;
  CUDA_MEMSET_NODE_PARAMS fillNode(const Work& work) const;
  CUDA_HOST_NODE_PARAMS hostNode(const Work& work);
  CUcontext context() const { return context_; }
  // The graph keeps what its last host node is called with, as an object: it goes with all that is made of the graph.
  void giveHostCall(CUgraph graph);
  // When no graph is left and none runs. Says what is wrong with what graphs kept.
  std::string endHostCalls();

 private:
  struct HostCall {
    Work work;
    uint8_t *to, *from;
    bool isGiven = false;
    std::atomic<bool> isGone = false, wasCalledLate = false;
  };
  static void call(void* data);
  uint64_t addressOf(const Range& range, unsigned byte = 0) const;
  void setArguments(const Work& work);
  void giveScratch(const Work& work, CUstream stream);
  CUDA_KERNEL_NODE_PARAMS oneThread(CUfunction function);
  CUDA_KERNEL_NODE_PARAMS kernelNodeNow(const Work& work);  // with the arguments that are set

  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  std::array<CUfunction, 4> functions_{};
  CUdeviceptr counters_ = 0;
  unsigned nextCounter_ = 0;
  std::array<uint64_t, buffers> memory_{};
  std::vector<uint8_t> pageable_;
  CUarray array_ = nullptr;  // a line of bytes
  std::array<CUstream, Program::streams> streams_{};
  std::array<CUstream, lanes> lanes_{};
  std::array<CUevent, 8> events_{};
  std::array<CUevent, 256> others_{};
  size_t nextOther_ = 0;
  std::deque<HostCall> hostCalls_;
  std::list<std::deque<HostCall>> endedWrongly_;

  uint64_t to_ = 0, from_ = 0;
  uint32_t words_ = 0, a_ = 0, b_ = 0, delay_ = 0;
  std::array<void*, 6> arguments_{};
  uint64_t handle_ = 0, counter_ = 0;
};

}  // namespace mulciber::random_graphs
