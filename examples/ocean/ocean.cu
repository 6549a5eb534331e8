// Waves of an ocean: their spectrum is moved forward in time, Fourier transforms turn it into heights and slopes, and
// these are written as the vertices that a renderer draws. Compiled to ocean.ptx with: nvcc -ptx -arch=compute_75
// ocean.cu
//
// A patch of N x N points repeats. Its waves have the wave numbers k = 2 pi (x - N/2, y - N/2) / length.

constexpr float pi = 3.14159265f, gravity = 9.81f;

struct Vertex {
  float x, y, z, foam;
  float normalX, normalY, normalZ, unused;
};

__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__device__ float random(unsigned& state) {
  state = state * 747796405u + 2891336453u;
  const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return ((word >> 22) ^ word) * (1.0f / 4294967296.0f);
}

__device__ float2 waveNumber(int x, int y, int n, float length) {
  return make_float2(2 * pi * (x - n / 2) / length, 2 * pi * (y - n / 2) / length);
}

// The amplitude and phase of each wave at time 0: Phillips' spectrum for a wind along (1, 0.35).
extern "C" __global__ void spectrum(float2* waves, int n, float length, float wind, float strength) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float2 k = waveNumber(x, y, n, length);
  const float square = k.x * k.x + k.y * k.y;
  unsigned state = (y * n + x) * 2654435761u + 7;
  // Normally distributed: Box and Muller's way.
  const float radius = sqrtf(-2 * logf(random(state) + 1e-7f)), angle = 2 * pi * random(state);
  float2 wave = make_float2(0, 0);
  if (square > 0) {
    const float along = (k.x * 0.9439f + k.y * 0.3304f) * rsqrtf(square);
    const float longest = wind * wind / gravity, shortest = 0.02f;
    float power = expf(-1 / (square * longest * longest)) / (square * square) * along * along;
    if (along < 0) power *= 0.15f;  // few waves run against the wind
    power *= expf(-square * shortest * shortest) * strength / (length * length);
    const float size = sqrtf(power * 0.5f) * radius;
    wave = make_float2(size * cosf(angle), size * sinf(angle));
  }
  waves[y * n + x] = wave;
}

// The spectra of what is wanted at a time. Heights and both horizontal displacements are real, so that two of them fit
// one complex transform: `first` becomes height + i * displacement along x, `second` displacement along z.
extern "C" __global__ void evolve(const float2* waves, float2* first, float2* second, int n, float length, float time) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const float2 k = waveNumber(x, y, n, length);
  const float size = sqrtf(k.x * k.x + k.y * k.y);
  const float turned = sqrtf(gravity * size) * time;
  const float2 phase = make_float2(cosf(turned), sinf(turned));
  const float2 wave = waves[y * n + x];
  const float2 other = waves[(n - y) % n * n + (n - x) % n];  // of -k
  const float2 a = times(wave, phase), b = times(make_float2(other.x, -other.y), make_float2(phase.x, -phase.y));
  const float2 height = make_float2(a.x + b.x, a.y + b.y);
  const float2 direction = size > 0 ? make_float2(k.x / size, k.y / size) : make_float2(0, 0);
  // i * direction * height is a displacement; times i again it is the imaginary part of the first transform.
  first[y * n + x] = make_float2(height.x - height.x * direction.x, height.y - height.y * direction.x);
  second[y * n + x] = make_float2(-height.y * direction.y, height.x * direction.y);
}

// Transforms the rows, or the columns, of two n x n fields in place: a block for each line, half a thread for each
// point.
extern "C" __global__ void transform(float2* first, float2* second, int n, int pointStride, int lineStride) {
  extern __shared__ float2 points[];
  float2* const line = (blockIdx.y == 0 ? first : second) + blockIdx.x * lineStride;
  const int thread = threadIdx.x;
  const int bits = 31 - __clz(n);
  for (int i = thread; i < n; i += blockDim.x) points[__brev(i) >> (32 - bits)] = line[i * pointStride];
  for (int half = 1; half < n; half *= 2) {
    __syncthreads();
    const int inPair = thread & (half - 1), at = 2 * (thread - inPair) + inPair;
    const float angle = pi * inPair / half;
    const float2 turned = times(points[at + half], make_float2(cosf(angle), sinf(angle)));
    const float2 kept = points[at];
    points[at] = make_float2(kept.x + turned.x, kept.y + turned.y);
    points[at + half] = make_float2(kept.x - turned.x, kept.y - turned.y);
  }
  __syncthreads();
  for (int i = thread; i < n; i += blockDim.x) line[i * pointStride] = points[i];
}

struct Point {
  float x, y, z;
};

// Where the water of a point is. The transform's middle lies at k = 0, which turns every other sign.
__device__ Point place(const float2* first, const float2* second, int x, int y, int n, float length, float choppiness) {
  const int at = (y & (n - 1)) * n + (x & (n - 1));
  const float sign = ((x + y) & 1) != 0 ? -1 : 1;
  return {x * length / n + sign * choppiness * first[at].y, sign * first[at].x,
          y * length / n + sign * choppiness * second[at].x};
}

// (n + 1) x (n + 1) vertices: the last row and column are the first of the next patch.
extern "C" __global__ void surface(const float2* first, const float2* second, Vertex* vertices, int n, float length,
                                   float choppiness) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > n || y > n) return;
  const Point here = place(first, second, x, y, n, length, choppiness);
  const Point left = place(first, second, x - 1, y, n, length, choppiness);
  const Point right = place(first, second, x + 1, y, n, length, choppiness);
  const Point back = place(first, second, x, y - 1, n, length, choppiness);
  const Point front = place(first, second, x, y + 1, n, length, choppiness);
  const Point u = {right.x - left.x, right.y - left.y, right.z - left.z};
  const Point v = {front.x - back.x, front.y - back.y, front.z - back.z};
  const Point normal = {v.y * u.z - v.z * u.y, v.z * u.x - v.x * u.z, v.x * u.y - v.y * u.x};
  const float scale = rsqrtf(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
  // Where the surface is pressed together, it breaks.
  const float spacing = 2 * length / n;
  const float area = (u.x * v.z - u.z * v.x) / (spacing * spacing);
  const float foam = fminf(fmaxf((0.72f - area) * 1.6f, 0.0f), 1.0f);
  vertices[y * (n + 1) + x] = {here.x, here.y, here.z, foam, normal.x * scale, normal.y * scale, normal.z * scale, 0};
}

// Two triangles for each square.
extern "C" __global__ void triangles(unsigned* indices, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const unsigned corner = y * (n + 1) + x, below = corner + n + 1;
  unsigned* const out = indices + 6 * (y * n + x);
  out[0] = corner, out[1] = below, out[2] = corner + 1;
  out[3] = corner + 1, out[4] = below, out[5] = below + 1;
}
