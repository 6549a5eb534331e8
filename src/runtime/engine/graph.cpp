#include <algorithm>

#include "runtime/core/capture.h"
#include "runtime/core/executable_graph.h"
#include "runtime/engine/launches.h"

using namespace mulciber;
using namespace mulciber::engine_api;

namespace {

MulciberGraph keep(MulciberContext context, core::ExecutableGraphRef graph) {
  std::lock_guard lock(context->mutex);
  context->graphs.emplace_back(new MulciberGraph_T{context, std::move(graph)});
  return context->graphs.back().get();
}

}  // namespace

MulciberResult mulciberBeginCapture(MulciberStream stream) {
  return guarded([&] {
    if (!stream) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the stream is null");
    return resultOf(core::Capture::begin(*stream->stream, core::CaptureMode::Relaxed, nullptr, {}), "a capture");
  });
}

MulciberResult mulciberEndCapture(MulciberStream stream, MulciberGraph* out) {
  return guarded([&] {
    if (!stream || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    core::GraphRef captured;
    core::ExecutableGraphRef graph;
    core::ExecutableGraph::Instantiation instantiation;
    Error error = core::Capture::end(*stream->stream, &captured);
    if (error == Error::Success) error = core::ExecutableGraph::create(*captured, 0, graph, instantiation);
    if (captured) core::graphs().remove(captured.get());  // no handle of the CUDA libraries' stands for it
    TRY(resultOf(error, "a capture"));
    *out = keep(stream->context, std::move(graph));
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberGetGraph(MulciberContext context, void* cudaGraph, MulciberGraph* out) {
  return guarded([&] {
    if (!context || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    core::ExecutableGraphRef graph = core::executableGraphs().find(static_cast<core::ExecutableGraph*>(cudaGraph));
    if (!graph || !graph->isOf(*context->context))
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "this is no CUgraphExec of the context");
    *out = keep(context, std::move(graph));
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberDestroyGraph(MulciberGraph graph) {
  return guarded([&] {
    if (!graph) return MULCIBER_SUCCESS;
    MulciberContext_T& context = *graph->context;
    std::lock_guard lock(context.mutex);
    std::erase_if(context.graphs, [&](const auto& held) { return held.get() == graph; });
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberLaunchGraph(MulciberStream stream, MulciberGraph graph) {
  return guarded([&] {
    if (!stream || !graph) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    return resultOf(graph->graph->launch(*stream->stream), "a graph");
  });
}

MulciberResult mulciberRecordGraph(MulciberRecording recording, MulciberGraph graph) {
  return guarded([&] {
    TRY(checkOpen(recording));
    if (!graph) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the graph is null");
    if (graph->context != recording->context)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the graph is of another context");
    vk::Commands& commands = *recording->commands;
    if ((recording->flags & MULCIBER_RECORDING_UNORDERED) == 0 && commands.count() != 0) commands.barrier();
    std::string refused;
    const Error error = graph->graph->record(commands, commands.comesAfter(), refused);
    commands.after(0);
    if (!refused.empty())
      return fail(MULCIBER_ERROR_NEEDS_HOST,
                  "the graph has " + refused + ": compute shaders cannot do that, launch it in a stream");
    return resultOf(error, "a graph");
  });
}
