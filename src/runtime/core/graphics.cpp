#include "runtime/core/graphics.h"

#include <unistd.h>

#include <algorithm>

#include "runtime/core/capture.h"
#include "runtime/core/context.h"
#include "runtime/core/device.h"
#include "runtime/core/opengl.h"
#include "runtime/core/platform.h"
#include "runtime/core/stream.h"
#include "runtime/vk/device.h"
#include "runtime/vk/external.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

constexpr uint32_t BUFFER_SIZE = 0x8764, DEDICATED_MEMORY_OBJECT = 0x9581, HANDLE_TYPE_OPAQUE_FD = 0x9586;
constexpr uint64_t granularity = 2u << 20;  // of memory that is shared
constexpr uint64_t room = 256;              // that Mesa's driver for processors wants behind a buffer
constexpr uint32_t mapFlags = GraphicsReadOnly | GraphicsWriteDiscard;

int64_t sizeOf(const OpenGl& gl, uint32_t buffer) {
  int64_t bytes = 0;
  gl.GetNamedBufferParameteri64v(buffer, BUFFER_SIZE, &bytes);
  return bytes;
}

bool isMapFlag(uint32_t flags) { return flags <= GraphicsWriteDiscard; }  // one or none

}  // namespace

OpenGlMemory::~OpenGlMemory() {
  if (const ContextRef context = context_.lock(); context && address_ != 0) (void)context->free(address_);
  // Without the context in which they were made, OpenGL's objects go with it.
  const OpenGl* gl = nullptr;
  if (object_ == 0 || currentOpenGl(gl) != Error::Success || !isKnown(*gl)) return;
  gl->DeleteBuffers(1, &buffer_);
  gl->DeleteMemoryObjectsEXT(1, &object_);
}

bool OpenGlMemory::isKnown(const OpenGl& gl) const {
  return gl.IsBuffer(buffer_) && static_cast<uint64_t>(sizeOf(gl, buffer_)) == bytes_;
}

Error OpenGlMemory::create(Context& context, const OpenGl& gl, uint64_t bytes) {
  bytes_ = bytes;
  const uint64_t whole = (bytes + room + granularity - 1) / granularity * granularity;
  int descriptor = -1;
  vk::Memory mapped;
  TRY(errorFrom(vk::createSharedBuffer(context.vulkan(), whole, bytes, descriptor, mapped)));
  if (const Error error = context.addForeign(mapped, address_); error != Error::Success) {
    context.vulkan().allocator().free(mapped);
    close(descriptor);
    return error;
  }
  context_ = context.weak_from_this();
  const int32_t isDedicated = 1;
  gl.CreateMemoryObjectsEXT(1, &object_);
  gl.MemoryObjectParameterivEXT(object_, DEDICATED_MEMORY_OBJECT, &isDedicated);
  gl.ImportMemoryFdEXT(object_, whole, HANDLE_TYPE_OPAQUE_FD, descriptor);  // takes the descriptor over
  gl.CreateBuffers(1, &buffer_);
  gl.NamedBufferStorageMemEXT(buffer_, static_cast<intptr_t>(bytes_), object_, 0);
  if (isKnown(gl)) return Error::Success;
  while (gl.GetError() != 0) {  // ours, and not for the program to find
  }
  util::log().warn("OpenGL did not import {} bytes of memory from the Vulkan driver", bytes_);
  return Error::NotSupported;
}

GraphicsResource::GraphicsResource(Context& context, uint32_t flags)
    : context_(context.weak_from_this()), flags_(flags & mapFlags) {}

Error GraphicsResource::setMapFlags(uint32_t flags) {
  if (!isMapFlag(flags)) return Error::InvalidValue;
  std::lock_guard lock(mutex_);
  if (isMapped_) return Error::AlreadyMapped;
  flags_ = flags;
  return Error::Success;
}

Error GraphicsResource::pointer(uint64_t& address, uint64_t& bytes) {
  std::lock_guard lock(mutex_);
  return isMapped_ ? tellPointer(address, bytes) : Error::NotMapped;
}

Error GraphicsResource::array(uint32_t index, uint32_t level, Array*& out) {
  std::lock_guard lock(mutex_);
  return isMapped_ ? tellArray(index, level, out) : Error::NotMapped;
}

Error GraphicsResource::mipmappedArray(MipmappedArray*& out) {
  std::lock_guard lock(mutex_);
  return isMapped_ ? tellMipmappedArray(out) : Error::NotMapped;
}

namespace {

class BufferResource : public GraphicsResource {
 public:
  BufferResource(Context& context, uint32_t buffer, uint32_t flags)
      : GraphicsResource(context, flags), buffer_(buffer) {}

  Error create(Context& context, const OpenGl& gl) {
    bytes_ = sizeOf(gl, buffer_);
    return bytes_ > 0 ? memory_.create(context, gl, static_cast<uint64_t>(bytes_))
                      : Error::OutOfMemory;  // natively too
  }
  uint32_t buffer() const override { return buffer_; }

