// Which copies and fills have been done when they return, between all kinds of memory and behind work that waits. The
// host looks at what it can reach at once, with no call in between.
#include <sys/mman.h>

#include <algorithm>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "api_test.h"
#include "held_stream.h"

namespace mulciber::test {
namespace {

enum class Kind { Device, Synchronous, Managed, Pinned, Registered, Pageable, Array };
constexpr const char* kindNames[] = {"device", "synchronous", "managed", "pinned", "registered", "pageable", "array"};

constexpr size_t pitch = 1024, mostWidth = 1000, mostRows = 200, pieceBytes = pitch * mostRows;
struct Box {
  size_t width, rows;
  size_t bytes() const { return width * rows; }
};
constexpr Box boxes[] = {{100, 1}, {mostWidth, 20}, {mostWidth, 100}, {mostWidth, mostRows}};

struct Piece {
  Kind kind;
  char* memory = nullptr;
  cudaArray_t array = nullptr;

  bool isHost() const { return kind == Kind::Pinned || kind == Kind::Registered || kind == Kind::Pageable; }
  bool isReached() const { return isHost() || kind == Kind::Managed; }
};

// What CUDA says of synchronous copies ("API synchronization behavior", and CU_POINTER_ATTRIBUTE_SYNC_MEMOPS).
bool isAwaited(const Piece& to, const Piece& from, size_t bytes) {
  for (const Kind kind : {Kind::Synchronous, Kind::Managed, Kind::Pinned, Kind::Registered})
    if (to.kind == kind || from.kind == kind) return true;
  if (to.kind == Kind::Pageable) return true;
  return from.kind == Kind::Pageable && bytes > 64 << 10;
}

class SynchronousCopies : public WithDevice {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (!context) return;
    for (std::vector<Piece>* pieces : {&sources_, &targets_})
      for (const Kind kind : {Kind::Device, Kind::Synchronous, Kind::Managed, Kind::Pinned, Kind::Registered,
                              Kind::Pageable, Kind::Array})
        make(kind, *pieces);
  }
  void TearDown() override {
    for (const std::vector<Piece>& pieces : {sources_, targets_})
      for (const Piece& piece : pieces) drop(piece);
    WithDevice::TearDown();
  }

