// Particles that follow Thomas' cyclically symmetric attractor.
// Compiled to particles.ptx with: nvcc -ptx -arch=compute_75 particles.cu

// As the vertex shader reads it.
struct Particle {
  float x, y, z, speed;
};

__device__ float random(unsigned& state) {
  state = state * 747796405u + 2891336453u;
  const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return ((word >> 22) ^ word) * (1.0f / 4294967296.0f);
}

// Anywhere in a cube.
extern "C" __global__ void place(Particle* particles, unsigned count, float size) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned state = i * 2654435761u + 12345;
  Particle particle;
  particle.x = (random(state) - 0.5f) * size;
  particle.y = (random(state) - 0.5f) * size;
  particle.z = (random(state) - 0.5f) * size;
  particle.speed = 0;
  particles[i] = particle;
}

extern "C" __global__ void advance(Particle* particles, unsigned count, float seconds, unsigned steps) {
  constexpr float damping = 0.19f;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Particle p = particles[i];
  for (unsigned step = 0; step < steps; ++step) {
    const float vx = sinf(p.y) - damping * p.x, vy = sinf(p.z) - damping * p.y, vz = sinf(p.x) - damping * p.z;
    p.x += vx * seconds;
    p.y += vy * seconds;
    p.z += vz * seconds;
    p.speed = sqrtf(vx * vx + vy * vy + vz * vz);
  }
  particles[i] = p;
}
