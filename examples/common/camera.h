// A camera: where it stands and what it looks at, as a matrix for vertex shaders.
#pragma once

#include <array>
#include <cmath>

namespace example {

using Vector = std::array<float, 3>;
using Matrix = std::array<float, 16>;  // column by column, as GLSL has it

inline float dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Vector unit(const Vector& a) {
  const float length = std::sqrt(dot(a, a));
  return {a[0] / length, a[1] / length, a[2] / length};
}

struct Camera {
  Vector eye, forward, right, up;
  float slope, aspect;  // of the picture's upper edge, and width by height

  Camera(const Vector& from, const Vector& to, float fieldOfView, float widthByHeight)
      : eye(from), slope(std::tan(fieldOfView / 2)), aspect(widthByHeight) {
    forward = unit({to[0] - from[0], to[1] - from[1], to[2] - from[2]});
    right = unit(cross(forward, {0, 1, 0}));
    up = cross(right, forward);
  }

  // Vulkan's y points down; depth is 0 at `near` and nears 1 far away.
  Matrix matrix(float near) const {
    Matrix m{};
    const float sx = 1 / (slope * aspect), sy = -1 / slope;
    for (size_t i = 0; i < 3; ++i) {
      m[i * 4] = right[i] * sx;
      m[i * 4 + 1] = up[i] * sy;
      m[i * 4 + 2] = m[i * 4 + 3] = forward[i];
    }
    m[12] = -dot(right, eye) * sx;
    m[13] = -dot(up, eye) * sy;
    m[15] = -dot(forward, eye);
    m[14] = m[15] - near;
    return m;
  }
};

}  // namespace example
