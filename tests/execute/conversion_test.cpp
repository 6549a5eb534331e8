// Conversions between integers and floats against the host's, which rounds to nearest even as well.
#include <cmath>
#include <random>

#include "execute/execute_test.h"

namespace mulciber::test {
namespace {

using namespace ir;

class ConversionTest : public ExecuteTest {
 protected:
  static constexpr uint32_t count = 256;

  // out[i] = convert(in[i]); the bits of both are kept in 64-bit slots.
  std::vector<uint64_t> convert(const TargetProfile& profile, Op op, Type from, Type to,
                                const std::vector<uint64_t>& in) {
    Buffer inputs(*device, count * 8), outputs(*device, count * 8);
    std::copy(in.begin(), in.end(), inputs.as<uint64_t>());
    IrKernel k;
    Instruction* index = k.globalIndex();
    Instruction* value = k.b.load(from, k.element(k.parameter(I64, 0), index, I64), k.access(Space::Global, from));
    Instruction* result = k.b.convert(op, to, value);
    k.b.store(k.element(k.parameter(I64, 8), index, I64), result, k.access(Space::Global, to));
    Launch launch;
    launch.block[0] = 64;
    launch.grid[0] = count / 64;
    launch.add(inputs.address()).add(outputs.address());
    run(k.emit(profile), launch);
    return {outputs.as<uint64_t>(), outputs.as<uint64_t>() + count};
  }
};

uint64_t floatBits(double value, Type type) {
  return type.bits == 64 ? std::bit_cast<uint64_t>(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
}

// CVT: integers of every width to f32 and f64, also those whose top bit is set.
TEST_F(ConversionTest, IntegersToFloats) {
  for (const TargetProfile& profile : profiles()) {
    for (Type from : {I8, I16, I32, I64}) {
      std::mt19937_64 random(from.bits);
      std::vector<uint64_t> in(count);
      for (uint64_t& x : in) x = random() >> (64 - from.bits) >> random() % from.bits;
      uint64_t top = uint64_t{1} << (from.bits - 1);
      in[0] = 0, in[1] = top, in[2] = top | 1, in[3] = top + (top - 1), in[4] = top - 1;
      for (Type to : {F32, F64}) {
        for (Op op : {Op::UToF, Op::SToF}) {
          std::vector<uint64_t> out = convert(profile, op, from, to, in);
          for (uint32_t i = 0; i < count; ++i) {
            int64_t asSigned = static_cast<int64_t>(in[i] << (64 - from.bits)) >> (64 - from.bits);
            // Straight to the type: through double a 64-bit integer would be rounded twice.
            uint64_t expected =
                to.bits == 32
                    ? std::bit_cast<uint32_t>(op == Op::UToF ? static_cast<float>(in[i]) : static_cast<float>(asSigned))
                    : floatBits(op == Op::UToF ? static_cast<double>(in[i]) : static_cast<double>(asSigned), to);
            ASSERT_EQ(out[i], expected) << mnemonic(op) << " of " << in[i] << " as " << toString(from) << " to "
                                        << toString(to) << " for " << profile.name;
          }
        }
      }
    }
  }
}

TEST_F(ConversionTest, FloatsToIntegersInRange) {
  for (const TargetProfile& profile : profiles()) {
    for (Type from : {F32, F64}) {
      for (Type to : {I8, I16, I32, I64}) {
        for (Op op : {Op::FToU, Op::FToS}) {
          std::mt19937_64 random(to.bits);
          double limit = std::ldexp(1.0, to.bits - (op == Op::FToS));
          std::vector<uint64_t> in(count);
          std::vector<double> values(count);
          for (uint32_t i = 0; i < count; ++i) {
            double value = limit * std::ldexp(static_cast<double>(random() >> 12), -52 - static_cast<int>(i % 12));
            if (op == Op::FToS && i % 2) value = -value;
            if (from.bits == 32) value = static_cast<double>(std::nextafterf(static_cast<float>(value), 0.0f));
            in[i] = floatBits(value, from), values[i] = value;
          }
          std::vector<uint64_t> out = convert(profile, op, from, to, in);
          for (uint32_t i = 0; i < count; ++i) {
            uint64_t mask = to.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << to.bits) - 1;
            uint64_t expected = op == Op::FToU ? static_cast<uint64_t>(values[i])
                                               : static_cast<uint64_t>(static_cast<int64_t>(values[i]));
            ASSERT_EQ(out[i] & mask, expected & mask)
                << mnemonic(op) << " of " << values[i] << " to " << toString(to) << " for " << profile.name;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace mulciber::test
