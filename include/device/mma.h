// Products of matrices by a warp: nvcuda::wmma, through PTX's instructions of that name. Which element of a matrix lies
// where in a fragment is PTX's choice.
#ifndef MULCIBER_DEVICE_MMA_H
#define MULCIBER_DEVICE_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment;

// The elements that one thread has.
template <class Stored, int Count>
struct __align__(8) __mulciber_elements {
  using element_type = Stored;
  using storage_element_type = Stored;
  enum { num_elements = Count, num_storage_elements = Count };
  Stored x[Count];
};

template <class Fragment, class T>
__device__ __forceinline__ void fill_fragment(Fragment& f, const T& value) {
#pragma unroll
  for (int i = 0; i < Fragment::num_elements; ++i) f.x[i] = static_cast<typename Fragment::element_type>(value);
}

// The nearest tf32, which is a float.
__device__ __forceinline__ float __float_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

// `n` operands of an instruction, [l0] and on, which are the elements of the array l.
#define MULCIBER_NAMES_1(l) "%[" #l "0]"
#define MULCIBER_NAMES_2(l) MULCIBER_NAMES_1(l) ", %[" #l "1]"
#define MULCIBER_NAMES_4(l) MULCIBER_NAMES_2(l) ", %[" #l "2], %[" #l "3]"
#define MULCIBER_NAMES_8(l) MULCIBER_NAMES_4(l) ", %[" #l "4], %[" #l "5], %[" #l "6], %[" #l "7]"
#define MULCIBER_OPERANDS_1(l, c) [l##0] c(l[0])
#define MULCIBER_OPERANDS_2(l, c) MULCIBER_OPERANDS_1(l, c), [l##1] c(l[1])
#define MULCIBER_OPERANDS_4(l, c) MULCIBER_OPERANDS_2(l, c), [l##2] c(l[2]), [l##3] c(l[3])
#define MULCIBER_OPERANDS_8(l, c) \
  MULCIBER_OPERANDS_4(l, c), [l##4] c(l[4]), [l##5] c(l[5]), [l##6] c(l[6]), [l##7] c(l[7])

// What a register of each type is, as C++ and as asm's constraint.
#define MULCIBER_REGISTER_r unsigned
#define MULCIBER_REGISTER_f float
#define MULCIBER_REGISTER_d double
#define MULCIBER_CONSTRAINT_r "r"
#define MULCIBER_CONSTRAINT_f "f"
#define MULCIBER_CONSTRAINT_d "d"

// Loading one matrix of a layout: `letter` is a, b or c, `n` the number of registers of kind r, f or d.
#define MULCIBER_LOAD(letter, layout, shape, type, n, r, f, from, line)           \
  MULCIBER_REGISTER_##r v[n];                                                     \
  asm volatile("wmma.load." #letter ".sync.aligned." #layout "." #shape "." #type \
               " {" MULCIBER_NAMES_##n(v) "}, [%[from]], %[line];"                \
               : MULCIBER_OPERANDS_##n(v, "=" MULCIBER_CONSTRAINT_##r)            \
               : [from] "l"(from), [line] "r"(line)                               \
               : "memory");                                                       \
  __builtin_memcpy((f).x, v, sizeof(v));
#define MULCIBER_STORE(layout, shape, type, n, r, f, to, line)                     \
  MULCIBER_REGISTER_##r v[n];                                                      \
  __builtin_memcpy(v, (f).x, sizeof(v));                                           \
  asm volatile("wmma.store.d.sync.aligned." #layout "." #shape "." #type           \
               " [%[to]], {" MULCIBER_NAMES_##n(v) "}, %[line];" ::[to] "l"(to),   \
               [line] "r"(line), MULCIBER_OPERANDS_##n(v, MULCIBER_CONSTRAINT_##r) \
               : "memory");

// The fragments of A or B: `T` names the type, `Stored` is what lies in memory, `count` of them in n registers.
#define MULCIBER_FACTOR(use, letter, M, N, K, T, Layout, layout, Stored, count, shape, type, n, r)           \
  template <>                                                                                                \
  class fragment<use, M, N, K, T, Layout> : public __mulciber_elements<Stored, count> {};                    \
  __device__ __forceinline__ void load_matrix_sync(fragment<use, M, N, K, T, Layout>& f, const Stored* from, \
                                                   unsigned line) {                                          \
    MULCIBER_LOAD(letter, layout, shape, type, n, r, f, from, line)                                          \
  }
#define MULCIBER_FACTORS(M, N, K, T, Stored, shape, type, countA, nA, countB, nB, r)           \
  MULCIBER_FACTOR(matrix_a, a, M, N, K, T, row_major, row, Stored, countA, shape, type, nA, r) \
  MULCIBER_FACTOR(matrix_a, a, M, N, K, T, col_major, col, Stored, countA, shape, type, nA, r) \
  MULCIBER_FACTOR(matrix_b, b, M, N, K, T, row_major, row, Stored, countB, shape, type, nB, r) \
  MULCIBER_FACTOR(matrix_b, b, M, N, K, T, col_major, col, Stored, countB, shape, type, nB, r)
#define MULCIBER_ACCUMULATOR(M, N, K, T, count, shape, type, n, r)                                                     \
  template <>                                                                                                          \
  class fragment<accumulator, M, N, K, T> : public __mulciber_elements<T, count> {};                                   \
  __device__ __forceinline__ void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* from, unsigned line, \
                                                   layout_t layout) {                                                  \
    if (layout == mem_row_major) {                                                                                     \
      MULCIBER_LOAD(c, row, shape, type, n, r, f, from, line)                                                          \
    } else {                                                                                                           \
      MULCIBER_LOAD(c, col, shape, type, n, r, f, from, line)                                                          \
    }                                                                                                                  \
  }                                                                                                                    \
  __device__ __forceinline__ void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& f, unsigned line,  \
                                                    layout_t layout) {                                                 \
    if (layout == mem_row_major) {                                                                                     \
      MULCIBER_STORE(row, shape, type, n, r, f, to, line)                                                              \
    } else {                                                                                                           \
      MULCIBER_STORE(col, shape, type, n, r, f, to, line)                                                              \
    }                                                                                                                  \
  }

