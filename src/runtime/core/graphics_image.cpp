// OpenGL's textures and renderbuffers in CUDA. Texels go through the shared memory, as OpenGL packs and unpacks them
// there (as a pixel buffer), and from there to arrays.
#include <array>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/copy.h"
#include "runtime/core/device.h"
#include "runtime/core/graphics.h"
#include "runtime/core/opengl.h"
#include "runtime/core/platform.h"
#include "runtime/core/stream.h"
#include "util/log.h"

namespace mulciber::core {

namespace {

// GL's names.
constexpr uint32_t TEXTURE_2D = 0x0DE1, TEXTURE_RECTANGLE = 0x84F5, TEXTURE_3D = 0x806F, TEXTURE_CUBE_MAP = 0x8513,
                   TEXTURE_2D_ARRAY = 0x8C1A, RENDERBUFFER = 0x8D41;
constexpr uint32_t TEXTURE_WIDTH = 0x1000, TEXTURE_HEIGHT = 0x1001, TEXTURE_DEPTH = 0x8071,
                   TEXTURE_INTERNAL_FORMAT = 0x1003;
constexpr uint32_t RENDERBUFFER_WIDTH = 0x8D42, RENDERBUFFER_HEIGHT = 0x8D43, RENDERBUFFER_INTERNAL_FORMAT = 0x8D44,
                   RENDERBUFFER_SAMPLES = 0x8CAB;
constexpr uint32_t PIXEL_PACK_BUFFER = 0x88EB, PIXEL_UNPACK_BUFFER = 0x88EC, PIXEL_PACK_BUFFER_BINDING = 0x88ED,
                   PIXEL_UNPACK_BUFFER_BINDING = 0x88EF;
constexpr uint32_t PACK_ALIGNMENT = 0x0D05, UNPACK_ALIGNMENT = 0x0CF5;
constexpr uint32_t CONTEXT_PROFILE_MASK = 0x9126, PIXEL_MODE_BIT = 0x20;

// How a format of OpenGL's is packed, and CUDA's format that looks so.
struct Format {
  uint32_t internal[3];  // of 1, 2 and 4 channels
  uint32_t code;         // CUarray_format
  uint32_t type;         // GL_UNSIGNED_BYTE and so on
  bool isInteger;
};
constexpr Format formats[] = {
    {{0x8229, 0x822B, 0x8058}, 0x01, 0x1401, false},  // R8, RG8, RGBA8
    {{0, 0, 0x8C43}, 0x01, 0x1401, false},            // SRGB8_ALPHA8, as it is stored
    {{0x822A, 0x822C, 0x805B}, 0x02, 0x1403, false},  // R16, ...
    {{0x822D, 0x822F, 0x881A}, 0x10, 0x140B, false},  // R16F, ...
    {{0x822E, 0x8230, 0x8814}, 0x20, 0x1406, false},  // R32F, ...
    {{0x8231, 0x8237, 0x8D8E}, 0x08, 0x1400, true},   // R8I, ...
    {{0x8232, 0x8238, 0x8D7C}, 0x01, 0x1401, true},   // R8UI, ...
    {{0x8233, 0x8239, 0x8D88}, 0x09, 0x1402, true},   // R16I, ...
    {{0x8234, 0x823A, 0x8D76}, 0x02, 0x1403, true},   // R16UI, ...
    {{0x8235, 0x823B, 0x8D82}, 0x0A, 0x1404, true},   // R32I, ...
    {{0x8236, 0x823C, 0x8D70}, 0x03, 0x1405, true},   // R32UI, ...
};
constexpr uint32_t channelsOf[] = {1, 2, 4};
constexpr uint32_t plainFormats[] = {0x1903, 0x8227, 0x1908};    // RED, RG, RGBA
constexpr uint32_t integerFormats[] = {0x8D94, 0x8228, 0x8D99};  // RED_INTEGER, ...

// What the program has set of how pixels are packed, put aside while this lives.
class PixelState {
 public:
  PixelState(const OpenGl& gl, bool isPacked, uint32_t buffer)
      : gl_(gl),
        // Swapped bytes and seven more: in a row, but for two that came with volumes.
        names_{isPacked ? std::array<uint32_t, 7>{0x0D00, 0x0D01, 0x0D02, 0x0D03, 0x0D04, 0x806B, 0x806C}
                        : std::array<uint32_t, 7>{0x0CF0, 0x0CF1, 0x0CF2, 0x0CF3, 0x0CF4, 0x806D, 0x806E}},
        alignment_(isPacked ? PACK_ALIGNMENT : UNPACK_ALIGNMENT),
        target_(isPacked ? PIXEL_PACK_BUFFER : PIXEL_UNPACK_BUFFER),
        hasTransfers_((gl.integer(CONTEXT_PROFILE_MASK) & 2) != 0),
        buffer_(gl.integer(isPacked ? PIXEL_PACK_BUFFER_BINDING : PIXEL_UNPACK_BUFFER_BINDING)),
        oldAlignment_(gl.integer(alignment_)) {
    for (size_t i = 0; i < names_.size(); ++i) {
      values_[i] = gl.integer(names_[i]);
      gl.PixelStorei(names_[i], 0);
    }
    gl.PixelStorei(alignment_, 1);
    gl.BindBuffer(target_, buffer);
    if (!hasTransfers_) return;
    gl.PushAttrib(PIXEL_MODE_BIT);
    gl.PixelTransferf(0x0D10, 0);                                        // MAP_COLOR
    for (const uint32_t scale : {0x0D14u, 0x0D18u, 0x0D1Au, 0x0D1Cu}) {  // RED_SCALE and so on, each before its bias
      gl.PixelTransferf(scale, 1);
      gl.PixelTransferf(scale + 1, 0);
    }
  }
  ~PixelState() {
    if (hasTransfers_) gl_.PopAttrib();
    gl_.BindBuffer(target_, static_cast<uint32_t>(buffer_));
    gl_.PixelStorei(alignment_, oldAlignment_);
    for (size_t i = 0; i < names_.size(); ++i) gl_.PixelStorei(names_[i], values_[i]);
  }
  PixelState(const PixelState&) = delete;
  PixelState& operator=(const PixelState&) = delete;

