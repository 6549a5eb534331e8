// OpenGL's objects in the CUDA runtime API. Needs OpenGL's own headers.
#ifndef MULCIBER_CUDA_GL_INTEROP_H
#define MULCIBER_CUDA_GL_INTEROP_H

#include <GL/gl.h>

#include "cuda_runtime_api.h"

enum cudaGLDeviceList { cudaGLDeviceListAll = 1, cudaGLDeviceListCurrentFrame = 2, cudaGLDeviceListNextFrame = 3 };

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t CUDARTAPI cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource** resource, GLuint buffer,
                                                   unsigned int flags);
cudaError_t CUDARTAPI cudaGraphicsGLRegisterImage(struct cudaGraphicsResource** resource, GLuint image, GLenum target,
                                                  unsigned int flags);
cudaError_t CUDARTAPI cudaGLGetDevices(unsigned int* pCudaDeviceCount, int* pCudaDevices, unsigned int cudaDeviceCount,
                                       enum cudaGLDeviceList deviceList);

#ifdef __cplusplus
}
#endif

#endif
