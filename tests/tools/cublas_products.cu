// Products of matrices by NVIDIA's cuBLAS, with matrices of small whole numbers, so that every type has one right
// result whatever the order of the sums. Prints a line for each kind of product: how many were right.
//
// usage: cublas_products [--pedantic] [KIND...]     all kinds when none is named; --pedantic without tensor cores
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace {

#define MUST(call)                                                   \
  do {                                                               \
    if (const int status = static_cast<int>(call)) {                 \
      std::printf("%s gave %d, line %d\n", #call, status, __LINE__); \
      std::exit(1);                                                  \
    }                                                                \
  } while (false)

cublasHandle_t handle;
int right, wrong, refused;
const char* firstFault;
char faultText[256];

// What a type's elements are on the host, and back.
using Value = std::complex<double>;
template <class T>
T of(Value value) {
  if constexpr (std::is_same_v<T, cuComplex>) return {float(value.real()), float(value.imag())};
  else if constexpr (std::is_same_v<T, cuDoubleComplex>) return {value.real(), value.imag()};
  else if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) return T(float(value.real()));
  else return T(value.real());
}
template <class T>
Value valueOf(T element) {
  if constexpr (std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>) return {element.x, element.y};
  else if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) return float(element);
  else return double(element);
}
template <class T>
constexpr bool isComplex = std::is_same_v<T, cuComplex> || std::is_same_v<T, cuDoubleComplex>;

unsigned randomState = 1;
int nextNumber() {  // -2 to 2
  randomState = randomState * 1664525u + 1013904223u;
  return int(randomState >> 16) % 5 - 2;
}

// A matrix in memory of the device, with a copy on the host.
template <class T>
struct Matrix {
  int rows, columns, stride;
  std::vector<T> host;
  T* device = nullptr;

  Matrix(int rowCount, int columnCount, int padding)
      : rows(rowCount), columns(columnCount), stride(rowCount + padding) {
    host.resize(size_t(stride) * columns + 1);
    for (T& element : host) {
      const double real = nextNumber();
      element = of<T>({real, isComplex<T> ? nextNumber() : 0.0});
    }
  }
  ~Matrix() { cudaFree(device); }
  Matrix(const Matrix&) = delete;

