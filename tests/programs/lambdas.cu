// Functions as values in kernels: of erased types, as nvstd::function does it, extended lambdas of both sides, captured
// objects and arrays, tables of functions and of members (CS-082, CS-083, LANG-30, LANG-47).
#include <new>
#include <type_traits>

#include "program.h"

constexpr int kThreads = 64;

// What can be called with an int, whatever it is, held in a buffer. nvstd::function is made like this; not every
// toolkit has it.
class Function {
 public:
  Function() = default;
  template <class F, class = std::enable_if_t<!std::is_same<std::decay_t<F>, Function>::value>>
  __device__ Function(F f) {
    static_assert(sizeof(F) <= sizeof(buffer_), "too large");
    new (buffer_) F(f);
    call_ = [](void* object, int x) -> int { return (*static_cast<F*>(object))(x); };
    copy_ = [](const void* from, void* to) { new (to) F(*static_cast<const F*>(from)); };
  }
  __device__ Function(const Function& other) { *this = other; }
  __device__ Function& operator=(const Function& other) {
    call_ = other.call_, copy_ = other.copy_;
    if (copy_) copy_(other.buffer_, buffer_);
    return *this;
  }
  __device__ explicit operator bool() const { return call_ != nullptr; }
  __device__ int operator()(int x) { return call_(buffer_, x); }

 private:
  alignas(16) char buffer_[32];
  int (*call_)(void*, int) = nullptr;
  void (*copy_)(const void*, void*) = nullptr;
};

// Of a function, a lambda, one with captures, a large object, and of none.
__device__ int twice(int x) { return x * 2; }
struct Polynomial {
  int factors[8];
  __device__ int operator()(int x) const {
    int value = 0;
    for (int factor : factors) value = value * x + factor;
    return value;
  }
};
struct Line {
  int slope, offset;
  __host__ __device__ int operator()(int x) const { return slope * x + offset; }
};
__device__ int applyTo(Function& f, int x) { return f ? f(x) : -1; }

__global__ void functions(int* out) {
  const int i = threadIdx.x;
  const int captured = i * 3;
  Function f, none;
  switch (i % 4) {
    case 0: f = twice; break;
    case 1: f = [](int x) { return x + 100; }; break;
    case 2: f = [=](int x) { return x * captured; }; break;
    case 3: f = Polynomial{{i, 1, 2, 3, 4, 5, 6, 7}}; break;
  }
  int* row = out + i * 6;
  row[0] = applyTo(f, i + 1), row[1] = applyTo(none, 5);
  Function copy = f;
  f = none;
  row[2] = applyTo(copy, 10), row[3] = !f;
  f = copy, copy = Line{i, -1};
  int local = 5;
  Function change = [&](int x) { return local += x * applyTo(f, x); };
  change(2), change(3);
  row[4] = local, row[5] = copy(3);
}

// Lambdas made by the host, run in kernels: with captures of every kind, of both sides, generic, changing their copy.
template <class F, class... Arguments>
__global__ void call(int* out, F f, Arguments... arguments) {
  out[threadIdx.x] = f(static_cast<int>(threadIdx.x), arguments...);
}
// A lambda made in a member captures the object itself, not where it is.
struct Scale {
  int factor, table[4];
  void launch(int* out, int* other) const {
    call<<<1, kThreads>>>(out, [*this] __device__(int x) { return x * factor + table[x & 3]; });
    const auto both = [*this] __host__ __device__(int x) { return x * factor - table[x & 3]; };
    call<<<1, kThreads>>>(other, both);
    std::printf("on the host: %d\n", both(6));
  }
};

// Tables of functions and of members in constant memory, chosen by each thread.
__device__ int add(int a, int b) { return a + b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int largest(int a, int b) { return a > b ? a : b; }
using Operation = int (*)(int, int);
__constant__ Operation operations[4] = {add, subtract, multiply, largest};

struct Account {
  int balance = 0;
  __device__ int deposit(int x) { return balance += x; }
  __device__ int withdraw(int x) { return balance -= x; }
};
__global__ void tables(int* out) {
  const int i = threadIdx.x;
  int (Account::*const members[])(int) = {&Account::deposit, &Account::withdraw};
  Account account;
  int sum = 0;
#pragma unroll 1
  for (int step = 0; step < 6; ++step) {
    sum = sum * 3 + operations[(i + step) % 4](i % 11, step);
    sum += (account.*members[(i >> step) & 1])(step + i);
  }
  out[i] = sum;
}

int main() {
  DeviceArray<int> rows(kThreads * 6), out(kThreads);
  functions<<<1, kThreads>>>(rows.get());
  finish();
  show("functions", rows.host(), 24);

  const auto run = [&](const char* name, auto f, auto... arguments) {
    call<<<1, kThreads>>>(out.get(), f, arguments...);
    finish();
    show(name, out.host(), 6);
  };
  const int a = 5;
  const double d = 0.75;
  const long long wide = 1ll << 40;
  int table[3] = {10, 20, 30};
  run("by value", [=] __device__(int x) { return a * x + static_cast<int>(d * x) + static_cast<int>(wide >> 38); });
  run("an array", [=] __device__(int x) { return table[x % 3] + x; });
  run("changing", [count = 100] __device__(int x) mutable { return count += x; });
  run(
      "generic arguments", [] __device__(int x, auto y, auto z) { return x + static_cast<int>(y * z); }, 2.5f, 4);
  const auto inner = [] __host__ __device__(int x) { return x + 3; };
  const auto both = [=] __host__ __device__(int x) { return Line{-2, 1}(inner(x)); };
  run("composed", both);
  std::printf("on the host: %d\n", both(10));
  DeviceArray<int> other(kThreads);
  Scale{7, {1, 20, 300, 4000}}.launch(out.get(), other.get());
  finish();
  show("of an object", out.host(), 6);
  show("of an object, both sides", other.host(), 6);
  tables<<<1, kThreads>>>(out.get());
  finish();
  show("tables", out.host(), 6);
}
