// The functions of asynchronous copies; the C++ classes of pipelines are NVIDIA's.
#include "cuda_pipeline_primitives.h"
