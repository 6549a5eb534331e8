// What sust.p makes of its operands: a texel in the surface's own format.
#pragma once

#include "translator/lower/surface_access.h"

namespace mulciber::lower {

// Four words, of which the low bytes count. Channels are integers or f32 numbers, as the format has them, and end at
// its largest and smallest numbers; missing ones are zeros.
Words surfaceTexel(FunctionLowering& f, const TextureRecord& record, const Words& channels);

}  // namespace mulciber::lower
