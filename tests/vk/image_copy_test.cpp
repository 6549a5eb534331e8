// Copies between memory and images by a kernel, which devices with a slow copy engine take.
#include <cstring>
#include <functional>

#include "runtime/vk/commands.h"
#include "runtime/vk/image.h"
#include "vulkan_test.h"

namespace mulciber::vk {
namespace {

struct Case {
  VkImageType type;
  uint32_t elementBytes, width, height, depth, layers, level;
};

class ImageCopyTest : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (!IsSkipped() && !device->profile().surfaces) GTEST_SKIP() << "skipped: the device has no surfaces";
  }
  void run(const std::function<Status(Commands&)>& record) {
    Queue& queue = device->queue(0);
    Position position(queue);
    ASSERT_EQ(queue.record(position, record), Status::Ok);
    ASSERT_EQ(queue.wait(position.last.value, WaitMode::Auto), Status::Ok);
  }
  std::shared_ptr<Image> image(const Case& one) {
    ImageShape shape;
    shape.type = one.type;
    shape.format = wordFormat(one.elementBytes);
    shape.width = one.width << one.level;
    shape.height = one.type == VK_IMAGE_TYPE_1D ? 1 : one.height << one.level;
    shape.depth = one.type == VK_IMAGE_TYPE_3D ? one.depth << one.level : 1;
    shape.layers = one.layers;
    shape.levels = one.level + 1;
    shape.elementBytes = one.elementBytes;
    std::shared_ptr<Image> made;
    EXPECT_EQ(Image::create(*device, shape, made), Status::Ok);
    return made;
  }
  MemoryBox host(uint64_t pitch, uint64_t slice, uint64_t slices) {
    Memory memory;
    EXPECT_EQ(device->allocator().allocate(MemoryUse::Staging, slice * slices, memory), Status::Ok);
    memories_.push_back(memory);
    return {memory, memory.address, pitch, slice};
  }
  void TearDown() override {
    for (const Memory& memory : memories_) device->allocator().free(memory);
    memories_.clear();
    VulkanTest::TearDown();
  }

 private:
  std::vector<Memory> memories_;
};

// What a kernel writes the copy engine reads, and the other way round.
TEST_F(ImageCopyTest, AgreesWithTheCopyEngine) {
  const Case cases[] = {
      {VK_IMAGE_TYPE_2D, 1, 45, 19, 1, 1, 0}, {VK_IMAGE_TYPE_2D, 2, 45, 19, 1, 1, 0},
      {VK_IMAGE_TYPE_2D, 4, 67, 9, 1, 3, 1},  {VK_IMAGE_TYPE_2D, 8, 33, 8, 1, 1, 0},
      {VK_IMAGE_TYPE_1D, 4, 100, 1, 1, 4, 0}, {VK_IMAGE_TYPE_3D, 4, 17, 11, 6, 1, 1},
      {VK_IMAGE_TYPE_3D, 2, 17, 11, 6, 1, 0}, {VK_IMAGE_TYPE_2D, 16, 21, 9, 1, 2, 0},
      {VK_IMAGE_TYPE_1D, 16, 37, 1, 1, 1, 0}, {VK_IMAGE_TYPE_3D, 16, 9, 7, 3, 1, 0},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(testing::Message() << "type " << one.type << ", " << one.elementBytes << " bytes");
    const std::shared_ptr<Image> made = image(one);
    const uint32_t slices = std::max(one.depth, one.layers), rows = one.type == VK_IMAGE_TYPE_1D ? 1 : one.height;
    // A box inside, in memory with gaps.
    const uint32_t x = 3, y = rows > 2 ? 1 : 0, z = slices > 1 ? 1 : 0;
    const ImageBox box{made,          one.level, x,          y, z,
                       one.width - x, rows - y,  slices - z, 0, uint64_t{one.width - x} * one.elementBytes};
    const uint64_t pitch = box.rowBytes + 2 * one.elementBytes, slice = pitch * (box.height + 1);
    const MemoryBox in = host(pitch, slice, box.depth), out = host(pitch, slice, box.depth),
                    back = host(pitch, slice, box.depth);
    auto* const given = static_cast<uint8_t*>(in.memory.host);
    for (uint64_t i = 0; i < slice * box.depth; ++i) given[i] = static_cast<uint8_t>(i * 37 + i / 251);
    std::memset(out.memory.host, 0, slice * box.depth);
    std::memset(back.memory.host, 0, slice * box.depth);
    run([&](Commands& commands) { return commands.copyByKernel(box, in, true); });
    run([&](Commands& commands) {
      const Status status = commands.copyFromImage(out, box);
      commands.makeVisibleToHost();
      return status;
    });
    run([&](Commands& commands) {
      Status status = commands.copyByKernel(box, back, false);
      if (status == Status::Unsupported) status = commands.copyFromImage(back, box);
      commands.makeVisibleToHost();
      return status;
    });
    for (uint32_t plane = 0; plane < box.depth; ++plane)
      for (uint32_t row = 0; row < box.height; ++row) {
        const uint64_t at = plane * slice + row * pitch;
        ASSERT_EQ(std::memcmp(static_cast<uint8_t*>(out.memory.host) + at, given + at, box.rowBytes), 0) << row;
        ASSERT_EQ(std::memcmp(static_cast<uint8_t*>(back.memory.host) + at, given + at, box.rowBytes), 0) << row;
        EXPECT_EQ(static_cast<uint8_t*>(back.memory.host)[at + box.rowBytes], 0) << "a gap was written";
      }
  }
}

// Parts of elements, and memory that no kernel can read in elements, pass through other memory: what is written to it
// has to be there before the kernel reads it.
TEST_F(ImageCopyTest, StepsOfOneCopyAreOrdered) {
  if (!device->workarounds().has(Workaround::SlowImageCopies)) GTEST_SKIP() << "skipped: the copy engine copies";
  const auto barriersOf = [&](const ImageBox& box, const MemoryBox& memory) {
    uint64_t count = 0;
    run([&](Commands& commands) {
      const uint64_t before = commands.hazards().epoch;
      commands.after(before);
      const Status status = commands.copyToImage(box, memory);
      count = commands.hazards().epoch - before;
      return status;
    });
    return count;
  };
  Memory memory;
  ASSERT_EQ(device->allocator().allocate(MemoryUse::Device, 4096, memory), Status::Ok);
  const std::shared_ptr<Image> made = image({VK_IMAGE_TYPE_2D, 4, 16, 4, 1, 1, 0});
  EXPECT_EQ(barriersOf({made, 0, 0, 0, 0, 16, 4, 1, 0, 64}, {memory, memory.address, 64, 256}), 1u);
  EXPECT_EQ(barriersOf({made, 0, 0, 0, 0, 16, 4, 1, 0, 64}, {memory, memory.address + 1, 66, 264}), 2u);  // pack, write
  EXPECT_EQ(barriersOf({made, 0, 0, 0, 0, 16, 4, 1, 1, 2}, {memory, memory.address, 64, 256}),
            3u);  // read, patch, write
  device->allocator().free(memory);
}

TEST_F(ImageCopyTest, LeavesWhatIsNotAlignedToTheCopyEngine) {
  const Case one{VK_IMAGE_TYPE_2D, 4, 16, 4, 1, 1, 0};
  const ImageBox box{image(one), 0, 0, 0, 0, 16, 4, 1, 0, 64};
  MemoryBox memory = host(66, 264, 1);
  run([&](Commands& commands) {
    EXPECT_EQ(commands.copyByKernel(box, memory, true), Status::Unsupported);
    return Status::Ok;
  });
}

}  // namespace
}  // namespace mulciber::vk