// D = A * B + C in each pair of layouts. `types` are those of the instruction, after the shape.
#define MULCIBER_PRODUCT(instruction, na, ra, nb, nc, rc, nd, rd, d, a, b, c)                                      \
  MULCIBER_REGISTER_##ra va[na], vb[nb];                                                                           \
  MULCIBER_REGISTER_##rc vc[nc];                                                                                   \
  MULCIBER_REGISTER_##rd vd[nd];                                                                                   \
  __builtin_memcpy(va, (a).x, sizeof(va)), __builtin_memcpy(vb, (b).x, sizeof(vb)),                                \
      __builtin_memcpy(vc, (c).x, sizeof(vc));                                                                     \
  asm volatile(instruction " {" MULCIBER_NAMES_##nd(vd) "}, {" MULCIBER_NAMES_##na(va) "}, {" MULCIBER_NAMES_##nb( \
                   vb) "}, {" MULCIBER_NAMES_##nc(vc) "};"                                                         \
               : MULCIBER_OPERANDS_##nd(vd, "=" MULCIBER_CONSTRAINT_##rd)                                          \
               : MULCIBER_OPERANDS_##na(va, MULCIBER_CONSTRAINT_##ra),                                             \
                 MULCIBER_OPERANDS_##nb(vb, MULCIBER_CONSTRAINT_##ra),                                             \
                 MULCIBER_OPERANDS_##nc(vc, MULCIBER_CONSTRAINT_##rc));                                            \
  __builtin_memcpy((d).x, vd, sizeof(vd));
#define MULCIBER_PRODUCT_OF(LayoutA, layoutA, LayoutB, layoutB, M, N, K, T, D, C, shape, types, na, ra, nb, nc, rc,    \
                            nd, rd)                                                                                    \
  __device__ __forceinline__ void mma_sync(                                                                            \
      fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,                          \
      const fragment<matrix_b, M, N, K, T, LayoutB>& b, const fragment<accumulator, M, N, K, C>& c) {                  \
    MULCIBER_PRODUCT("wmma.mma.sync.aligned." #layoutA "." #layoutB "." #shape "." #types, na, ra, nb, nc, rc, nd, rd, \
                     d, a, b, c)                                                                                       \
  }
#define MULCIBER_INTEGER_PRODUCT_OF(LayoutA, layoutA, LayoutB, layoutB, M, N, K, T, D, C, shape, types, na, ra, nb,   \
                                    nc, rc, nd, rd)                                                                   \
  __device__ __forceinline__ void mma_sync(fragment<accumulator, M, N, K, D>& d,                                      \
                                           const fragment<matrix_a, M, N, K, T, LayoutA>& a,                          \
                                           const fragment<matrix_b, M, N, K, T, LayoutB>& b,                          \
                                           const fragment<accumulator, M, N, K, C>& c, bool saturates = false) {      \
    if (saturates) {                                                                                                  \
      MULCIBER_PRODUCT("wmma.mma.sync.aligned." #layoutA "." #layoutB "." #shape "." #types ".satfinite", na, ra, nb, \
                       nc, rc, nd, rd, d, a, b, c)                                                                    \
    } else {                                                                                                          \
      MULCIBER_PRODUCT("wmma.mma.sync.aligned." #layoutA "." #layoutB "." #shape "." #types, na, ra, nb, nc, rc, nd,  \
                       rd, d, a, b, c)                                                                                \
    }                                                                                                                 \
  }
