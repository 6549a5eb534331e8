#include "translator/ptx/opcodes.h"

#include <gtest/gtest.h>

#include "translator/ptx/ast.h"

namespace mulciber::ptx {
namespace {

TEST(Opcodes, FindsEveryOpcodeByItsSpelling) {
  uint32_t index = 0;
  for (std::string_view word : opcodeWords()) {
    auto found = findOpcode(word);
    ASSERT_TRUE(found) << word;
    EXPECT_EQ(static_cast<uint32_t>(*found), index++) << word;
    EXPECT_EQ(spelling(*found), word);
  }
  EXPECT_FALSE(findOpcode("adds"));
  EXPECT_FALSE(findOpcode(""));
}

TEST(Opcodes, FindsEveryModifierByItsSpelling) {
  uint32_t index = 0;
  for (std::string_view word : modifierWords()) {
    auto found = findModifier(word);
    ASSERT_TRUE(found) << word;
    EXPECT_EQ(static_cast<uint32_t>(*found), index++) << word;
    EXPECT_EQ(spelling(*found), word);
  }
  EXPECT_FALSE(findModifier("u33"));
}

TEST(Opcodes, TypeModifiersAreTheTypesByTheSameName) {
  for (size_t i = 0; i < modifierWords().size(); ++i) {
    Mod mod = static_cast<Mod>(i);
    if (typeOf(mod) != Type::None) {
      EXPECT_EQ(spelling(typeOf(mod)), spelling(mod));
    }
  }
  EXPECT_EQ(typeOf(Mod::f32), Type::F32);
  EXPECT_EQ(typeOf(Mod::rn), Type::None);
}

TEST(Types, WidthsAndKinds) {
  EXPECT_EQ(bitWidth(Type::B128), 128u);
  EXPECT_EQ(bitWidth(Type::F16x2), 32u);
  EXPECT_EQ(bitWidth(Type::TexRef), 0u);
  EXPECT_TRUE(isFloat(Type::BF16));
  EXPECT_TRUE(isSigned(Type::S16x2));
  EXPECT_TRUE(isUnsigned(Type::U8));
  EXPECT_TRUE(isUntyped(Type::B8));
  EXPECT_FALSE(isUntyped(Type::Pred));
}

}  // namespace
}  // namespace mulciber::ptx
