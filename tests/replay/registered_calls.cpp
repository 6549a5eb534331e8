// What nvcc's programs register before main: kernels and variables by the addresses that stand for them.
#include <string>

#include "replay.h"
#include "support/fat_binary.h"
#include "support/scale_ptx.h"

namespace mulciber::replay {

namespace {

constexpr uint64_t huge = uint64_t{1} << 46, minusOne = 0xFFFFFFFF;
const Group R = Group::Runtime;

using test::FatBinary;
using test::Wrapper;

const Function<void** (*)(void*)> registerBinary{"__cudaRegisterFatBinary"};
const Function<void (*)(void**)> registerEnd{"__cudaRegisterFatBinaryEnd"};
const Function<void (*)(void**)> unregisterBinary{"__cudaUnregisterFatBinary"};
const Function<void (*)(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*)>
    registerFunction{"__cudaRegisterFunction"};
const Function<void (*)(void**, char*, char*, const char*, int, size_t, int, int)> registerVariable{
    "__cudaRegisterVar"};
const Function<void (*)(void**, void**, char*, const char*, int, size_t, int, int)> registerManaged{
    "__cudaRegisterManagedVar"};
const Function<char (*)(void**)> initModule{"__cudaInitModule"};
const Function<unsigned (*)(dim3, dim3, size_t, void*)> pushConfiguration{"__cudaPushCallConfiguration"};
const Function<cudaError_t (*)(dim3*, dim3*, size_t*, void*)> popConfiguration{"__cudaPopCallConfiguration"};
const Function<cudaError_t (*)(cudaKernel_t*, const void*)> getKernel{"__cudaGetKernel"};

// The program that this one is: its stubs, and the shadows of its variables. Its second fat binary promises what is not
// in it.
struct Program {
  char scale = 0;  // a kernel
  unsigned counter = 0, offsets[2] = {};
};
Program program;
char missing = 0;
unsigned absent = 0;

void registerKernel(void** handle, char& stub, const char* name) {
  registerFunction.pointer()(handle, &stub, const_cast<char*>(name), name, -1, nullptr, nullptr, nullptr, nullptr,
                             nullptr);
}

void registerShadow(void** handle, void* shadow, const char* name, size_t bytes, int isConstant) {
  registerVariable.pointer()(handle, static_cast<char*>(shadow), const_cast<char*>(name), name, 0, bytes, isConstant,
                             0);
}

void registerIn(void** handle, Program& with) {
  registerKernel(handle, with.scale, "scale");
  registerShadow(handle, &with.counter, "counter", 4, 0);
  registerShadow(handle, with.offsets, "offsets", 8, 1);
}

Choices symbol() {
  return of("counter", [](World&) { return bits(&program.counter); })
      .add("null", [](World&) { return uint64_t{0}; })
      .add("offsets", [](World&) { return bits(program.offsets); })
      .add("offsets[1]", [](World&) { return bits(program.offsets + 1); })
      .add("absent", [](World&) { return bits(&absent); })
      .add("a kernel", [](World&) { return bits(&program.scale); })
      .add("its name", [](World&) { return bits("counter"); })
      .add("nothing", [](World& w) { return bits(w.slot[7]); })
      .add("device memory", [](World& w) { return w.device; });
}

Choices kernelStub() {
  return of("stub", [](World&) { return bits(&program.scale); })
      .add("missing", [](World&) { return bits(&missing); })
      .add("a variable", [](World&) { return bits(&program.counter); });
}

Choices shape(unsigned x) {
  return of("(" + std::to_string(x) + ",1,1)", [x](World& w) {
    auto& made = w.make<uint3>();
    made = {x, 1, 1};
    return bits(&made);
  });
}

int launch(World& w, const void* stub) {
  const int error = FUNCTION(cudaLaunchKernel)(stub, dim3(2), dim3(32), w.kernelParameters, size_t{0}, w.stream);
  return error != 0 ? error : FUNCTION(cudaStreamSynchronize)(w.stream);
}

unsigned counterOf(const Program& with, int& error) {
  unsigned value = 0;
  error = FUNCTION(cudaMemcpyFromSymbol)(&value, &with.counter, sizeof(value), size_t{0}, cudaMemcpyDeviceToHost);
  return value;
}

void symbols() {
  const auto bytes = [] { return number(4, {0, 1, 5, 8, huge}); };
  const auto offset = [] { return number(0, {1, 4, 8, minusOne, UINT64_MAX}); };
  const auto kind = [](uint64_t right) { return number(right, {0, 1, 2, 3, 4, 5, minusOne}); };
  call(R, FUNCTION(cudaMemcpyToSymbol), symbol(), hostMemory(), bytes(), offset(), kind(1));
  call(R, FUNCTION(cudaMemcpyFromSymbol), hostMemory(), symbol(), bytes(), offset(), kind(2));
  call(R, FUNCTION(cudaMemcpyToSymbolAsync), symbol(), hostMemory(), bytes(), offset(), kind(1), stream());
  call(R, FUNCTION(cudaMemcpyFromSymbolAsync), hostMemory(), symbol(), bytes(), offset(), kind(2), stream());
  call(R, FUNCTION(cudaGetSymbolAddress), out(0), symbol());
  call(R, FUNCTION(cudaGetSymbolSize), show(0, 8), symbol());
}

void kernels() {
  const auto parameters = [] {
    return of("parameters", [](World& w) { return bits(w.kernelParameters); }).add("null", [](World&) {
      return uint64_t{0};
    });
  };
  call(R, FUNCTION(cudaLaunchKernel), kernelStub(), shape(2), shape(32), parameters(), number(0), stream());
  call(R, FUNCTION(cudaFuncGetAttributes), out(0), kernelStub());
  call(R, FUNCTION(cudaFuncSetAttribute), kernelStub(), number(8, {99}), number(1024, {1 << 30}));
  call(R, FUNCTION(cudaFuncGetName), out(0), kernelStub());
  call(R, FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor), out(0), kernelStub(), number(32, {0}), number(0));
  call(R, FUNCTION(cudaGetFuncBySymbol), out(0), kernelStub());
  call(R, FUNCTION(cudaGetKernel), out(0), kernelStub());
  call(R, getKernel, out(0), kernelStub());
}

void registrations() {
  sequence(R, "launch configurations nest", [](World&) {
    dim3 grid, block;
    size_t bytes = 0;
    void* stream = nullptr;
    Notes notes;
    notes << popConfiguration(&grid, &block, &bytes, static_cast<void*>(&stream)) << FUNCTION(cudaGetLastError)();
    notes << pushConfiguration(dim3(1, 2, 3), dim3(4), size_t{5}, nullptr);
    notes << pushConfiguration(dim3(9), dim3(8, 7), size_t{6}, nullptr);
    for (int i = 0; i < 3; ++i) {
      notes << popConfiguration(&grid, &block, &bytes, static_cast<void*>(&stream));
      notes << grid.x << block.y << static_cast<long long>(bytes);
    }
    return notes << FUNCTION(cudaGetLastError)();
  });
  sequence(R, "a program registers itself, works, and leaves", [](World& w) {
    static Program second;
    static FatBinary container{std::string(test::scalePtx)};
    Notes notes;
    const unsigned other = 17;
    notes << FUNCTION(cudaMemcpyToSymbol)(&program.counter, &other, sizeof(other), size_t{0}, cudaMemcpyHostToDevice);
    void** const handle = registerBinary.pointer()(&container.wrapper);
    registerIn(handle, second);
    registerEnd.pointer()(handle);
    int error = 0;
    notes << launch(w, &second.scale) << counterOf(second, error) << error;
    const unsigned value = 7;
    notes << FUNCTION(cudaMemcpyToSymbol)(&second.counter, &value, sizeof(value), size_t{0}, cudaMemcpyHostToDevice);
    notes << counterOf(second, error);
    unregisterBinary.pointer()(handle);
    notes << launch(w, &second.scale) << FUNCTION(cudaGetLastError)();
    notes << counterOf(second, error) << error;
    return notes << FUNCTION(cudaGetLastError)() << launch(w, &program.scale) << counterOf(program, error);
  });
  sequence(R, "a reset gives variables their first value again", [](World& w) {
    Notes notes;
    int error = 0;
    const unsigned value = 7;
    notes << FUNCTION(cudaMemcpyToSymbol)(&program.counter, &value, sizeof(value), size_t{0}, cudaMemcpyHostToDevice);
    notes << counterOf(program, error) << error << FUNCTION(cudaDeviceReset)();
    notes << counterOf(program, error) << error;
    void* memory = nullptr;
    unsigned factor = 2, count = 4, seen[4] = {};
    void* parameters[] = {&memory, &factor, &count};
    notes << FUNCTION(cudaMalloc)(&memory, size_t{64}) << FUNCTION(cudaMemset)(memory, 0, size_t{64});
    notes << FUNCTION(cudaLaunchKernel)(&program.scale, dim3(1), dim3(32), parameters, size_t{0}, cudaStream_t{});
    notes << FUNCTION(cudaMemcpy)(seen, memory, sizeof(seen), cudaMemcpyDeviceToHost) << seen[0];
    (void)w;
    return notes << FUNCTION(cudaFree)(memory);
  });
  sequence(R, "a managed variable", [](World&) {
    static void* place = nullptr;
    static FatBinary container{std::string(test::scalePtx) +
                               ".visible .global .attribute(.managed) .align 4 .u32 shared = 5;\n"};
    Notes notes;
    void** const handle = registerBinary.pointer()(&container.wrapper);
    registerManaged.pointer()(handle, &place, nullptr, "shared", 0, 4, 0, 0);
    registerEnd.pointer()(handle);
    notes << initModule.pointer()(handle) << (place != nullptr);
    if (!place) return notes;
    auto* const value = static_cast<volatile unsigned*>(place);
    notes << *value;
    *value = 9;
    unsigned seen = 0;
    notes << FUNCTION(cudaMemcpyFromSymbol)(&seen, place, sizeof(seen), size_t{0}, cudaMemcpyDeviceToHost) << seen;
    void* address = nullptr;
    notes << FUNCTION(cudaGetSymbolAddress)(&address, static_cast<const void*>(place)) << (address == place);
    notes << FUNCTION(cudaGetSymbolAddress)(&address, static_cast<const void*>(&place));
    cudaPointerAttributes attributes{};
    notes << FUNCTION(cudaPointerGetAttributes)(&attributes, place) << attributes.type;
    const auto number = reinterpret_cast<CUdeviceptr>(place);
    unsigned isManaged = 99;
    notes << FUNCTION(cuPointerGetAttribute)(static_cast<void*>(&isManaged), CU_POINTER_ATTRIBUTE_IS_MANAGED, number);
    notes << isManaged << FUNCTION(cudaFree)(place);
    const cudaMemLocation device{cudaMemLocationTypeDevice, 0};
    notes << FUNCTION(cudaMemPrefetchAsync)(place, size_t{4}, device, 0u, cudaStream_t{});
    notes << FUNCTION(cudaMemAdvise)(place, size_t{4}, cudaMemAdviseSetReadMostly, device);
    return notes << FUNCTION(cudaGetLastError)();
  });
  sequence(R, "what is no fat binary", [](World& w) {
    static char stub = 0;
    static const char text[64] = "this is no container";
    static Wrapper wrapper;
    wrapper.container = text;
    Notes notes;
    void** const handle = registerBinary.pointer()(&wrapper);
    registerKernel(handle, stub, "scale");
    registerEnd.pointer()(handle);
    return notes << launch(w, &stub) << FUNCTION(cudaGetLastError)();
  });
}

}  // namespace

void registerProgram() {
  static FatBinary first{std::string(test::scalePtx)}, second{std::string(test::scalePtx)};
  void** handle = registerBinary.pointer()(&first.wrapper);
  registerIn(handle, program);
  registerEnd.pointer()(handle);
  handle = registerBinary.pointer()(&second.wrapper);
  registerKernel(handle, missing, "missing");
  registerShadow(handle, &absent, "absent", 4, 0);
  registerEnd.pointer()(handle);
}

void addRegisteredCalls() {
  symbols();
  kernels();
  registrations();
}

}  // namespace mulciber::replay
