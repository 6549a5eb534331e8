// OpenGL's buffers and images in CUDA.
#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/cuda_library.h"
#include "engine/opengl_context.h"

namespace mulciber::test {
namespace {

using namespace opengl;

class OpenGlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gl_.emplace();
    if (!gl_->isThere()) GTEST_SKIP() << "skipped: there is no OpenGL without a window";
    if (CUDA(cuInit)(0) != CUDA_SUCCESS) GTEST_SKIP() << "skipped: there is no Vulkan device";
    ASSERT_EQ(CUDA(cuDevicePrimaryCtxRetain)(&cuda_, 0), CUDA_SUCCESS);
    ASSERT_EQ(CUDA(cuCtxSetCurrent)(cuda_), CUDA_SUCCESS);
    unsigned count = 0;
    CUdevice device = -1;
    const CUresult found =
        find<CUresult(unsigned*, CUdevice*, unsigned, int)>("cuGLGetDevices_v2")(&count, &device, 1, 1);
    if (found == CUDA_ERROR_NO_DEVICE) GTEST_SKIP() << "skipped: OpenGL is on another device, or of another driver";
    ASSERT_EQ(found, CUDA_SUCCESS);
    EXPECT_EQ(device, 0);
    isReady_ = true;
  }
  void TearDown() override {
    if (isReady_) {
      EXPECT_EQ(gl_->error(), 0u);
    }
    if (cuda_) {
      EXPECT_EQ(CUDA(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    }
  }

  uint32_t makeBuffer(const std::vector<uint8_t>& bytes) {
    const uint32_t buffer = gl_->make("glCreateBuffers");
    gl_->call("glNamedBufferData", buffer, static_cast<intptr_t>(bytes.size()), static_cast<const void*>(bytes.data()),
              0x88E8u);
    return buffer;
  }
  std::vector<uint8_t> contents(uint32_t buffer, size_t size) {
    std::vector<uint8_t> bytes(size);
    gl_->call("glGetNamedBufferSubData", buffer, intptr_t{0}, static_cast<intptr_t>(size),
              static_cast<void*>(bytes.data()));
    return bytes;
  }
  CUresult registerBuffer(uint32_t buffer, unsigned flags, CUgraphicsResource& out) {
    return find<CUresult(CUgraphicsResource*, uint32_t, unsigned)>("cuGraphicsGLRegisterBuffer")(&out, buffer, flags);
  }
  CUresult registerImage(uint32_t image, uint32_t target, unsigned flags, CUgraphicsResource& out) {
    return find<CUresult(CUgraphicsResource*, uint32_t, uint32_t, unsigned)>("cuGraphicsGLRegisterImage")(
        &out, image, target, flags);
  }
  CUresult map(CUgraphicsResource resource, CUstream stream = nullptr) {
    return CUDA(cuGraphicsMapResources)(1, &resource, stream);
  }
  CUresult unmap(CUgraphicsResource resource, CUstream stream = nullptr) {
    return CUDA(cuGraphicsUnmapResources)(1, &resource, stream);
  }
  CUdeviceptr pointer(CUgraphicsResource resource, size_t size) {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    EXPECT_EQ(CUDA(cuGraphicsResourceGetMappedPointer_v2)(&address, &bytes, resource), CUDA_SUCCESS);
    EXPECT_EQ(bytes, size);
    return address;
  }
  std::vector<uint8_t> read(CUdeviceptr from, size_t size) {
    std::vector<uint8_t> bytes(size);
    EXPECT_EQ(find<CUresult(void*, CUdeviceptr, size_t)>("cuMemcpyDtoH_v2")(bytes.data(), from, size), CUDA_SUCCESS);
    return bytes;
  }
  void write(CUdeviceptr to, const std::vector<uint8_t>& bytes) {
    EXPECT_EQ(find<CUresult(CUdeviceptr, const void*, size_t)>("cuMemcpyHtoD_v2")(to, bytes.data(), bytes.size()),
              CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);  // no stream waits for a copy of pageable memory
  }
  std::vector<uint8_t> random(size_t size) {
    std::vector<uint8_t> bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator_());
    return bytes;
  }

  std::optional<OpenGlContext> gl_;
  CUcontext cuda_ = nullptr;
  bool isReady_ = false;
  std::mt19937 generator_{1};
};

TEST_F(OpenGlTest, ABufferIsTheSameOnBothSides) {
  for (const size_t size : {4u, 100u, 4096u, (2u << 20) - 4, 2u << 20, 5000003u}) {
    const std::vector<uint8_t> first = random(size), second = random(size), third = random(size);
    const uint32_t buffer = makeBuffer(first);
    CUgraphicsResource resource = nullptr;
    ASSERT_EQ(registerBuffer(buffer, 0, resource), CUDA_SUCCESS);
    CUstream stream = nullptr;
    ASSERT_EQ(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    for (const CUstream used : {CUstream{nullptr}, stream}) {
      gl_->call("glNamedBufferSubData", buffer, intptr_t{0}, static_cast<intptr_t>(size),
                static_cast<const void*>(first.data()));
      ASSERT_EQ(map(resource, used), CUDA_SUCCESS);
      const CUdeviceptr address = pointer(resource, size);
      EXPECT_EQ(read(address, size), first);
      write(address, second);
      ASSERT_EQ(find<CUresult(CUdeviceptr, unsigned char, size_t, CUstream)>("cuMemsetD8Async")(address, 7, 3, used),
                CUDA_SUCCESS);
      ASSERT_EQ(unmap(resource, used), CUDA_SUCCESS);
      std::vector<uint8_t> wanted = second;
      std::fill_n(wanted.begin(), 3, uint8_t{7});
      EXPECT_EQ(contents(buffer, size), wanted);
    }
    // What is only read is not copied back, and what is written whole is not copied there.
    ASSERT_EQ(CUDA(cuGraphicsResourceSetMapFlags_v2)(resource, CU_GRAPHICS_MAP_RESOURCE_FLAGS_READ_ONLY), CUDA_SUCCESS);
    const std::vector<uint8_t> before = contents(buffer, size);
    ASSERT_EQ(map(resource), CUDA_SUCCESS);
    EXPECT_EQ(read(pointer(resource, size), size), before);
    write(pointer(resource, size), third);
    ASSERT_EQ(unmap(resource), CUDA_SUCCESS);
    EXPECT_EQ(contents(buffer, size), before);
    ASSERT_EQ(CUDA(cuGraphicsResourceSetMapFlags_v2)(resource, CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD),
              CUDA_SUCCESS);
    ASSERT_EQ(map(resource), CUDA_SUCCESS);
    write(pointer(resource, size), first);
    ASSERT_EQ(unmap(resource), CUDA_SUCCESS);
    EXPECT_EQ(contents(buffer, size), first);
    EXPECT_EQ(CUDA(cuStreamDestroy_v2)(stream), CUDA_SUCCESS);
    EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_SUCCESS);
    EXPECT_EQ(contents(buffer, size), first) << "outlives the registration";
    gl_->call("glDeleteBuffers", 1, &buffer);
  }
}

// By the functions of before CUDA 3.0.
TEST_F(OpenGlTest, ABufferIsMappedByItsName) {
  constexpr size_t size = 1000;
  const std::vector<uint8_t> first = random(size), second = random(size);
  const uint32_t buffer = makeBuffer(first);
  const auto call = [&](const char* name) { return find<CUresult(uint32_t)>(name)(buffer); };
  const auto mapIt = [&](CUdeviceptr& address, size_t& bytes) {
    return find<CUresult(CUdeviceptr*, size_t*, uint32_t)>("cuGLMapBufferObject_v2")(&address, &bytes, buffer);
  };
  CUdeviceptr address = 0;
  size_t bytes = 0;
  EXPECT_EQ(mapIt(address, bytes), CUDA_ERROR_INVALID_HANDLE) << "is not registered";
  ASSERT_EQ(call("cuGLRegisterBufferObject"), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGLRegisterBufferObject"), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(mapIt(address, bytes), CUDA_SUCCESS);
  EXPECT_EQ(bytes, size);
  EXPECT_EQ(read(address, size), first);
  write(address, second);
  ASSERT_EQ(call("cuGLUnmapBufferObject"), CUDA_SUCCESS);
  EXPECT_EQ(contents(buffer, size), second);
  EXPECT_EQ(call("cuGLUnmapBufferObject"), CUDA_ERROR_NOT_MAPPED);
  EXPECT_EQ(call("cuGLUnregisterBufferObject"), CUDA_SUCCESS);
  EXPECT_EQ(call("cuGLUnregisterBufferObject"), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(OpenGlTest, TheRuntimeLibraryDoesTheSame) {
  constexpr size_t size = 100;
  const std::vector<uint8_t> first = random(size);
  const uint32_t buffer = makeBuffer(first);
  uint32_t texture = 0;
  gl_->call("glCreateTextures", TEXTURE_2D, 1, &texture);
  gl_->call("glTextureStorage2D", texture, 1, 0x8814u, 8, 4);
  const auto call = [](const char* name, auto... arguments) {
    return reinterpret_cast<int (*)(decltype(arguments)...)>(findInCuda(name, "libcudart.so.13"))(arguments...);
  };
  void *resource = nullptr, *image = nullptr, *address = nullptr, *array = nullptr;
  size_t bytes = 0;
  unsigned devices = 0;
  int device = -1;
  EXPECT_EQ(call("cudaGLGetDevices", &devices, &device, 1u, 1), 0);
  EXPECT_EQ(devices, 1u);
  ASSERT_EQ(call("cudaGraphicsGLRegisterBuffer", &resource, buffer, 0u), 0);
  ASSERT_EQ(call("cudaGraphicsGLRegisterImage", &image, texture, TEXTURE_2D, 0u), 0);
  EXPECT_EQ(call("cudaGraphicsResourceSetMapFlags", resource, 0u), 0);
  void* both[] = {image, resource};
  ASSERT_EQ(call("cudaGraphicsMapResources", 2, &both[0], static_cast<void*>(nullptr)), 0);
  ASSERT_EQ(call("cudaGraphicsResourceGetMappedPointer", &address, &bytes, resource), 0);
  EXPECT_EQ(bytes, size);
  EXPECT_EQ(read(reinterpret_cast<CUdeviceptr>(address), size), first);
  EXPECT_EQ(call("cudaGraphicsSubResourceGetMappedArray", &array, image, 0u, 0u), 0);
  EXPECT_EQ(call("cudaGraphicsResourceGetMappedMipmappedArray", &array, image), 0);
  ASSERT_EQ(call("cudaMemset", address, 9, size), 0);
  ASSERT_EQ(call("cudaGraphicsUnmapResources", 2, &both[0], static_cast<void*>(nullptr)), 0);
  EXPECT_EQ(contents(buffer, size), std::vector<uint8_t>(size, 9));
  EXPECT_EQ(call("cudaGraphicsUnmapResources", 1, &resource, static_cast<void*>(nullptr)), 211) << "is not mapped";
  EXPECT_EQ(call("cudaGraphicsMapResources", -1, &resource, static_cast<void*>(nullptr)), 1);
  EXPECT_EQ(call("cudaGraphicsUnregisterResource", resource), 0);
  EXPECT_EQ(call("cudaGraphicsUnregisterResource", image), 0);

  EXPECT_EQ(call("cudaGLSetGLDevice", 0), 0);
  ASSERT_EQ(call("cudaGLRegisterBufferObject", buffer), 0);
  EXPECT_EQ(call("cudaGLSetBufferObjectMapFlags", buffer, 1u), 0);
  ASSERT_EQ(call("cudaGLMapBufferObject", &address, buffer), 0);
  ASSERT_EQ(call("cudaMemset", address, 8, size), 0);
  ASSERT_EQ(call("cudaGLUnmapBufferObject", buffer), 0);
  EXPECT_EQ(contents(buffer, size), std::vector<uint8_t>(size, 9)) << "was only read";
  ASSERT_EQ(call("cudaGLMapBufferObjectAsync", &address, buffer, static_cast<void*>(nullptr)), 0);
  ASSERT_EQ(call("cudaGLUnmapBufferObjectAsync", buffer, static_cast<void*>(nullptr)), 0);
  EXPECT_EQ(call("cudaGLUnregisterBufferObject", buffer), 0);
}

struct Format {
  uint32_t internal[3];
  uint32_t type, bytes;
  bool isInteger;
};
constexpr Format formats[] = {
    {{0x8229, 0x822B, 0x8058}, 0x1401, 1, false}, {{0x822A, 0x822C, 0x805B}, 0x1403, 2, false},
    {{0x822D, 0x822F, 0x881A}, 0x140B, 2, false}, {{0x822E, 0x8230, 0x8814}, 0x1406, 4, false},
    {{0x8231, 0x8237, 0x8D8E}, 0x1400, 1, true},  {{0x8232, 0x8238, 0x8D7C}, 0x1401, 1, true},
    {{0x8233, 0x8239, 0x8D88}, 0x1402, 2, true},  {{0x8234, 0x823A, 0x8D76}, 0x1403, 2, true},
    {{0x8235, 0x823B, 0x8D82}, 0x1404, 4, true},  {{0x8236, 0x823C, 0x8D70}, 0x1405, 4, true},
};
constexpr uint32_t layouts[][3] = {{0x1903, 0x8227, 0x1908}, {0x8D94, 0x8228, 0x8D99}};
constexpr uint32_t channelCounts[] = {1, 2, 4};

class OpenGlImageTest : public OpenGlTest {
 protected:
  struct Shape {
    uint32_t target = 0, levels = 1, width = 0, height = 0, depth = 1;  // the depth counts layers and faces
    bool isVolume() const { return target == TEXTURE_3D; }
    uint32_t widthOf(uint32_t level) const { return std::max(width >> level, 1u); }
    uint32_t heightOf(uint32_t level) const { return std::max(height >> level, 1u); }
    uint32_t depthOf(uint32_t level) const { return isVolume() ? std::max(depth >> level, 1u) : depth; }
    size_t texels(uint32_t level) const { return size_t{widthOf(level)} * heightOf(level) * depthOf(level); }
  };

  // Numbers of which nothing is lost on the way through OpenGL.
  std::vector<uint8_t> texels(const Format& format, uint32_t channels, size_t count) {
    std::vector<uint8_t> bytes = random(count * channels * format.bytes);
    if (format.type == 0x140B)
      for (size_t i = 1; i < bytes.size(); i += 2) bytes[i] = static_cast<uint8_t>(0x30 | (bytes[i] & 0x87));
    if (format.type == 0x1406)
      for (size_t i = 3; i < bytes.size(); i += 4) bytes[i] = static_cast<uint8_t>(0x3C | (bytes[i] & 0x83));
    return bytes;
  }

  uint32_t makeTexture(const Shape& shape, uint32_t internal) {
    uint32_t texture = 0;
    gl_->call("glCreateTextures", shape.target, 1, &texture);
    const int levels = static_cast<int>(shape.levels), width = static_cast<int>(shape.width),
              height = static_cast<int>(shape.height), depth = static_cast<int>(shape.depth);
    if (shape.target == TEXTURE_3D || shape.target == TEXTURE_2D_ARRAY)
      gl_->call("glTextureStorage3D", texture, levels, internal, width, height, depth);
    else gl_->call("glTextureStorage2D", texture, levels, internal, width, height);
    return texture;
  }
  void upload(uint32_t texture, const Shape& shape, uint32_t level, uint32_t layout, uint32_t type,
              const std::vector<uint8_t>& bytes) {
    const int number = static_cast<int>(level), width = static_cast<int>(shape.widthOf(level)),
              height = static_cast<int>(shape.heightOf(level)), depth = static_cast<int>(shape.depthOf(level));
    const void* const data = bytes.data();
    if (shape.target == TEXTURE_2D || shape.target == TEXTURE_RECTANGLE)
      gl_->call("glTextureSubImage2D", texture, number, 0, 0, width, height, layout, type, data);
    else gl_->call("glTextureSubImage3D", texture, number, 0, 0, 0, width, height, depth, layout, type, data);
  }
  std::vector<uint8_t> download(uint32_t texture, const Shape& shape, uint32_t level, uint32_t layout, uint32_t type,
                                size_t size) {
    std::vector<uint8_t> bytes(size);
    gl_->call("glGetTextureSubImage", texture, static_cast<int>(level), 0, 0, 0, static_cast<int>(shape.widthOf(level)),
              static_cast<int>(shape.heightOf(level)), static_cast<int>(shape.depthOf(level)), layout, type,
              static_cast<int>(size), static_cast<void*>(bytes.data()));
    return bytes;
  }

  // Between a mapped array's bytes and the host.
  void copy(CUgraphicsResource resource, const Shape& shape, uint32_t level, std::vector<uint8_t>& bytes, bool isRead) {
    const uint32_t layers = shape.isVolume() ? 1 : shape.depth;
    const size_t layerBytes = bytes.size() / layers;
    for (uint32_t layer = 0; layer < layers; ++layer) {
      CUarray array = nullptr;
      ASSERT_EQ(CUDA(cuGraphicsSubResourceGetMappedArray)(&array, resource, layer, level), CUDA_SUCCESS);
      CUDA_MEMCPY3D copy{};
      copy.WidthInBytes = bytes.size() / shape.texels(level) * shape.widthOf(level);
      copy.Height = shape.heightOf(level);
      copy.Depth = shape.isVolume() ? shape.depthOf(level) : 1;
      copy.srcMemoryType = isRead ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
      copy.dstMemoryType = isRead ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
      copy.srcArray = copy.dstArray = array;
      copy.srcHost = copy.dstHost = bytes.data() + layer * layerBytes;
      copy.srcPitch = copy.dstPitch = copy.WidthInBytes;
      copy.srcHeight = copy.dstHeight = copy.Height;
      ASSERT_EQ(find<CUresult(const CUDA_MEMCPY3D*)>("cuMemcpy3D_v2")(&copy), CUDA_SUCCESS);
    }
  }

  void checkImage(const Shape& shape, const Format& format, size_t channel) {
    SCOPED_TRACE(testing::Message() << "target " << std::hex << shape.target << " format " << format.internal[channel]);
    const uint32_t layout = layouts[format.isInteger ? 1 : 0][channel], channels = channelCounts[channel];
    const uint32_t texture = makeTexture(shape, format.internal[channel]);
    std::vector<std::vector<uint8_t>> given, written;
    for (uint32_t level = 0; level < shape.levels; ++level) {
      given.push_back(texels(format, channels, shape.texels(level)));
      written.push_back(texels(format, channels, shape.texels(level)));
      upload(texture, shape, level, layout, format.type, given.back());
    }
    CUgraphicsResource resource = nullptr;
    ASSERT_EQ(registerImage(texture, shape.target, CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST, resource), CUDA_SUCCESS);
    const uint32_t other = makeBuffer(random(16));
    disturb(other);
    ASSERT_EQ(map(resource), CUDA_SUCCESS);
    for (uint32_t level = 0; level < shape.levels; ++level) {
      std::vector<uint8_t> seen(given[level].size());
      copy(resource, shape, level, seen, true);
      EXPECT_EQ(seen, given[level]) << "level " << level;
      copy(resource, shape, level, written[level], false);
    }
    ASSERT_EQ(unmap(resource), CUDA_SUCCESS);
    checkDisturbed(other);
    for (uint32_t level = 0; level < shape.levels; ++level)
      EXPECT_EQ(download(texture, shape, level, layout, format.type, written[level].size()), written[level])
          << "level " << level;
    EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_SUCCESS);
    gl_->call("glDeleteTextures", 1, &texture);
    gl_->call("glDeleteBuffers", 1, &other);
  }

  // The program's own state of pixels, which must change nothing and stay as it is.
  static constexpr struct {
    uint32_t name;
    int value, usual;
  } states[] = {{0x0D05, 8, 1}, {0x0CF5, 8, 1},  {0x0D02, 77, 0}, {0x0CF2, 77, 0}, {0x0D04, 3, 0},
                {0x0CF3, 2, 0}, {0x806C, 99, 0}, {0x806E, 99, 0}, {0x806B, 1, 0},  {0x0CF0, 1, 0}};
  void disturb(uint32_t buffer) {
    for (const auto& state : states) gl_->call("glPixelStorei", state.name, state.value);
    gl_->call("glBindBuffer", PIXEL_PACK_BUFFER, buffer);
    gl_->call("glBindBuffer", PIXEL_UNPACK_BUFFER, buffer);
    gl_->call("glPixelTransferf", 0x0D14u, 0.5f);  // RED_SCALE, which the compatibility profile has
  }
  void checkDisturbed(uint32_t buffer) {
    for (const auto& state : states) {
      EXPECT_EQ(gl_->get(state.name), state.value) << std::hex << state.name;
      gl_->call("glPixelStorei", state.name, state.usual);
    }
    EXPECT_EQ(gl_->get(0x88ED), static_cast<int>(buffer));
    EXPECT_EQ(gl_->get(0x88EF), static_cast<int>(buffer));
    gl_->call("glBindBuffer", PIXEL_PACK_BUFFER, 0u);
    gl_->call("glBindBuffer", PIXEL_UNPACK_BUFFER, 0u);
    float scale = 0;
    gl_->call("glGetFloatv", 0x0D14u, &scale);
    EXPECT_EQ(scale, 0.5f);
    gl_->call("glPixelTransferf", 0x0D14u, 1.0f);
  }
};

TEST_F(OpenGlImageTest, AreTheSameOnBothSidesInAllFormats) {
  gl_->call("glPixelStorei", 0x0D05u, 1);
  gl_->call("glPixelStorei", 0x0CF5u, 1);
  for (const Format& format : formats)
    for (size_t channel = 0; channel < 3; ++channel) checkImage({TEXTURE_2D, 4, 13, 11}, format, channel);
  checkImage({TEXTURE_2D, 4, 13, 11}, {{0, 0, 0x8C43}, 0x1401, 1, false}, 2);  // SRGB8_ALPHA8
}

TEST_F(OpenGlImageTest, AreTheSameOnBothSidesInAllShapes) {
  gl_->call("glPixelStorei", 0x0D05u, 1);
  gl_->call("glPixelStorei", 0x0CF5u, 1);
  const Format &bytes = formats[0], &floats = formats[3], &words = formats[9];
  for (const auto& [format, channel] : {std::pair(bytes, 2), std::pair(floats, 0), std::pair(words, 1)}) {
    const auto number = static_cast<size_t>(channel);
    checkImage({TEXTURE_2D, 1, 256, 64}, format, number);
    checkImage({TEXTURE_2D, 8, 256, 1}, format, number);
    checkImage({TEXTURE_RECTANGLE, 1, 33, 7}, format, number);
    checkImage({TEXTURE_3D, 1, 5, 6, 7}, format, number);
    checkImage({TEXTURE_3D, 3, 8, 6, 4}, format, number);
    checkImage({TEXTURE_2D_ARRAY, 1, 9, 4, 5}, format, number);
    checkImage({TEXTURE_2D_ARRAY, 3, 9, 4, 2}, format, number);
    checkImage({TEXTURE_CUBE_MAP, 3, 8, 8, 6}, format, number);
  }
}

TEST_F(OpenGlImageTest, ARenderbufferIsTheSameOnBothSides) {
  const Shape shape{TEXTURE_2D, 1, 24, 10};
  const std::vector<uint8_t> given = random(24 * 10 * 4), written = random(24 * 10 * 4);
  const uint32_t texture = makeTexture(shape, 0x8058), renderbuffer = gl_->make("glCreateRenderbuffers");
  gl_->call("glNamedRenderbufferStorage", renderbuffer, 0x8058u, 24, 10);
  upload(texture, shape, 0, 0x1908, 0x1401, given);
  gl_->call("glCopyImageSubData", texture, TEXTURE_2D, 0, 0, 0, 0, renderbuffer, RENDERBUFFER, 0, 0, 0, 0, 24, 10, 1);
  CUgraphicsResource resource = nullptr;
  ASSERT_EQ(registerImage(renderbuffer, RENDERBUFFER, 0, resource), CUDA_SUCCESS);
  ASSERT_EQ(map(resource), CUDA_SUCCESS);
  std::vector<uint8_t> seen(given.size()), copied = written;
  copy(resource, shape, 0, seen, true);
  EXPECT_EQ(seen, given);
  copy(resource, shape, 0, copied, false);
  ASSERT_EQ(unmap(resource), CUDA_SUCCESS);
  gl_->call("glCopyImageSubData", renderbuffer, RENDERBUFFER, 0, 0, 0, 0, texture, TEXTURE_2D, 0, 0, 0, 0, 24, 10, 1);
  EXPECT_EQ(download(texture, shape, 0, 0x1908, 0x1401, written.size()), written);
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_SUCCESS);
  gl_->call("glDeleteTextures", 1, &texture);
  gl_->call("glDeleteRenderbuffers", 1, &renderbuffer);
}

TEST_F(OpenGlTest, WrongUsesAreRefused) {
  CUgraphicsResource resource = nullptr, other = nullptr;
  const uint32_t buffer = makeBuffer(random(64)), empty = gl_->make("glCreateBuffers");
  EXPECT_EQ(registerBuffer(buffer, 4, resource), CUDA_ERROR_INVALID_VALUE) << "a flag of images";
  EXPECT_EQ(registerBuffer(buffer, 3, resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(registerBuffer(0, 0, resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(registerBuffer(9999, 0, resource), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(registerBuffer(empty, 0, resource), CUDA_ERROR_OUT_OF_MEMORY) << "has no memory";
  ASSERT_EQ(registerBuffer(buffer, 0, resource), CUDA_SUCCESS);
  ASSERT_EQ(registerBuffer(makeBuffer(random(64)), 0, other), CUDA_SUCCESS);

  CUdeviceptr address = 0;
  CUarray array = nullptr;
  EXPECT_EQ(CUDA(cuGraphicsResourceGetMappedPointer_v2)(&address, nullptr, resource), CUDA_ERROR_NOT_MAPPED);
  EXPECT_EQ(unmap(resource), CUDA_ERROR_NOT_MAPPED);
  EXPECT_EQ(CUDA(cuGraphicsMapResources)(0, &resource, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CUDA(cuGraphicsMapResources)(1, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(map(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(nullptr), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(map(resource), CUDA_SUCCESS);
  EXPECT_EQ(map(resource), CUDA_ERROR_ALREADY_MAPPED);
  CUgraphicsResource both[] = {other, resource};
  EXPECT_EQ(CUDA(cuGraphicsMapResources)(2, both, nullptr), CUDA_ERROR_ALREADY_MAPPED);
  EXPECT_EQ(unmap(other), CUDA_ERROR_NOT_MAPPED) << "nothing was mapped";
  EXPECT_EQ(CUDA(cuGraphicsResourceSetMapFlags_v2)(resource, 1), CUDA_ERROR_ALREADY_MAPPED);
  EXPECT_EQ(CUDA(cuGraphicsSubResourceGetMappedArray)(&array, resource, 0, 0), CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_ERROR_ALREADY_MAPPED);
  ASSERT_EQ(unmap(resource), CUDA_SUCCESS);
  CUgraphicsResource twice[] = {resource, resource};
  EXPECT_EQ(CUDA(cuGraphicsMapResources)(2, twice, nullptr), CUDA_ERROR_ALREADY_MAPPED);
  EXPECT_EQ(CUDA(cuGraphicsUnmapResources)(2, twice, nullptr), CUDA_ERROR_NOT_MAPPED);
  EXPECT_EQ(CUDA(cuGraphicsResourceSetMapFlags_v2)(resource, 3), CUDA_ERROR_INVALID_VALUE);

  gl_->makeCurrent(false);
  EXPECT_EQ(map(resource), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
  CUgraphicsResource none = nullptr;
  EXPECT_EQ(registerBuffer(buffer, 0, none), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
  EXPECT_EQ(registerImage(1, TEXTURE_2D, 0, none), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
  gl_->makeCurrent(true);
  {
    OpenGlContext stranger;  // and current
    EXPECT_EQ(map(resource), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
  }
  gl_->makeCurrent(true);
  EXPECT_EQ(map(resource), CUDA_SUCCESS);
  EXPECT_EQ(unmap(resource), CUDA_SUCCESS);

  // A capture cannot hold a mapping.
  CUstream stream = nullptr;
  ASSERT_EQ(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(CUDA(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_NE(map(resource, stream), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  EXPECT_NE(CUDA(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(map(resource, stream), CUDA_SUCCESS);
  EXPECT_EQ(unmap(resource, stream), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuStreamDestroy_v2)(stream), CUDA_SUCCESS);

  const std::vector<uint8_t> larger(128);
  gl_->call("glNamedBufferData", buffer, intptr_t{128}, static_cast<const void*>(larger.data()), 0x88E8u);
  EXPECT_EQ(map(resource), CUDA_ERROR_MAP_FAILED) << "the buffer has another size now";
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(other), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(OpenGlImageTest, WrongImagesAreRefused) {
  const uint32_t texture = makeTexture({TEXTURE_2D, 1, 8, 8}, 0x8058),
                 colors = makeTexture({TEXTURE_2D, 1, 8, 8}, 0x8051),
                 depths = makeTexture({TEXTURE_2D, 1, 8, 8}, 0x81A6);
  uint32_t empty = 0;
  gl_->call("glCreateTextures", TEXTURE_2D, 1, &empty);
  CUgraphicsResource resource = nullptr;
  EXPECT_EQ(registerImage(colors, TEXTURE_2D, 0, resource), CUDA_ERROR_INVALID_VALUE) << "three channels";
  EXPECT_EQ(registerImage(depths, TEXTURE_2D, 0, resource), CUDA_ERROR_INVALID_VALUE) << "depths";
  EXPECT_EQ(registerImage(empty, TEXTURE_2D, 0, resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(registerImage(9999, TEXTURE_2D, 0, resource), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(registerImage(texture, TEXTURE_3D, 0, resource), CUDA_ERROR_INVALID_VALUE) << "not its target";
  EXPECT_EQ(registerImage(texture, RENDERBUFFER, 0, resource), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(registerImage(texture, 1, 0, resource), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(registerImage(texture, TEXTURE_2D, 64, resource), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(registerImage(texture, TEXTURE_2D, 0, resource), CUDA_SUCCESS);
  ASSERT_EQ(map(resource), CUDA_SUCCESS);
  CUdeviceptr address = 0;
  CUarray array = nullptr;
  EXPECT_EQ(CUDA(cuGraphicsResourceGetMappedPointer_v2)(&address, nullptr, resource), CUDA_ERROR_NOT_MAPPED_AS_POINTER);
  EXPECT_EQ(CUDA(cuGraphicsSubResourceGetMappedArray)(&array, resource, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(CUDA(cuGraphicsSubResourceGetMappedArray)(&array, resource, 0, 1), CUDA_ERROR_INVALID_VALUE);
  CUmipmappedArray mipmapped = nullptr;
  EXPECT_EQ(CUDA(cuGraphicsResourceGetMappedMipmappedArray)(&mipmapped, resource), CUDA_SUCCESS);
  ASSERT_EQ(unmap(resource), CUDA_SUCCESS);
  EXPECT_EQ(CUDA(cuGraphicsUnregisterResource)(resource), CUDA_SUCCESS);
}

}  // namespace
}  // namespace mulciber::test
