// What libcufft.so.N exports and Mulciber has not: transforms on several devices, functions of the program's that loads
// and stores call, and properties of plans (docs/libraries.md). Arguments are not looked at, so none are declared.
#include <cufft.h>

#include "runtime/api/entry.h"

#define REFUSE(name)                         \
  CUDA_API(cufftResult, name)() {            \
    mulciber::api::reportUnsupported(#name); \
    return CUFFT_NOT_SUPPORTED;              \
  }

REFUSE(cufftGetPlanPropertyInt64)
REFUSE(cufftSetPlanPropertyInt64)
REFUSE(cufftResetPlanProperty)
REFUSE(cufftXtClearCallback)
REFUSE(cufftXtExecDescriptor)
REFUSE(cufftXtExecDescriptorC2C)
REFUSE(cufftXtExecDescriptorC2R)
REFUSE(cufftXtExecDescriptorD2Z)
REFUSE(cufftXtExecDescriptorR2C)
REFUSE(cufftXtExecDescriptorZ2D)
REFUSE(cufftXtExecDescriptorZ2Z)
REFUSE(cufftXtFree)
REFUSE(cufftXtMakePlanGuru64)
REFUSE(cufftXtMalloc)
REFUSE(cufftXtMemcpy)
REFUSE(cufftXtQueryPlan)
REFUSE(cufftXtSetCallback)
REFUSE(cufftXtSetCallbackSharedSize)
REFUSE(cufftXtSetGPUs)
REFUSE(cufftXtSetJITCallback)
REFUSE(cufftXtSetWorkAreaPolicy)
