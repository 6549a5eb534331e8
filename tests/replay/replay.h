// Calls of both APIs with right and wrong arguments, made from tables: each line names a function and, for each
// argument, the right value and wrong ones. A case takes the right values but for one argument. Printed is what came of
// it. The same program runs on NVIDIA's libraries, whose answers are recorded, and on ours.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace mulciber::replay {

// The library's function of that name; ends the program when there is none.
void* find(const char* name);

// A function by the name its header gives it, versions included: FUNCTION(cuMemAlloc) is cuMemAlloc_v2.
#define REPLAY_TEXT(name) #name
#define REPLAY_NAME(name) REPLAY_TEXT(name)
#define FUNCTION(name) \
  ::mulciber::replay::Function<decltype(&name)> { REPLAY_NAME(name) }

template <class Pointer>
struct Function {
  const char* name;
  Pointer pointer() const { return reinterpret_cast<Pointer>(find(name)); }
  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    return static_cast<int>(pointer()(arguments...));
  }
};

// What arguments are made of. Handles that are gone were valid once.
struct World {
  static constexpr size_t slotBytes = 2048, slots = 8, deviceBytes = 64 << 10;

  CUcontext context = nullptr;
  CUdeviceptr device = 0, other = 0, goneDevice = 0, managed = 0;
  char* host = nullptr;  // pinned
  char* pageable = nullptr;
  CUstream stream = nullptr, goneStream = nullptr;
  CUevent event = nullptr, timed = nullptr, untimed = nullptr, goneEvent = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUmemoryPool pool = nullptr, defaultPool = nullptr;
  CUdeviceptr pooled = 0;
  // 2-D of 64 x 32 floats, 1-D of 256 x 4 bytes, 3-D of 16 x 8 x 4 x 2 shorts, layers of the same size
  CUarray array = nullptr, line = nullptr, box = nullptr, layered = nullptr, goneArray = nullptr;
  CUmipmappedArray mipmapped = nullptr, goneMipmapped = nullptr;  // 64 x 32 floats, 4 levels
  void* kernelParameters[3] = {};
  CUdeviceptr parameterData = 0;
  unsigned parameterFactor = 2, parameterCount = 64;

  alignas(16) uint8_t slot[slots][slotBytes];

  void initialize();       // a context and all the above
  void makeConsumables();  // again, what a case may have destroyed
  void clearSlots() { std::memset(slot, 0xAB, sizeof(slot)); }

  // A structure that lives as long as the case.
  template <class T>
  T& make() {
    static_assert(std::is_trivially_copyable_v<T>);
    structures_.emplace_back(sizeof(T) + 16, uint8_t{0});
    return *reinterpret_cast<T*>(structures_.back().data());
  }
  void dropStructures() { structures_.clear(); }

 private:
  std::deque<std::vector<uint8_t>> structures_;
};

struct Choice {
  std::string name;
  std::function<uint64_t(World&)> make;
};
struct Choices {
  std::vector<Choice> all;  // the right one first
  int slot = -1;            // of a result: printed is whether it was set,
  unsigned shownBytes = 0;  // or its value when that is the same on every device

  Choices&& add(std::string name, std::function<uint64_t(World&)> make) && {
    all.push_back({std::move(name), std::move(make)});
    return std::move(*this);
  }
};

uint64_t bits(const void* pointer);
template <class Result, class... Parameters>
uint64_t bits(Result (*function)(Parameters...)) {
  return reinterpret_cast<uint64_t>(function);
}

// For arguments that point to a T: `fill` sets what is right, and the result takes a change of that.
template <class T, class Fill>
auto structures(Fill fill) {
  return [fill](auto change) {
    return [fill, change](World& w) {
      T& made = w.make<T>();
      fill(w, made);
      change(made);
      return bits(&made);
    };
  };
}
inline constexpr auto unchanged = [](auto&) {};

// A CUmemLocation or cudaMemLocation.
template <class T>
auto locationOf(int type, int id) {
  return structures<T>([type, id](World&, T& made) {
    made.type = static_cast<decltype(made.type)>(type);
    made.id = id;
  })(unchanged);
}

Choices number(uint64_t right, std::vector<uint64_t> wrong = {});
Choices out(int slot);
Choices show(int slot, unsigned bytes);
Choices text(const char* right, std::vector<const char*> wrong = {});
Choices of(std::string name, std::function<uint64_t(World&)> make);
Choices stream(), event(), deviceMemory(), hostMemory(), function(), module(), library(), kernel(), pool(), context();
Choices array(), mipmapped();
Choices ordinal();

enum class Group : uint8_t { BeforeInit, NoContext, Driver, Runtime };

struct Case {
  Group group;
  std::string name;
  std::function<std::string(World&)> run;  // the result, printed
  bool consumes = false;                   // may destroy what the world has
};
std::vector<Case>& cases();

// One call, with the functions's arguments as numbers.
struct Call {
  std::string name;
  std::function<int(const uint64_t*)> invoke;
  std::vector<Choices> arguments;
};
void addCall(Group group, Call call);

template <class T>
T convert(uint64_t value) {
  if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(value);
  else if constexpr (std::is_class_v<T>) return *reinterpret_cast<const T*>(value);
  else return static_cast<T>(value);
}

template <class Result, class... Parameters, class... Given>
void call(Group group, Function<Result (*)(Parameters...)> function, Given... given) {
  static_assert(sizeof...(Parameters) == sizeof...(Given), "one set of choices for each parameter");
  auto invoke = [function]<size_t... index>(const uint64_t* values, std::index_sequence<index...>) {
    (void)values;
    return function(convert<Parameters>(values[index])...);
  };
  addCall(group, {function.name,
                  [invoke](const uint64_t* values) { return invoke(values, std::index_sequence_for<Parameters...>()); },
                  {std::move(given)...}});
}

// Several calls: `body` gives what came of them.
void sequence(Group group, std::string name, std::function<std::string(World&)> body);
// Codes and numbers, with blanks between.
class Notes {
 public:
  Notes& operator<<(long long value) {
    text_ += (text_.empty() ? "" : " ") + std::to_string(value);
    return *this;
  }
  operator std::string() const { return text_; }

 private:
  std::string text_;
};

void addDriverCalls();
void addRuntimeCalls();
void addSequences();
void addAttributeCalls();
void addBatchCalls();
void addRegisteredCalls();
void addOldCalls();
void addToldCalls();
void addOrders();
void addEntryPoints();
void addBrokenCalls();
void addArrayCalls();
void addArrayCopies();
void addTextureCalls();
void addCapturedMemoryCalls();
void addCapturedCalls();
void addCaptures();
void addCapturedNodes();
void addConditionalCalls();
void addGraphMemoryCalls();

// Registers this program's kernels and variables, as nvcc's programs do before main.
void registerProgram();

}  // namespace mulciber::replay
