// A small interpreter: a loop around a large switch, different in every thread; gotos and early returns.
#include "program.h"

__global__ void interpret(const unsigned char* programs, int length, int* out) {
  const unsigned char* code = programs + threadIdx.x * length;
  int stack[16], top = 0, accumulator = threadIdx.x, steps = 0;
  for (int pc = 0; pc < length && steps < 500; ++steps) {
    unsigned char op = code[pc++];
    switch (op % 14) {
      case 0: accumulator += op; break;
      case 1: accumulator -= op * 3; break;
      case 2: accumulator *= 5; break;
      case 3: accumulator ^= op << 3; break;
      case 4:
        if (top < 16) stack[top++] = accumulator;
        break;
      case 5:
        if (top > 0) accumulator = stack[--top];
        break;
      case 6:
        if (accumulator & 1) pc += 2;
        break;
      case 7:
        if (accumulator % 7 == 0 && pc > 6) pc -= 6;
        accumulator++;
        break;
      case 8: accumulator >>= 1;  // falls through
      case 9: accumulator += 17; break;
      case 10: accumulator = -accumulator; break;
      case 11:
        if (accumulator < 0) continue;
        accumulator /= 3;
        break;
      case 12:
        if (top > 3) {
          out[threadIdx.x] = accumulator;
          return;
        }
        break;
      default: accumulator ^= pc;
    }
  }
  while (top > 0) accumulator = accumulator * 31 + stack[--top];
  out[threadIdx.x] = accumulator;
}

__global__ void gotos(const unsigned* in, unsigned* out) {
  unsigned x = in[threadIdx.x], n = 0;
again:
  if (++n > 50) goto done;
  if (x % 3 == 0) {
    x /= 3;
    goto again;
  }
  if (x % 5 == 0) goto fives;
  x = x * 7 + 1;
  if (x & 8) goto again;
fives:
  x = x / 5 + n;
  if (x > 1000) goto again;
done:
  out[threadIdx.x] = x ^ (n << 24);
}

int main() {
  const int threads = 96, length = 64;
  Random random;
  std::vector<unsigned char> programs(threads * length);
  std::vector<unsigned> in(threads);
  for (auto& byte : programs) byte = static_cast<unsigned char>(random.next());
  for (auto& value : in) value = random.next();
  DeviceArray<unsigned char> code(programs);
  DeviceArray<unsigned> numbers(in), b(threads);
  DeviceArray<int> a(threads);
  interpret<<<1, threads>>>(code.get(), length, a.get());
  gotos<<<1, threads>>>(numbers.get(), b.get());
  finish();
  show("interpreted", a.host(), 8);
  show("gotos", b.host(), 8);
}
