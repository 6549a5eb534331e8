// Stream capture: what a program gives to a captured stream becomes nodes of a graph, each behind what the stream did
// before. Streams join a capture by waiting for its events, and leave it when it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/core/graph.h"

namespace mulciber::core {

class Stream;
using StreamRef = std::shared_ptr<Stream>;

enum class CaptureMode : int { Global = 0, ThreadLocal = 1, Relaxed = 2 };  // as CUstreamCaptureMode numbers them
enum class CaptureStatus : int { None = 0, Active = 1, Invalidated = 2 };   // as CUstreamCaptureStatus numbers them

// Sets the calling thread's mode and gives the one it had. It starts as Global.
CaptureMode exchangeCaptureMode(CaptureMode mode);

// For calls that might disturb a capture although they name no stream of it. StreamCaptureUnsupported when the calling
// thread's mode and the captures there are forbid such calls; those captures are invalidated.
Error unsafeDuringCapture();

// Whether a kernel may begin before the kernels right before it have ended. The edges say so.
enum class Overlap : bool { Not, WithKernels };

// The nodes that a stream's next node comes after, and how it does.
struct CapturePlace {
  std::vector<GraphNode*> nodes;
  std::vector<EdgeData> edges;  // one for each node

  void join(const CapturePlace& other);
};

class Capture : public std::enable_shared_from_this<Capture> {
 public:
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Into a graph of its own when `graph` is null.
  static Error begin(Stream& stream, CaptureMode mode, GraphRef graph, const CapturePlace& place);
  // Ends the capture that was begun in the stream, whether it succeeds or not. A capture that another stream began is
  // only invalidated. `out` is null when it failed. Without it, a graph of the capture's own goes: nobody will ever
  // know its handle.
  static Error end(Stream& stream, GraphRef* out);
  // The stream is going away. A capture that was begun in it ends; of another, what it did stays.
  static void abandon(Stream& stream);

  uint64_t id() const { return id_; }
  GraphRef graph() const;  // null when the capture is over
  // Also when it is over.
  bool isInvalid() const { return isInvalid_.load(std::memory_order_acquire); }
  // Nothing can be captured any more, and the end will fail.
  void invalidate() { isInvalid_.store(true, std::memory_order_release); }

  // For what CUDA has a node and Mulciber none: a sentence in the log, and NotSupported.
  Error refuse(const char* what);
  // A node behind what the stream did so far.
  Error add(const Stream& stream, NodeParameters parameters, Overlap overlap = Overlap::Not);
  // What the stream's next node comes after. The place is good until the stream's next call.
  const CapturePlace& tell(const Stream& stream);
  // InvalidValue when a node is not of the capture's graph.
  Error update(const Stream& stream, const CapturePlace& place, bool isReplaced);
  // The event stands for what the stream did so far.
  Error record(const Stream& stream, Event& event);
  // One of the two is in a capture, or was: the stream comes after the event, and so joins its capture.
  static Error wait(const StreamRef& stream, const Event& event);

 private:
  friend Error unsafeDuringCapture();
  Capture(const Stream& origin, CaptureMode mode, GraphRef graph, bool isOwnGraph);
  Error join(const StreamRef& stream, const CapturePlace& after);
  bool areOfGraph(const CapturePlace& place) const;
  bool isJoined() const;
  GraphRef leave();
  void forget();

  struct Member {
    std::weak_ptr<Stream> stream;
    CapturePlace place, told;
  };

  const uint64_t id_, origin_;  // the stream's id
  const CaptureMode mode_;
  const std::thread::id thread_;
  const bool isOwnGraph_;
  std::atomic<bool> isInvalid_{false};
  mutable std::mutex mutex_;
  GraphRef graph_;
  std::unordered_map<uint64_t, Member> members_;  // by the streams' ids
  std::vector<Edge> dependencies_;                // of the node that is being added
};
using CaptureRef = std::shared_ptr<Capture>;

// Where an event was recorded that was recorded in a captured stream.
struct CapturedEvent {
  CaptureRef capture;
  CapturePlace place;

  // To the host that asks for it or waits for it.
  Error refuse() const;
};

}  // namespace mulciber::core
