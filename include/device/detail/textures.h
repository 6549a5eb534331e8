// Texture and surface objects.
#ifndef MULCIBER_DEVICE_TEXTURES_H
#define MULCIBER_DEVICE_TEXTURES_H

// What a fetch gives in four registers becomes T: an element or a vector of elements.
template <class T>
struct __mulciber_texel {
  using Element = T;
};
#define MULCIBER_TEXELS(name, T)     \
  template <>                        \
  struct __mulciber_texel<name##1> { \
    using Element = T;               \
  };                                 \
  template <>                        \
  struct __mulciber_texel<name##2> { \
    using Element = T;               \
  };                                 \
  template <>                        \
  struct __mulciber_texel<name##4> { \
    using Element = T;               \
  };
MULCIBER_TEXELS(char, signed char)
MULCIBER_TEXELS(uchar, unsigned char)
MULCIBER_TEXELS(short, short)
MULCIBER_TEXELS(ushort, unsigned short)
MULCIBER_TEXELS(int, int)
MULCIBER_TEXELS(uint, unsigned)
MULCIBER_TEXELS(float, float)
#undef MULCIBER_TEXELS

template <class T>
__device__ __forceinline__ T __mulciber_from_registers(const unsigned (&registers)[4]) {
  using Element = typename __mulciber_texel<T>::Element;
  Element elements[sizeof(T) / sizeof(Element)];
  for (unsigned i = 0; i < sizeof(T) / sizeof(Element); ++i)
    elements[i] = std::is_same<Element, float>::value ? static_cast<Element>(__uint_as_float(registers[i]))
                                                      : static_cast<Element>(registers[i]);
  T result;
  __builtin_memcpy(&result, elements, sizeof(T));
  return result;
}

// The fetch of each type of texel: f32, and s32 and u32 with their sign in the instruction alone.
#define MULCIBER_FETCH(instruction, coordinates, ...)                                                               \
  using Element = typename __mulciber_texel<T>::Element;                                                            \
  unsigned r[4];                                                                                                    \
  if (std::is_same<Element, float>::value)                                                                          \
    asm volatile(instruction ".f32" coordinates : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : __VA_ARGS__);    \
  else if (std::is_signed<Element>::value)                                                                          \
    asm volatile(instruction ".s32" coordinates : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : __VA_ARGS__);    \
  else asm volatile(instruction ".u32" coordinates : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : __VA_ARGS__); \
  return __mulciber_from_registers<T>(r);
// Each with a form that writes through a pointer.
#define MULCIBER_TEXTURE(name, parameters, arguments, ...)                    \
  template <class T>                                                          \
  __device__ __forceinline__ T name parameters {                              \
    __VA_ARGS__                                                               \
  }                                                                           \
  template <class T>                                                          \
  __device__ __forceinline__ void name(T* result, MULCIBER_LIST parameters) { \
    *result = name<T> arguments;                                              \
  }
#define MULCIBER_LIST(...) __VA_ARGS__

MULCIBER_TEXTURE(tex1Dfetch, (cudaTextureObject_t t, int x), (t, x),
                 MULCIBER_FETCH("tex.1d.v4", ".s32 {%0, %1, %2, %3}, [%4, {%5}];", "l"(t), "r"(x)))
MULCIBER_TEXTURE(tex1D, (cudaTextureObject_t t, float x), (t, x),
                 MULCIBER_FETCH("tex.1d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5}];", "l"(t), "f"(x)))
MULCIBER_TEXTURE(tex2D, (cudaTextureObject_t t, float x, float y), (t, x, y),
                 MULCIBER_FETCH("tex.2d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", "l"(t), "f"(x), "f"(y)))
MULCIBER_TEXTURE(tex3D, (cudaTextureObject_t t, float x, float y, float z), (t, x, y, z),
                 MULCIBER_FETCH("tex.3d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "f"(x), "f"(y),
                                "f"(z)))
MULCIBER_TEXTURE(texCubemap, (cudaTextureObject_t t, float x, float y, float z), (t, x, y, z),
                 MULCIBER_FETCH("tex.cube.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "f"(x), "f"(y),
                                "f"(z)))
MULCIBER_TEXTURE(tex1DLayered, (cudaTextureObject_t t, float x, int layer), (t, x, layer),
                 MULCIBER_FETCH("tex.a1d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}];", "l"(t), "r"(layer), "f"(x)))
MULCIBER_TEXTURE(tex2DLayered, (cudaTextureObject_t t, float x, float y, int layer), (t, x, y, layer),
                 MULCIBER_FETCH("tex.a2d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];", "l"(t), "r"(layer),
                                "f"(x), "f"(y)))
