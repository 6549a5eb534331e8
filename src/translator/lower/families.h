// The instruction families: each file of lowerings exports its rows here, dispatch.cpp puts them together.
#pragma once

#include <span>

#include "translator/lower/function_lowering.h"

namespace mulciber::lower {

std::span<const Lowering> moveLowerings();
std::span<const Lowering> controlLowerings();
std::span<const Lowering> memoryLowerings();
std::span<const Lowering> callLowerings();
std::span<const Lowering> serviceLowerings();
std::span<const Lowering> warpLowerings();
std::span<const Lowering> barrierLowerings();
std::span<const Lowering> atomicLowerings();
std::span<const Lowering> asyncLowerings();
std::span<const Lowering> integerLowerings();
std::span<const Lowering> carryLowerings();
std::span<const Lowering> bitLowerings();
std::span<const Lowering> compareLowerings();
std::span<const Lowering> floatLowerings();
std::span<const Lowering> convertLowerings();
std::span<const Lowering> videoLowerings();
std::span<const Lowering> matrixLowerings();
std::span<const Lowering> textureLowerings();
std::span<const Lowering> surfaceLowerings();

}  // namespace mulciber::lower
