// What the libraries tell about memory, limits, errors and entry points.
#include <array>
#include <initializer_list>
#include <string>

#include "replay.h"

namespace mulciber::replay {

namespace {

const Group D = Group::Driver, R = Group::Runtime;
constexpr uint64_t huge = uint64_t{1} << 46, minusOne = 0xFFFFFFFF;

Choices managed() {
  return of("managed", [](World& w) { return w.managed; })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("device", [](World& w) { return w.device; })
      .add("pageable", [](World& w) { return bits(w.pageable); });
}

template <class T>
Choices values(std::initializer_list<std::pair<const char*, std::array<int, 2>>> all) {
  Choices made;
  for (const auto& [name, two] : all)
    made.all.push_back({name, [two = two](World& w) {
                          auto& pair = w.make<std::array<T, 2>>();
                          pair = {static_cast<T>(two[0]), static_cast<T>(two[1])};
                          return bits(pair.data());
                        }});
  made.all.push_back({"null", [](World&) { return uint64_t{0}; }});
  return made;
}

Choices twoResults() {
  return of("slots",
            [](World& w) {
              auto& made = w.make<std::array<void*, 2>>();
              made = {w.slot[0], w.slot[1]};
              return bits(made.data());
            })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("slot, null", [](World& w) {
        auto& made = w.make<std::array<void*, 2>>();
        made = {w.slot[0], nullptr};
        return bits(made.data());
      });
}

// Every kind of pointer, with what is told about it.
void pointers() {
  call(D, FUNCTION(cuPointerGetAttributes), number(2, {0, 1}),
       values<CUpointer_attribute>({{"type, managed", {2, 8}}, {"type, 99", {2, 99}}, {"context, 0", {1, 0}}}),
       twoResults(), deviceMemory());
  for (const Choice& choice : deviceMemory().all) {
    sequence(D, "attributes of " + choice.name, [choice](World& w) {
      const CUdeviceptr given = choice.make(w);
      std::array<CUpointer_attribute, 8> attributes{
          CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      CU_POINTER_ATTRIBUTE_IS_MANAGED,
          CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,   CU_POINTER_ATTRIBUTE_RANGE_SIZE,
          CU_POINTER_ATTRIBUTE_MAPPED,           CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
          CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
      std::array<long long, 8> told{};
      std::array<void*, 8> places{};
      for (size_t i = 0; i < told.size(); ++i) places[i] = &told[i];
      Notes notes;
      notes << FUNCTION(cuPointerGetAttributes)(8u, attributes.data(), places.data(), given);
      for (size_t i = 0; i < 6; ++i) notes << static_cast<int>(told[i]);
      const auto start = static_cast<CUdeviceptr>(told[6]), device = static_cast<CUdeviceptr>(told[7]);
      return notes << (start ? static_cast<long long>(given - start) : -1) << (device == given) << (device == 0);
    });
    sequence(R, "attributes of " + choice.name, [choice](World& w) {
      const auto given = reinterpret_cast<void*>(choice.make(w));
      cudaPointerAttributes told{};
      Notes notes;
      notes << FUNCTION(cudaPointerGetAttributes)(&told, static_cast<const void*>(given)) << told.type << told.device;
      notes << (told.devicePointer == given) << (told.devicePointer == nullptr);
      return notes << (told.hostPointer == given) << (told.hostPointer == nullptr) << FUNCTION(cudaGetLastError)();
    });
  }
}

void ranges() {
  const auto sizes = [] {
    return of("4, 8",
              [](World& w) {
                auto& made = w.make<std::array<size_t, 2>>();
                made = {4, 8};
                return bits(made.data());
              })
        .add("null", [](World&) { return uint64_t{0}; })
        .add("4, 3",
             [](World& w) {
               auto& made = w.make<std::array<size_t, 2>>();
               made = {4, 3};
               return bits(made.data());
             })
        .add("8, 4", [](World& w) {
          auto& made = w.make<std::array<size_t, 2>>();
          made = {8, 4};
          return bits(made.data());
        });
  };
  call(D, FUNCTION(cuMemRangeGetAttributes), twoResults(), sizes(),
       values<CUmem_range_attribute>({{"read mostly, accessed by", {1, 3}}, {"read mostly, 99", {1, 99}}}),
       number(2, {0, 1}), managed(), number(8192, {0, huge}));
  call(R, FUNCTION(cudaMemRangeGetAttributes), twoResults(), sizes(),
       values<cudaMemRangeAttribute>({{"read mostly, accessed by", {1, 3}}, {"read mostly, 99", {1, 99}}}),
       number(2, {0, 1}), managed(), number(8192, {0, huge}));
  sequence(D, "advice to parts of a range", [](World& w) {
    Notes notes;
    const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0}, host{CU_MEM_LOCATION_TYPE_HOST, 0};
    const auto told = [&](size_t offset, size_t bytes) {
      for (const int attribute : {1, 2, 3, 4, 5, 6, 7, 8}) {
        int value[2] = {99, 99};
        const size_t room = attribute == 3 ? 8 : 4;
        notes << FUNCTION(cuMemRangeGetAttribute)(value, room, static_cast<CUmem_range_attribute>(attribute),
                                                  w.managed + offset, bytes);
        notes << value[0];
        if (attribute == 3) notes << value[1];
      }
    };
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{4096}, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device);
    told(0, 8192);
    notes << FUNCTION(cuMemAdvise)(w.managed + 4096, size_t{4096}, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host);
    told(0, 8192);
    told(0, 4096);
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{4096}, CU_MEM_ADVISE_SET_ACCESSED_BY, device);
    told(0, 8192);
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{8192}, CU_MEM_ADVISE_SET_ACCESSED_BY, host);
    told(0, 8192);
    told(100, 1);
    notes << FUNCTION(cuMemAdvise)(w.managed, size_t{8192}, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, device);
    notes << FUNCTION(cuMemPrefetchAsync)(w.managed, size_t{4096}, device, 0u, w.stream);
    told(0, 8192);
    return notes;
  });
  sequence(D, "advice to a few bytes is the page's", [](World& w) {
    Notes notes;
    int value = 99;
    const CUmemLocation device{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const auto told = [&](size_t offset, size_t bytes) {
      value = 99;
      notes << FUNCTION(cuMemRangeGetAttribute)(&value, sizeof(value), CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                                w.managed + offset, bytes);
      notes << value;
    };
    notes << FUNCTION(cuMemAdvise)(w.managed + 100, size_t{8}, CU_MEM_ADVISE_SET_READ_MOSTLY, device);
    told(0, 1);
    told(0, 4096);
    told(4096, 1);
    notes << FUNCTION(cuMemAdvise)(w.managed + 4000, size_t{200}, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device);
    told(0, 1);
    notes << FUNCTION(cuMemAdvise)(w.managed + 4000, size_t{200}, CU_MEM_ADVISE_SET_READ_MOSTLY, device);
    told(4096, 4096);
    told(8192, 4096);
    return notes;
  });
}

