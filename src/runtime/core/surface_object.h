// Surface objects: an array whose bytes kernels read and write.
#pragma once

#include <memory>

#include "runtime/core/array.h"
#include "runtime/core/texture_table.h"

namespace mulciber::core {

using ArrayRef = std::shared_ptr<Array>;

class SurfaceObject : public TableObject {
 public:
  SurfaceObject(Context& context, ArrayRef array) : context_(context), array_(std::move(array)) {}
  ~SurfaceObject() override;

  // Finds the image, and says what kernels are to know.
  Error describe(abi::TextureRecord& record);
  const ArrayRef& array() const { return array_; }
  void release() const { use_ = nullptr; }  // the program has destroyed it

 private:
  Context& context_;
  const ArrayRef array_;
  bool hasNumber_ = false;
  uint32_t number_ = 0;  // of the view
  mutable vk::BlockCopies::Use use_;
};

// InvalidValue for an array of a compressed format. The flag that arrays have for surfaces does not matter, as
// natively.
Error createSurface(Context& context, const ArrayRef& array, uint64_t& handle);
Error destroySurface(Context& context, uint64_t handle);
Error findSurface(Context& context, uint64_t handle, std::shared_ptr<const SurfaceObject>& out);

}  // namespace mulciber::core
