#include <algorithm>

#include <fmt/format.h>

#include "runtime/core/array.h"
#include "runtime/core/surface_object.h"
#include "runtime/core/texture_object.h"
#include "runtime/engine/handles.h"

using namespace mulciber;
using namespace mulciber::engine_api;

namespace {

// In words, what keeps an image from being an array; empty when nothing does.
std::string whyNoArray(const VkImageCreateInfo& info) {
  constexpr VkImageUsageFlags needed =
      VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  if (!core::findArrayFormat(info.format))
    return fmt::format("CUDA has no arrays of the VkFormat {}", static_cast<int>(info.format));
  if (info.samples != VK_SAMPLE_COUNT_1_BIT) return "it has several samples";
  if (info.tiling != VK_IMAGE_TILING_OPTIMAL) return "its tiling is not optimal";
  if ((info.flags & VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT) == 0)
    return "it was made without VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT: kernels see its bits in another format";
  if ((info.flags & (VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_PROTECTED_BIT)) != 0)
    return "it is sparse or protected";
  if ((info.usage & needed) != needed)
    return "it was made without VK_IMAGE_USAGE_SAMPLED_BIT, TRANSFER_SRC_BIT or TRANSFER_DST_BIT";
  return {};
}

core::ArrayDescription descriptionOf(const VkImageCreateInfo& info) {
  core::ArrayDescription array;
  array.width = info.extent.width;
  if (info.imageType != VK_IMAGE_TYPE_1D) array.height = info.extent.height;
  if (info.imageType == VK_IMAGE_TYPE_3D) array.depth = info.extent.depth;
  array.format = core::findArrayFormat(info.format);
  const bool isCube = (info.flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT) != 0;
  if (info.arrayLayers > 1) array.depth = info.arrayLayers;
  if (isCube) array.flags |= core::ArrayCubemap;
  if (isCube ? info.arrayLayers > 6 : info.arrayLayers > 1) array.flags |= core::ArrayLayered;
  if ((info.usage & VK_IMAGE_USAGE_STORAGE_BIT) != 0) array.flags |= core::ArraySurfaceLoadStore;
  return array;
}

Error levelOf(const MulciberImage_T& image, uint32_t level, core::ArrayRef& out) {
  core::Array* array = nullptr;
  TRY(image.array->level(level, array));
  out = image.context->context->arrays().find(array);
  return out ? Error::Success : Error::InvalidHandle;
}

void destroyObjects(MulciberImage_T& image) {
  for (const uint64_t texture : image.textures) (void)core::destroyTexture(*image.context->context, texture);
  for (const uint64_t surface : image.surfaces) (void)core::destroySurface(*image.context->context, surface);
}

// CUaddress_mode
uint32_t addressMode(VkSamplerAddressMode mode) {
  switch (mode) {
    case VK_SAMPLER_ADDRESS_MODE_REPEAT: return 0;
    case VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT: return 2;
    case VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER: return 3;
    default: return 1;
  }
}

}  // namespace

