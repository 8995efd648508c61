// Buffers, and functions for all memory objects: OpenCL 3.0, sections 5.2 and 5.5.
#include <algorithm>

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/objects/svm_allocation.hpp"

namespace clique::icd::api {

namespace {

cl_ulong largest_allocation(const Context& context) {
  cl_ulong largest = 0;
  for (const auto& device : context.devices())
    largest = std::max(largest, device->value<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  return largest;
}

Ref<Buffer> create_buffer(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                          size_t size, void* host_ptr) {
  Ref<Context> owner = get<Context>(context);
  auto list = memory_properties(properties);
  check_flags(flags);
  const cl_ulong largest = largest_allocation(*owner);
  require(size > 0 && size <= largest, CL_INVALID_BUFFER_SIZE, "size is ", size,
          "; the devices of the context can allocate 1 to ", largest, " bytes");
  SvmPointer svm = check_host_ptr(*owner, flags, host_ptr);
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) {
    touch_source(host_ptr, size);
  } else {
    svm = {};
  }
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  if (svm)
    require(size <= svm.room(), CL_INVALID_BUFFER_SIZE, "size is ", size,
            "; from host_ptr on, the allocation of shared virtual memory has ", svm.room(), " bytes");
  return Ref<Buffer>(new Buffer(std::move(owner), flags, size, host_ptr, std::move(list), std::move(svm)));
}

/// CL_TRUE for a buffer whose host_ptr points into shared virtual memory, and for sub-buffers of one.
cl_bool uses_svm(const Memory& memory) {
  const bool uses = !memory.is_image() && (memory.svm() || (memory.parent() && memory.parent()->svm()));
  return uses ? CL_TRUE : CL_FALSE;
}

}  // namespace

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr,
                                  cl_int* errcode_ret) try {
  return created(create_buffer(context, nullptr, flags, size, host_ptr).get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties,
                                                cl_mem_flags flags, size_t size, void* host_ptr,
                                                cl_int* errcode_ret) try {
  return created(create_buffer(context, properties, flags, size, host_ptr).get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
                                     cl_buffer_create_type buffer_create_type, const void* buffer_create_info,
                                     cl_int* errcode_ret) try {
  const Ref<Memory> memory = get<Memory>(buffer);
  require(!memory->is_image() && !memory->parent(), CL_INVALID_MEM_OBJECT,
          memory->is_image() ? "buffer is an image" : "buffer is itself a sub-buffer");
  check_flags(flags);
  require((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) == 0,
          CL_INVALID_VALUE, "flags are ", Hex{flags}, "; a sub-buffer inherits the host-pointer flags");
  flags = inherit_flags(flags, *memory);
  require(buffer_create_type == CL_BUFFER_CREATE_TYPE_REGION, CL_INVALID_VALUE, "buffer_create_type is ",
          Hex{buffer_create_type}, "; allowed is CL_BUFFER_CREATE_TYPE_REGION");
  require(buffer_create_info != nullptr, CL_INVALID_VALUE, "buffer_create_info is NULL");
  const auto& region = *static_cast<const cl_buffer_region*>(buffer_create_info);
  require(region.size != 0, CL_INVALID_BUFFER_SIZE, "the size of the region is 0");
  require_range(region.origin, region.size, *memory);
  const auto& devices = memory->context()->devices();
  const bool aligned = std::any_of(devices.begin(), devices.end(), [&](const Ref<Device>& device) {
    const auto alignment = device->value<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
    return alignment == 0 || region.origin % alignment == 0;
  });
  require(aligned, CL_MISALIGNED_SUB_BUFFER_OFFSET, "the origin is ", region.origin,
          ", which is not aligned for any device of the context");
  const Ref<Buffer> parent(static_cast<Buffer*>(memory.get()));
  return created(new Buffer(parent, flags, region.origin, region.size), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clRetainMemObject(cl_mem memobj) try {
  get<Memory>(memobj)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseMemObject(cl_mem memobj) try {
  get<Memory>(memobj)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memobj,
                                                    void(CL_CALLBACK* pfn_notify)(cl_mem, void*),
                                                    void* user_data) try {
  const Ref<Memory> memory = get<Memory>(memobj);
  require(pfn_notify != nullptr, CL_INVALID_VALUE, "pfn_notify is NULL");
  memory->add_destructor(pfn_notify, user_data);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetContentSizeBufferPoCL(cl_mem buffer, cl_mem content_size_buffer) try {
  const Ref<Memory> memory = get<Memory>(buffer);
  const Ref<Memory> size = get<Memory>(content_size_buffer);
  require(!memory->is_image() && !size->is_image(), CL_INVALID_MEM_OBJECT,
          "buffer or content_size_buffer is an image");
  require(!size->parent(), CL_INVALID_MEM_OBJECT, "content_size_buffer is a sub-buffer");
  require(memory->context() == size->context(), CL_INVALID_CONTEXT,
          "the buffers belong to different contexts");
  require(size->size() >= kContentSizeBytes, CL_INVALID_BUFFER_SIZE, "content_size_buffer has ", size->size(),
          " bytes; ", kContentSizeBytes, " are required");
  memory->set_content_size(size);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name, size_t param_value_size,
                                      void* param_value, size_t* param_value_size_ret) try {
  const Ref<Memory> memory = get<Memory>(memobj);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_MEM_TYPE:
      write(memory->type());
      break;
    case CL_MEM_FLAGS:
      write(memory->flags());
      break;
    case CL_MEM_SIZE:
      write(memory->size());
      break;
    case CL_MEM_HOST_PTR:
      write(memory->host_ptr());
      break;
    case CL_MEM_MAP_COUNT:
      write(memory->map_count());
      break;
    case CL_MEM_REFERENCE_COUNT:
      write(memory->api_references());
      break;
    case CL_MEM_CONTEXT:
      write(static_cast<cl_context>(memory->context().get()));
      break;
    case CL_MEM_ASSOCIATED_MEMOBJECT:
      write(static_cast<cl_mem>(memory->parent().get()));
      break;
    case CL_MEM_OFFSET:
      write(memory->origin());
      break;
    case CL_MEM_USES_SVM_POINTER:
      write(uses_svm(*memory));
      break;
    case CL_MEM_PROPERTIES:
      write(memory->properties());
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
