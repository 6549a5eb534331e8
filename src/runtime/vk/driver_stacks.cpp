#include "runtime/vk/driver_stacks.h"

#include <pthread.h>

#include <mutex>

namespace mulciber::vk {

namespace {

std::mutex mutex;
unsigned users = 0;
size_t sizeBefore = 0;  // of the default, while it is changed

// The default's size so far, or 0 if it stays as it is.
size_t setDefault(size_t size) {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes) != 0) return 0;
  size_t before = 0;
  const bool changed = pthread_attr_getstacksize(&attributes, &before) == 0 && before != size &&
                       pthread_attr_setstacksize(&attributes, size) == 0 &&
                       pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  return changed ? before : 0;
}

}  // namespace

LargeDriverStacks::LargeDriverStacks() {
  std::lock_guard lock(mutex);
  if (users++ == 0) sizeBefore = setDefault(bytes);
}

LargeDriverStacks::~LargeDriverStacks() {
  std::lock_guard lock(mutex);
  if (--users == 0 && sizeBefore != 0) setDefault(sizeBefore);
}

}  // namespace mulciber::vk
