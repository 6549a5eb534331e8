// Copies from global to shared memory that run beside the thread (cp.async), in groups that it waits for.
#ifndef MULCIBER_DEVICE_CUDA_PIPELINE_PRIMITIVES_H
#define MULCIBER_DEVICE_CUDA_PIPELINE_PRIMITIVES_H

// Copies 4, 8 or 16 bytes, of which the last `zeros` are zero instead.
MULCIBER_DEVICE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zeros = 0) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const size_t from = __cvta_generic_to_global(global);
  const unsigned taken = static_cast<unsigned>(bytes - zeros);
  if (bytes == 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory");
  else asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(taken) : "memory");
}
MULCIBER_DEVICE void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `count` of the latest groups are under way. The instruction takes a constant.
MULCIBER_DEVICE void __pipeline_wait_prior(size_t count) {
  switch (count) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 5;" ::: "memory");
  }
}

#endif