void limits() {
  for (int limit = 0; limit <= 7; ++limit) {
    for (const size_t value : {size_t{0}, size_t{1}, size_t{100}, size_t{1024}, size_t{5000}, size_t{65536},
                               size_t{1} << 20, size_t{200} << 20}) {
      const std::string name = "limit " + std::to_string(limit) + " set to " + std::to_string(value);
      sequence(D, name, [=](World&) {
        size_t told = 99;
        Notes notes;
        CUcontext made = nullptr;  // limits stay, and heaps that are in use are fixed
        notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0);
        notes << FUNCTION(cuCtxSetLimit)(static_cast<CUlimit>(limit), value);
        notes << FUNCTION(cuCtxGetLimit)(&told, static_cast<CUlimit>(limit)) << static_cast<long long>(told);
        return notes << FUNCTION(cuCtxDestroy)(made);
      });
    }
  }
}

// Of the module all cases use; registers differ from device to device.
void attributes() {
  sequence(D, "limits at first", [](World&) {
    CUcontext made = nullptr;
    Notes notes;
    notes << FUNCTION(cuCtxCreate)(&made, nullptr, 0u, 0);
    for (const int limit : {0, 1, 2, 4, 5, 6}) {
      size_t told = 99;
      notes << FUNCTION(cuCtxGetLimit)(&told, static_cast<CUlimit>(limit)) << static_cast<long long>(told);
    }
    return notes << FUNCTION(cuCtxDestroy)(made);
  });
  sequence(D, "attributes of a function", [](World& w) {
    Notes notes;
    for (const int attribute : {0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14, 15}) {
      int told = 99;
      notes << FUNCTION(cuFuncGetAttribute)(&told, static_cast<CUfunction_attribute>(attribute), w.function) << told;
    }
    return notes;
  });
  sequence(D, "attributes of a function, set and told", [](World& w) {
    Notes notes;
    for (const int value : {0, 1000, 49152, 49153, 102400}) {
      int told = 99;
      notes << FUNCTION(cuFuncSetAttribute)(w.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, value);
      notes << FUNCTION(cuFuncGetAttribute)(&told, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, w.function) << told;
    }
    for (const int value : {-2, -1, 0, 1, 50, 100, 101}) {
      int told = 99;
      notes << FUNCTION(cuFuncSetAttribute)(w.function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, value);
      notes << FUNCTION(cuFuncGetAttribute)(&told, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, w.function);
      notes << told;
    }
    return notes;
  });
}

