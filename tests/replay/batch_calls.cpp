// Batches of copies, in the forms of CUDA 12.8 and of 13, and boxes of memory.
#include <algorithm>
#include <array>

#include "replay.h"

namespace mulciber::replay {

namespace {

constexpr uint64_t huge = uint64_t{1} << 46;

// The older forms also tell which copy was wrong.
using OldBatch = Function<CUresult (*)(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, CUmemcpyAttributes*, size_t*,
                                       size_t, size_t*, CUstream)>;
using OldBoxes = Function<CUresult (*)(size_t, CUDA_MEMCPY3D_BATCH_OP*, size_t*, unsigned long long, CUstream)>;
const OldBatch oldBatch{"cuMemcpyBatchAsync"};
const OldBoxes oldBoxes{"cuMemcpy3DBatchAsync"};

template <class T>
std::function<uint64_t(World&)> pair(T (*first)(World&), T (*second)(World&)) {
  return [=](World& w) {
    auto& made = w.make<std::array<T, 2>>();
    made = {first(w), second(w)};
    return bits(made.data());
  };
}
std::function<uint64_t(World&)> numbers(std::vector<size_t> values) {
  return [values](World& w) {
    auto& made = w.make<std::array<size_t, 4>>();
    std::copy(values.begin(), values.end(), made.begin());
    return bits(made.data());
  };
}
uint64_t nothing(World&) { return 0; }

const auto deviceStart = [](World& w) -> CUdeviceptr { return w.device; };
const auto devicePart = [](World& w) -> CUdeviceptr { return w.device + 8192; };
const auto pinnedStart = [](World& w) -> CUdeviceptr { return bits(w.host); };

Choices targets() {
  return of("device", pair<CUdeviceptr>(deviceStart, devicePart))
      .add("null", nothing)
      .add("device, 0", pair<CUdeviceptr>(deviceStart, [](World&) -> CUdeviceptr { return 0; }))
      .add("device, its end",
           pair<CUdeviceptr>(deviceStart, [](World& w) -> CUdeviceptr { return w.device + World::deviceBytes - 100; }))
      .add("device, gone", pair<CUdeviceptr>(deviceStart, [](World& w) -> CUdeviceptr { return w.goneDevice; }))
      .add("device, pageable", pair<CUdeviceptr>(deviceStart, [](World& w) -> CUdeviceptr { return bits(w.pageable); }))
      .add("managed, pooled", pair<CUdeviceptr>([](World& w) -> CUdeviceptr { return w.managed; },
                                                [](World& w) -> CUdeviceptr { return w.pooled; }))
      .add("the sources", pair<CUdeviceptr>(pinnedStart, [](World& w) -> CUdeviceptr { return w.other; }));
}

Choices sources() {
  return of("pinned, other", pair<CUdeviceptr>(pinnedStart, [](World& w) -> CUdeviceptr { return w.other; }))
      .add("null", nothing)
      .add("pinned, 0", pair<CUdeviceptr>(pinnedStart, [](World&) -> CUdeviceptr { return 0; }))
      .add(
          "pinned, its end",
          pair<CUdeviceptr>(pinnedStart, [](World& w) -> CUdeviceptr { return bits(w.host) + World::deviceBytes - 8; }))
      .add("pageable, gone", pair<CUdeviceptr>([](World& w) -> CUdeviceptr { return bits(w.pageable); },
                                               [](World& w) -> CUdeviceptr { return w.goneDevice; }))
      .add("managed, pooled", pair<CUdeviceptr>([](World& w) -> CUdeviceptr { return w.managed; },
                                                [](World& w) -> CUdeviceptr { return w.pooled; }));
}

Choices sizes() {
  return of("256, 512", numbers({256, 512}))
      .add("null", nothing)
      .add("0, 512", numbers({0, 512}))
      .add("256, 0", numbers({256, 0}))
      .add("0, 0", numbers({0, 0}))
      .add("256, huge", numbers({256, huge}));
}

Choices firsts() {
  return of("0, 1", numbers({0, 1}))
      .add("null", nothing)
      .add("1, 1", numbers({1, 1}))
      .add("0, 0", numbers({0, 0}))
      .add("0, 2", numbers({0, 2}))
      .add("1, 0", numbers({1, 0}));
}

template <class Attributes>
Choices attributes() {
  using Both = std::array<Attributes, 2>;
  const auto with = structures<Both>([](World&, Both& made) {
    for (Attributes& one : made) one.srcAccessOrder = static_cast<decltype(one.srcAccessOrder)>(1);
  });
  const auto order = [&](int value) {
    return with([value](Both& both) { both[1].srcAccessOrder = static_cast<decltype(both[1].srcAccessOrder)>(value); });
  };
  const auto hint = [&](int type, int id) {
    return with([=](Both& both) {
      both[1].srcLocHint.type = static_cast<decltype(both[1].srcLocHint.type)>(type);
      both[1].srcLocHint.id = id;
    });
  };
  const auto targetHint = [&](int type, int id) {
    return with([=](Both& both) {
      both[1].dstLocHint.type = static_cast<decltype(both[1].dstLocHint.type)>(type);
      both[1].dstLocHint.id = id;
    });
  };
  return of("in order", with(unchanged))
      .add("null", nothing)
      .add("order 0", order(0))
      .add("during the call", order(2))
      .add("any", order(3))
      .add("order 4", order(4))
      .add("order -1", order(-1))
      .add("flags 1", with([](Both& both) { both[1].flags = 1; }))
      .add("flags 2", with([](Both& both) { both[1].flags = 2; }))
      .add("source at device 0", hint(1, 0))
      .add("source at device 77", hint(1, 77))
      .add("source at the host", hint(2, 0))
      .add("source at type 9", hint(9, 0))
      .add("target at device -1", targetHint(1, -1))
      .add("target at type -1", targetHint(-1, 0));
}

Choices ownStream() {
  Choices made = stream();
  made.all.push_back({"unblocking", [](World& w) {
                        auto& created = w.make<CUstream>();
                        FUNCTION(cuStreamCreate)(&created, 1u);
                        return bits(created);
                      }});
  return made;
}

template <class Box>
Choices boxes() {
  using Both = std::array<Box, 2>;
  const auto side = [](auto& operand, uint64_t address, size_t row, size_t layer) {
    operand.type = static_cast<std::remove_reference_t<decltype(operand.type)>>(1);
    std::memcpy(&operand.op.ptr.ptr, &address, sizeof(address));
    operand.op.ptr.rowLength = row;
    operand.op.ptr.layerHeight = layer;
  };
  const auto with = structures<Both>([side](World& w, Both& made) {
    side(made[0].src, bits(w.host), 0, 0);
    side(made[0].dst, w.device, 32, 16);
    made[0].extent = {10, 5, 3};
    side(made[1].src, w.other, 64, 8);
    side(made[1].dst, w.device + 8192, 0, 0);
    made[1].extent = {20, 4, 2};
    for (Box& box : made) box.srcAccessOrder = static_cast<decltype(box.srcAccessOrder)>(1);
  });
  const auto second = [&](auto change) { return with([change](Both& both) { change(both[1]); }); };
  const auto address = [](auto& operand, uint64_t value) { std::memcpy(&operand.op.ptr.ptr, &value, sizeof(value)); };
  return of("boxes", with(unchanged))
      .add("null", nothing)
      .add("order 0", second([](Box& b) { b.srcAccessOrder = static_cast<decltype(b.srcAccessOrder)>(0); }))
      .add("during the call", second([](Box& b) { b.srcAccessOrder = static_cast<decltype(b.srcAccessOrder)>(2); }))
      .add("order 4", second([](Box& b) { b.srcAccessOrder = static_cast<decltype(b.srcAccessOrder)>(4); }))
      .add("flags 1", second([](Box& b) { b.flags = 1; }))
      .add("flags 2", second([](Box& b) { b.flags = 2; }))
      .add("empty width", second([](Box& b) { b.extent.width = 0; }))
      .add("empty height", second([](Box& b) { b.extent.height = 0; }))
      .add("empty depth", second([](Box& b) { b.extent.depth = 0; }))
      .add("wide", second([](Box& b) { b.extent.width = huge; }))
      .add("deep", second([](Box& b) { b.extent.depth = 100000; }))
      .add("short rows", second([](Box& b) { b.src.op.ptr.rowLength = 19; }))
      .add("low layers", second([](Box& b) { b.src.op.ptr.layerHeight = 3; }))
      .add("source null", second([=](Box& b) { address(b.src, 0); }))
      .add("target null", second([=](Box& b) { address(b.dst, 0); }))
      .add("source type 0", second([](Box& b) { b.src.type = static_cast<decltype(b.src.type)>(0); }))
      .add("target type 9", second([](Box& b) { b.dst.type = static_cast<decltype(b.dst.type)>(9); }))
      .add("hint of type 9",
           second([](Box& b) { b.src.op.ptr.locHint.type = static_cast<decltype(b.src.op.ptr.locHint.type)>(9); }))
      .add("hint of device 77", second([](Box& b) {
             b.src.op.ptr.locHint.type = static_cast<decltype(b.src.op.ptr.locHint.type)>(1);
             b.src.op.ptr.locHint.id = 77;
           }));
}

// What of a batch is done when one of its copies is wrong, in which form of the call.
void effects() {
  const auto prepare = [](World& w) {
    FUNCTION(cuMemsetD8)(w.device, static_cast<unsigned char>(1), World::deviceBytes);
    FUNCTION(cuMemsetD8)(w.other, static_cast<unsigned char>(5), World::deviceBytes);
    FUNCTION(cuCtxSynchronize)();
  };
  const auto told = [](World& w, Notes& notes) -> Notes& {
    unsigned char seen[3] = {};
    notes << FUNCTION(cuStreamSynchronize)(w.stream);
    FUNCTION(cuMemcpyDtoH)(&seen[0], w.device, size_t{1});
    FUNCTION(cuMemcpyDtoH)(&seen[1], w.device + 8192, size_t{1});
    FUNCTION(cuMemcpyDtoH)(&seen[2], w.device + 16384, size_t{1});
    return notes << seen[0] << seen[1] << seen[2];
  };
  struct Variant {
    const char* name;
    void (*change)(World&, CUdeviceptr*, CUdeviceptr*, size_t*);
  };
  for (const Variant& variant : {
           Variant{"nothing", [](World&, CUdeviceptr*, CUdeviceptr*, size_t*) {}},
           Variant{"the first target null", [](World&, CUdeviceptr*to, CUdeviceptr*, size_t*) { to[0] = 0; }},
           Variant{"the second source null", [](World&, CUdeviceptr*, CUdeviceptr*from, size_t*) { from[1] = 0; }},
           Variant{"the last target gone",
                   [](World&w, CUdeviceptr*to, CUdeviceptr*, size_t*) { to[2] = w.goneDevice; }},
           Variant{"the second too long",
                   [](World&, CUdeviceptr*, CUdeviceptr*, size_t*sizes) { sizes[1] = World::deviceBytes; }},
           Variant{"the second empty", [](World&, CUdeviceptr*, CUdeviceptr*, size_t*sizes) { sizes[1] = 0; }},
       }) {
    const auto with = [=](auto invoke) {
      return [=](World& w) -> std::string {
        prepare(w);
        CUdeviceptr to[] = {w.device, w.device + 8192, w.device + 16384}, from[] = {w.other, w.other, w.other};
        size_t lengths[] = {64, 64, 64}, first = 0;
        variant.change(w, to, from, lengths);
        Notes notes;
        invoke(w, notes, to, from, lengths, &first);
        return told(w, notes);
      };
    };
    const std::string name = std::string("a batch with wrong: ") + variant.name;
    sequence(Group::Driver, name + ", 12.8",
             with([](World& w, Notes& notes, auto* to, auto* from, auto* lengths, auto* first) {
               CUmemcpyAttributes attribute{};
               attribute.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
               size_t failed = 77;
               notes << oldBatch(to, from, lengths, size_t{3}, &attribute, first, size_t{1}, &failed, w.stream);
               notes << static_cast<long long>(failed);
             }));
    sequence(Group::Driver, name, with([](World& w, Notes& notes, auto* to, auto* from, auto* lengths, auto* first) {
               CUmemcpyAttributes attribute{};
               attribute.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
               notes << FUNCTION(cuMemcpyBatchAsync)(to, from, lengths, size_t{3}, &attribute, first, size_t{1},
                                                     w.stream);
             }));
  }
}

Choices box3d() {
  const auto with = structures<cudaMemcpy3DParms>([](World& w, cudaMemcpy3DParms& made) {
    made.srcPtr = {reinterpret_cast<void*>(w.device), 256, 256, 16};
    made.dstPtr = {w.host, 256, 256, 16};
    made.extent = {100, 10, 3};
    made.kind = cudaMemcpyDeviceToHost;
  });
  using P = cudaMemcpy3DParms;
  const auto kind = [&](int value) { return with([value](P& p) { p.kind = static_cast<cudaMemcpyKind>(value); }); };
  return of("box", with(unchanged))
      .add("null", nothing)
      .add("kind 0", kind(0))
      .add("kind 1", kind(1))
      .add("kind 3", kind(3))
      .add("kind 4", kind(4))
      .add("kind 5", kind(5))
      .add("kind -1", kind(-1))
      .add("empty width", with([](P& p) { p.extent.width = 0; }))
      .add("empty height", with([](P& p) { p.extent.height = 0; }))
      .add("empty depth", with([](P& p) { p.extent.depth = 0; }))
      .add("wider than its pitch", with([](P& p) { p.extent.width = 257; }))
      .add("higher than its slices", with([](P& p) { p.extent.height = 17; }))
      .add("too deep", with([](P& p) { p.extent.depth = 100; }))
      .add("one slice, too high", with([](P& p) { p.extent.depth = 1, p.extent.height = 17; }))
      .add("one slice without height", with([](P& p) { p.extent.depth = 1, p.srcPtr.ysize = 0; }))
      .add("one row, too wide", with([](P& p) {
             p.extent = {257, 1, 1};
           }))
      .add("rows beyond the slice", with([](P& p) { p.srcPos.y = 10; }))
      .add("source null", with([](P& p) { p.srcPtr.ptr = nullptr; }))
      .add("target null", with([](P& p) { p.dstPtr.ptr = nullptr; }))
      .add("no source pitch", with([](P& p) { p.srcPtr.pitch = 0; }))
      .add("no slices", with([](P& p) { p.srcPtr.ysize = 0; }))
      .add("narrow rows", with([](P& p) { p.srcPtr.xsize = 10; }))
      .add("position", with([](P& p) {
             p.srcPos = {4, 2, 1};
           }))
      .add("position beyond", with([](P& p) {
             p.srcPos = {200, 0, 0};
           }));
}

template <class Own, class Fill>
Choices peerBox(Fill fill, std::vector<std::pair<const char*, void (*)(Own&)>> changes) {
  const auto with = structures<Own>(fill);
  Choices made = of("box", with(unchanged)).add("null", nothing);
  for (const auto& [name, change] : changes) made.all.push_back({name, with(change)});
  return made;
}

Choices driverPeerBox() {
  using P = CUDA_MEMCPY3D_PEER;
  return peerBox<P>(
      [](World& w, P& made) {
        made.srcMemoryType = made.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        made.srcDevice = w.device;
        made.dstDevice = w.other;
        made.srcContext = made.dstContext = w.context;
        made.srcPitch = made.dstPitch = 256;
        made.srcHeight = made.dstHeight = 16;
        made.WidthInBytes = 100;
        made.Height = 10;
        made.Depth = 3;
      },
      {{"no source context", [](P& p) { p.srcContext = nullptr; }},
       {"no target context", [](P& p) { p.dstContext = nullptr; }},
       {"no contexts", [](P& p) { p.srcContext = p.dstContext = nullptr; }},
       {"empty width", [](P& p) { p.WidthInBytes = 0; }},
       {"empty depth", [](P& p) { p.Depth = 0; }},
       {"narrow pitch", [](P& p) { p.srcPitch = 64; }},
       {"low slices", [](P& p) { p.srcHeight = 5; }},
       {"source null", [](P& p) { p.srcDevice = 0; }},
       {"source type 0", [](P& p) { p.srcMemoryType = static_cast<CUmemorytype>(0); }},
       {"unified", [](P& p) { p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_UNIFIED; }},
       {"position", [](P& p) { p.srcXInBytes = 4, p.srcY = 2, p.srcZ = 1; }}});
}

Choices runtimePeerBox() {
  using P = cudaMemcpy3DPeerParms;
  return peerBox<P>(
      [](World& w, P& made) {
        made.srcPtr = {reinterpret_cast<void*>(w.device), 256, 256, 16};
        made.dstPtr = {reinterpret_cast<void*>(w.other), 256, 256, 16};
        made.extent = {100, 10, 3};
      },
      {{"source device 77", [](P& p) { p.srcDevice = 77; }},
       {"target device -1", [](P& p) { p.dstDevice = -1; }},
       {"empty width", [](P& p) { p.extent.width = 0; }},
       {"empty depth", [](P& p) { p.extent.depth = 0; }},
       {"wider than its pitch", [](P& p) { p.extent.width = 257; }},
       {"too deep", [](P& p) { p.extent.depth = 100; }},
       {"source null", [](P& p) { p.srcPtr.ptr = nullptr; }},
       {"target null", [](P& p) { p.dstPtr.ptr = nullptr; }}});
}

}  // namespace

void addBatchCalls() {
  constexpr Group D = Group::Driver, R = Group::Runtime;
  const auto count = [] { return number(2, {0, 1}); };
  const auto described = [] { return number(2, {0, 1, 3}); };
  call(D, FUNCTION(cuMemcpyBatchAsync), targets(), sources(), sizes(), count(), attributes<CUmemcpyAttributes>(),
       firsts(), described(), ownStream());
  call(D, oldBatch, targets(), sources(), sizes(), count(), attributes<CUmemcpyAttributes>(), firsts(), described(),
       show(0, 8), ownStream());
  call(R, FUNCTION(cudaMemcpyBatchAsync), targets(), sources(), sizes(), count(), attributes<cudaMemcpyAttributes>(),
       firsts(), described(), ownStream());
  const auto flags = [] { return number(0, {1}); };
  call(D, FUNCTION(cuMemcpy3DBatchAsync), count(), boxes<CUDA_MEMCPY3D_BATCH_OP>(), flags(), ownStream());
  call(D, oldBoxes, count(), boxes<CUDA_MEMCPY3D_BATCH_OP>(), show(0, 8), flags(), ownStream());
  call(R, FUNCTION(cudaMemcpy3DBatchAsync), count(), boxes<cudaMemcpy3DBatchOp>(), flags(), ownStream());
  effects();
  call(R, FUNCTION(cudaMemcpy3D), box3d());
  call(R, FUNCTION(cudaMemcpy3DAsync), box3d(), stream());
  call(D, FUNCTION(cuMemcpy3DPeer), driverPeerBox());
  call(D, FUNCTION(cuMemcpy3DPeerAsync), driverPeerBox(), stream());
  call(R, FUNCTION(cudaMemcpy3DPeer), runtimePeerBox());
  call(R, FUNCTION(cudaMemcpy3DPeerAsync), runtimePeerBox(), stream());
}

}  // namespace mulciber::replay
