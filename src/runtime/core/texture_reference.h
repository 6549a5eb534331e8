// Texture and surface references: what the names of a module (mulciber/references.h) stand for, as the program binds
// them. A launch takes the objects that are bound when it is made; they stay until it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "runtime/core/surface_object.h"
#include "runtime/core/texture_object.h"

namespace mulciber::core {

class TextureReference {
 public:
  explicit TextureReference(Context& context);
  ~TextureReference();
  TextureReference(const TextureReference&) = delete;
  TextureReference& operator=(const TextureReference&) = delete;

  struct State {
    TextureDescription description;
    bool isBound = false;
    const ArrayFormat* format = nullptr;  // that memory will be read in
    size_t byteOffset = 0;                // from where the texture begins to what the program bound
  };
  State state() const;
  void change(const std::function<void(State&)>& body);
  // Of the object for the next launch; 0 while nothing is bound.
  Error handle(uint64_t& out);

 private:
  void forget();

  Context& context_;
  mutable std::mutex mutex_;
  State state_;
  uint64_t handle_ = 0;  // 0: to be made
};

class SurfaceReference {
 public:
  explicit SurfaceReference(Context& context) : context_(context) {}
  ~SurfaceReference();
  SurfaceReference(const SurfaceReference&) = delete;
  SurfaceReference& operator=(const SurfaceReference&) = delete;

  Error bind(const ArrayRef& array);
  ArrayRef array() const;  // null while nothing is bound
  uint64_t handle() const;

 private:
  Context& context_;
  mutable std::mutex mutex_;
  ArrayRef array_;
  uint64_t handle_ = 0;
};

}  // namespace mulciber::core
