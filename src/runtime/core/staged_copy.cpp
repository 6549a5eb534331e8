#include "runtime/core/staged_copy.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

constexpr size_t pieceBytes = 4u << 20;
constexpr size_t piecesInFlight = 3;

class Staging {
 public:
  Staging(Stream& stream, const HostBox& host, bool toDevice, const StagedWork& work)
      : stream_(stream), host_(host), toDevice_(toDevice), work_(work) {}
  ~Staging() {
    for (const InFlight& piece : inFlight_) (void)stream_.waitFor(*piece.marker);
    for (const vk::Memory& memory : memory_) allocator().free(memory);
  }

  Error run() {
    const size_t rowsAtOnce = std::max<size_t>(pieceBytes / host_.width, 1);
    for (size_t z = 0; z < host_.depth; ++z)
      for (size_t y = 0; y < host_.height; y += rowsAtOnce)
        for (size_t x = 0; x < host_.width; x += pieceBytes) {
          const StagedPiece piece{x, y, z, std::min(pieceBytes, host_.width - x),
                                  std::min(rowsAtOnce, host_.height - y)};
          TRY(start(piece));
        }
    while (!inFlight_.empty()) TRY(finishOldest());
    return Error::Success;
  }

 private:
  struct InFlight {
    StagedPiece piece;
    vk::Memory memory;
    std::shared_ptr<Marker> marker;
  };

  vk::Allocator& allocator() const { return stream_.context().vulkan().allocator(); }

  char* hostRow(const StagedPiece& piece, size_t row) const {
    return host_.first + piece.z * host_.slice + (piece.y + row) * host_.pitch + piece.x;
  }

  Error acquire(vk::Memory& out) {
    if (memory_.size() < piecesInFlight) {
      TRY(errorFrom(allocator().allocate(vk::MemoryUse::Staging, pieceBytes, out)));
      memory_.push_back(out);
      return Error::Success;
    }
    out = inFlight_.front().memory;
    return finishOldest();
  }

  Error start(const StagedPiece& piece) {
    vk::Memory memory;
    TRY(acquire(memory));
    if (toDevice_)
      for (size_t row = 0; row < piece.rows; ++row)
        std::memcpy(static_cast<char*>(memory.host) + row * piece.width, hostRow(piece, row), piece.width);
    InFlight flight{piece, memory, nullptr};
    TRY(stream_.enqueue(work_(piece, memory)));
    TRY(stream_.mark(Precision::Exact, flight.marker));
    inFlight_.push_back(std::move(flight));
    return Error::Success;
  }

  Error finishOldest() {
    const InFlight flight = std::move(inFlight_.front());
    inFlight_.pop_front();
    TRY(stream_.waitFor(*flight.marker));
    if (!toDevice_)
      for (size_t row = 0; row < flight.piece.rows; ++row)
        std::memcpy(hostRow(flight.piece, row), static_cast<const char*>(flight.memory.host) + row * flight.piece.width,
                    flight.piece.width);
    return Error::Success;
  }

  Stream& stream_;
  const HostBox& host_;
  const bool toDevice_;
  const StagedWork& work_;
  std::vector<vk::Memory> memory_;
  std::deque<InFlight> inFlight_;
};

}  // namespace

Error copyStaged(Stream& stream, const HostBox& host, bool toDevice, const StagedWork& work) {
  return Staging(stream, host, toDevice, work).run();
}

}  // namespace mulciber::core
