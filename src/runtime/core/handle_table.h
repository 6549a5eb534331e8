// Objects by the handles that programs hold: their addresses, which are good as long as the object is in the table.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace mulciber::core {

template <class T>
class HandleTable {
 public:
  using Ref = std::shared_ptr<T>;

  T* add(Ref object) {
    T* handle = object.get();
    std::unique_lock lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  // Null when it is no handle.
  Ref find(T* handle) const {
    std::shared_lock lock(mutex_);
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  // The object may live on with others; null when it is no handle.
  Ref remove(T* handle) {
    std::unique_lock lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    Ref object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  void remove(const std::vector<Ref>& objects) {
    std::unique_lock lock(mutex_);
    for (const Ref& object : objects) objects_.erase(object.get());
  }

  std::vector<Ref> all() const {
    std::shared_lock lock(mutex_);
    std::vector<Ref> list;
    list.reserve(objects_.size());
    for (const auto& [handle, object] : objects_) list.push_back(object);
    return list;
  }

  // Objects end outside the lock: they may call in.
  void clear() {
    std::unordered_map<T*, Ref> gone;
    std::unique_lock lock(mutex_);
    gone.swap(objects_);
    lock.unlock();
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<T*, Ref> objects_;
};

}  // namespace mulciber::core