 private:
  Error check(const OpenGl& gl) const override {
    if (gl.IsBuffer(buffer_) && sizeOf(gl, buffer_) == bytes_) return Error::Success;
    util::log().warn("OpenGL's buffer {} no longer has the size that it was registered with", buffer_);
    return Error::MapFailed;
  }
  void copyFromOpenGl(const OpenGl& gl) const override {
    gl.CopyNamedBufferSubData(buffer_, memory_.buffer(), 0, 0, bytes_);
  }
  void copyToOpenGl(const OpenGl& gl) const override {
    gl.CopyNamedBufferSubData(memory_.buffer(), buffer_, 0, 0, bytes_);
  }
  Error tellPointer(uint64_t& address, uint64_t& bytes) const override {
    address = memory_.address();
    bytes = static_cast<uint64_t>(bytes_);
    return Error::Success;
  }

  const uint32_t buffer_;
  int64_t bytes_ = 0;
};

// With the OpenGL context that all of them must be known in. `twice` is the error of a resource that is given twice.
Error findResources(const std::vector<GraphicsResource*>& handles, Error twice, std::vector<GraphicsResourceRef>& out,
                    const OpenGl*& gl) {
  for (GraphicsResource* const handle : handles) {
    GraphicsResourceRef resource;
    TRY(findGraphicsResource(handle, resource));
    if (std::find(out.begin(), out.end(), resource) != out.end()) return twice;
    out.push_back(std::move(resource));
  }
  std::sort(out.begin(), out.end());  // so that no two threads lock them in different orders
  return currentOpenGl(gl);
}

}  // namespace

Error registerBuffer(Context& context, uint32_t buffer, uint32_t flags, GraphicsResource*& out) {
  if (!isMapFlag(flags)) return Error::InvalidValue;
  const OpenGl* gl = nullptr;
  TRY(currentOpenGl(gl));
  TRY(canShare(*gl, context.device()));
  if (buffer == 0) return Error::InvalidValue;
  if (!gl->IsBuffer(buffer)) return Error::InvalidHandle;
  auto made = std::make_shared<BufferResource>(context, buffer, flags);
  TRY(made->create(context, *gl));
  out = context.graphicsResources().add(std::move(made));
  return Error::Success;
}

Error mapResources(Stream& stream, const std::vector<GraphicsResource*>& handles) {
  TRY(stream.refuseInCapture());
  const OpenGl* gl = nullptr;
  std::vector<GraphicsResourceRef> resources;
  TRY(findResources(handles, Error::AlreadyMapped, resources, gl));
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const GraphicsResourceRef& resource : resources) {
    locks.emplace_back(resource->mutex_);
    if (resource->isMapped_) return Error::AlreadyMapped;
    if (resource->context_.lock().get() != &stream.context()) return Error::InvalidHandle;
    if (!resource->memory_.isKnown(*gl)) return Error::InvalidGraphicsContext;
    TRY(resource->check(*gl));
  }
  for (const GraphicsResourceRef& resource : resources)
    if ((resource->flags_ & GraphicsWriteDiscard) == 0) resource->copyFromOpenGl(*gl);
  gl->Finish();  // what OpenGL still does with the memory since it was unmapped, too
  for (const GraphicsResourceRef& resource : resources)
    if ((resource->flags_ & GraphicsWriteDiscard) == 0) TRY(resource->copyFromMemory(stream));
  for (const GraphicsResourceRef& resource : resources) resource->isMapped_ = true;
  return Error::Success;
}

Error unmapResources(Stream& stream, const std::vector<GraphicsResource*>& handles) {
  TRY(stream.refuseInCapture());
  const OpenGl* gl = nullptr;
  std::vector<GraphicsResourceRef> resources;
  TRY(findResources(handles, Error::NotMapped, resources, gl));
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const GraphicsResourceRef& resource : resources) {
    locks.emplace_back(resource->mutex_);
    if (!resource->isMapped_) return Error::NotMapped;
    if (resource->context_.lock().get() != &stream.context()) return Error::InvalidHandle;
    if (!resource->memory_.isKnown(*gl)) return Error::InvalidGraphicsContext;
  }
  for (const GraphicsResourceRef& resource : resources)
    if ((resource->flags_ & GraphicsReadOnly) == 0) TRY(resource->copyToMemory(stream));
  TRY(unsafeDuringCapture());
  TRY(stream.finish());
  for (const GraphicsResourceRef& resource : resources) {
    if ((resource->flags_ & GraphicsReadOnly) == 0) resource->copyToOpenGl(*gl);
    resource->isMapped_ = false;
  }
  return Error::Success;
}

Error unregisterResource(GraphicsResource* handle) {
  GraphicsResourceRef resource;
  TRY(findGraphicsResource(handle, resource));
  const OpenGl* gl = nullptr;
  TRY(currentOpenGl(gl));
  {
    std::lock_guard lock(resource->mutex_);
    if (resource->isMapped_) return Error::AlreadyMapped;
  }
  for (const ContextRef& context : Platform::get().contexts())
    if (context->graphicsResources().remove(handle)) return Error::Success;
  return Error::InvalidHandle;
}

Error findBuffer(const Context& context, uint32_t buffer, GraphicsResourceRef& out) {
  for (GraphicsResourceRef& resource : context.graphicsResources().all())
    if (buffer != 0 && resource->buffer() == buffer) {
      out = std::move(resource);
      return Error::Success;
    }
  return Error::InvalidHandle;
}

}  // namespace mulciber::core