MulciberResult mulciberWrapImage(MulciberContext context, VkImage image, const VkImageCreateInfo* info,
                                 MulciberImage* out) {
  return guarded([&] {
    if (!context || image == VK_NULL_HANDLE || !info || !out)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer or the image is null");
    if (const std::string why = whyNoArray(*info); !why.empty())
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the image cannot be a CUDA array: " + why);
    core::MipmappedArray* handle = nullptr;
    TRY(resultOf(core::wrapMipmappedArray(*context->context, descriptionOf(*info), info->mipLevels, image, handle),
                 "the image cannot be a CUDA array"));
    auto made = std::make_unique<MulciberImage_T>();
    made->context = context;
    made->handle = handle;
    made->array = context->context->mipmappedArrays().find(handle);
    std::lock_guard lock(context->mutex);
    context->images.push_back(std::move(made));
    *out = context->images.back().get();
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberUnwrapImage(MulciberImage image) {
  return guarded([&] {
    if (!image) return MULCIBER_SUCCESS;
    MulciberContext_T& context = *image->context;
    TRY(resultOf(context.context->waitIdle(), "the image"));
    destroyObjects(*image);
    context.context->mipmappedArrays().remove(image->handle);
    std::lock_guard lock(context.mutex);
    std::erase_if(context.images, [&](const auto& held) { return held.get() == image; });
    return MULCIBER_SUCCESS;
  });
}

void* mulciberGetCudaMipmappedArray(MulciberImage image) { return image ? image->handle : nullptr; }

MulciberResult mulciberCreateTexture(MulciberImage image, const MulciberTextureInfo* info, uint64_t* out) {
  return guarded([&] {
    constexpr uint32_t known =
        MULCIBER_TEXTURE_LINEAR | MULCIBER_TEXTURE_NORMALIZED_COORDINATES | MULCIBER_TEXTURE_INTEGERS;
    if (!image || !info || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    if (info->structSize < sizeof(MulciberTextureInfo) || (info->flags & ~known) != 0)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "MulciberTextureInfo: the size, or a flag that is not known");
    core::TextureDescription texture;
    texture.resource = core::TextureDescription::Resource::Mipmapped;
    texture.mipmapped = image->array;
    texture.format = image->array->description().format;
    texture.filtersLinear = texture.filtersLevels = (info->flags & MULCIBER_TEXTURE_LINEAR) != 0;
    texture.hasNormalizedCoordinates = (info->flags & MULCIBER_TEXTURE_NORMALIZED_COORDINATES) != 0;
    texture.readsIntegers = (info->flags & MULCIBER_TEXTURE_INTEGERS) != 0;
    texture.maxLevel = static_cast<float>(image->array->levels() - 1);
    if (image->array->levels() == 1) {  // texel coordinates are for single levels
      texture.resource = core::TextureDescription::Resource::Array;
      texture.filtersLevels = false;
      texture.maxLevel = 0;
      TRY(resultOf(levelOf(*image, 0, texture.array), "the image"));
    }
    for (int i = 0; i < 3; ++i) texture.addressModes[i] = addressMode(info->addressModes[i]);
    TRY(resultOf(core::createTexture(*image->context->context, texture, *out), "a texture of the image"));
    std::lock_guard lock(image->context->mutex);
    image->textures.push_back(*out);
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberCreateSurface(MulciberImage image, uint32_t level, uint64_t* out) {
  return guarded([&] {
    if (!image || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    core::ArrayRef array;
    Error error = levelOf(*image, level, array);
    if (error == Error::Success && !array->image()->shape().isStorage)
      return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "the image was made without VK_IMAGE_USAGE_STORAGE_BIT");
    if (error == Error::Success) error = core::createSurface(*image->context->context, array, *out);
    TRY(resultOf(error, "a surface of the image"));
    std::lock_guard lock(image->context->mutex);
    image->surfaces.push_back(*out);
    return MULCIBER_SUCCESS;
  });
}

MulciberResult mulciberGetImage(MulciberContext context, void* cudaArray, MulciberImageLevel* out) {
  return guarded([&] {
    if (!context || !out) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "a pointer is null");
    const core::ArrayRef array = context->context->arrays().find(static_cast<core::Array*>(cudaArray));
    if (!array) return fail(MULCIBER_ERROR_INVALID_ARGUMENT, "this is no CUarray of the context");
    const vk::ImageShape& shape = array->image()->shape();
    constexpr VkImageViewType types[][2] = {{VK_IMAGE_VIEW_TYPE_1D, VK_IMAGE_VIEW_TYPE_1D_ARRAY},
                                            {VK_IMAGE_VIEW_TYPE_2D, VK_IMAGE_VIEW_TYPE_2D_ARRAY},
                                            {VK_IMAGE_VIEW_TYPE_3D, VK_IMAGE_VIEW_TYPE_3D}};
    vk::Image::ViewShape view{};
    view.type = types[shape.type][shape.layers > 1];
    view.format = array->format().normalized;
    view.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
    view.baseLevel = array->level();
    view.levels = 1;
    view.layers = shape.layers;
    const vk::Status status = array->image()->view(view, out->view);
    TRY(resultOf(core::errorFrom(status), "a view of the array"));
    out->image = array->image()->handle();
    out->level = array->level();
    out->viewFormat = view.format;
    return MULCIBER_SUCCESS;
  });
}
