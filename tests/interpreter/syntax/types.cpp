#include "interpreter/syntax/types.h"

#include <array>

namespace mulciber::interpreter {
namespace {

struct Row {
  std::string_view word;
  uint8_t bits;
  char kind;  // p, b, u, s or f
};

constexpr std::array<Row, 32> kTypes = {{
    {".pred", 1, 'p'},   {".b8", 8, 'b'},     {".b16", 16, 'b'},    {".b32", 32, 'b'},    {".b64", 64, 'b'},
    {".b128", 128, 'b'}, {".u8", 8, 'u'},     {".u16", 16, 'u'},    {".u32", 32, 'u'},    {".u64", 64, 'u'},
    {".s8", 8, 's'},     {".s16", 16, 's'},   {".s32", 32, 's'},    {".s64", 64, 's'},    {".u16x2", 32, 'u'},
    {".s16x2", 32, 's'}, {".u2", 2, 'u'},     {".u4", 4, 'u'},      {".s2", 2, 's'},      {".s4", 4, 's'},
    {".f16", 16, 'f'},   {".f16x2", 32, 'f'}, {".bf16", 16, 'f'},   {".bf16x2", 32, 'f'}, {".tf32", 32, 'f'},
    {".f32", 32, 'f'},   {".f64", 64, 'f'},   {".e4m3x2", 16, 'f'}, {".e5m2x2", 16, 'f'}, {".e4m3", 8, 'f'},
    {".e5m2", 8, 'f'},   {".b1", 1, 'b'},
}};

}  // namespace

std::optional<Type> typeOf(std::string_view word) {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].word == word) return static_cast<Type>(i);
  return std::nullopt;
}

unsigned bitsOf(Type type) { return kTypes[static_cast<size_t>(type)].bits; }
bool isSigned(Type type) { return kTypes[static_cast<size_t>(type)].kind == 's'; }
bool isFloat(Type type) { return kTypes[static_cast<size_t>(type)].kind == 'f'; }

}  // namespace mulciber::interpreter