 private:
  const OpenGl& gl_;
  const std::array<uint32_t, 7> names_;
  const uint32_t alignment_, target_;
  const bool hasTransfers_;  // the compatibility profile scales texels and looks them up
  const int32_t buffer_, oldAlignment_;
  std::array<int32_t, 7> values_{};
};

struct Level {
  int32_t width = 0, height = 0, depth = 1;  // the depth counts layers and faces too
  uint64_t offset = 0, bytes = 0;            // in the shared memory
};

class ImageResource : public GraphicsResource {
 public:
  ImageResource(Context& context, const OpenGl& gl, uint32_t image, uint32_t target, uint32_t flags)
      : GraphicsResource(context, flags), image_(image), target_(target), levels_(shapeOf(gl)) {}
  ~ImageResource() override;
  Error create(Context& context, const OpenGl& gl, uint32_t flags);

 private:
  std::vector<Level> shapeOf(const OpenGl& gl) const;
  int32_t levelParameter(const OpenGl& gl, size_t level, uint32_t name) const {
    int32_t value = 0;
    gl.GetTextureLevelParameteriv(image_, static_cast<int32_t>(level), name, &value);
    return value;
  }
  int32_t renderbufferParameter(const OpenGl& gl, uint32_t name) const {
    int32_t value = 0;
    gl.GetNamedRenderbufferParameteriv(image_, name, &value);
    return value;
  }
  bool isRenderbuffer() const { return target_ == RENDERBUFFER; }
  bool isVolume() const { return target_ == TEXTURE_3D; }
  bool findFormat(uint32_t internal);
  // A renderbuffer cannot be packed: its texels go through a texture.
  uint32_t texture() const { return isRenderbuffer() ? copy_ : image_; }
  void copyRenderbuffer(const OpenGl& gl, bool isBack) const;
  template <class Use>
  Error forEachArray(Use&& use) const;

