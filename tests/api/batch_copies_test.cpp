// Many copies given at once, through both APIs.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"

namespace mulciber::test {
namespace {

class BatchCopies : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&device, bytes), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&other, bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&pinned, bytes), cudaSuccess);
    std::iota(pageable.begin(), pageable.end(), uint8_t{0});
    std::iota(pinned, pinned + bytes, uint8_t{100});
  }
  void TearDown() override {
    if (context) {
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
      EXPECT_EQ(cudaFree(device), cudaSuccess);
      EXPECT_EQ(cudaFree(other), cudaSuccess);
      EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
    }
    WithDevice::TearDown();
  }

  static cudaMemcpyAttributes attributes(cudaMemcpySrcAccessOrder order, unsigned flags = 0) {
    cudaMemcpyAttributes made{};
    made.srcAccessOrder = order;
    made.flags = flags;
    return made;
  }
  cudaError_t batch(std::vector<void*> to, std::vector<const void*> from, std::vector<size_t> sizes,
                    std::vector<cudaMemcpyAttributes> with, std::vector<size_t> firsts) {
    return cudaMemcpyBatchAsync(to.data(), from.data(), sizes.data(), to.size(), with.data(), firsts.data(),
                                with.size(), stream);
  }
  std::vector<uint8_t> read(const uint8_t* from) {
    std::vector<uint8_t> out(bytes);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(out.data(), from, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    return out;
  }

  static constexpr size_t bytes = 1 << 16;
  cudaStream_t stream = nullptr;
  uint8_t *device = nullptr, *other = nullptr, *pinned = nullptr;
  std::vector<uint8_t> pageable = std::vector<uint8_t>(bytes);
};

TEST_F(BatchCopies, EachGoesItsWay) {
  ASSERT_EQ(batch({device, device + 1000}, {pageable.data(), pinned}, {1000, 1000},
                  {attributes(cudaMemcpySrcAccessOrderStream)}, {0}),
            cudaSuccess);
  std::vector<uint8_t> back(2000);
  ASSERT_EQ(batch({other, back.data(), back.data() + 1000}, {device, device + 1000, device}, {2000, 1000, 1000},
                  {attributes(cudaMemcpySrcAccessOrderStream, cudaMemcpyFlagPreferOverlapWithCompute),
                   attributes(cudaMemcpySrcAccessOrderAny)},
                  {0, 1}),
            cudaSuccess);
  const std::vector<uint8_t> seen = read(other);
  EXPECT_TRUE(std::equal(pageable.begin(), pageable.begin() + 1000, seen.begin()));
  EXPECT_TRUE(std::equal(pinned, pinned + 1000, seen.begin() + 1000));
  EXPECT_TRUE(std::equal(pinned, pinned + 1000, back.begin()));
  EXPECT_TRUE(std::equal(pageable.begin(), pageable.begin() + 1000, back.begin() + 1000));
}

// The sources may be overwritten as soon as the call has returned, even while the stream is held up.
TEST_F(BatchCopies, SourcesCanBeReadDuringTheCall) {
  const std::vector<uint8_t> before(pinned, pinned + bytes);
  ASSERT_EQ(cudaMemset(other, 3, bytes), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(batch({device, device + 4096, device + 8192}, {pinned, pageable.data(), other}, {4096, 4096, 4096},
                  {attributes(cudaMemcpySrcAccessOrderDuringApiCall)}, {0}),
            cudaSuccess);
  std::fill_n(pinned, bytes, uint8_t{0});
  const std::vector<uint8_t> kept = pageable;
  std::fill(pageable.begin(), pageable.end(), uint8_t{0});
  const std::vector<uint8_t> seen = read(device);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 4096, seen.begin()));
  EXPECT_TRUE(std::equal(kept.begin(), kept.begin() + 4096, seen.begin() + 4096));
  EXPECT_EQ(std::count(seen.begin() + 8192, seen.begin() + 12288, 3), 4096);
}

