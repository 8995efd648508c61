// Section 5.7: samplers.
#include "icd/core/objects/sampler.hpp"

#include <algorithm>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"
#include "icd/core/objects/context.hpp"

namespace clique::icd::api {

namespace {

bool boolean(cl_sampler_properties value) {
  require(value == CL_FALSE || value == CL_TRUE, CL_INVALID_VALUE, "CL_SAMPLER_NORMALIZED_COORDS is ", value,
          "; allowed are CL_TRUE and CL_FALSE");
  return value == CL_TRUE;
}

cl_addressing_mode addressing_mode(cl_sampler_properties value) {
  require(value >= CL_ADDRESS_NONE && value <= CL_ADDRESS_MIRRORED_REPEAT, CL_INVALID_VALUE,
          "the addressing mode is ", Hex{value}, ", which is not defined");
  return static_cast<cl_addressing_mode>(value);
}

cl_filter_mode filter_mode(cl_sampler_properties value) {
  require(value == CL_FILTER_NEAREST || value == CL_FILTER_LINEAR, CL_INVALID_VALUE, "the filter mode is ",
          Hex{value}, ", which is not defined");
  return static_cast<cl_filter_mode>(value);
}

void require_images(const Context& context) {
  const bool images = std::any_of(context.devices().begin(), context.devices().end(),
                                  [](const Ref<Device>& device) { return device->has_images(); });
  require(images, CL_INVALID_OPERATION, "no device of the context supports images");
}

}  // namespace

cl_sampler CL_API_CALL clCreateSamplerWithProperties(cl_context context,
                                                     const cl_sampler_properties* sampler_properties,
                                                     cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  std::vector<cl_sampler_properties> list = property_list(sampler_properties);
  Sampler::Mode mode;
  for_each_property(list, CL_INVALID_VALUE, [&](cl_sampler_properties name, cl_sampler_properties value) {
    switch (name) {
      case CL_SAMPLER_NORMALIZED_COORDS:
        mode.normalized = boolean(value);
        break;
      case CL_SAMPLER_ADDRESSING_MODE:
        mode.addressing = addressing_mode(value);
        break;
      case CL_SAMPLER_FILTER_MODE:
        mode.filter = filter_mode(value);
        break;
      default:
        throw Error(CL_INVALID_VALUE, "property ", Hex{static_cast<std::uint64_t>(name)}, " is not defined");
    }
  });
  require_images(*owner);
  return created(new Sampler(owner, mode, std::move(list)), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized_coords,
                                       cl_addressing_mode addressing, cl_filter_mode filter,
                                       cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  const Sampler::Mode mode{boolean(normalized_coords), addressing_mode(addressing), filter_mode(filter)};
  require_images(*owner);
  return created(new Sampler(owner, mode, {}), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) try {
  get<Sampler>(sampler)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) try {
  get<Sampler>(sampler)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name, size_t param_value_size,
                                    void* param_value, size_t* param_value_size_ret) try {
  const Ref<Sampler> object = get<Sampler>(sampler);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_SAMPLER_REFERENCE_COUNT:
      write(object->api_references());
      break;
    case CL_SAMPLER_CONTEXT:
      write(static_cast<cl_context>(object->context().get()));
      break;
    case CL_SAMPLER_NORMALIZED_COORDS:
      write(cl_bool{object->mode().normalized});
      break;
    case CL_SAMPLER_ADDRESSING_MODE:
      write(object->mode().addressing);
      break;
    case CL_SAMPLER_FILTER_MODE:
      write(object->mode().filter);
      break;
    case CL_SAMPLER_PROPERTIES:
      write(object->properties());
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
