#include "runtime/core/texture_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/core/kernel_services.h"
#include "runtime/core/worker.h"
#include "runtime/vk/device.h"
#include "util/environment.h"

namespace mulciber::core {

namespace {

constexpr size_t firstCount = 1024;  // of records

// Linear memory is read at integers alone, which no sampler does.
bool isFiltered(const abi::TextureRecord& record) {
  const bool isSampled = (record.sampling & abi::IsSampled) != 0;
  return !isSampled && (record.kind == abi::TextureKind::Image || record.kind == abi::TextureKind::Pitched);
}

}  // namespace

TextureTable::~TextureTable() {
  vk::Allocator& allocator = context_.vulkan().allocator();
  old_.push_back(memory_);
  for (const vk::Memory& memory : old_) allocator.free(memory);
}

Error TextureTable::grow() {
  vk::Allocator& allocator = context_.vulkan().allocator();
  const size_t count = std::max(firstCount, slots_.size() * 2);
  const uint64_t bytes = sizeof(abi::TextureTable) + count * sizeof(abi::TextureRecord);
  vk::Memory memory;
  if (const auto status = allocator.allocate(vk::MemoryUse::Upload, bytes, memory); status != vk::Status::Ok)
    return errorFrom(status);
  const size_t before = slots_.size();
  slots_.resize(count);
  // Record 0 is no object's.
  for (size_t number = count; number-- > std::max<size_t>(before, 1);) free_.push_back(static_cast<uint32_t>(number));
  if (memory_.chunk) old_.push_back(memory_);
  memory_ = memory;
  abi::TextureTable header{};
  std::ranges::transform(abi::decodedSrgb, header.decodedSrgb, [](uint16_t decoded) { return decoded * 0x1p-14f; });
  std::memcpy(memory_.host, &header, sizeof(header));
  for (size_t number = 0; number < count; ++number) write(static_cast<uint32_t>(number));
  const uint64_t table = abi::textureTable(memory.address, static_cast<uint32_t>(std::countr_zero(count)));
  address_.store(table, std::memory_order_release);
  context_.services().setTextures(table);
  return Error::Success;
}

void TextureTable::write(uint32_t number) {
  std::memcpy(static_cast<uint8_t*>(memory_.host) + sizeof(abi::TextureTable) + number * sizeof(abi::TextureRecord),
              &slots_[number].record, sizeof(abi::TextureRecord));
}

Error TextureTable::address(uint64_t& out) {
  // What was destroyed while kernels ran is found by no launch after them.
  if (util::environment().checkTextures) (void)retire();
  out = address_.load(std::memory_order_acquire);
  if (out != 0) return Error::Success;
  std::lock_guard lock(mutex_);
  if (slots_.empty()) TRY(grow());
  out = address_.load(std::memory_order_relaxed);
  return Error::Success;
}

bool TextureTable::hasPassed(const Leaving& leaving) const {
  const auto isPassed = [](const vk::Point& point) {
    return !point.queue || point.queue->poll(point.value) != vk::Status::NotReady;
  };
  return std::ranges::all_of(leaving.points, isPassed) &&
         std::ranges::all_of(leaving.markers, [&](const MarkerRef& marker) {
           return marker->isResolved() && isPassed(marker->point());
         });
}

void TextureTable::retire(std::vector<TableObjectRef>& gone) {
  if (!removed_.empty()) {
    Leaving leaving;
    leaving.numbers.swap(removed_);
    vk::Device& vulkan = context_.vulkan();
    for (const auto& queue : vulkan.queues()) leaving.points.push_back(queue->end());
    leaving.markers = context_.worker().marks();
    leaving_.push_back(std::move(leaving));
  }
  while (!leaving_.empty() && hasPassed(leaving_.front())) {
    for (const uint32_t number : leaving_.front().numbers) {
      Slot& slot = slots_[number];
      gone.push_back(std::move(slot.object));
      slot.object = nullptr;
      slot.isLeaving = false;
      slot.record = {};
      write(number);
      free_.push_back(number);
    }
    leaving_.pop_front();
  }
  hasDestroyed_.store(!leaving_.empty(), std::memory_order_relaxed);
}

bool TextureTable::retire() {
  if (!hasDestroyed_.load(std::memory_order_relaxed)) return false;
  std::vector<TableObjectRef> gone;
  std::lock_guard lock(mutex_);
  retire(gone);
  return !gone.empty();
}

Error TextureTable::makeRoom(std::vector<TableObjectRef>& gone) {
  if (free_.empty()) retire(gone);
  return free_.empty() ? grow() : Error::Success;
}

Error TextureTable::add(abi::TextureRecord record, TableObjectRef object, uint64_t& handle) {
  std::vector<TableObjectRef> gone;
  std::lock_guard lock(mutex_);
  TRY(makeRoom(gone));
  const uint32_t number = free_.back();
  free_.pop_back();
  Slot& slot = slots_[number];
  record.generation = ++slot.uses;
  slot.record = record;
  if (isFiltered(record)) ++filtered_;
  slot.object = std::move(object);
  write(number);
  handle = abi::textureHandle(number, record.generation);
  return Error::Success;
}

const TextureTable::Slot* TextureTable::slotOf(uint64_t handle) const {
  const auto number = static_cast<uint32_t>(handle);
  if (number == 0 || number >= slots_.size()) return nullptr;
  const Slot& slot = slots_[number];
  return slot.object && !slot.isLeaving && slot.uses == handle >> 32 ? &slot : nullptr;
}

TableObjectRef TextureTable::find(uint64_t handle) const {
  std::lock_guard lock(mutex_);
  const Slot* slot = slotOf(handle);
  return slot ? slot->object : nullptr;
}

Error TextureTable::remove(uint64_t handle) {
  std::vector<TableObjectRef> gone;
  std::lock_guard lock(mutex_);
  if (!slotOf(handle)) return Error::InvalidValue;
  const auto number = static_cast<uint32_t>(handle);
  slots_[number].isLeaving = true;
  if (isFiltered(slots_[number].record)) --filtered_;  // launches from now on do not meet it
  removed_.push_back(number);
  hasDestroyed_.store(true, std::memory_order_relaxed);
  if (util::environment().checkTextures) retire(gone);  // so that kernels find no object from now on
  return Error::Success;
}

// Objects end outside the lock.
void TextureTable::clear() {
  std::vector<TableObjectRef> gone;
  std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    gone.push_back(std::move(slot.object));
    slot.object = nullptr;
  }
}

}  // namespace mulciber::core