void registration() {
  struct Given {
    const char* name;
    size_t offset, bytes;
    unsigned flags;
  };
  for (const Given& given : {Given{"two pages", 0, 8192, 0},
                             {"part of a page", 100, 200, 0},
                             {"nothing", 0, 0, 0},
                             {"portable", 0, 8192, 1},
                             {"mapped", 0, 8192, 2},
                             {"of a device", 0, 8192, 4},
                             {"read-only", 0, 8192, 8},
                             {"all flags", 0, 8192, 15},
                             {"flags 16", 0, 8192, 16},
                             {"flags -1", 0, 8192, minusOne},
                             {"too much", 0, huge, 0}}) {
    const auto enlist = [given](World& w, auto enlistIt, auto flagsOf, auto addressOf, auto dismiss) {
      alignas(4096) static char area[64 << 10];
      (void)w;
      char* const at = area + given.offset;
      unsigned flags = 99;
      uint64_t address = 0;
      Notes notes;
      const int error = enlistIt(static_cast<void*>(at), given.bytes, given.flags);
      notes << error;
      if (error != 0) return notes;
      notes << flagsOf(&flags, static_cast<void*>(at)) << flags << addressOf(&address, static_cast<void*>(at));
      notes << (address != 0);
      return notes << dismiss(static_cast<void*>(at)) << flagsOf(&flags, static_cast<void*>(at));
    };
    sequence(D, std::string("registering ") + given.name, [=](World& w) {
      return enlist(
          w, FUNCTION(cuMemHostRegister), FUNCTION(cuMemHostGetFlags),
          [](uint64_t* out, void* at) {
            return FUNCTION(cuMemHostGetDevicePointer)(reinterpret_cast<CUdeviceptr*>(out), at, 0u);
          },
          FUNCTION(cuMemHostUnregister));
    });
    sequence(R, std::string("registering ") + given.name, [=](World& w) {
      Notes notes = enlist(
          w, FUNCTION(cudaHostRegister), FUNCTION(cudaHostGetFlags),
          [](uint64_t* out, void* at) {
            return FUNCTION(cudaHostGetDevicePointer)(reinterpret_cast<void**>(out), at, 0u);
          },
          FUNCTION(cudaHostUnregister));
      return notes << FUNCTION(cudaGetLastError)();
    });
  }
  sequence(R, "registering what is allocated", [](World& w) {
    Notes notes;
    for (void* at : {static_cast<void*>(nullptr), static_cast<void*>(w.host), reinterpret_cast<void*>(w.managed),
                     reinterpret_cast<void*>(w.device)}) {
      const int error = FUNCTION(cudaHostRegister)(at, size_t{4096}, 0u);
      notes << error << FUNCTION(cudaGetLastError)();
      if (error == 0) notes << FUNCTION(cudaHostUnregister)(at);
    }
    return notes;
  });
}

// The texts of every code up to 1000, as numbers.
void texts() {
  const auto number = [](const char* text) {
    if (!text) return -1LL;
    unsigned hash = 2166136261u;
    for (; *text; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
    return static_cast<long long>(hash % 100000);
  };
  for (int first = 0; first < 1000; first += 20) {
    const std::string range = std::to_string(first) + " to " + std::to_string(first + 19);
    sequence(D, "texts of errors " + range, [=](World&) {
      Notes notes;
      for (int code = first; code < first + 20; ++code) {
        const char *name = nullptr, *text = nullptr;
        const int error = FUNCTION(cuGetErrorName)(static_cast<CUresult>(code), &name);
        FUNCTION(cuGetErrorString)(static_cast<CUresult>(code), &text);
        if (error == 0) notes << code << number(name) << number(text);
      }
      return notes;
    });
    sequence(R, "texts of errors " + range, [=](World&) {
      const Function<const char*(*)(cudaError_t)> nameOf{"cudaGetErrorName"}, textOf{"cudaGetErrorString"};
      Notes notes;
      for (int code = first; code < first + 20; ++code)
        notes << number(nameOf.pointer()(static_cast<cudaError_t>(code)))
              << number(textOf.pointer()(static_cast<cudaError_t>(code)));
      return notes;
    });
  }
}

void entryPoints() {
  const auto name = [] { return text("cuMemAlloc", {nullptr, "", "cuNoSuchThing", "cuMemAlloc_v2", "cudaMalloc"}); };
  const auto flags = [] { return number(0, {1, 2, 3, 64}); };
  call(R, FUNCTION(cudaGetDriverEntryPoint), name(), out(0), flags(), show(1, 4));
  call(R, FUNCTION(cudaGetDriverEntryPointByVersion), name(), out(0), number(13000, {0, 1000, 12080, 99000}), flags(),
       show(1, 4));
  call(R, FUNCTION(cudaGetExportTable), out(0), of("unknown", [](World& w) {
                                                  auto& id = w.make<cudaUUID_t>();
                                                  std::memset(&id, 0x5A, sizeof(id));
                                                  return bits(&id);
                                                }).add("null", [](World&) { return uint64_t{0}; }));
  call(R, Function<cudaError_t (*)()>{"cudaProfilerStart"});
  call(R, Function<cudaError_t (*)()>{"cudaProfilerStop"});
}

}  // namespace

void addToldCalls() {
  pointers();
  ranges();
  limits();
  attributes();
  registration();
  texts();
  entryPoints();
}

}  // namespace mulciber::replay
