// The families of instructions. Each sets what executes the instruction and decodes its operands; it says false of what
// is not its own.
#pragma once

#include <span>

#include "interpreter/machine/decoder.h"

namespace mulciber::interpreter {

using Family = bool (*)(Decoder&, const Instruction&, Op&);

bool decodeMove(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeAccess(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeControl(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeWarp(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeBarrier(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeAtomic(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeAsync(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeConvert(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeCompare(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeInteger(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeBits(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeFloating(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeVideo(Decoder& decoder, const Instruction& instruction, Op& op);
bool decodeMatrix(Decoder& decoder, const Instruction& instruction, Op& op);

std::span<const Family> families();

}  // namespace mulciber::interpreter
