// A command buffer being recorded, with everything that belongs to it: what is bound, which earlier writes no barrier
// covers yet, memory that the host fills for it, and objects that must live until it has run. It knows no queue.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/vk/memory.h"
#include "runtime/vk/status.h"
#include "runtime/vk/timestamp.h"
#include "runtime/vk/volk.h"

namespace mulciber::vk {

class Device;
class Pipeline;
struct ImageBox;

// Bytes to copy between addresses: width x height x depth, as CUDA's copies.
struct CopyRegion {
  uint64_t destination, source;
  uint64_t width, height = 1, depth = 1;
  uint64_t destinationPitch = 0, sourcePitch = 0, destinationSlice = 0, sourceSlice = 0;
};

// Where the bytes of an image lie, or go to, in memory.
struct MemoryBox {
  Memory memory;         // that has the address; its chunk may be unknown
  uint64_t address = 0;  // of the first byte
  uint64_t pitch = 0, slice = 0;
};

struct FillRegion {
  uint64_t destination;
  uint32_t value, valueBytes;             // 1, 2 or 4
  uint64_t width, height = 1, depth = 1;  // width in values
  uint64_t pitch = 0, slice = 0;
};

// Which work the barriers so far have ordered. An epoch ends with each barrier: work recorded in an earlier epoch is
// ordered already, work of the current epoch needs a barrier before what depends on it. Barriers reach over the command
// buffers of a queue, so each command buffer begins where the one before it ended.
struct Hazards {
  uint64_t epoch = 1;
  bool transferSinceBarrier = false;  // the copy engine has worked in this epoch
};

class Commands {
 public:
  enum class Kind : uint8_t {
    Transient,  // runs once; reset() makes it ready for other work
    Reusable,   // recorded once, may run many times
    Borrowed,   // somebody else's command buffer: begun, ended and submitted by its owner
  };

  static Status create(Device& device, uint32_t family, Kind kind, std::unique_ptr<Commands>& out);
  static std::unique_ptr<Commands> borrow(Device& device, VkCommandBuffer commandBuffer);
  void borrow(VkCommandBuffer commandBuffer);  // another one, after reset()
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  Status begin(const Hazards& before);
  Status end();
  void reset();  // it must not be running

  // What is recorded next comes after the work of that epoch. The pieces recorded after one call are not ordered among
  // themselves: call barrier() between them.
  void after(uint64_t epoch) { after_ = epoch; }
  void barrier() { after_ = hazards_.epoch; }
  uint64_t comesAfter() const { return after_; }
  const Hazards& hazards() const { return hazards_; }

  // The workgroups from `first` on, of which the whole grid may have more.
  void dispatch(const Pipeline& pipeline, const void* push, uint32_t pushBytes, const uint32_t (&groups)[3],
                const uint32_t (&first)[3] = {0, 0, 0});
  // What kernels dispatched from here on read as constants: the first bytes of the memory.
  void useConstants(const Memory& memory, uint32_t bytes);
  void copy(const CopyRegion& region);
  void fill(const FillRegion& region);
  // Both pieces of memory known: the copy engine's way, for transfers between host and device.
  void copyBuffer(const Memory& destination, uint64_t destinationOffset, const Memory& source, uint64_t sourceOffset,
                  uint64_t bytes);
  Status copyToImage(const ImageBox& destination, const MemoryBox& source);
  Status copyFromImage(const MemoryBox& destination, const ImageBox& source);
  Status copyImage(const ImageBox& destination, const ImageBox& source);  // of the same size, elements too
  // Both by a kernel. Unsupported where no kernel can: of blocks, of parts of elements, and where elements are not
  // aligned in memory.
  Status copyByKernel(const ImageBox& image, const MemoryBox& memory, bool toImage);
  // A new image's layout. All that is recorded from here on may use the image.
  void makeGeneral(VkImage image);
  // The same of an image whose memory is somebody else's, and what it holds stays; `family`: of this command buffer.
  void acquireGeneral(VkImage image, uint32_t family);
  // Written once all before it is done and the host can see what that wrote.
  void write(const TimestampRef& timestamp);
  void mark() { ++count_; }                        // counts as a command and is none
  void makeVisibleToHost() { hostReads_ = true; }  // the host reads what this writes
  // In a borrowed command buffer: what is recorded next comes after all that its owner has recorded, and what the owner
  // records from now on after all of ours.
  void comeAfterOwner();
  void comeBeforeOwner();

  // Memory that the host fills now and the device reads when this runs. It lasts until reset().
  Status upload(uint64_t bytes, Memory& out);
  Status upload(uint64_t bytes, void*& host, uint64_t& address);
  // Memory for what one command writes and another reads. It lasts until reset().
  Status temporary(uint64_t bytes, Memory& out);
  void keep(std::shared_ptr<const void> object) { kept_.push_back(std::move(object)); }

  Device& device() const { return device_; }
  Kind kind() const { return kind_; }
  VkCommandBuffer handle() const { return commandBuffer_; }
  uint32_t count() const { return count_; }  // commands recorded

 private:
  Commands(Device& device, Kind kind, VkPipelineStageFlags2 stages) : device_(device), kind_(kind), stages_(stages) {}
  VkCommandBuffer beginCompute();
  void bindTextures();
  VkCommandBuffer beginTransfer();
  Status writeImage(const ImageBox& destination, const MemoryBox& source);
  Status copyToBlocks(const ImageBox& changed);
  Status packedCopyOf(const ImageBox& whole, MemoryBox& out);  // in memory that lasts until reset()
  void recordBarrier(const VkImageMemoryBarrier2& barrier);
  void finishWrites(VkPipelineStageFlags2 before);
  template <typename Body>
  void inParts(uint32_t unitsPerGroup, uint64_t width, uint64_t height, uint64_t depth, Body&& body);
  void copyUnits(const CopyRegion& region, uint32_t unitBytes);
  void fillUnits(const FillRegion& region, uint32_t unitBytes);

  Device& device_;
  const Kind kind_;
  const VkPipelineStageFlags2 stages_;  // of what is recorded here, as far as the queue's family has them
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commandBuffer_ = VK_NULL_HANDLE;

  Hazards hazards_;
  uint64_t after_ = 0;
  uint32_t count_ = 0;
  bool hostReads_ = false;
  VkPipeline bound_ = VK_NULL_HANDLE;
  uint64_t boundConstants_ = 0;  // their address, and how many bytes
  uint32_t boundConstantBytes_ = 0;
  bool boundTextures_ = false;

  // One block of memory that stays, and more when that is not enough.
  Memory arena_;
  uint64_t arenaUsed_ = 0;
  std::vector<Memory> moreArenas_;
  std::vector<std::shared_ptr<const void>> kept_;
};

}  // namespace mulciber::vk
