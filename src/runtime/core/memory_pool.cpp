#include "runtime/core/memory_pool.h"

#include <unistd.h>

#include <algorithm>

#include "runtime/core/context.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"

namespace mulciber::core {

namespace {

constexpr uint64_t segmentBytes = 32u << 20;
constexpr uint64_t segmentGranularity = 2u << 20;
constexpr size_t fewLooks = 64;  // at pieces: allocation stays cheap however much is on its way
constexpr uint64_t roundUp(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Nothing is submitted for it: what is not done yet is looked at again with the next allocation.
bool hasPassed(const Marker& marker) {
  return marker.isResolved() && marker.point().queue->poll(marker.point().value) != vk::Status::NotReady;
}

}  // namespace

// Nothing waits for anything any more: Device::destroyPool sees to it.
MemoryPool::~MemoryPool() {
  for (const Segment& segment : segments_) segment.vulkan->allocator().free(segment.memory);
  if (descriptor_ >= 0) close(descriptor_);
}

MemoryPool::Pieces::iterator MemoryPool::removePiece(Pieces::iterator piece) {
  bySize_.erase({piece->second.bytes, piece->first});
  waiting_.erase(piece->first);
  return pieces_.erase(piece);
}

// Joins it with its neighbours that wait for the same stream, or like it for nothing. All of it then waits for the
// later marker.
MemoryPool::Pieces::iterator MemoryPool::addPiece(uint64_t address, Piece piece) {
  const auto joins = [&](const Piece& other) {
    return other.segment == piece.segment && other.stream == piece.stream && !other.marker == !piece.marker;
  };
  const auto take = [&](Piece& other) {
    piece.bytes += other.bytes;
    if (piece.marker && other.marker->place() > piece.marker->place()) piece.marker = std::move(other.marker);
  };
  auto next = pieces_.lower_bound(address);
  if (next != pieces_.end() && address + piece.bytes == next->first && joins(next->second)) {
    take(next->second);
    next = removePiece(next);
  }
  if (next != pieces_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second.bytes == address && joins(previous->second)) {
      address = previous->first;
      take(previous->second);
      removePiece(previous);
    }
  }
  bySize_.emplace(piece.bytes, address);
  if (piece.marker) waiting_.insert(address);
  return pieces_.emplace(address, std::move(piece)).first;
}

// Pieces whose wait is over become anyone's.
void MemoryPool::settle(size_t mostLooks) {
  size_t looks = 0;
  for (auto address = waiting_.begin(); address != waiting_.end() && looks < mostLooks; ++looks) {
    const auto found = pieces_.find(*address);
    if (!hasPassed(*found->second.marker)) {
      ++address;
      continue;
    }
    const uint64_t first = found->first;
    Piece piece = std::move(found->second);
    removePiece(found);
    piece.stream = 0;
    piece.marker = nullptr;
    addPiece(first, std::move(piece));
    address = waiting_.upper_bound(first);
  }
}

vk::Memory MemoryPool::take(Pieces::iterator found, uint64_t bytes) {
  const uint64_t address = found->first;
  Piece piece = std::move(found->second);
  removePiece(found);
  Segment& segment = *piece.segment;
  if (piece.bytes > bytes) {
    Piece rest = piece;
    rest.bytes -= bytes;
    addPiece(address + bytes, std::move(rest));
  }
  segment.used += bytes;
  vk::Memory memory = segment.memory;
  const uint64_t offset = address - segment.memory.address;
  memory.offset += offset;
  memory.size = bytes;
  memory.address = address;
  if (memory.host) memory.host = static_cast<char*>(memory.host) + offset;
  return memory;
}

void MemoryPool::addSegment(Segment segment, uint64_t bytes) {
  segments_.push_back(std::move(segment));
  addPiece(segments_.back().memory.address, {&segments_.back(), bytes});
  reserved_ += bytes;
  reservedHigh_ = std::max(reservedHigh_, reserved_);
}

Error MemoryPool::grow(const std::shared_ptr<vk::Device>& vulkan, uint64_t bytes) {
  if (sharing_ == PoolSharing::Exported) return makeShared(vulkan);
  const uint64_t least = roundUp(bytes, segmentGranularity);
  const vk::MemoryUse use = kind_ == MemoryKind::Device ? vk::MemoryUse::Device : vk::MemoryUse::Host;
  vk::Status status = vk::Status::OutOfMemory;
  for (const uint64_t size : {std::max(least, segmentBytes), least}) {
    if (maxBytes_ != 0 && (size > maxBytes_ || reserved_ > maxBytes_ - size)) continue;
    Segment segment{vulkan, {}};
    status = vulkan->allocator().allocate(use, size, segment.memory);
    if (status == vk::Status::OutOfMemory) continue;
    if (status != vk::Status::Ok) break;
    // A program has one pointer for both sides.
    if (use == vk::MemoryUse::Host && reinterpret_cast<uint64_t>(segment.memory.host) != segment.memory.address) {
      vulkan->allocator().free(segment.memory);
      return Error::OutOfMemory;
    }
    addSegment(std::move(segment), size);
    return Error::Success;
  }
  return errorFrom(status);
}

Error MemoryPool::allocate(Context& context, Stream* stream, uint64_t wanted, vk::Memory& out) {
  if (wanted == 0 || sharing_ == PoolSharing::Imported) return Error::InvalidValue;
  if (wanted > uint64_t(1) << 48) return Error::OutOfMemory;
  const uint64_t bytes = roundUp(wanted, vk::Allocator::alignment);
  const std::shared_ptr<vk::Device> vulkan = context.sharedVulkan();
  std::lock_guard lock(mutex_);
  if (opportunistic_) settle(fewLooks);
  const auto fits = [&](bool mayWait) {
    for (auto size = bySize_.lower_bound({bytes, 0}); size != bySize_.end(); ++size) {
      const auto found = pieces_.find(size->second);
      const Piece& piece = found->second;
      if (piece.segment->vulkan != vulkan) continue;
      if (mayWait || !piece.marker || (stream && piece.stream == stream->id())) return found;
    }
    return pieces_.end();
  };
  auto found = fits(false);
  if (found == pieces_.end()) {
    // First try to get more memory. Only when there is none, take a piece for which this stream waits for another.
    const Error grown = grow(vulkan, bytes);
    if (grown != Error::Success && grown != Error::OutOfMemory) return grown;
    found = fits(stream && grown == Error::OutOfMemory && internalDependencies_);
    if (found == pieces_.end()) return Error::OutOfMemory;
  }
  if (found->second.marker && found->second.stream != stream->id()) stream->follow(found->second.marker);
  out = take(found, bytes);
  used_ += wanted;
  usedHigh_ = std::max(usedHigh_, used_);
  return Error::Success;
}

void MemoryPool::giveBack(const vk::Memory& memory, uint64_t bytes, uint64_t stream, std::shared_ptr<Marker> marker) {
  std::lock_guard lock(mutex_);
  for (Segment& segment : segments_) {
    if (segment.memory.chunk != memory.chunk || memory.address - segment.memory.address >= segment.memory.size)
      continue;
    segment.used -= memory.size;
    used_ -= bytes;
    if (!marker) stream = 0;
    addPiece(memory.address, {&segment, memory.size, stream, std::move(marker)});
    return;
  }
}

void MemoryPool::trimLocked(uint64_t keepBytes) {
  settle(fewLooks);
  if (sharing_ != PoolSharing::Exported) freeSegments(keepBytes);  // else others may have the memory already
}

void MemoryPool::freeSegments(uint64_t keepBytes) {
  for (auto segment = segments_.begin(); segment != segments_.end() && reserved_ > keepBytes;) {
    const auto whole = pieces_.find(segment->memory.address);
    const bool isFree = segment->used == 0 && whole != pieces_.end() && !whole->second.marker &&
                        whole->second.bytes == segment->memory.size;
    if (!isFree) {
      ++segment;
      continue;
    }
    removePiece(whole);
    reserved_ -= segment->memory.size;
    segment->vulkan->allocator().free(segment->memory);
    segment = segments_.erase(segment);
  }
}

void MemoryPool::trim(uint64_t keepBytes) {
  std::lock_guard lock(mutex_);
  trimLocked(keepBytes);
}

bool MemoryPool::isSettled() {
  std::lock_guard lock(mutex_);
  settle(SIZE_MAX);
  freeSegments(0);
  return waiting_.empty();
}

void MemoryPool::trimToThreshold() {
  std::lock_guard lock(mutex_);
  if (reserved_ > threshold_) trimLocked(threshold_);
}

Error MemoryPool::attribute(PoolAttribute attribute, uint64_t& value) const {
  std::lock_guard lock(mutex_);
  switch (attribute) {
    case PoolAttribute::ReuseFollowEventDependencies: value = followEvents_; break;
    case PoolAttribute::ReuseAllowOpportunistic: value = opportunistic_; break;
    case PoolAttribute::ReuseAllowInternalDependencies: value = internalDependencies_; break;
    case PoolAttribute::ReleaseThreshold: value = threshold_; break;
    case PoolAttribute::ReservedCurrent: value = reserved_; break;
    case PoolAttribute::ReservedHigh: value = reservedHigh_; break;
    case PoolAttribute::UsedCurrent: value = used_; break;
    case PoolAttribute::UsedHigh: value = usedHigh_; break;
    default: return Error::InvalidValue;
  }
  return Error::Success;
}

Error MemoryPool::setAttribute(PoolAttribute attribute, uint64_t value) {
  std::lock_guard lock(mutex_);
  switch (attribute) {
    case PoolAttribute::ReuseFollowEventDependencies: followEvents_ = value != 0; break;
    case PoolAttribute::ReuseAllowOpportunistic: opportunistic_ = value != 0; break;
    case PoolAttribute::ReuseAllowInternalDependencies: internalDependencies_ = value != 0; break;
    case PoolAttribute::ReleaseThreshold: threshold_ = value; break;
    // The marks can be set back, to what there is now.
    case PoolAttribute::ReservedHigh:
      if (value != 0) return Error::InvalidValue;
      reservedHigh_ = reserved_;
      break;
    case PoolAttribute::UsedHigh:
      if (value != 0) return Error::InvalidValue;
      usedHigh_ = used_;
      break;
    default: return Error::InvalidValue;
  }
  return Error::Success;
}

}  // namespace mulciber::core
