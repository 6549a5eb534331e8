#include "runtime/core/texture_reference.h"

#include <algorithm>

#include "runtime/core/context.h"

namespace mulciber::core {

TextureReference::TextureReference(Context& context) : context_(context) {
  state_.format = findArrayFormat(0x20, 1);  // CU_AD_FORMAT_FLOAT
  std::ranges::fill(state_.description.addressModes, static_cast<uint32_t>(abi::AddressMode::Clamp));
}

TextureReference::~TextureReference() { forget(); }

void TextureReference::forget() {
  if (handle_ != 0) (void)destroyTexture(context_, handle_);
  handle_ = 0;
}

TextureReference::State TextureReference::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

void TextureReference::change(const std::function<void(State&)>& body) {
  std::lock_guard lock(mutex_);
  body(state_);
  forget();
}

Error TextureReference::handle(uint64_t& out) {
  std::lock_guard lock(mutex_);
  out = 0;
  if (!state_.isBound) return Error::Success;
  if (handle_ == 0) TRY(createTexture(context_, state_.description, handle_));
  out = handle_;
  return Error::Success;
}

SurfaceReference::~SurfaceReference() {
  if (handle_ != 0) (void)destroySurface(context_, handle_);
}

Error SurfaceReference::bind(const ArrayRef& array) {
  uint64_t made = 0;
  TRY(createSurface(context_, array, made));
  std::lock_guard lock(mutex_);
  if (handle_ != 0) (void)destroySurface(context_, handle_);
  handle_ = made;
  array_ = array;
  return Error::Success;
}

ArrayRef SurfaceReference::array() const {
  std::lock_guard lock(mutex_);
  return array_;
}

uint64_t SurfaceReference::handle() const {
  std::lock_guard lock(mutex_);
  return handle_;
}

}  // namespace mulciber::core