  Error check(const OpenGl& gl) const override;
  void copyFromOpenGl(const OpenGl& gl) const override;
  void copyToOpenGl(const OpenGl& gl) const override;
  Error copyFromMemory(Stream& stream) const override;
  Error copyToMemory(Stream& stream) const override;
  Error tellArray(uint32_t index, uint32_t level, Array*& out) const override;
  Error tellMipmappedArray(MipmappedArray*& out) const override;

  const uint32_t image_, target_;
  std::vector<Level> levels_;
  uint32_t internal_ = 0, format_ = 0, type_ = 0, copy_ = 0;
  const ArrayFormat* element_ = nullptr;
  std::vector<MipmappedArray*> arrays_;  // of each layer or face; one of a volume
};

ImageResource::~ImageResource() {
  for (MipmappedArray* const array : arrays_) (void)destroyMipmappedArray(array);
  const OpenGl* gl = nullptr;
  if (copy_ != 0 && currentOpenGl(gl) == Error::Success && memory_.isKnown(*gl)) gl->DeleteTextures(1, &copy_);
}

std::vector<Level> ImageResource::shapeOf(const OpenGl& gl) const {
  std::vector<Level> levels;
  if (isRenderbuffer())
    return {{renderbufferParameter(gl, RENDERBUFFER_WIDTH), renderbufferParameter(gl, RENDERBUFFER_HEIGHT)}};
  for (;;) {
    Level level;
    level.width = levelParameter(gl, levels.size(), TEXTURE_WIDTH);
    level.height = levelParameter(gl, levels.size(), TEXTURE_HEIGHT);
    level.depth = target_ == TEXTURE_CUBE_MAP ? 6 : levelParameter(gl, levels.size(), TEXTURE_DEPTH);
    if (level.width == 0) return levels;
    levels.push_back(level);
    if (target_ == TEXTURE_RECTANGLE || (level.width == 1 && level.height == 1 && (!isVolume() || level.depth == 1)))
      return levels;
  }
}

bool ImageResource::findFormat(uint32_t internal) {
  for (const Format& format : formats)
    for (size_t i = 0; i < std::size(channelsOf); ++i) {
      if (format.internal[i] != internal) continue;
      internal_ = internal;
      format_ = (format.isInteger ? integerFormats : plainFormats)[i];
      type_ = format.type;
      element_ = findArrayFormat(format.code, channelsOf[i]);
      return element_ != nullptr;
    }
  return false;
}

Error ImageResource::create(Context& context, const OpenGl& gl, uint32_t flags) {
  if (levels_.empty() || levels_.front().width == 0) return Error::InvalidValue;
  const auto internal = static_cast<uint32_t>(isRenderbuffer() ? renderbufferParameter(gl, RENDERBUFFER_INTERNAL_FORMAT)
                                                               : levelParameter(gl, 0, TEXTURE_INTERNAL_FORMAT));
  if (!findFormat(internal)) {
    util::log().warn("OpenGL's image {} has the internal format {:#x}, which CUDA does not have", image_, internal);
    return Error::InvalidValue;
  }
  if (isRenderbuffer() && renderbufferParameter(gl, RENDERBUFFER_SAMPLES) != 0) {
    util::log().warn("OpenGL's renderbuffer {} has several samples for each texel, which CUDA does not have", image_);
    return Error::InvalidValue;
  }
  uint64_t bytes = 0;
  for (Level& level : levels_) {
    level.offset = bytes;
    level.bytes = uint64_t{element_->bytes} * static_cast<uint64_t>(level.width) * static_cast<uint64_t>(level.height) *
                  static_cast<uint64_t>(level.depth);
    bytes = (level.offset + level.bytes + 15) / 16 * 16;
  }
  TRY(memory_.create(context, gl, bytes));
  const Level& first = levels_.front();
  ArrayDescription description{static_cast<size_t>(first.width), static_cast<size_t>(first.height), 0, element_, 0};
  if (isVolume()) description.depth = static_cast<size_t>(first.depth);
  if ((flags & GraphicsSurfaceLoadStore) != 0) description.flags |= ArraySurfaceLoadStore;
  if ((flags & GraphicsTextureGather) != 0) description.flags |= ArrayTextureGather;
  for (int32_t layer = 0; layer < (isVolume() ? 1 : first.depth); ++layer) {
    MipmappedArray* array = nullptr;
    TRY(createMipmappedArray(context, description, static_cast<uint32_t>(levels_.size()), array));
    arrays_.push_back(array);
  }
  if (!isRenderbuffer()) return Error::Success;
  gl.CreateTextures(TEXTURE_2D, 1, &copy_);
  gl.TextureStorage2D(copy_, 1, internal_, first.width, first.height);
  return Error::Success;
}

Error ImageResource::check(const OpenGl& gl) const {
  const bool isThere = isRenderbuffer() ? gl.IsRenderbuffer(image_) : gl.IsTexture(image_);
  bool isSame = isThere;
  if (isThere) {
    const std::vector<Level> now = shapeOf(gl);
    isSame = now.size() == levels_.size();
    for (size_t i = 0; isSame && i < now.size(); ++i)
      isSame =
          now[i].width == levels_[i].width && now[i].height == levels_[i].height && now[i].depth == levels_[i].depth;
  }
  if (isSame) return Error::Success;
  util::log().warn("OpenGL's image {} no longer has the shape that it was registered with", image_);
  return Error::MapFailed;
}

void ImageResource::copyRenderbuffer(const OpenGl& gl, bool isBack) const {
  const Level& level = levels_.front();
  if (isBack)
    gl.CopyImageSubData(copy_, TEXTURE_2D, 0, 0, 0, 0, image_, RENDERBUFFER, 0, 0, 0, 0, level.width, level.height, 1);
  else
    gl.CopyImageSubData(image_, RENDERBUFFER, 0, 0, 0, 0, copy_, TEXTURE_2D, 0, 0, 0, 0, level.width, level.height, 1);
}

void ImageResource::copyFromOpenGl(const OpenGl& gl) const {
  if (isRenderbuffer()) copyRenderbuffer(gl, false);
  const PixelState state(gl, true, memory_.buffer());
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Level& level = levels_[i];
    gl.GetTextureSubImage(texture(), static_cast<int32_t>(i), 0, 0, 0, level.width, level.height, level.depth, format_,
                          type_, static_cast<int32_t>(level.bytes), reinterpret_cast<void*>(level.offset));
  }
}

void ImageResource::copyToOpenGl(const OpenGl& gl) const {
  {
    const PixelState state(gl, false, memory_.buffer());
    const bool isFlat = target_ == TEXTURE_2D || target_ == TEXTURE_RECTANGLE || isRenderbuffer();
    for (size_t i = 0; i < levels_.size(); ++i) {
      const Level& level = levels_[i];
      const auto number = static_cast<int32_t>(i);
      const void* const texels = reinterpret_cast<const void*>(level.offset);
      if (isFlat) gl.TextureSubImage2D(texture(), number, 0, 0, level.width, level.height, format_, type_, texels);
      else
        gl.TextureSubImage3D(texture(), number, 0, 0, 0, level.width, level.height, level.depth, format_, type_,
                             texels);
    }
  }
  if (isRenderbuffer()) copyRenderbuffer(gl, true);
}

// Calls use(array, its copy's shape and its place in memory) for each level of each layer.
template <class Use>
Error ImageResource::forEachArray(Use&& use) const {
  for (size_t layer = 0; layer < arrays_.size(); ++layer)
    for (size_t i = 0; i < levels_.size(); ++i) {
      const Level& level = levels_[i];
      Array* handle = nullptr;
      ArrayPlace place;
      TRY(arrays_[layer]->level(static_cast<uint32_t>(i), handle));
      TRY(findArray(handle, place.array));
      Copy copy;
      copy.width = static_cast<size_t>(level.width) * element_->bytes;
      copy.height = static_cast<size_t>(level.height);
      copy.depth = isVolume() ? static_cast<size_t>(level.depth) : 1;
      copy.sourcePitch = copy.destinationPitch = copy.width;
      copy.sourceSlice = copy.destinationSlice = copy.width * copy.height;
      copy.kind = CopyKind::DeviceToDevice;
      TRY(use(copy, place, memory_.address() + level.offset + layer * copy.sourceSlice));
    }
  return Error::Success;
}

Error ImageResource::copyFromMemory(Stream& stream) const {
  return forEachArray([&](Copy& copy, const ArrayPlace& array, uint64_t address) {
    copy.source = address;
    copy.destinationArray = array;
    return core::copy(stream, copy, true);
  });
}

Error ImageResource::copyToMemory(Stream& stream) const {
  return forEachArray([&](Copy& copy, const ArrayPlace& array, uint64_t address) {
    copy.destination = address;
    copy.sourceArray = array;
    return core::copy(stream, copy, true);
  });
}

Error ImageResource::tellArray(uint32_t index, uint32_t level, Array*& out) const {
  if (index >= arrays_.size() || level >= levels_.size()) return Error::InvalidValue;
  return arrays_[index]->level(level, out);
}

Error ImageResource::tellMipmappedArray(MipmappedArray*& out) const {
  if (arrays_.size() != 1) {
    util::log().warn("the layers and faces of OpenGL's image {} are mapped one by one, and not as one array", image_);
    return Error::NotSupported;
  }
  out = arrays_.front();
  return Error::Success;
}

// What asks for the texture that is bound to a target. 0 for targets whose textures cannot be registered.
uint32_t bindingOf(uint32_t target) {
  switch (target) {
    case TEXTURE_2D: return 0x8069;
    case TEXTURE_RECTANGLE: return 0x84F6;
    case TEXTURE_3D: return 0x806A;
    case TEXTURE_CUBE_MAP: return 0x8514;
    case TEXTURE_2D_ARRAY: return 0x8C1D;
    default: return 0;
  }
}

// Whether the texture is of that target: it can be bound there.
bool isOf(const OpenGl& gl, uint32_t texture, uint32_t target, uint32_t binding) {
  const auto before = static_cast<uint32_t>(gl.integer(binding));
  if (before == texture) return true;
  gl.BindTexture(target, texture);
  const bool isBound = static_cast<uint32_t>(gl.integer(binding)) == texture;
  if (isBound) gl.BindTexture(target, before);
  else (void)gl.GetError();  // ours, and not for the program to find
  return isBound;
}

}  // namespace

Error registerImage(Context& context, uint32_t image, uint32_t target, uint32_t flags, GraphicsResource*& out) {
  constexpr uint32_t mapFlags = GraphicsReadOnly | GraphicsWriteDiscard;
  constexpr uint32_t allFlags = mapFlags | GraphicsSurfaceLoadStore | GraphicsTextureGather;
  if ((flags & ~allFlags) != 0 || (flags & mapFlags) == mapFlags) return Error::InvalidValue;
  const uint32_t binding = bindingOf(target);
  if (binding == 0 && target != RENDERBUFFER) return Error::InvalidValue;
  const OpenGl* gl = nullptr;
  TRY(currentOpenGl(gl));
  TRY(canShare(*gl, context.device()));
  if (target == RENDERBUFFER ? !gl->IsRenderbuffer(image) : !gl->IsTexture(image)) return Error::InvalidHandle;
  if (target != RENDERBUFFER && !isOf(*gl, image, target, binding)) return Error::InvalidValue;
  auto made = std::make_shared<ImageResource>(context, *gl, image, target, flags);
  TRY(made->create(context, *gl, flags));
  out = context.graphicsResources().add(std::move(made));
  return Error::Success;
}

}  // namespace mulciber::core
