#include "runtime/core/staged_copy.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

constexpr size_t pieceBytes = 4u << 20;
constexpr size_t piecesInFlight = 3;
// Of all that copies hold. Where they hold more, they wait for the device again.
constexpr uint64_t mostStagedBytes = 64u << 20;
std::atomic<uint64_t> stagedBytes{0};
// One thread copies 10 to 12 GB/s, a fourth of what crosses the bus meanwhile.
constexpr size_t bytesOfThread = 1u << 20, mostThreads = 4;

// Calls body(first, count) for shares of `count`, each but the first in a thread of its own.
template <class Body>
void inShares(size_t count, size_t shares, const Body& body) {
  const size_t share = (count + shares - 1) / shares;
  const auto run = [&](size_t first) { body(first, std::min(share, count - first)); };
  std::vector<std::jthread> helpers;
  for (size_t first = share; first < count; first += share) {
    try {
      helpers.emplace_back(run, first);
    } catch (const std::system_error&) {  // there is no other thread to be had
      run(first);
    }
  }
  run(0);
}

struct Rows {
  char* destination;
  const char* source;
  size_t width, rows, destinationPitch, sourcePitch;
};

void copyRows(Rows copy, bool mayStartThreads) {
  if (copy.destinationPitch == copy.width && copy.sourcePitch == copy.width) {
    copy.width *= copy.rows;
    copy.rows = 1;
  }
  static const size_t processors = std::max(std::thread::hardware_concurrency(), 1u);
  const size_t most = mayStartThreads ? std::min(processors, mostThreads) : 1;
  const size_t shares = std::clamp<size_t>(copy.width * copy.rows / bytesOfThread, 1, most);
  if (copy.rows == 1)
    return inShares(copy.width, shares, [&](size_t first, size_t count) {
      std::memcpy(copy.destination + first, copy.source + first, count);
    });
  inShares(copy.rows, shares, [&](size_t first, size_t count) {
    for (size_t row = first; row < first + count; ++row)
      std::memcpy(copy.destination + row * copy.destinationPitch, copy.source + row * copy.sourcePitch, copy.width);
  });
}

class Staging {
 public:
  Staging(Stream& stream, const HostBox& host, bool toDevice, const StagedWork& work)
      : stream_(stream), host_(host), toDevice_(toDevice), work_(work) {}
  ~Staging() {
    for (const InFlight& piece : inFlight_) (void)stream_.waitFor(*piece.marker);
  }

  Error run(StagedEnd end) {
    const size_t rowsAtOnce = std::max<size_t>(pieceBytes / host_.width, 1);
    leaves_ = toDevice_ && end == StagedEnd::HostIsDone && stagedBytes <= mostStagedBytes;
    isOnePiece_ = host_.depth == 1 && host_.height <= rowsAtOnce && host_.width <= pieceBytes;
    for (size_t z = 0; z < host_.depth; ++z)
      for (size_t y = 0; y < host_.height; y += rowsAtOnce)
        for (size_t x = 0; x < host_.width; x += pieceBytes) {
          const StagedPiece piece{x, y, z, std::min(pieceBytes, host_.width - x),
                                  std::min(rowsAtOnce, host_.height - y)};
          TRY(start(piece));
        }
    if (leaves_) inFlight_.clear();
    while (!inFlight_.empty()) TRY(finishOldest());
    return Error::Success;
  }

 private:
  struct InFlight {
    StagedPiece piece;
    StagingMemory staging;
    std::shared_ptr<Marker> marker;
  };

  vk::Allocator& allocator() const { return stream_.context().vulkan().allocator(); }

  bool mayStartThreads() const { return stream_.context().mayStartThreads(); }

  char* hostRow(const StagedPiece& piece) const {
    return host_.first + piece.z * host_.slice + piece.y * host_.pitch + piece.x;
  }

  Error acquire(size_t bytes, StagingMemory& out) {
    if (inFlight_.size() == piecesInFlight) {
      out = inFlight_.front().staging;
      return finishOldest();
    }
    // All pieces of one copy are as large as its first, or smaller.
    TRY(errorFrom(allocator().allocate(vk::MemoryUse::Staging, bytes, out.memory)));
    stagedBytes += bytes;
    out.owner = std::shared_ptr<const void>(
        out.memory.host, [owner = allocator().owner(out.memory), bytes](const void*) { stagedBytes -= bytes; });
    return Error::Success;
  }

  Error start(const StagedPiece& piece) {
    InFlight flight{piece, {}, nullptr};
    TRY(acquire(piece.width * piece.rows, flight.staging));
    char* const staging = static_cast<char*>(flight.staging.memory.host);
    if (toDevice_)
      copyRows({staging, hostRow(piece), piece.width, piece.rows, piece.width, host_.pitch}, mayStartThreads());
    TRY(stream_.enqueue(work_(piece, flight.staging)));
    if (leaves_ && isOnePiece_) return Error::Success;  // a marker would end the batch
    TRY(stream_.mark(Precision::Exact, flight.marker));
    inFlight_.push_back(std::move(flight));
    return Error::Success;
  }

  Error finishOldest() {
    const InFlight flight = std::move(inFlight_.front());
    inFlight_.pop_front();
    TRY(stream_.waitFor(*flight.marker));
    const StagedPiece& piece = flight.piece;
    const char* const staging = static_cast<const char*>(flight.staging.memory.host);
    if (!toDevice_)
      copyRows({hostRow(piece), staging, piece.width, piece.rows, host_.pitch, piece.width}, mayStartThreads());
    return Error::Success;
  }

  Stream& stream_;
  const HostBox& host_;
  const bool toDevice_;
  const StagedWork& work_;
  bool leaves_ = false, isOnePiece_ = false;
  std::deque<InFlight> inFlight_;
};

}  // namespace

Error copyStaged(Stream& stream, const HostBox& host, bool toDevice, StagedEnd end, const StagedWork& work) {
  return Staging(stream, host, toDevice, work).run(end);
}

}  // namespace mulciber::core
