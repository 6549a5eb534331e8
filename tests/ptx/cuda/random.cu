// curand's generators and distributions in kernels.
#include <curand_kernel.h>
#include <curand_mtgp32_kernel.h>

template <class State>
__device__ void draw(State& state, float* out, double* wide, unsigned* counts) {
  out[0] = curand_uniform(&state) + curand_normal(&state) + curand_log_normal(&state, 0.f, 1.f);
  wide[0] = curand_uniform_double(&state) + curand_normal_double(&state) + curand_log_normal_double(&state, 0., 1.);
  counts[0] = curand(&state) + curand_poisson(&state, 3.5);
}

template <class State>
__global__ void sequence(float* out, double* wide, unsigned* counts) {
  State state;
  curand_init(1234ull, threadIdx.x, 17, &state);
  draw(state, out, wide, counts);
  const float2 pair = curand_normal2(&state);
  out[1] = pair.x + pair.y;
  skipahead(5ull, &state);
}

template __global__ void sequence<curandStateXORWOW_t>(float*, double*, unsigned*);
template __global__ void sequence<curandStateMRG32k3a_t>(float*, double*, unsigned*);
template __global__ void sequence<curandStatePhilox4_32_10_t>(float*, double*, unsigned*);

__global__ void sobol(curandDirectionVectors32_t* vectors, float* out, double* wide, unsigned* counts) {
  curandStateSobol32_t state;
  curand_init(vectors[threadIdx.x], 3u, &state);
  draw(state, out, wide, counts);
}

__global__ void scrambled(curandDirectionVectors64_t* vectors, unsigned long long* out) {
  curandStateScrambledSobol64_t state;
  curand_init(vectors[threadIdx.x], 9ull, 3ull, &state);
  out[threadIdx.x] = curand(&state);
}

__global__ void mersenne(curandStateMtgp32* states, float* out, curandDiscreteDistribution_t distribution,
                         unsigned* counts) {
  out[threadIdx.x] = curand_uniform(&states[blockIdx.x]);
  counts[threadIdx.x] = curand_discrete(&states[blockIdx.x], distribution);
}
