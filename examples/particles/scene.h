// What the example and bench/interop.cpp share: the particles' kernels, how they are launched, and how they are drawn.
#pragma once

#include <string_view>

#include "common/camera.h"
#include "common/pipeline.h"
#include "particle_frag.h"
#include "particle_vert.h"

namespace example {

inline constexpr std::string_view particlesPtx =
#include "particles_ptx.h"
    ;

inline constexpr uint32_t particleBytes = 16, stepsPerFrame = 4, threadsPerBlock = 256;
inline constexpr float secondsPerStep = 0.02f, particlesExtent = 8.0f;

inline uint32_t blocksFor(uint32_t particles) { return (particles + threadsPerBlock - 1) / threadsPerBlock; }

struct ParticleConstants {
  Matrix camera;
  float light;
};

// As bright with few particles as with many, and in small pictures as in large ones.
inline ParticleConstants lookAt(const Camera& camera, uint32_t width, uint32_t height, uint32_t particles) {
  const float pixels = static_cast<float>(width) * static_cast<float>(height);
  return {camera.matrix(0.1f), 0.14f * pixels / static_cast<float>(particles)};
}

inline PipelineInfo particlePipeline() {
  PipelineInfo info;
  info.vertex = particle_vert;
  info.fragment = particle_frag;
  info.attributes = {VK_FORMAT_R32G32B32A32_SFLOAT};
  info.topology = VK_PRIMITIVE_TOPOLOGY_POINT_LIST;
  info.addsLight = true;
  info.constantBytes = sizeof(ParticleConstants);
  return info;
}

}  // namespace example