  T* upload() {
    MUST(cudaMalloc(&device, host.size() * sizeof(T)));
    MUST(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return device;
  }
  Value at(int row, int column) const { return valueOf(host[size_t(column) * stride + row]); }
  Value at(int row, int column, cublasOperation_t operation) const {
    if (operation == CUBLAS_OP_N) return at(row, column);
    return operation == CUBLAS_OP_T ? at(column, row) : std::conj(at(column, row));
  }
};

struct Shape {
  int m, n, k;
  cublasOperation_t a, b;
  bool betaIsZero, scalarsOnDevice;
};

// The result of a call: 0 to compare, else refused.
template <class A, class C>
void compare(const Shape& shape, const Matrix<A>& a, const Matrix<A>& b, const Matrix<C>& c, Value alpha, Value beta,
             int status, const char* kind) {
  std::vector<C> got(c.host.size());
  const cudaError_t error = status == 0 ? cudaDeviceSynchronize() : cudaSuccess;
  if (status != 0 || error != cudaSuccess) {
    ++refused;
    if (!firstFault) {
      std::snprintf(faultText, sizeof(faultText), "%dx%dx%d %c%c status %d, error %d", shape.m, shape.n, shape.k,
                    "NTC"[shape.a], "NTC"[shape.b], status, error);
      firstFault = faultText;
    }
    return;
  }
  MUST(cudaMemcpy(got.data(), c.device, got.size() * sizeof(C), cudaMemcpyDeviceToHost));
  // What lies between the columns stays as it was.
  for (size_t place = 0; place < got.size(); ++place) {
    const int row = int(place % c.stride), column = int(place / c.stride);
    Value expected = valueOf(c.host[place]);
    if (row < shape.m && column < shape.n) {
      Value sum = 0;
      for (int i = 0; i < shape.k; ++i) sum += a.at(row, i, shape.a) * b.at(i, column, shape.b);
      expected = alpha * sum + (shape.betaIsZero ? Value(0) : beta * expected);
    }
    const Value found = valueOf(got[place]);
    const bool bothNan = std::isnan(expected.real()) && std::isnan(found.real());
    if (found == expected || bothNan) continue;
    ++wrong;
    if (!firstFault) {
      std::snprintf(faultText, sizeof(faultText), "%s %dx%dx%d %c%c beta %g: (%d, %d) is %g%+gi, not %g%+gi", kind,
                    shape.m, shape.n, shape.k, "NTC"[shape.a], "NTC"[shape.b], shape.betaIsZero ? 0.0 : beta.real(),
                    row, column, found.real(), found.imag(), expected.real(), expected.imag());
      firstFault = faultText;
    }
    return;
  }
  ++right;
}

// The scalars of a call, on the host or the device as the handle is told.
template <class S>
struct Scalars {
  S host[2];
  S* device = nullptr;
  bool onDevice;
  Scalars(Value alpha, Value beta, bool isOnDevice) : host{of<S>(alpha), of<S>(beta)}, onDevice(isOnDevice) {
    MUST(cublasSetPointerMode(handle, onDevice ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
    if (!onDevice) return;
    MUST(cudaMalloc(&device, sizeof(host)));
    MUST(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
  }
  ~Scalars() {
    cudaDeviceSynchronize();
    cudaFree(device);
    cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  }
  const S* alpha() const { return onDevice ? device : host; }
  const S* beta() const { return alpha() + 1; }
};

std::vector<Shape> shapes(bool hasConjugates) {
  std::vector<Shape> all;
  const int sizes[][3] = {{1, 1, 1}, {5, 7, 3}, {33, 65, 17}, {64, 64, 64}, {130, 70, 100}, {16, 1, 40}, {1, 20, 40}};
  for (const auto& size : sizes) {
    for (int a = 0; a < (hasConjugates ? 3 : 2); ++a) {
      for (int b = 0; b < (hasConjugates ? 3 : 2); ++b) {
        const int variant = a + b + size[0];
        all.push_back(
            {size[0], size[1], size[2], cublasOperation_t(a), cublasOperation_t(b), variant % 2 == 0, variant % 4 < 2});
      }
    }
  }
  return all;
}

// A is the inputs' type, C the result's, S the scalars'. The call gets pointers and strides of one product.
template <class A, class C, class S, class Call>
void products(const char* kind, int padding, Call call) {
  for (const Shape& shape : shapes(isComplex<A>)) {
    const bool flipA = shape.a != CUBLAS_OP_N, flipB = shape.b != CUBLAS_OP_N;
    Matrix<A> a(flipA ? shape.k : shape.m, flipA ? shape.m : shape.k, padding);
    Matrix<A> b(flipB ? shape.n : shape.k, flipB ? shape.k : shape.n, padding);
    Matrix<C> c(shape.m, shape.n, padding);
    // With beta 0 the result is not read.
    if constexpr (!std::is_integral_v<C>) {
      if (shape.betaIsZero) c.host[0] = of<C>(std::numeric_limits<double>::quiet_NaN());
    }
    const Value alpha = isComplex<S> ? Value(2, 1) : Value(2);
    const Value beta = isComplex<S> ? Value(-1, 2) : Value(3);
    a.upload();
    b.upload();
    c.upload();
    Scalars<S> scalars(alpha, shape.betaIsZero ? Value(0) : beta, shape.scalarsOnDevice);
    const int status = call(shape, a, b, c, scalars.alpha(), scalars.beta());
    compare(shape, a, b, c, alpha, beta, status, kind);
  }
}

// The same product several times: as an array of pointers, and at a distance.
template <class A, class C, class S, class Call>
void batches(const char* kind, Call call) {
  constexpr int count = 3;
  for (const Shape& shape : shapes(isComplex<A>)) {
    const bool flipA = shape.a != CUBLAS_OP_N, flipB = shape.b != CUBLAS_OP_N;
    // Each product is `count` columns' worth of one long matrix, so that a distance can be told.
    std::vector<Matrix<A>*> as, bs;
    std::vector<Matrix<C>*> cs;
    std::vector<const A*> aPointers, bPointers;
    std::vector<C*> cPointers;
    for (int i = 0; i < count; ++i) {
      as.push_back(new Matrix<A>(flipA ? shape.k : shape.m, flipA ? shape.m : shape.k, 1));
      bs.push_back(new Matrix<A>(flipB ? shape.n : shape.k, flipB ? shape.k : shape.n, 2));
      cs.push_back(new Matrix<C>(shape.m, shape.n, 3));
    }
    A *a, *b;
    C* c;
    MUST(cudaMalloc(&a, count * as[0]->host.size() * sizeof(A)));
    MUST(cudaMalloc(&b, count * bs[0]->host.size() * sizeof(A)));
    MUST(cudaMalloc(&c, count * cs[0]->host.size() * sizeof(C)));
    auto place = [](auto* all, auto& matrix, int i) {
      auto* at = all + size_t(i) * matrix.host.size();
      MUST(cudaMemcpy(at, matrix.host.data(), matrix.host.size() * sizeof(*all), cudaMemcpyHostToDevice));
      return at;
    };
    for (int i = 0; i < count; ++i) {
      aPointers.push_back(place(a, *as[i], i));
      bPointers.push_back(place(b, *bs[i], i));
      cPointers.push_back(place(c, *cs[i], i));
    }
    void** pointers;
    MUST(cudaMalloc(&pointers, 3 * count * sizeof(void*)));
    MUST(cudaMemcpy(pointers, aPointers.data(), count * sizeof(void*), cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(pointers + count, bPointers.data(), count * sizeof(void*), cudaMemcpyHostToDevice));
    MUST(cudaMemcpy(pointers + 2 * count, cPointers.data(), count * sizeof(void*), cudaMemcpyHostToDevice));
    const Value alpha = 2, beta = 3;
    Scalars<S> scalars(alpha, shape.betaIsZero ? Value(0) : beta, shape.scalarsOnDevice);
    const int status = call(shape, *as[0], *bs[0], *cs[0], a, b, c, pointers, count, scalars.alpha(), scalars.beta());
    for (int i = 0; i < count; ++i) {
      cs[i]->device = cPointers[i];
      compare(shape, *as[i], *bs[i], *cs[i], alpha, beta, status, kind);
      cs[i]->device = nullptr;
      delete as[i];
      delete bs[i];
      delete cs[i];
    }
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    cudaFree(pointers);
  }
}

template <class A, class C, class S, class Call>
void vectors(const char* kind, Call call) {
  for (const auto& size : {std::pair{1, 1}, {5, 9}, {64, 64}, {130, 70}, {70, 300}}) {
    for (int operation = 0; operation < (isComplex<A> ? 3 : 2); ++operation) {
      const bool flip = operation != 0;
      const int rows = size.first, columns = size.second;
      Shape shape{flip ? columns : rows, 1,
                  flip ? rows : columns, cublasOperation_t(operation),
                  CUBLAS_OP_N,           (rows + operation) % 2 == 0,
                  operation == 1};
      Matrix<A> a(rows, columns, 3), x(shape.k, 1, 0);
      Matrix<C> y(shape.m, 1, 0);
      if (shape.betaIsZero) y.host[0] = of<C>(std::numeric_limits<double>::quiet_NaN());
      a.upload();
      x.upload();
      y.upload();
      const Value alpha = 2, beta = 3;
      Scalars<S> scalars(alpha, shape.betaIsZero ? Value(0) : beta, shape.scalarsOnDevice);
      const int status = call(shape, rows, columns, a, x, y, scalars.alpha(), scalars.beta());
      compare(shape, a, x, y, alpha, beta, status, kind);
    }
  }
}

// One matrix product with a type of its own for each function.
template <class T, class Function>
void plain(const char* kind, Function function) {
  products<T, T, T>(kind, 3, [&](const Shape& s, auto& a, auto& b, auto& c, const T* alpha, const T* beta) {
    return function(handle, s.a, s.b, s.m, s.n, s.k, alpha, a.device, a.stride, b.device, b.stride, beta, c.device,
                    c.stride);
  });
}

template <class A, class C, class S>
void extended(const char* kind, int padding, cudaDataType inputs, cudaDataType result, cublasComputeType_t compute) {
  products<A, C, S>(kind, padding, [&](const Shape& s, auto& a, auto& b, auto& c, const S* alpha, const S* beta) {
    return cublasGemmEx(handle, s.a, s.b, s.m, s.n, s.k, alpha, a.device, inputs, a.stride, b.device, inputs, b.stride,
                        beta, c.device, result, c.stride, compute, CUBLAS_GEMM_DEFAULT);
  });
}

template <class T, class Pointers, class Strided>
void batched(const char* kind, Pointers pointers, Strided strided) {
  batches<T, T, T>(kind, [&](const Shape& s, auto& a, auto& b, auto& c, T*, T*, T*, void** all, int count,
                             const T* alpha, const T* beta) {
    return pointers(handle, s.a, s.b, s.m, s.n, s.k, alpha, reinterpret_cast<T**>(all), a.stride,
                    reinterpret_cast<T**>(all + count), b.stride, beta, reinterpret_cast<T**>(all + 2 * count),
                    c.stride, count);
  });
  batches<T, T, T>(kind, [&](const Shape& s, auto& a, auto& b, auto& c, T* aAt, T* bAt, T* cAt, void**, int count,
                             const T* alpha, const T* beta) {
    return strided(handle, s.a, s.b, s.m, s.n, s.k, alpha, aAt, a.stride, (long long)a.host.size(), bAt, b.stride,
                   (long long)b.host.size(), beta, cAt, c.stride, (long long)c.host.size(), count);
  });
}

template <class T, class Function>
void vector(const char* kind, Function function) {
  vectors<T, T, T>(
      kind, [&](const Shape& s, int rows, int columns, auto& a, auto& x, auto& y, const T* alpha, const T* beta) {
        return function(handle, s.a, rows, columns, alpha, a.device, a.stride, x.device, 1, beta, y.device, 1);
      });
}

// A product that is captured runs when its graph is launched, each time.
void captured() {
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  MUST(cublasSetStream(handle, stream));
  for (const Shape& shape : {Shape{33, 65, 17, CUBLAS_OP_N, CUBLAS_OP_T}, {64, 64, 64, CUBLAS_OP_T, CUBLAS_OP_N}}) {
    Matrix<float> a(shape.a ? shape.k : shape.m, shape.a ? shape.m : shape.k, 0);
    Matrix<float> b(shape.b ? shape.n : shape.k, shape.b ? shape.k : shape.n, 0), c(shape.m, shape.n, 0);
    a.upload();
    b.upload();
    c.upload();
    const float alpha = 2, beta = 3;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    const int status = cublasSgemm(handle, shape.a, shape.b, shape.m, shape.n, shape.k, &alpha, a.device, a.stride,
                                   b.device, b.stride, &beta, c.device, c.stride);
    cudaGraph_t graph;
    MUST(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 0; round < 2; ++round) {
      MUST(cudaGraphLaunch(executable, stream));
      MUST(cudaStreamSynchronize(stream));
      compare(shape, a, b, c, alpha, beta, status, "captured");
      MUST(cudaMemcpy(c.host.data(), c.device, c.host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    }
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));
  }
  MUST(cublasSetStream(handle, nullptr));
  MUST(cudaStreamDestroy(stream));
}

// What is asked for wrongly is answered by the library; nothing to multiply is no error.
void arguments() {
  Matrix<float> c(4, 4, 0);
  c.upload();
  const float one = 1, two = 2;
  auto gemm = [&](int m, int k, int stride) {
    return cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, 4, k, &one, c.device, stride, c.device, 4, &two, c.device,
                       4);
  };
  for (const bool good : {gemm(-1, 4, 4) == CUBLAS_STATUS_INVALID_VALUE, gemm(4, 4, 3) == CUBLAS_STATUS_INVALID_VALUE,
                          gemm(0, 4, 4) == CUBLAS_STATUS_SUCCESS}) {
    ++(good ? right : wrong);
  }
  // Without products to add, the result is scaled.
  const int status = gemm(4, 0, 4);
  compare({4, 4, 0, CUBLAS_OP_N, CUBLAS_OP_N}, c, c, c, 1, 2, status, "arguments");
}

// cublasLtMatmul, which frameworks call: the product, then a bias for each row, then what is below zero becomes zero.
template <class T>
void described(cudaDataType type, cublasLtEpilogue_t epilogue) {
  const Shape shapes[] = {{64, 64, 64, CUBLAS_OP_N, CUBLAS_OP_N}, {136, 72, 104, CUBLAS_OP_T, CUBLAS_OP_N}};
  for (const Shape& shape : shapes) {
    Matrix<T> a(shape.a ? shape.k : shape.m, shape.a ? shape.m : shape.k, 0), b(shape.k, shape.n, 0);
    Matrix<T> c(shape.m, shape.n, 0), bias(shape.m, 1, 0);
    a.upload();
    b.upload();
    c.upload();
    bias.upload();
    const float alpha = 1, beta = 0;
    cublasLtHandle_t lt;
    MUST(cublasLtCreate(&lt));
    cublasLtMatmulDesc_t operation;
    MUST(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      MUST(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof(value)));
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, shape.a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, shape.b);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    const bool hasBias = epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    if (hasBias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.device);
    cublasLtMatrixLayout_t layouts[3];
    MUST(cublasLtMatrixLayoutCreate(&layouts[0], type, a.rows, a.columns, a.stride));
    MUST(cublasLtMatrixLayoutCreate(&layouts[1], type, b.rows, b.columns, b.stride));
    MUST(cublasLtMatrixLayoutCreate(&layouts[2], type, c.rows, c.columns, c.stride));
    cublasLtMatmulPreference_t preference;
    MUST(cublasLtMatmulPreferenceCreate(&preference));
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    int status = cublasLtMatmulAlgoGetHeuristic(lt, operation, layouts[0], layouts[1], layouts[2], layouts[2],
                                                preference, 1, &found, &count);
    if (status == 0) {
      status = cublasLtMatmul(lt, operation, &alpha, a.device, layouts[0], b.device, layouts[1], &beta, c.device,
                              layouts[2], c.device, layouts[2], &found.algo, nullptr, 0, nullptr);
    }
    // compare() knows no bias: the expected result is put in the place of C, and read with beta 1.
    Matrix<T> expected(shape.m, shape.n, 0);
    for (int column = 0; column < shape.n; ++column) {
      for (int row = 0; row < shape.m; ++row) {
        double sum = hasBias ? valueOf(bias.host[row]).real() : 0;
        for (int i = 0; i < shape.k; ++i) sum += (a.at(row, i, shape.a) * b.at(i, column, shape.b)).real();
        if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS && sum < 0) sum = 0;
        expected.host[size_t(column) * expected.stride + row] = of<T>(sum);
      }
    }
    expected.host.back() = c.host.back();
    expected.device = c.device;
    Shape asItIs = shape;
    asItIs.k = 0;
    compare(asItIs, a, b, expected, 1, 1, status, "matmul");
    expected.device = nullptr;
    for (auto& layout : layouts) MUST(cublasLtMatrixLayoutDestroy(layout));
    MUST(cublasLtMatmulPreferenceDestroy(preference));
    MUST(cublasLtMatmulDescDestroy(operation));
    MUST(cublasLtDestroy(lt));
  }
}

struct Kind {
  const char* name;
  std::function<void(const char*)> run;
};

}  // namespace

int main(int count, char** names) {
  MUST(cublasCreate(&handle));
  if (count > 1 && std::strcmp(names[1], "--pedantic") == 0) {
    MUST(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    --count;
    ++names;
  }
  const Kind kinds[] = {
      {"sgemm", [](const char* kind) { plain<float>(kind, cublasSgemm); }},
      {"dgemm", [](const char* kind) { plain<double>(kind, cublasDgemm); }},
      {"cgemm", [](const char* kind) { plain<cuComplex>(kind, cublasCgemm); }},
      {"zgemm", [](const char* kind) { plain<cuDoubleComplex>(kind, cublasZgemm); }},
      {"hgemm", [](const char* kind) { plain<__half>(kind, cublasHgemm); }},
      {"f16",
       [](const char* kind) {
         extended<__half, __half, float>(kind, 3, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F);
         extended<__half, float, float>(kind, 8, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F);
         extended<__half, __half, __half>(kind, 8, CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F);
       }},
      {"bf16",
       [](const char* kind) {
         extended<__nv_bfloat16, float, float>(kind, 3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
         extended<__nv_bfloat16, float, float>(kind, 8, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F);
       }},
      {"tf32",
       [](const char* kind) {
         extended<float, float, float>(kind, 4, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32);
       }},
      {"sgemm_batched", [](const char* kind) { batched<float>(kind, cublasSgemmBatched, cublasSgemmStridedBatched); }},
      {"dgemm_batched", [](const char* kind) { batched<double>(kind, cublasDgemmBatched, cublasDgemmStridedBatched); }},
      {"hgemm_batched", [](const char* kind) { batched<__half>(kind, cublasHgemmBatched, cublasHgemmStridedBatched); }},
      {"sgemv", [](const char* kind) { vector<float>(kind, cublasSgemv); }},
      {"dgemv", [](const char* kind) { vector<double>(kind, cublasDgemv); }},
      {"cgemv", [](const char* kind) { vector<cuComplex>(kind, cublasCgemv); }},
      {"zgemv", [](const char* kind) { vector<cuDoubleComplex>(kind, cublasZgemv); }},
      {"matmul",
       [](const char*) {
         for (const auto epilogue : {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS}) {
           described<float>(CUDA_R_32F, epilogue);
           described<__half>(CUDA_R_16F, epilogue);
         }
       }},
      {"captured", [](const char*) { captured(); }},
      {"arguments", [](const char*) { arguments(); }},
  };
  cudaDeviceProp properties;
  MUST(cudaGetDeviceProperties(&properties, 0));
  std::printf("the program is told %d.%d\n", properties.major, properties.minor);
  bool good = true;
  for (const Kind& kind : kinds) {
    bool isWanted = count == 1;
    for (int i = 1; i < count; ++i) isWanted |= std::strcmp(names[i], kind.name) == 0;
    if (!isWanted) continue;
    right = wrong = refused = 0;
    firstFault = nullptr;
    kind.run(kind.name);
    std::printf("%s: %d right, %d wrong, %d refused%s%s\n", kind.name, right, wrong, refused,
                firstFault ? "; first " : "", firstFault ? firstFault : "");
    std::fflush(stdout);
    good = good && wrong == 0 && refused == 0;
  }
  return good ? 0 : 1;
}
