// Prints what redirection finds in a file without looking at its symbols: the address of each function, its name and
// the shape of its code. See static_runtime_test.py and recognised_runtimes.py.
// usage: list_static_runtime FILE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <Zydis/Zydis.h>

#include <chrono>
#include <cstdio>

#include "runtime_inside.h"

using namespace mulciber;

namespace {

// What a function's first instructions are in every file that the same object was linked into: all but the distances to
// other places of the file. Two functions of one runtime may share it.
uint64_t shapeOf(fatbin::Bytes code) {
  constexpr unsigned instructions = 40;
  constexpr uint64_t prime = 0x100000001B3;
  uint64_t shape = 0xCBF29CE484222325;
  auto add = [&](uint64_t value) { shape = (shape ^ value) * prime; };
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  size_t at = 0;
  for (unsigned n = 0; n < instructions && at < code.size(); ++n, at += instruction.length) {
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.data() + at, code.size() - at, &instruction, operands)))
      break;
    add(instruction.mnemonic);
    for (unsigned i = 0; i < instruction.operand_count_visible; ++i) {
      const ZydisDecodedOperand& operand = operands[i];
      add(operand.type);
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add(operand.reg.value);
      if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && !operand.imm.is_relative) add(operand.imm.value.u);
      if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
      add(operand.mem.base);
      add(operand.mem.index);
      if (operand.mem.base != ZYDIS_REGISTER_RIP) add(static_cast<uint64_t>(operand.mem.disp.value));
    }
  }
  return shape;
}

fatbin::Bytes codeAt(const fatbin::Elf& elf, uint64_t address, uint64_t size) {
  for (uint32_t i = 1; i < elf.sectionCount(); ++i) {
    const auto section = elf.section(i);
    if (!section || address < section->address || address - section->address >= section->data.size()) continue;
    return section->data.subspan(address - section->address).first(size);
  }
  return {};
}

}  // namespace

int main(int, char** arguments) {
  const int file = open(arguments[1], O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0) return std::puts("no file"), 1;
  const auto begin = std::chrono::steady_clock::now();
  const auto size = static_cast<size_t>(status.st_size);
  const void* content = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (content == MAP_FAILED) return std::puts("no memory"), 1;
  const auto elf = fatbin::Elf::open({static_cast<const std::byte*>(content), size});
  if (!elf) return std::puts("no ELF file"), 1;
  const auto runtime = redirect::runtimeInside(*elf);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "%.1f ms\n", taken.count());
  if (!runtime.problem.empty()) return std::printf("problem: %s\n", runtime.problem.c_str()), 0;
  if (runtime.functions.empty()) return std::puts("none"), 0;
  std::printf("CUDA %u%s\n", redirect::majorOf(runtime.functions), runtime.hasSymbols ? ", by its symbols" : "");
  for (const auto& function : runtime.functions) {
    std::printf("%llx %.*s %llx\n", static_cast<unsigned long long>(function.address),
                static_cast<int>(function.name.size()), function.name.data(),
                static_cast<unsigned long long>(shapeOf(codeAt(*elf, function.address, function.size))));
  }
}