TEST_F(BatchCopies, WrongDescriptionsCopyNothing) {
  const cudaMemcpyAttributes right = attributes(cudaMemcpySrcAccessOrderStream);
  ASSERT_EQ(cudaMemset(device, 0xEE, bytes), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(batch({device}, {pinned}, {10}, {}, {}), cudaErrorInvalidValue);
  EXPECT_EQ(batch({device}, {pinned}, {10}, {right, right}, {0, 0}), cudaErrorInvalidValue);
  EXPECT_EQ(batch({device, device}, {pinned, pinned}, {10, 10}, {right}, {1}), cudaErrorInvalidValue);
  EXPECT_EQ(batch({device, device}, {pinned, pinned}, {10, 10}, {right, right}, {0, 2}), cudaErrorInvalidValue);
  for (const cudaMemcpyAttributes& wrong :
       {attributes(cudaMemcpySrcAccessOrderInvalid), attributes(static_cast<cudaMemcpySrcAccessOrder>(4)),
        attributes(cudaMemcpySrcAccessOrderStream, 2)})
    EXPECT_EQ(batch({device, device}, {pinned, pinned}, {10, 10}, {right, wrong}, {0, 1}), cudaErrorInvalidValue);
  void* to = device;
  const void* from = pinned;
  size_t size = 10, first = 0;
  cudaMemcpyAttributes one = right;
  EXPECT_EQ(cudaMemcpyBatchAsync(&to, &from, &size, 1, &one, &first, 1, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyBatchAsync(nullptr, &from, &size, 1, &one, &first, 1, stream), cudaErrorInvalidValue);
  EXPECT_EQ(std::count(pinned, pinned + bytes, 0xEE), bytes / 256);  // as it was made
  const std::vector<uint8_t> seen = read(device);
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 0xEE), static_cast<long>(bytes));
}

