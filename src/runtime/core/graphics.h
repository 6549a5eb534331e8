// OpenGL's buffers and images in CUDA: cudaGraphicsGLRegisterBuffer, cudaGraphicsGLRegisterImage and what maps them.
// OpenGL takes memory in and gives none away, so each resource has memory that both sides reach: OpenGL copies the
// object there when the resource is mapped, and back when it is unmapped.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/core/array.h"
#include "runtime/core/error.h"

namespace mulciber::core {

class Context;
class Stream;
struct OpenGl;

enum GraphicsFlag : uint32_t {  // as CU_GRAPHICS_REGISTER_FLAGS_* number them; the first two are those of maps too
  GraphicsReadOnly = 1,
  GraphicsWriteDiscard = 2,
  GraphicsSurfaceLoadStore = 4,
  GraphicsTextureGather = 8,
};

// Memory that OpenGL has as a buffer and the context at an address.
class OpenGlMemory {
 public:
  ~OpenGlMemory();
  OpenGlMemory() = default;
  OpenGlMemory(const OpenGlMemory&) = delete;
  OpenGlMemory& operator=(const OpenGlMemory&) = delete;

  Error create(Context& context, const OpenGl& gl, uint64_t bytes);
  // Whether the thread's current context knows the buffer.
  bool isKnown(const OpenGl& gl) const;
  uint32_t buffer() const { return buffer_; }
  uint64_t address() const { return address_; }

 private:
  std::weak_ptr<Context> context_;
  uint64_t bytes_ = 0, address_ = 0;
  uint32_t object_ = 0, buffer_ = 0;
};

class GraphicsResource {
 public:
  virtual ~GraphicsResource() = default;
  GraphicsResource(const GraphicsResource&) = delete;
  GraphicsResource& operator=(const GraphicsResource&) = delete;

  virtual uint32_t buffer() const { return 0; }  // OpenGL's name of it; 0 for images
  Error setMapFlags(uint32_t flags);
  // While it is mapped.
  Error pointer(uint64_t& address, uint64_t& bytes);
  Error array(uint32_t index, uint32_t level, Array*& out);
  Error mipmappedArray(MipmappedArray*& out);

 protected:
  GraphicsResource(Context& context, uint32_t flags);
  virtual Error check(const OpenGl& gl) const = 0;                        // whether the object is as it was registered
  virtual void copyFromOpenGl(const OpenGl& gl) const = 0;                // from the object to the memory
  virtual void copyToOpenGl(const OpenGl& gl) const = 0;                  // and back
  virtual Error copyFromMemory(Stream&) const { return Error::Success; }  // from the memory to arrays
  virtual Error copyToMemory(Stream&) const { return Error::Success; }    // and back
  virtual Error tellPointer(uint64_t&, uint64_t&) const { return Error::NotMappedAsPointer; }
  virtual Error tellArray(uint32_t, uint32_t, Array*&) const { return Error::NotMappedAsArray; }
  virtual Error tellMipmappedArray(MipmappedArray*&) const { return Error::NotMappedAsArray; }

  OpenGlMemory memory_;

 private:
  friend Error mapResources(Stream& stream, const std::vector<GraphicsResource*>& handles);
  friend Error unmapResources(Stream& stream, const std::vector<GraphicsResource*>& handles);
  friend Error unregisterResource(GraphicsResource* handle);

  const std::weak_ptr<Context> context_;
  std::mutex mutex_;
  uint32_t flags_;
  bool isMapped_ = false;
};
using GraphicsResourceRef = std::shared_ptr<GraphicsResource>;

// They need the thread's current OpenGL context.
Error registerBuffer(Context& context, uint32_t buffer, uint32_t flags, GraphicsResource*& out);
Error registerImage(Context& context, uint32_t image, uint32_t target, uint32_t flags, GraphicsResource*& out);
// Mapping waits until OpenGL has done its work, and unmapping until the stream has.
Error mapResources(Stream& stream, const std::vector<GraphicsResource*>& handles);
Error unmapResources(Stream& stream, const std::vector<GraphicsResource*>& handles);
Error unregisterResource(GraphicsResource* handle);
// The resource of a buffer that is registered, as the functions of before CUDA 3.0 name it.
Error findBuffer(const Context& context, uint32_t buffer, GraphicsResourceRef& out);

}  // namespace mulciber::core
