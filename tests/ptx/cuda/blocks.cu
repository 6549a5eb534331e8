// CUB inside kernels and across the device.
#include <cub/cub.cuh>
#include <cuda/functional>

__global__ void block(int* keys, float* values, int* out) {
  using Load = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, 128, 4, float>;
  using Scan = cub::BlockScan<int, 128, cub::BLOCK_SCAN_WARP_SCANS>;
  using Reduce = cub::BlockReduce<float, 128>;
  using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256>;
  __shared__ union {
    Load::TempStorage load;
    Sort::TempStorage sort;
    Scan::TempStorage scan;
    Reduce::TempStorage reduce;
    Histogram::TempStorage histogram;
  } storage;
  __shared__ int counts[256];
  int k[4];
  float v[4];
  unsigned char bytes[4];
  Load(storage.load).Load(keys, k);
  for (int i = 0; i < 4; ++i) {
    v[i] = values[4 * threadIdx.x + i];
    bytes[i] = static_cast<unsigned char>(k[i]);
  }
  __syncthreads();
  Sort(storage.sort).SortBlockedToStriped(k, v);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(k, k);
  __syncthreads();
  v[0] = Reduce(storage.reduce).Reduce(v, cuda::maximum<>{});
  __syncthreads();
  Histogram(storage.histogram).Histogram(bytes, counts);
  cub::StoreDirectStriped<128>(threadIdx.x, out, k);
  values[threadIdx.x] = v[0] + counts[threadIdx.x];
}

__global__ void warp(int* data, double* sums) {
  using Sort = cub::WarpMergeSort<int, 4, 32>;
  using Scan = cub::WarpScan<double>;
  __shared__ Sort::TempStorage sort;
  __shared__ Scan::TempStorage scan;
  int k[4] = {data[0], data[1], data[2], data[3]};
  Sort(sort).Sort(k, [](int a, int b) { return a < b; });
  Scan(scan).InclusiveSum(sums[threadIdx.x], sums[threadIdx.x]);
  data[threadIdx.x] = cub::ThreadReduce(k, cuda::std::plus<>{});
}

void device(void* temporary, size_t& bytes, int* keys, long long* values, int n) {
  cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, keys, values, values, n);
  cub::DeviceSelect::Unique(temporary, bytes, keys, keys, keys, n);
  cub::DeviceRunLengthEncode::Encode(temporary, bytes, keys, keys, keys, keys, n);
  cub::DeviceHistogram::HistogramEven(temporary, bytes, keys, keys, 17, 0, 256, n);
}
