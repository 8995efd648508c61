#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <vector>

#include "icd/core/objects/memory.hpp"

namespace clique::icd {

/// Bytes of one element of an image format; 0 for a format that OpenCL does not define.
std::size_t element_size(const cl_image_format& format);
/// Channels of an order; 0 for one that OpenCL does not define.
std::size_t channel_count(cl_channel_order order);

class Image final : public Memory {
 public:
  /// @param desc checked; if `host_ptr` is given, with its pitches filled in.
  Image(Ref<Context> context, cl_mem_flags flags, const cl_image_format& format, const cl_image_desc& desc,
        void* host_ptr, Ref<Memory> buffer, std::vector<cl_mem_properties> properties);

  const cl_image_format& format() const { return format_; }
  const cl_image_desc& desc() const { return desc_; }
  std::size_t element_size() const { return icd::element_size(format_); }
  /// The number of dimensions that origin and region count, array layers included.
  unsigned dimensions() const;
  bool is_array() const {
    return type() == CL_MEM_OBJECT_IMAGE1D_ARRAY || type() == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  }
  /// The extent as origin and region arguments count it: array layers are the dimension after the image's
  /// own.
  protocol::Triple extent() const;
  /// The distances in host_ptr, in bytes, between steps of the second and of the third coordinate.
  Pitches host_pitches() const;
  /// The same distances in the content.
  Pitches content_pitches() const;
  /// Whether the region is the whole image.
  bool covers(const protocol::Triple& region) const { return region == extent(); }

 private:
  void post_create(Worker& worker) const override;

  cl_image_format format_;
  cl_image_desc desc_;
};

}  // namespace clique::icd
