// Copies and fills of boxes with sizes, places and pitches of every magnitude. What reaches beyond its memory by exact
// arithmetic is refused; what succeeds does what it says.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"

namespace mulciber::test {
namespace {

// Large enough for every product here, and exact where it matters.
using Exact = long double;

constexpr size_t bytes = 1 << 16;

class CopyBounds : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cuMemAlloc(&source_, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAlloc(&target_, bytes), CUDA_SUCCESS);
    std::mt19937 random(1);
    std::ranges::generate(contents_, [&] { return static_cast<unsigned char>(random() | 1); });
    ASSERT_EQ(cuMemcpyHtoD(source_, contents_.data(), bytes), CUDA_SUCCESS);
  }
  void TearDown() override {
    if (target_) {
      EXPECT_EQ(cuMemFree(source_), CUDA_SUCCESS);
      EXPECT_EQ(cuMemFree(target_), CUDA_SUCCESS);
    }
    WithDevice::TearDown();
  }

  // Small ones are drawn more often, so that some boxes are good ones.
  size_t draw(size_t small) {
    static constexpr size_t large[] = {size_t{1} << 16, size_t{1} << 31, size_t{1} << 32,       size_t{1} << 33,
                                       size_t{1} << 62, size_t{1} << 63, (size_t{1} << 63) + 1, SIZE_MAX};
    if (random_() % 8 != 0) return random_() % small;
    return large[random_() % std::size(large)] + random_() % 3 - 1;
  }

  std::mt19937 random_{2};
  std::vector<unsigned char> contents_ = std::vector<unsigned char>(bytes);
  CUdeviceptr source_ = 0, target_ = 0;
};

// A side of a box as both APIs describe it.
struct Side {
  size_t x, y, z, pitch, height;
  template <class Number>
  Number offset(Number row, Number slice) const {
    return (z + slice) * pitch * height + (y + row) * pitch + x;
  }
};

struct Box {
  Side from, to;
  size_t width, height, depth;
  bool isEmpty() const { return width == 0 || height == 0 || depth == 0; }
  bool isInside(const Side& side) const { return side.offset(Exact(height) - 1, Exact(depth) - 1) + width <= bytes; }
  std::string text() const {
    std::string all = std::to_string(width) + "x" + std::to_string(height) + "x" + std::to_string(depth);
    for (const Side& side : {from, to})
      for (const size_t value : {side.x, side.y, side.z, side.pitch, side.height}) all += " " + std::to_string(value);
    return all;
  }
};

CUresult copyByDriver(const Box& box, CUdeviceptr to, CUdeviceptr from) {
  CUDA_MEMCPY3D p{};
  p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  p.srcDevice = from;
  p.dstDevice = to;
  p.srcXInBytes = box.from.x, p.srcY = box.from.y, p.srcZ = box.from.z;
  p.dstXInBytes = box.to.x, p.dstY = box.to.y, p.dstZ = box.to.z;
  p.srcPitch = box.from.pitch, p.srcHeight = box.from.height;
  p.dstPitch = box.to.pitch, p.dstHeight = box.to.height;
  p.WidthInBytes = box.width, p.Height = box.height, p.Depth = box.depth;
  return cuMemcpy3D(&p);
}

CUresult copyByRuntime(const Box& box, CUdeviceptr to, CUdeviceptr from) {
  cudaMemcpy3DParms p{};
  p.srcPtr = {reinterpret_cast<void*>(from), box.from.pitch, box.width, box.from.height};
  p.dstPtr = {reinterpret_cast<void*>(to), box.to.pitch, box.width, box.to.height};
  p.srcPos = {box.from.x, box.from.y, box.from.z};
  p.dstPos = {box.to.x, box.to.y, box.to.z};
  p.extent = {box.width, box.height, box.depth};
  p.kind = cudaMemcpyDeviceToDevice;
  return static_cast<CUresult>(cudaMemcpy3D(&p));
}

