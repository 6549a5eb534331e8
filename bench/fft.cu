// Transforms by libcufft: NVIDIA's natively, Mulciber's own under `mulciber run`. Each moves some 256 MiB.
#include <dlfcn.h>

#include "bench.h"

namespace {

// The numbers of cufft.h, which this program does not need: it takes whichever library is there.
enum Type { C2C = 0x29, R2C = 0x2a, C2R = 0x2c, Z2Z = 0x69 };
constexpr int forward = -1;

using PlanMany = int (*)(int* plan, int rank, int* lengths, int*, int, int, int*, int, int, int type, int batch);
using Destroy = int (*)(int plan);
using Complex = int (*)(int plan, void* in, void* out, int direction);
using Real = int (*)(int plan, void* in, void* out);

struct Library {
  PlanMany plan;
  Destroy destroy;
  Complex c2c, z2z;
  Real r2c, c2r;
};

void mustBe(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

Library open() {
  void* library = nullptr;
  for (const char* name : {"libcufft.so.12", "libcufft.so.11"})
    if (!library) library = dlopen(name, RTLD_NOW);
  mustBe(library, "there is no libcufft.so.12 and no libcufft.so.11");
  const auto find = [=](const char* name) { return dlsym(library, name); };
  return {(PlanMany)find("cufftPlanMany"), (Destroy)find("cufftDestroy"), (Complex)find("cufftExecC2C"),
          (Complex)find("cufftExecZ2Z"),   (Real)find("cufftExecR2C"),    (Real)find("cufftExecC2R")};
}

// The first and the last element of a row are real, as those of a real transform are: without that libraries may
// differ.
void makeReal(float* rows, int length, int count) {
  const size_t row = (length / 2 + 1) * 2 * sizeof(float);
  CHECK(cudaMemset2D(rows + 1, row, 0, sizeof(float), count));
  CHECK(cudaMemset2D(rows + length + 1, row, 0, sizeof(float), count));
}

struct Case {
  const char* name;
  Type type;
  std::vector<int> lengths;
};

}  // namespace

int main(int argc, char** argv) {
  const Suite suite("fft", argc, argv);
  const Library fft = open();
  const size_t bytes = size_t(suite.size(128, 1)) << 20;
  float* in = randomFloats(bytes / 4);
  double* wide = randomArray<double>(bytes / 8, 1 / 16777216.0, 0.1);
  float* out = deviceArray<float>(bytes / 2);  // results of real numbers are a little larger
  const Case cases[] = {{"complex, 16", C2C, {16}},
                        {"complex, 256", C2C, {256}},
                        {"complex, 1,024", C2C, {1024}},
                        {"complex, 4,096", C2C, {4096}},
                        {"complex, 1,000", C2C, {1000}},
                        {"complex, 1,009", C2C, {1009}},
                        {"complex, 65,536", C2C, {65536}},
                        {"complex, 2^20", C2C, {1 << 20}},
                        {"complex, 2^24", C2C, {1 << 24}},
                        {"complex, 4,096 x 4,096", C2C, {4096, 4096}},
                        {"complex, 256 x 256 x 256", C2C, {256, 256, 256}},
                        {"double, 1,024", Z2Z, {1024}},
                        {"double, 2^20", Z2Z, {1 << 20}},
                        {"real to complex, 1,024", R2C, {1024}},
                        {"real to complex, 2^20", R2C, {1 << 20}},
                        {"complex to real, 1,024", C2R, {1024}}};
  for (const Case& given : cases) {
    size_t elements = 1;
    for (const int length : given.lengths) elements *= length;
    const size_t elementBytes = given.type == Z2Z ? 16 : given.type == R2C ? 4 : 8;
    if (elements * elementBytes > bytes) continue;  // one of --small
    std::vector<int> lengths = given.lengths;
    // What a transform to real numbers reads is half as long as what it writes.
    const int batch = int(bytes / (elements * elementBytes));
    int plan = 0;
    mustBe(fft.plan(&plan, int(lengths.size()), lengths.data(), nullptr, 1, 0, nullptr, 1, 0, given.type, batch) == 0,
           "no plan");
    if (given.type == C2R) makeReal(in, lengths[0], batch);
    suite.run(
        given.name,
        [&] {
          const int result = given.type == C2C   ? fft.c2c(plan, in, out, forward)
                             : given.type == Z2Z ? fft.z2z(plan, wide, out, forward)
                             : given.type == R2C ? fft.r2c(plan, in, out)
                                                 : fft.c2r(plan, in, out);
          mustBe(result == 0, "not executed");
        },
        given.type == Z2Z ? about((double*)out, bytes / 8) : about(out, bytes / 4));
    fft.destroy(plan);
  }
}
