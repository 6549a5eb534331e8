#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

#include "program.h"

int main() {
  const int n = 20000;
  Random random;
  thrust::host_vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<int>(random.next() % 5000);
  thrust::device_vector<int> device = host;
  std::printf("sum %d\n", thrust::reduce(device.begin(), device.end()));
  thrust::sort(device.begin(), device.end());
  host = device;
  show("sorted", std::vector<int>(host.begin(), host.end()));
  auto end = thrust::unique(device.begin(), device.end());
  std::printf("unique %d\n", static_cast<int>(end - device.begin()));
  thrust::inclusive_scan(device.begin(), end, device.begin());
  host = device;
  show("scan", std::vector<int>(host.begin(), host.begin() + (end - device.begin())));
}