TEST_F(CopyBounds, OfBoxes) {  // MEM-06
  unsigned done = 0;
  std::vector<unsigned char> expected(bytes), seen(bytes);
  for (unsigned i = 0; i < 20'000; ++i) {
    const auto side = [&] { return Side{draw(8), draw(4), draw(3), 1 + draw(200), 1 + draw(12)}; };
    Box box{side(), side(), 1 + draw(40), 1 + draw(6), 1 + draw(4)};
    if (box.isEmpty() || box.from.pitch == 0 || box.to.pitch == 0 || box.from.height == 0 || box.to.height == 0)
      continue;
    const CUresult result = i % 2 == 0 ? copyByDriver(box, target_, source_) : copyByRuntime(box, target_, source_);
    const bool isInside = box.isInside(box.from) && box.isInside(box.to);
    if (result != CUDA_SUCCESS) continue;
    ASSERT_TRUE(isInside) << box.text();
    if (++done % 16 != 0) continue;
    ASSERT_EQ(cuMemsetD8(target_, 0, bytes), CUDA_SUCCESS);
    ASSERT_EQ(i % 2 == 0 ? copyByDriver(box, target_, source_) : copyByRuntime(box, target_, source_), CUDA_SUCCESS);
    ASSERT_EQ(cuMemcpyDtoH(seen.data(), target_, bytes), CUDA_SUCCESS);
    std::ranges::fill(expected, 0);
    for (size_t z = 0; z < box.depth; ++z)
      for (size_t y = 0; y < box.height; ++y)
        std::copy_n(contents_.begin() + static_cast<ptrdiff_t>(box.from.offset(y, z)), box.width,
                    expected.begin() + static_cast<ptrdiff_t>(box.to.offset(y, z)));
    ASSERT_EQ(seen, expected) << box.text();
  }
  EXPECT_GT(done, 1000u);
}

TEST_F(CopyBounds, OfRows) {
  unsigned done = 0;
  for (unsigned i = 0; i < 5'000; ++i) {
    const size_t width = 1 + draw(200), height = 1 + draw(40);
    // Rows without gaps are one row.
    const size_t toPitch = random_() % 2 == 0 ? width : draw(400), fromPitch = random_() % 2 == 0 ? width : draw(400);
    if (width == 0 || height == 0) continue;
    const auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void*>(address); };
    const auto result =
        cudaMemcpy2D(pointer(target_), toPitch, pointer(source_), fromPitch, width, height, cudaMemcpyDeviceToDevice);
    const auto isInside = [&](size_t pitch) { return (Exact(height) - 1) * pitch + width <= bytes; };
    if (result == cudaSuccess) {
      ++done;
      ASSERT_TRUE(isInside(toPitch) && isInside(fromPitch))
          << width << "x" << height << " " << toPitch << " " << fromPitch;
    }
    const auto filled = cudaMemset2D(pointer(target_), toPitch, 0, width, height);
    ASSERT_TRUE(filled != cudaSuccess || isInside(toPitch)) << width << "x" << height << " " << toPitch;
  }
  EXPECT_GT(done, 1000u);
  (void)cudaGetLastError();
}

TEST_F(CopyBounds, OfFilledBoxes) {  // MEM-07
  unsigned done = 0;
  for (unsigned i = 0; i < 5'000; ++i) {
    const size_t pitch = 1 + draw(200), rows = 1 + draw(12), width = 1 + draw(40), height = 1 + draw(6),
                 depth = 1 + draw(4);
    if (pitch == 0 || rows == 0 || width == 0 || height == 0 || depth == 0) continue;
    const auto result = cudaMemset3D({reinterpret_cast<void*>(target_), pitch, width, rows}, 0, {width, height, depth});
    const Box box{{0, 0, 0, pitch, rows}, {0, 0, 0, pitch, rows}, width, height, depth};
    if (result != cudaSuccess) continue;
    ++done;
    ASSERT_TRUE(box.isInside(box.to)) << box.text();
  }
  EXPECT_GT(done, 200u);
  (void)cudaGetLastError();
}

}  // namespace
}  // namespace mulciber::test