#define MULCIBER_PRODUCTS(OF, ...)                \
  OF(row_major, row, row_major, row, __VA_ARGS__) \
  OF(row_major, row, col_major, col, __VA_ARGS__) \
  OF(col_major, col, row_major, row, __VA_ARGS__) \
  OF(col_major, col, col_major, col, __VA_ARGS__)

#define MULCIBER_WMMA_HALVES(M, N, K, shape)                                                                   \
  MULCIBER_FACTORS(M, N, K, __half, __half, shape, f16, 16, 8, 16, 8, r)                                       \
  MULCIBER_ACCUMULATOR(M, N, K, __half, 8, shape, f16, 4, r)                                                   \
  MULCIBER_ACCUMULATOR(M, N, K, float, 8, shape, f32, 8, f)                                                    \
  MULCIBER_PRODUCTS(MULCIBER_PRODUCT_OF, M, N, K, __half, __half, __half, shape, f16.f16, 8, r, 8, 4, r, 4, r) \
  MULCIBER_PRODUCTS(MULCIBER_PRODUCT_OF, M, N, K, __half, float, __half, shape, f32.f16, 8, r, 8, 4, r, 8, f)  \
  MULCIBER_PRODUCTS(MULCIBER_PRODUCT_OF, M, N, K, __half, __half, float, shape, f16.f32, 8, r, 8, 8, f, 4, r)  \
  MULCIBER_PRODUCTS(MULCIBER_PRODUCT_OF, M, N, K, __half, float, float, shape, f32.f32, 8, r, 8, 8, f, 8, f)
MULCIBER_WMMA_HALVES(16, 16, 16, m16n16k16)
MULCIBER_WMMA_HALVES(32, 8, 16, m32n8k16)
MULCIBER_WMMA_HALVES(8, 32, 16, m8n32k16)

// Two bfloat16 or four bytes share a register: a and b are how many registers the factors have.
#define MULCIBER_WMMA_BFLOATS(M, N, K, shape, countA, a, countB, b)                                                  \
  MULCIBER_FACTORS(M, N, K, __nv_bfloat16, __nv_bfloat16, shape, bf16, countA, a, countB, b, r)                      \
  MULCIBER_PRODUCTS(MULCIBER_PRODUCT_OF, M, N, K, __nv_bfloat16, float, float, shape, f32.bf16.bf16.f32, a, r, b, 8, \
                    f, 8, f)
MULCIBER_WMMA_BFLOATS(16, 16, 16, m16n16k16, 8, 4, 8, 4)
MULCIBER_WMMA_BFLOATS(32, 8, 16, m32n8k16, 16, 8, 4, 2)
MULCIBER_WMMA_BFLOATS(8, 32, 16, m8n32k16, 4, 2, 16, 8)

#define MULCIBER_WMMA_BYTES(M, N, K, shape, countA, a, countB, b)                                                     \
  MULCIBER_FACTORS(M, N, K, signed char, signed char, shape, s8, countA, a, countB, b, r)                             \
  MULCIBER_FACTORS(M, N, K, unsigned char, unsigned char, shape, u8, countA, a, countB, b, r)                         \
  MULCIBER_ACCUMULATOR(M, N, K, int, 8, shape, s32, 8, r)                                                             \
  MULCIBER_PRODUCTS(MULCIBER_INTEGER_PRODUCT_OF, M, N, K, signed char, int, int, shape, s32.s8.s8.s32, a, r, b, 8, r, \
                    8, r)                                                                                             \
  MULCIBER_PRODUCTS(MULCIBER_INTEGER_PRODUCT_OF, M, N, K, unsigned char, int, int, shape, s32.u8.u8.s32, a, r, b, 8,  \
                    r, 8, r)
MULCIBER_WMMA_BYTES(16, 16, 16, m16n16k16, 8, 2, 8, 2)
MULCIBER_WMMA_BYTES(32, 8, 16, m32n8k16, 16, 4, 4, 1)
MULCIBER_WMMA_BYTES(8, 32, 16, m8n32k16, 4, 1, 16, 4)

MULCIBER_FACTORS(16, 16, 8, precision::tf32, float, m16n16k8, tf32, 4, 4, 4, 4, r)
MULCIBER_ACCUMULATOR(16, 16, 8, float, 8, m16n16k8, f32, 8, f)
MULCIBER_PRODUCTS(MULCIBER_PRODUCT_OF, 16, 16, 8, precision::tf32, float, float, m16n16k8, f32.tf32.tf32.f32, 4, r, 4,
                  8, f, 8, f)
MULCIBER_FACTORS(8, 8, 4, double, double, m8n8k4, f64, 1, 1, 1, 1, d)
MULCIBER_ACCUMULATOR(8, 8, 4, double, 2, m8n8k4, f64, 2, d)
MULCIBER_PRODUCTS(MULCIBER_PRODUCT_OF, 8, 8, 4, double, double, double, m8n8k4, f64.f64.f64.f64, 1, d, 1, 2, d, 2, d)

}  // namespace wmma
}  // namespace nvcuda

#endif
