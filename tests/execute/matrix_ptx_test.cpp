// Matrix instructions against the interpreter of PTX, with values that leave no choice of the order of sums.
#include <set>

#include "conformance/suite/inputs.h"
#include "conformance/suite/kernels.h"
#include "execute/ptx_test.h"
#include "interpreter/interpreter.h"

namespace mulciber::test {
namespace {

using conformance::Case;

class MatrixPtx : public PtxTest {
 protected:
  // One case of each `every` forms whose names begin with the prefix.
  static std::vector<Case> casesOf(const std::string& prefix, size_t every) {
    std::vector<Case> cases, chosen;
    conformance::addMatrixCases(cases);
    std::set<std::string> seen;
    for (Case& one : cases)
      if (one.name.starts_with(prefix) && seen.insert(one.instruction()).second && seen.size() % every == 0)
        chosen.push_back(std::move(one));
    return chosen;
  }

  // The columns of results that the device writes are those of the interpreter.
  void compare(const TargetProfile& profile, const Case& one) {
    conformance::InputTable inputs = conformance::makeInputs(one.inputs);
    inputs.rows = conformance::kBlockThreads;
    for (std::vector<uint64_t>& column : inputs.columns) column.resize(inputs.rows);
    const std::string text = conformance::kernelText({&one}, inputs.rows);
    const size_t column = size_t(inputs.rows) * 8, size = column * conformance::columnsOf(one);
    Buffer in(*device, column * inputs.columns.size()), out(*device, size);
    Buffer memory(*device, size_t(inputs.rows) * conformance::kThreadBytes);
    for (size_t i = 0; i < inputs.columns.size(); i++)
      std::memcpy(in.as<uint8_t>() + i * column, inputs.columns[i].data(), column);
    Launch launch;
    launch.block[0] = conformance::kBlockThreads;
    launch.add(in.address()).add(out.address()).add(memory.address());
    launch.parameters.resize(32 + conformance::kExtraBytes);
    std::string kernel = text;
    kernel.replace(kernel.find(".entry cases("), 13, ".entry k(");
    runPtx(kernel, launch, profile);

    interpreter::Memory host;
    auto bytes = [](Buffer& buffer, size_t count) {
      return std::vector<uint8_t>(buffer.as<uint8_t>(), buffer.as<uint8_t>() + count);
    };
    host.set(in.address(), bytes(in, column * inputs.columns.size()));
    host.set(out.address(), std::vector<uint8_t>(size));
    host.set(memory.address(), std::vector<uint8_t>(size_t(inputs.rows) * conformance::kThreadBytes));
    interpreter::Module module;
    ASSERT_TRUE(module.load(text));
    interpreter::Launch judged;
    judged.kernel = "cases";
    judged.block[0] = conformance::kBlockThreads;
    judged.arguments = launch.parameters;
    const interpreter::Result ran = module.run(judged, host);
    ASSERT_TRUE(ran) << one.name << ": " << ran.message;
    std::span<uint8_t> expected = host.buffer(out.address());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.as<uint8_t>())) << one.name << "\n" << text;
  }
};

TEST_F(MatrixPtx, MovesFragments) {
  for (const char* name : {"ldmatrix", "stmatrix", "movmatrix"})
    for (const Case& one : casesOf(name, 1)) compare(device->profile(), one);
}

TEST_F(MatrixPtx, MultipliesDenseMatrices) {
  for (const Case& one : casesOf("mma.sync", 9)) compare(device->profile(), one);
}

// The road without matrix units, where the device has some.
TEST_F(MatrixPtx, MultipliesDenseMatricesAlsoByShuffles) {
  TargetProfile profile = device->profile();
  if (!profile.matricesF16F32 && !profile.matricesF16F16 && !profile.matricesBF16 && !profile.matricesS8 &&
      !profile.matricesU8)
    GTEST_SKIP() << "skipped: the device has no matrix units, so the other tests take this road";
  profile.matricesF16F32 = profile.matricesF16F16 = profile.matricesBF16 = profile.matricesS8 = profile.matricesU8 =
      false;
  for (const Case& one : casesOf("mma.sync", 9)) compare(profile, one);
}

TEST_F(MatrixPtx, MultipliesSparseMatrices) {
  for (const Case& one : casesOf("mma.sp", 19)) compare(device->profile(), one);
}

TEST_F(MatrixPtx, LoadsMultipliesAndStoresFragmentsOfItsOwn) {
  for (const Case& one : casesOf("wmma", 79)) compare(device->profile(), one);
}

// Each sum is rounded, and an H200 was seen to add the products one after the other.
TEST_F(MatrixPtx, AddsProductsOfDoublesByAscendingK) {
  for (const char* name : {"mma.sync.aligned.m16n8k16.row.col.f64", "mma.sync.aligned.m16n8k8.row.col.rz.f64"})
    for (Case& one : casesOf(name, 1)) {
      const std::string whole = "cvt.rn.f64.s32 %fd, %v;\n";
      for (size_t at = 0; (at = one.code.find(whole, at)) != std::string::npos;)
        one.code.insert(at += whole.size(), "div.rn.f64 %fd, %fd, 0d4008000000000000;\n");
      compare(device->profile(), one);
    }
}

// Every kind of step on devices that lack what the plain way uses.
TEST_F(MatrixPtx, NeedsNoNarrowTypes) {
  for (const TargetProfile& profile : profiles())
    for (const char* name :
         {"ldmatrix.sync.aligned.m8n8.x4.trans", "mma.sync.aligned.m16n8k16.row.col.f32.f16",
          "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8", "wmma.store.d.sync.aligned.col.m16n16k16.f16"})
      for (const Case& one : casesOf(name, 1)) compare(profile, one);
}

}  // namespace
}  // namespace mulciber::test
