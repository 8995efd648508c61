// Images: OpenCL 3.0, section 5.3, except the commands on them (transfer.cpp).
#include <algorithm>
#include <set>

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"

namespace clique::icd::api {

namespace {

bool is_image_type(cl_mem_object_type type) {
  return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER && type != CL_MEM_OBJECT_PIPE;
}

bool has_images(const Device& device) {
  return device.value<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE;
}

/// The access for which to list formats, from the flags of an image.
cl_mem_flags format_access(cl_mem_flags flags) {
  if ((flags & CL_MEM_KERNEL_READ_AND_WRITE) != 0) return CL_MEM_KERNEL_READ_AND_WRITE;
  if ((flags & CL_MEM_READ_ONLY) != 0) return CL_MEM_READ_ONLY;
  if ((flags & CL_MEM_WRITE_ONLY) != 0) return CL_MEM_WRITE_ONLY;
  return CL_MEM_READ_WRITE;
}

/// Checks a format by itself. Throws Error(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR).
void check_format(const cl_image_format* format) {
  require(format != nullptr, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "image_format is NULL");
  require(element_size(*format) != 0, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "channel order ",
          Hex{format->image_channel_order}, " with data type ", Hex{format->image_channel_data_type},
          " is not defined");
}

/// True if the device supports images of this type and extent.
bool fits(const Device& device, const cl_image_desc& desc) {
  if (!has_images(device)) return false;
  const auto limit = [&](cl_device_info name) { return device.value<size_t>(name); };
  switch (desc.image_type) {
    case CL_MEM_OBJECT_IMAGE1D:
      return desc.image_width <= limit(CL_DEVICE_IMAGE2D_MAX_WIDTH);
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return desc.image_width <= limit(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      return desc.image_width <= limit(CL_DEVICE_IMAGE2D_MAX_WIDTH) &&
             desc.image_array_size <= limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      return desc.image_width <= limit(CL_DEVICE_IMAGE2D_MAX_WIDTH) &&
             desc.image_height <= limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT) &&
             desc.image_array_size <= limit(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
    case CL_MEM_OBJECT_IMAGE3D:
      return desc.image_width <= limit(CL_DEVICE_IMAGE3D_MAX_WIDTH) &&
             desc.image_height <= limit(CL_DEVICE_IMAGE3D_MAX_HEIGHT) &&
             desc.image_depth <= limit(CL_DEVICE_IMAGE3D_MAX_DEPTH);
    default:
      return desc.image_width <= limit(CL_DEVICE_IMAGE2D_MAX_WIDTH) &&
             desc.image_height <= limit(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  }
}

bool supports(const Device& device, cl_mem_flags access, cl_mem_object_type type,
              const cl_image_format& format) {
  const auto formats = device.image_formats(access, type);
  return std::any_of(formats.begin(), formats.end(), [&](const auto& candidate) {
    return candidate[0] == format.image_channel_order && candidate[1] == format.image_channel_data_type;
  });
}

/// Checks a descriptor except for its buffer. `element` is the size of a pixel in bytes. Throws
/// Error(CL_INVALID_IMAGE_DESCRIPTOR).
void check_shape(const cl_image_desc& desc, std::size_t element, bool host_ptr) {
  const auto valid = [](bool condition, const auto&... why) {
    require(condition, CL_INVALID_IMAGE_DESCRIPTOR, why...);
  };
  valid(is_image_type(desc.image_type), "image_type is ", Hex{desc.image_type}, ", which is not defined");
  valid(desc.image_width != 0, "image_width is 0");
  const bool planar = desc.image_type == CL_MEM_OBJECT_IMAGE2D ||
                      desc.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
                      desc.image_type == CL_MEM_OBJECT_IMAGE3D;
  valid(!planar || desc.image_height != 0, "image_height is 0");
  valid(desc.image_type != CL_MEM_OBJECT_IMAGE3D || desc.image_depth != 0, "image_depth is 0");
  const bool array =
      desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || desc.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  valid(!array || desc.image_array_size != 0, "image_array_size is 0");
  valid(desc.num_mip_levels == 0 && desc.num_samples == 0, "num_mip_levels is ", desc.num_mip_levels,
        " and num_samples is ", desc.num_samples, "; both must be 0");

  if (desc.buffer != nullptr) return;
  valid(host_ptr || (desc.image_row_pitch == 0 && desc.image_slice_pitch == 0), "image_row_pitch is ",
        desc.image_row_pitch, " and image_slice_pitch is ", desc.image_slice_pitch,
        "; without host_ptr both must be 0");
  if (!host_ptr) return;
  const std::size_t row = desc.image_width * element;
  if (desc.image_row_pitch != 0)
    valid(desc.image_row_pitch >= row && desc.image_row_pitch % element == 0, "image_row_pitch is ",
          desc.image_row_pitch, "; it must be a multiple of ", element, " and not less than ", row);
  if (desc.image_slice_pitch == 0) return;
  const std::size_t pitch = desc.image_row_pitch != 0 ? desc.image_row_pitch : row;
  if (desc.image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY)
    valid(desc.image_slice_pitch >= pitch && desc.image_slice_pitch % pitch == 0, "image_slice_pitch is ",
          desc.image_slice_pitch, "; it must be a multiple of the row pitch, ", pitch);
  if (desc.image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY || desc.image_type == CL_MEM_OBJECT_IMAGE3D)
    valid(desc.image_slice_pitch >= pitch * desc.image_height && desc.image_slice_pitch % pitch == 0,
          "image_slice_pitch is ", desc.image_slice_pitch, "; it must be a multiple of the row pitch, ",
          pitch, ", and not less than ", pitch * desc.image_height);
}

/// The bytes that the rows of a 2D image in a buffer occupy. `origin` is the buffer's offset in its
/// allocation. Throws Error(CL_INVALID_OPERATION) if no device of the context supports such images, and
/// Error(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR) if none supports this pitch and origin (sections 5.3.1.1 and
/// 5.3.1.6, which state the alignments in pixels).
std::size_t rows_in_buffer(const Context& context, const cl_image_desc& desc, std::size_t element,
                           std::size_t origin) {
  const std::size_t row = desc.image_width * element;
  const std::size_t pitch = desc.image_row_pitch != 0 ? desc.image_row_pitch : row;
  require(pitch >= row && pitch % element == 0, CL_INVALID_IMAGE_DESCRIPTOR, "image_row_pitch is ", pitch,
          "; it must be a multiple of ", element, " and not less than ", row);
  bool offered = false;
  bool aligned = false;
  for (const Ref<Device>& device : context.devices()) {
    if (device->text(CL_DEVICE_EXTENSIONS).find("cl_khr_image2d_from_buffer") == std::string::npos) continue;
    offered = true;
    const auto multiple = [&](std::size_t bytes, cl_device_info pixels) {
      return bytes % (std::max<std::size_t>(device->value<cl_uint>(pixels), 1) * element) == 0;
    };
    aligned |= multiple(pitch, CL_DEVICE_IMAGE_PITCH_ALIGNMENT) &&
               multiple(origin, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT);
  }
  require(offered, CL_INVALID_OPERATION, "no device of the context supports 2D images in buffers");
  require(aligned, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, "the row pitch is ", pitch,
          " and the buffer's origin is ", origin, "; no device of the context supports this alignment");
  return pitch * desc.image_height;
}

/// The buffer that an image is created from, checked; empty if there is none. Throws
/// Error(CL_INVALID_IMAGE_DESCRIPTOR) and what rows_in_buffer() throws.
Ref<Memory> buffer_below(const Context& context, const cl_image_desc& desc, std::size_t element) {
  const auto valid = [](bool condition, const auto&... why) {
    require(condition, CL_INVALID_IMAGE_DESCRIPTOR, why...);
  };
  valid((desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER) <= (desc.buffer != nullptr),
        "CL_MEM_OBJECT_IMAGE1D_BUFFER requires a buffer");
  if (desc.buffer == nullptr) return nullptr;
  valid(desc.image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER || desc.image_type == CL_MEM_OBJECT_IMAGE2D,
        "image_type is ", Hex{desc.image_type},
        "; only 1D buffer images and 2D images can be created from another memory object");
  Ref<Memory> buffer;
  try {
    buffer = get<Memory>(desc.buffer);
  } catch (const Error&) {
    throw Error(CL_INVALID_IMAGE_DESCRIPTOR, "the buffer is not a valid handle");
  }
  valid(!buffer->is_image(), "the buffer is an image; images from images are not supported");
  valid(buffer->context().get() == &context, "the buffer belongs to another context");
  require(
      !buffer->sparse(), CL_MEM_OBJECT_ALLOCATION_FAILURE, "the buffer of ", buffer->size(),
      " bytes is divided among the members of a combined device, because no member has room for all of it; "
      "such a buffer cannot have images");
  std::size_t size = desc.image_width * element;
  if (desc.image_type == CL_MEM_OBJECT_IMAGE2D)
    size = rows_in_buffer(context, desc, element, buffer->origin());
  valid(size <= buffer->size(), "the image needs ", size, " bytes; the buffer has ", buffer->size());
  return buffer;
}

Ref<Image> create_image(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                        const cl_image_format* format, const cl_image_desc* desc, void* host_ptr) {
  Ref<Context> owner = get<Context>(context);
  auto list = memory_properties(properties);
  check_flags(flags);
  check_format(format);
  require(desc != nullptr, CL_INVALID_IMAGE_DESCRIPTOR, "image_desc is NULL");
  const auto& devices = owner->devices();
  require(std::any_of(devices.begin(), devices.end(),
                      [](const Ref<Device>& device) { return has_images(*device); }),
          CL_INVALID_OPERATION, "no device of the context supports images");
  const std::size_t element = element_size(*format);
  check_shape(*desc, element, host_ptr != nullptr);
  Ref<Memory> buffer = buffer_below(*owner, *desc, element);
  require(std::any_of(devices.begin(), devices.end(),
                      [&](const Ref<Device>& device) { return fits(*device, *desc); }),
          CL_INVALID_IMAGE_SIZE, desc->image_width, " x ", desc->image_height, " x ", desc->image_depth,
          " with ", desc->image_array_size, " layers is more than any device of the context supports");
  if (buffer) {
    require(host_ptr == nullptr, CL_INVALID_HOST_PTR,
            "host_ptr is given; an image from a buffer has the buffer's content");
    require((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0,
            CL_INVALID_VALUE, "flags are ", Hex{flags},
            "; an image from a buffer inherits the host-pointer flags");
    flags = inherit_flags(flags, *buffer);
  } else {
    check_host_ptr(*owner, flags, host_ptr);
  }
  const cl_mem_flags access = format_access(flags);
  require(std::any_of(devices.begin(), devices.end(),
                      [&](const Ref<Device>& device) {
                        return supports(*device, access, desc->image_type, *format);
                      }),
          CL_IMAGE_FORMAT_NOT_SUPPORTED, "no device of the context supports channel order ",
          Hex{format->image_channel_order}, " with data type ", Hex{format->image_channel_data_type},
          " for this image type and access");
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  return Ref<Image>(
      new Image(std::move(owner), flags, *format, *desc, host_ptr, std::move(buffer), std::move(list)));
}

cl_image_desc describe(cl_mem_object_type type, size_t width, size_t height, size_t depth, size_t row_pitch,
                       size_t slice_pitch) {
  cl_image_desc desc{};
  desc.image_type = type;
  desc.image_width = width;
  desc.image_height = height;
  desc.image_depth = depth;
  desc.image_row_pitch = row_pitch;
  desc.image_slice_pitch = slice_pitch;
  return desc;
}

/// clCreateImage2D and clCreateImage3D return CL_INVALID_IMAGE_SIZE for what clCreateImage calls an invalid
/// descriptor.
template <typename Create>
cl_mem create_plain(Create&& create, cl_int* errcode_ret) {
  try {
    return created(create().get(), errcode_ret);
  } catch (const Error& error) {
    if (error.status() == CL_INVALID_IMAGE_DESCRIPTOR) throw Error(CL_INVALID_IMAGE_SIZE, error.what());
    throw;
  }
}

}  // namespace

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format* image_format,
                                 const cl_image_desc* image_desc, void* host_ptr, cl_int* errcode_ret) try {
  return created(create_image(context, nullptr, flags, image_format, image_desc, host_ptr).get(),
                 errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties* properties,
                                               cl_mem_flags flags, const cl_image_format* image_format,
                                               const cl_image_desc* image_desc, void* host_ptr,
                                               cl_int* errcode_ret) try {
  return created(create_image(context, properties, flags, image_format, image_desc, host_ptr).get(),
                 errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* image_format, size_t image_width,
                                   size_t image_height, size_t image_row_pitch, void* host_ptr,
                                   cl_int* errcode_ret) try {
  const auto desc = describe(CL_MEM_OBJECT_IMAGE2D, image_width, image_height, 0, image_row_pitch, 0);
  return create_plain([&] { return create_image(context, nullptr, flags, image_format, &desc, host_ptr); },
                      errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                   const cl_image_format* image_format, size_t image_width,
                                   size_t image_height, size_t image_depth, size_t image_row_pitch,
                                   size_t image_slice_pitch, void* host_ptr, cl_int* errcode_ret) try {
  require(image_depth > 1, CL_INVALID_IMAGE_SIZE, "image_depth is ", image_depth, "; it must be at least 2");
  const auto desc = describe(CL_MEM_OBJECT_IMAGE3D, image_width, image_height, image_depth, image_row_pitch,
                             image_slice_pitch);
  return create_plain([&] { return create_image(context, nullptr, flags, image_format, &desc, host_ptr); },
                      errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags,
                                              cl_mem_object_type image_type, cl_uint num_entries,
                                              cl_image_format* image_formats,
                                              cl_uint* num_image_formats) try {
  const Ref<Context> owner = get<Context>(context);
  check_flags(flags & ~cl_mem_flags{CL_MEM_KERNEL_READ_AND_WRITE});
  require(is_image_type(image_type), CL_INVALID_VALUE, "image_type is ", Hex{image_type},
          ", which is not defined");
  require(image_formats == nullptr || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0");
  // The union of the devices' formats, in the order of the first device that has each.
  std::vector<cl_image_format> all;
  std::set<std::pair<cl_uint, cl_uint>> seen;
  for (const auto& device : owner->devices())
    for (const auto& format : device->image_formats(format_access(flags), image_type))
      if (seen.emplace(format[0], format[1]).second) all.push_back({format[0], format[1]});
  if (image_formats != nullptr)
    std::copy_n(all.begin(), std::min<std::size_t>(num_entries, all.size()), image_formats);
  if (num_image_formats != nullptr) *num_image_formats = static_cast<cl_uint>(all.size());
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info param_name, size_t param_value_size,
                                  void* param_value, size_t* param_value_size_ret) try {
  const Ref<Memory> memory = get<Memory>(image);
  const auto* object = dynamic_cast<const Image*>(memory.get());
  require(object != nullptr, CL_INVALID_MEM_OBJECT, "the memory object is a buffer; an image is required");
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  const cl_image_desc& desc = object->desc();
  const bool planar = object->dimensions() > 1 && desc.image_type != CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const std::size_t row =
      desc.image_row_pitch != 0 ? desc.image_row_pitch : desc.image_width * object->element_size();
  const std::size_t slice =
      desc.image_slice_pitch != 0 ? desc.image_slice_pitch : row * (planar ? desc.image_height : 1);
  const bool layered = object->is_array() || desc.image_type == CL_MEM_OBJECT_IMAGE3D;
  switch (param_name) {
    case CL_IMAGE_FORMAT:
      write(object->format());
      break;
    case CL_IMAGE_ELEMENT_SIZE:
      write(object->element_size());
      break;
    case CL_IMAGE_ROW_PITCH:
      write(row);
      break;
    case CL_IMAGE_SLICE_PITCH:
      write(layered ? slice : size_t{0});
      break;
    case CL_IMAGE_WIDTH:
      write(desc.image_width);
      break;
    case CL_IMAGE_HEIGHT:
      write(planar ? desc.image_height : size_t{0});
      break;
    case CL_IMAGE_DEPTH:
      write(desc.image_type == CL_MEM_OBJECT_IMAGE3D ? desc.image_depth : size_t{0});
      break;
    case CL_IMAGE_ARRAY_SIZE:
      write(object->is_array() ? desc.image_array_size : size_t{0});
      break;
    case CL_IMAGE_BUFFER:
      write(static_cast<cl_mem>(object->parent().get()));
      break;
    case CL_IMAGE_NUM_MIP_LEVELS:
    case CL_IMAGE_NUM_SAMPLES:
      write(cl_uint{0});
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
