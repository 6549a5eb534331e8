// Loads of constants: of every type and length, at places that are fixed, the same for all threads, and their own.
#include "execute/ptx_test.h"

namespace mulciber::test {
namespace {

class ConstantPtx : public PtxTest {
 protected:
  // The device's own profile, the same with words alone in uniform buffers, and without these.
  std::vector<TargetProfile> constantProfiles() const {
    TargetProfile full = device->profile(), words = full, none = full;
    words.uniform8 = words.uniform16 = false;
    none.maxConstantBytes = 0;
    return {full, words, none};
  }
};

TEST_F(ConstantPtx, EveryTypeAtEveryKindOfPlace) {
  std::string declarations = ".const .align 16 .b8 c[512] = {";
  for (int i = 0; i < 512; ++i) declarations += (i ? ", " : "") + std::to_string((i * 37 + i / 7) & 0xFF);
  declarations += "};\n";
  auto byte = [](uint32_t i) { return static_cast<uint8_t>(i * 37 + i / 7); };
  struct Type {
    std::string name, registers;
    uint32_t bytes;
  };
  const Type types[] = {{"u8", "%rs", 1}, {"b16", "%rs", 2}, {"u32", "%r", 4},
                        {"f32", "%f", 4}, {"b64", "%rd", 8}, {"f64", "%fd", 8}};
  for (const TargetProfile& profile : constantProfiles()) {
    for (const Type& type : types) {
      for (uint32_t lanes = 1; lanes <= 4 && lanes * type.bytes <= 16; lanes *= 2) {
        SCOPED_TRACE(profile.name + " " + type.name + " x " + std::to_string(lanes));
        const uint32_t size = lanes * type.bytes;
        std::string list = "{" + type.registers + "11";
        for (uint32_t i = 1; i < lanes; ++i) list += ", " + type.registers + std::to_string(11 + i);
        list += "}";
        const std::string vector = lanes == 1 ? "" : ".v" + std::to_string(lanes);
        if (lanes == 1) list = type.registers + "11";
        auto copy = [&](const std::string& from, uint32_t to) {
          return "ld.const" + vector + "." + type.name + " " + list + ", [" + from + "]; st.global" + vector + "." +
                 type.name + " [%out+" + std::to_string(to) + "], " + list + ";\n";
        };
        // %r1 is 5 for all, %t the thread's number.
        const std::string body =
            "mov.u64 %rd1, c; mov.u32 %r1, %ctaid.x; add.u32 %r1, %r1, 5; mul.wide.u32 %rd2, %r1, " +
            std::to_string(size) + "; add.s64 %rd2, %rd1, %rd2; mul.wide.u32 %rd3, %t, " + std::to_string(size) +
            "; add.s64 %rd3, %rd1, %rd3;\n" + copy("c+" + std::to_string(3 * size), 0) + copy("%rd2", 16) +
            copy("%rd2+" + std::to_string(2 * size), 32) + copy("%rd3", 48);
        const auto words = wordsOf(profile, body, 16, 16, declarations);
        const auto* found = reinterpret_cast<const uint8_t*>(words.data());
        for (uint32_t thread = 0; thread < 16; ++thread)
          for (uint32_t place = 0; place < 4; ++place)
            for (uint32_t i = 0; i < size; ++i) {
              const uint32_t element = std::array{3u, 5u, 7u, thread}[place];
              ASSERT_EQ(found[thread * 64 + place * 16 + i], byte(element * size + i)) << thread << " " << place;
            }
        EXPECT_EQ(info.constantBytes, profile.maxConstantBytes == 0 ? 0u : 512u);
      }
    }
  }
}

// A pointer to a constant may also be read as what it is: an address of device memory.
TEST_F(ConstantPtx, GenericPointersReadTheSame) {
  const auto words =
      wordsOf(R"(
    mov.u64 %rd1, c; cvta.const.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4]; ld.const.u32 %r2, [%rd1+4];
    ld.global.u64 %rd3, [pointer]; ld.u32 %r3, [%rd3]; isspacep.const %p1, %rd3; selp.u32 %r4, 1, 0, %p1;
    st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};
  )",
              4, 32, ".const .align 4 .b32 c[3] = {10, 20, 30};\n.global .align 8 .u64 pointer = generic(c)+8;");
  EXPECT_EQ(std::vector<uint32_t>(words.begin(), words.begin() + 4), (std::vector<uint32_t>{20, 20, 30, 1}));
}

}  // namespace
}  // namespace mulciber::test