MULCIBER_TEXTURE(tex1DLod, (cudaTextureObject_t t, float x, float level), (t, x, level),
                 MULCIBER_FETCH("tex.level.1d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5}], %6;", "l"(t), "f"(x),
                                "f"(level)))
MULCIBER_TEXTURE(tex2DLod, (cudaTextureObject_t t, float x, float y, float level), (t, x, y, level),
                 MULCIBER_FETCH("tex.level.2d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5, %6}], %7;", "l"(t), "f"(x), "f"(y),
                                "f"(level)))
MULCIBER_TEXTURE(tex3DLod, (cudaTextureObject_t t, float x, float y, float z, float level), (t, x, y, z, level),
                 MULCIBER_FETCH("tex.level.3d.v4", ".f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}], %8;", "l"(t), "f"(x),
                                "f"(y), "f"(z), "f"(level)))
#undef MULCIBER_TEXTURE
#undef MULCIBER_FETCH

// Surfaces: x counts bytes. An access moves the bits of 1, 2, 4, 8 or 16 bytes, whatever the surface's elements are.
// Operands have names, because how many registers come before the place differs.
#define MULCIBER_SURFACE(shape, mode, place, ...)                                                                     \
  template <class T>                                                                                                  \
  __device__ __forceinline__ T __mulciber_read(MULCIBER_SURFACE_PLACE_##shape, __mulciber_mode_##mode) {              \
    unsigned w[4] = {0, 0, 0, 0};                                                                                     \
    unsigned short part = 0;                                                                                          \
    if (sizeof(T) == 1)                                                                                               \
      asm volatile("suld.b." #shape ".b8." #mode " {%[a]}, " place ";" : [a] "=h"(part) : __VA_ARGS__ : "memory");    \
    else if (sizeof(T) == 2)                                                                                          \
      asm volatile("suld.b." #shape ".b16." #mode " {%[a]}, " place ";" : [a] "=h"(part) : __VA_ARGS__ : "memory");   \
    else if (sizeof(T) == 4)                                                                                          \
      asm volatile("suld.b." #shape ".b32." #mode " {%[a]}, " place ";" : [a] "=r"(w[0]) : __VA_ARGS__ : "memory");   \
    else if (sizeof(T) == 8)                                                                                          \
      asm volatile("suld.b." #shape ".v2.b32." #mode " {%[a], %[b]}, " place ";"                                      \
                   : [a] "=r"(w[0]), [b] "=r"(w[1])                                                                   \
                   : __VA_ARGS__                                                                                      \
                   : "memory");                                                                                       \
    else                                                                                                              \
      asm volatile("suld.b." #shape ".v4.b32." #mode " {%[a], %[b], %[c], %[d]}, " place ";"                          \
                   : [a] "=r"(w[0]), [b] "=r"(w[1]), [c] "=r"(w[2]), [d] "=r"(w[3])                                   \
                   : __VA_ARGS__                                                                                      \
                   : "memory");                                                                                       \
    if (sizeof(T) <= 2) w[0] = part;                                                                                  \
    T result;                                                                                                         \
    __builtin_memcpy(&result, w, sizeof(T));                                                                          \
    return result;                                                                                                    \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  __device__ __forceinline__ void __mulciber_write(T value, MULCIBER_SURFACE_PLACE_##shape, __mulciber_mode_##mode) { \
    unsigned w[4] = {0, 0, 0, 0};                                                                                     \
    __builtin_memcpy(w, &value, sizeof(T));                                                                           \
    const unsigned short part = static_cast<unsigned short>(w[0]);                                                    \
    if (sizeof(T) == 1)                                                                                               \
      asm volatile("sust.b." #shape ".b8." #mode " " place ", {%[a]};" ::[a] "h"(part), __VA_ARGS__ : "memory");      \
    else if (sizeof(T) == 2)                                                                                          \
      asm volatile("sust.b." #shape ".b16." #mode " " place ", {%[a]};" ::[a] "h"(part), __VA_ARGS__ : "memory");     \
    else if (sizeof(T) == 4)                                                                                          \
      asm volatile("sust.b." #shape ".b32." #mode " " place ", {%[a]};" ::[a] "r"(w[0]), __VA_ARGS__ : "memory");     \
    else if (sizeof(T) == 8)                                                                                          \
      asm volatile("sust.b." #shape ".v2.b32." #mode " " place ", {%[a], %[b]};" ::[a] "r"(w[0]), [b] "r"(w[1]),      \
                   __VA_ARGS__                                                                                        \
                   : "memory");                                                                                       \
    else                                                                                                              \
      asm volatile("sust.b." #shape ".v4.b32." #mode " " place ", {%[a], %[b], %[c], %[d]};" ::[a] "r"(w[0]),         \
                   [b] "r"(w[1]), [c] "r"(w[2]), [d] "r"(w[3]), __VA_ARGS__                                           \
                   : "memory");                                                                                       \
  }
#define MULCIBER_SURFACE_SHAPE(shape, place, ...)    \
  MULCIBER_SURFACE(shape, trap, place, __VA_ARGS__)  \
  MULCIBER_SURFACE(shape, clamp, place, __VA_ARGS__) \
  MULCIBER_SURFACE(shape, zero, place, __VA_ARGS__)
struct __mulciber_mode_trap {};
struct __mulciber_mode_clamp {};
struct __mulciber_mode_zero {};
#define MULCIBER_SURFACE_PLACE_1d cudaSurfaceObject_t s, int x
#define MULCIBER_SURFACE_PLACE_2d cudaSurfaceObject_t s, int x, int y
#define MULCIBER_SURFACE_PLACE_3d cudaSurfaceObject_t s, int x, int y, int z
#define MULCIBER_SURFACE_PLACE_a2d cudaSurfaceObject_t s, int x, int y, unsigned layer
MULCIBER_SURFACE_SHAPE(1d, "[%[s], {%[x]}]", [s] "l"(s), [x] "r"(x))
MULCIBER_SURFACE_SHAPE(2d, "[%[s], {%[x], %[y]}]", [s] "l"(s), [x] "r"(x), [y] "r"(y))
MULCIBER_SURFACE_SHAPE(3d, "[%[s], {%[x], %[y], %[z], %[z]}]", [s] "l"(s), [x] "r"(x), [y] "r"(y), [z] "r"(z))
MULCIBER_SURFACE_SHAPE(a2d, "[%[s], {%[l], %[x], %[y], %[y]}]", [s] "l"(s), [l] "r"(layer), [x] "r"(x), [y] "r"(y))
#undef MULCIBER_SURFACE_SHAPE
#undef MULCIBER_SURFACE

// The functions of CUDA, by what happens outside of the surface.
#define MULCIBER_SURFACE_FUNCTIONS(name, parameters, ...)                                                    \
  template <class T>                                                                                         \
  __device__ __forceinline__ T name##read(MULCIBER_LIST parameters,                                          \
                                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {             \
    if (mode == cudaBoundaryModeClamp) return __mulciber_read<T>(__VA_ARGS__, __mulciber_mode_clamp());      \
    if (mode == cudaBoundaryModeZero) return __mulciber_read<T>(__VA_ARGS__, __mulciber_mode_zero());        \
    return __mulciber_read<T>(__VA_ARGS__, __mulciber_mode_trap());                                          \
  }                                                                                                          \
  template <class T>                                                                                         \
  __device__ __forceinline__ void name##read(T* result, MULCIBER_LIST parameters,                            \
                                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {          \
    *result = name##read<T>(__VA_ARGS__, mode);                                                              \
  }                                                                                                          \
  template <class T>                                                                                         \
  __device__ __forceinline__ void name##write(T value, MULCIBER_LIST parameters,                             \
                                              cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {         \
    if (mode == cudaBoundaryModeClamp) return __mulciber_write(value, __VA_ARGS__, __mulciber_mode_clamp()); \
    if (mode == cudaBoundaryModeZero) return __mulciber_write(value, __VA_ARGS__, __mulciber_mode_zero());   \
    return __mulciber_write(value, __VA_ARGS__, __mulciber_mode_trap());                                     \
  }
MULCIBER_SURFACE_FUNCTIONS(surf1D, (cudaSurfaceObject_t s, int x), s, x)
MULCIBER_SURFACE_FUNCTIONS(surf2D, (cudaSurfaceObject_t s, int x, int y), s, x, y)
MULCIBER_SURFACE_FUNCTIONS(surf3D, (cudaSurfaceObject_t s, int x, int y, int z), s, x, y, z)
MULCIBER_SURFACE_FUNCTIONS(surf2DLayered, (cudaSurfaceObject_t s, int x, int y, int layer), s, x, y,
                           static_cast<unsigned>(layer))
#undef MULCIBER_SURFACE_FUNCTIONS
#undef MULCIBER_SURFACE_PLACE_1d
#undef MULCIBER_SURFACE_PLACE_2d
#undef MULCIBER_SURFACE_PLACE_3d
#undef MULCIBER_SURFACE_PLACE_a2d
#undef MULCIBER_LIST

#endif
