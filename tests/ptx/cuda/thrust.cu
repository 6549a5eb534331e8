// Thrust's algorithms, in the small and with iterators and functors of their
// own.
#include <thrust/complex.h>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};
struct IsOdd {
  __host__ __device__ bool operator()(int x) const { return x & 1; }
};

void algorithms(int* p, float* q, thrust::complex<float>* z, int n) {
  thrust::device_ptr<int> ints(p);
  thrust::device_ptr<float> floats(q);
  thrust::device_ptr<thrust::complex<float>> complexes(z);
  thrust::sort_by_key(ints, ints + n, floats);
  thrust::stable_sort(floats, floats + n, thrust::greater<float>());
  q[0] = thrust::transform_reduce(floats, floats + n, Square(), 0.f, thrust::plus<float>());
  thrust::inclusive_scan_by_key(ints, ints + n, floats, floats);
  thrust::partition(ints, ints + n, IsOdd());
  thrust::merge(ints, ints + n / 2, ints + n / 2, ints + n, ints);
  thrust::unique_by_key(ints, ints + n, floats);
  auto counting = thrust::make_counting_iterator(0);
  thrust::copy_if(counting, counting + n, ints, ints, IsOdd());
  auto zipped = thrust::make_zip_iterator(thrust::make_tuple(ints, floats));
  thrust::for_each(zipped, zipped + n, [] __device__(thrust::tuple<int, float> t) {});
  thrust::transform(complexes, complexes + n, complexes,
                    [] __device__(thrust::complex<float> c) { return thrust::exp(c) / thrust::sqrt(c); });
}

__global__ void sequential(int* p, int n) { thrust::sort(thrust::seq, p, p + n, thrust::greater<int>()); }
