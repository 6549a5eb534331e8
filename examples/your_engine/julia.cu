// Compiled to julia.ptx with: nvcc -ptx -arch=compute_75 julia.cu

// How fast points leave the Julia set of c, as colours of four bytes.
extern "C" __global__ void julia(uchar4* pixels, int width, int height, float cx, float cy) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float x = (column - 0.5f * width) * 2.6f / height, y = (row - 0.5f * height) * 2.6f / height;
  int steps = 0;
  while (steps < 250 && x * x + y * y < 256) {
    const float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++steps;
  }
  const float smooth = steps < 250 ? steps + 1 - log2f(0.5f * log2f(x * x + y * y)) : 250;
  const float t = 0.09f * smooth;
  const float shade = steps < 250 ? 1 : 0.15f;
  const auto byte = [&](float phase) {
    return static_cast<unsigned char>(255 * shade * (0.5f - 0.5f * cosf(t + phase)));
  };
  pixels[row * width + column] = make_uchar4(byte(0), byte(0.5f), byte(1.1f), 255);
}
