// The words of the IR's text form, shared by its printer and parser.
#pragma once

#include <array>
#include <string_view>

#include "translator/ir/ir.h"

namespace mulciber::ir {

inline constexpr std::array<std::string_view, 21> inputNames = {
    "LocalIndex", "BlockIdX",  "BlockIdY",          "BlockIdZ",    "GridDimX",   "GridDimY",   "GridDimZ",  "BlockDimX",
    "BlockDimY",  "BlockDimZ", "DynamicSharedSize", "LaunchState", "ModuleData", "SubgroupId", "ThreadIdX", "ThreadIdY",
    "ThreadIdZ",  "SmId",      "SmCount",           "SmWarps",     "StackBytes"};
static_assert(inputNames.size() == static_cast<size_t>(InputKind::StackBytes) + 1);

inline constexpr std::array<std::string_view, 6> spaceNames = {"global", "shared",  "local",
                                                               "param",  "generic", "constant"};
inline constexpr std::array<std::string_view, 6> orderNames = {"weak",    "relaxed", "acquire",
                                                               "release", "acq_rel", "seq_cst"};
inline constexpr std::array<std::string_view, 5> scopeNames = {"thread", "warp", "block", "device", "system"};
inline constexpr std::array<std::string_view, 5> roundingNames = {"rn", "rz", "rm", "rp", "ro"};

inline constexpr std::array<std::string_view, 7> shapeNames = {"line",  "plane",  "volume", "cube",
                                                               "lines", "planes", "cubes"};
static_assert(shapeNames.size() == static_cast<size_t>(abi::ImageShape::Cubes) + 1);

inline constexpr std::array<std::string_view, 4> matrixNames = {"f16", "bf16", "s8", "u8"};
static_assert(matrixNames.size() == static_cast<size_t>(MatrixType::UnsignedBytes) + 1);

}  // namespace mulciber::ir