  static char* newPages() {
    void* const pages = mmap(nullptr, pieceBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(pages, MAP_FAILED);
    return static_cast<char*>(pages);
  }
  static void make(Kind kind, std::vector<Piece>& out) {
    Piece piece{kind};
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
    unsigned yes = 1;
    switch (kind) {
      case Kind::Device: ASSERT_EQ(cudaMalloc(&piece.memory, pieceBytes), cudaSuccess); break;
      case Kind::Synchronous:
        ASSERT_EQ(cudaMalloc(&piece.memory, pieceBytes), cudaSuccess);
        ASSERT_EQ(
            cuPointerSetAttribute(&yes, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, reinterpret_cast<CUdeviceptr>(piece.memory)),
            CUDA_SUCCESS);
        break;
      case Kind::Managed:
        if (cudaMallocManaged(&piece.memory, pieceBytes) != cudaSuccess) return;
        break;
      case Kind::Pinned: ASSERT_EQ(cudaMallocHost(&piece.memory, pieceBytes), cudaSuccess); break;
      case Kind::Registered:
        piece.memory = newPages();
        if (cudaHostRegister(piece.memory, pieceBytes, 0) == cudaSuccess) break;
        munmap(piece.memory, pieceBytes);
        return;
      case Kind::Pageable: piece.memory = newPages(); break;
      case Kind::Array: ASSERT_EQ(cudaMallocArray(&piece.array, &bytes, mostWidth, mostRows), cudaSuccess); break;
    }
    out.push_back(piece);
  }
  static void drop(const Piece& piece) {
    switch (piece.kind) {
      case Kind::Array: EXPECT_EQ(cudaFreeArray(piece.array), cudaSuccess); break;
      case Kind::Pinned: EXPECT_EQ(cudaFreeHost(piece.memory), cudaSuccess); break;
      case Kind::Registered: EXPECT_EQ(cudaHostUnregister(piece.memory), cudaSuccess); [[fallthrough]];
      case Kind::Pageable: munmap(piece.memory, pieceBytes); break;
      default: EXPECT_EQ(cudaFree(piece.memory), cudaSuccess);
    }
  }

  static cudaMemcpy3DParms describe(const Piece& to, const Piece& from, const Box& box) {
    cudaMemcpy3DParms p{};
    p.srcArray = from.array;
    p.dstArray = to.array;
    if (!from.array) p.srcPtr = {from.memory, pitch, box.width, box.rows};
    if (!to.array) p.dstPtr = {to.memory, pitch, box.width, box.rows};
    p.extent = {box.width, box.rows, 1};
    p.kind = cudaMemcpyDefault;
    return p;
  }
  static cudaError_t copy(const Piece& to, const Piece& from, const Box& box, bool hasRows) {
    if (!hasRows) return cudaMemcpy(to.memory, from.memory, box.bytes(), cudaMemcpyDefault);
    const cudaMemcpy3DParms p = describe(to, from, box);
    return cudaMemcpy3D(&p);
  }

  static void fill(const Piece& piece, char value) {
    if (piece.isReached()) {
      std::fill_n(piece.memory, pieceBytes, value);
      return;
    }
    static std::vector<char> bytes(pieceBytes);
    std::ranges::fill(bytes, value);
    const Piece host{Kind::Pageable, bytes.data()};
    ASSERT_EQ(copy(piece, host, boxes[std::size(boxes) - 1], true), cudaSuccess);
    if (piece.memory) {
      ASSERT_EQ(cudaMemset(piece.memory, value, pieceBytes), cudaSuccess);
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  // How many of the box's bytes have the value.
  static size_t count(const Piece& piece, const Box& box, bool hasRows, char value) {
    const char* from = piece.memory;
    std::vector<char> bytes(pieceBytes);
    if (!piece.isReached()) {
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_EQ(copy({Kind::Pageable, bytes.data()}, piece, box, hasRows), cudaSuccess);
      from = bytes.data();
    }
    if (!hasRows) return static_cast<size_t>(std::count(from, from + box.bytes(), value));
    size_t all = 0;
    for (size_t row = 0; row < box.rows; ++row)
      all += static_cast<size_t>(std::count(from + row * pitch, from + row * pitch + box.width, value));
    return all;
  }

  std::vector<Piece> sources_, targets_;
};

TEST_F(SynchronousCopies, OfAllPairsOfMemory) {  // HOST-15, MEM-05, MEM-06, UM-02
  char value = 0;
  for (const Piece& from : sources_)
    for (const Piece& to : targets_)
      for (const Box& box : boxes)
        for (const bool hasRows : {false, true}) {
          if (!hasRows && (from.array || to.array)) continue;
          const std::string what = std::string(kindNames[static_cast<int>(from.kind)]) + " to " +
                                   kindNames[static_cast<int>(to.kind)] + ", " + std::to_string(box.bytes()) +
                                   (hasRows ? " in rows" : "");
          value = static_cast<char>(value % 100 + 1);
          fill(from, value);
          fill(to, char{0});
          HeldStream held;
          if (isAwaited(to, from, box.bytes())) {
            EXPECT_TRUE(held.hold->isWaitedForBy([&] { ASSERT_EQ(copy(to, from, box, hasRows), cudaSuccess) << what; }))
                << what;
          } else {
            ASSERT_EQ(copy(to, from, box, hasRows), cudaSuccess) << what;
            EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady) << what;
            if (from.kind == Kind::Pageable) fill(from, char{101});  // it has been read
            held.letGo();
          }
          ASSERT_EQ(count(to, box, hasRows, value), box.bytes()) << what;
        }
}

TEST_F(SynchronousCopies, OfHostMemoryThatIsPageable) {  // HOST-16
  for (const Piece& from : sources_)
    for (const Piece& to : targets_) {
      if (!from.isHost() || !to.isHost() || (from.kind != Kind::Pageable && to.kind != Kind::Pageable)) continue;
      for (const Box& box : boxes) {
        fill(from, char{5});
        fill(to, char{0});
        HeldStream held;
        EXPECT_TRUE(held.hold->isWaitedForBy([&] {
          ASSERT_EQ(cudaMemcpyAsync(to.memory, from.memory, box.bytes(), cudaMemcpyHostToHost, held.stream),
                    cudaSuccess);
        }));
        ASSERT_EQ(count(to, box, false, 5), box.bytes());
      }
    }
}

TEST_F(SynchronousCopies, Fills) {  // HOST-15, MEM-07, UM-02
  for (const Piece& to : targets_) {
    if (to.kind == Kind::Pageable || to.kind == Kind::Array) continue;
    fill(to, char{0});
    HeldStream held;
    const auto set = [&] { ASSERT_EQ(cudaMemset2D(to.memory, pitch, 7, mostWidth, mostRows), cudaSuccess); };
    if (to.kind == Kind::Device) {
      set();
      EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
      held.letGo();
    } else {
      EXPECT_TRUE(held.hold->isWaitedForBy(set)) << kindNames[static_cast<int>(to.kind)];
    }
    ASSERT_EQ(count(to, {mostWidth, mostRows}, true, 7), mostWidth * mostRows);
  }
}

}  // namespace
}  // namespace mulciber::test