// The names of CUDA 12.8 say which one it was.
TEST_F(BatchCopies, TheOlderFormNamesTheWrongOne) {
  using Batch = CUresult (*)(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, CUmemcpyAttributes*, size_t*, size_t, size_t*,
                             CUstream);
  void* entry = nullptr;
  ASSERT_EQ(cuGetProcAddress("cuMemcpyBatchAsync", &entry, 12080, CU_GET_PROC_ADDRESS_DEFAULT, nullptr), CUDA_SUCCESS);
  const auto older = reinterpret_cast<Batch>(entry);
  CUdeviceptr to[] = {reinterpret_cast<CUdeviceptr>(device), reinterpret_cast<CUdeviceptr>(device + bytes - 8)};
  CUdeviceptr from[] = {reinterpret_cast<CUdeviceptr>(pinned), reinterpret_cast<CUdeviceptr>(pinned)};
  size_t sizes[] = {16, 16}, first = 0, failed = 77;
  CUmemcpyAttributes with{};
  EXPECT_EQ(older(to, from, sizes, 2, &with, &first, 1, &failed, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, SIZE_MAX);
  with.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  EXPECT_EQ(older(to, from, sizes, 2, &with, &first, 1, &failed, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(failed, 1u);
  sizes[1] = 8;
  EXPECT_EQ(older(to, from, sizes, 2, &with, &first, 1, &failed, stream), CUDA_SUCCESS);
  EXPECT_EQ(read(device)[bytes - 1], pinned[7]);
}

TEST_F(BatchCopies, Boxes) {
  const auto operand = [](void* at, size_t row, size_t layer) {
    cudaMemcpy3DOperand made{};
    made.type = cudaMemcpyOperandTypePointer;
    made.op.ptr.ptr = at;
    made.op.ptr.rowLength = row;
    made.op.ptr.layerHeight = layer;
    return made;
  };
  ASSERT_EQ(cudaMemset(device, 0, bytes), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // nothing orders it with the stream
  cudaMemcpy3DBatchOp boxes[2]{};
  boxes[0].src = operand(pageable.data(), 0, 0);  // packed
  boxes[0].dst = operand(device, 32, 16);
  boxes[0].extent = {10, 5, 3};
  boxes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  boxes[1].src = operand(pinned, 64, 8);
  boxes[1].dst = operand(device + 4096, 0, 0);
  boxes[1].extent = {20, 4, 2};
  boxes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  ASSERT_EQ(cudaMemcpy3DBatchAsync(2, boxes, 0, stream), cudaSuccess);
  const std::vector<uint8_t> seen = read(device);
  for (size_t z = 0; z < 3; ++z)
    for (size_t y = 0; y < 5; ++y)
      for (size_t x = 0; x < 10; ++x) EXPECT_EQ(seen[(z * 16 + y) * 32 + x], pageable[(z * 5 + y) * 10 + x]);
  EXPECT_EQ(seen[10], 0);
  for (size_t z = 0; z < 2; ++z)
    for (size_t y = 0; y < 4; ++y)
      for (size_t x = 0; x < 20; ++x) EXPECT_EQ(seen[4096 + (z * 4 + y) * 20 + x], pinned[(z * 8 + y) * 64 + x]);
  EXPECT_EQ(cudaMemcpy3DBatchAsync(2, boxes, 1, stream), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy3DBatchAsync(0, boxes, 0, stream), cudaErrorInvalidValue);
  boxes[1].dst.type = cudaMemcpyOperandTypeArray;
  boxes[1].dst.op.array = {nullptr, {0, 0, 0}};
  EXPECT_EQ(cudaMemcpy3DBatchAsync(2, boxes, 0, stream), cudaErrorInvalidResourceHandle);
  boxes[1].dst = operand(device + 4096, 19, 0);  // shorter than the rows
  EXPECT_EQ(cudaMemcpy3DBatchAsync(2, boxes, 0, stream), cudaErrorInvalidValue);
}

// Lengths count an array's elements.
TEST_F(BatchCopies, BoxesOfArrays) {
  const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};
  cudaArray_t arrays[2] = {};
  for (cudaArray_t& array : arrays)
    ASSERT_EQ(cudaMalloc3DArray(&array, &floats, {16, 8, 4}, cudaArrayDefault), cudaSuccess);
  cudaMemcpy3DBatchOp box{};
  box.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  box.extent = {10, 5, 3};
  box.src.type = cudaMemcpyOperandTypePointer;
  box.src.op.ptr.ptr = pageable.data();
  box.src.op.ptr.rowLength = 12;
  box.src.op.ptr.layerHeight = 6;
  box.dst.type = cudaMemcpyOperandTypeArray;
  box.dst.op.array = {arrays[0], {3, 2, 1}};
  ASSERT_EQ(cudaMemcpy3DBatchAsync(1, &box, 0, stream), cudaSuccess);
  box.src = box.dst;
  box.dst.op.array = {arrays[1], {1, 0, 0}};
  ASSERT_EQ(cudaMemcpy3DBatchAsync(1, &box, 0, stream), cudaSuccess);
  box.src = box.dst;
  box.dst = {};
  box.dst.type = cudaMemcpyOperandTypePointer;
  box.dst.op.ptr.ptr = device;
  box.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  ASSERT_EQ(cudaMemcpy3DBatchAsync(1, &box, 0, stream), cudaSuccess);
  const std::vector<uint8_t> seen = read(device);
  for (size_t z = 0; z < 3; ++z)
    for (size_t y = 0; y < 5; ++y)
      for (size_t x = 0; x < 40; ++x) ASSERT_EQ(seen[(z * 5 + y) * 40 + x], pageable[(z * 6 + y) * 48 + x]);
  box.src.op.array.offset.x = 7;  // ends behind the array
  EXPECT_EQ(cudaMemcpy3DBatchAsync(1, &box, 0, stream), cudaErrorInvalidValue);
  for (const cudaArray_t array : arrays) EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
}

}  // namespace
}  // namespace mulciber::test
