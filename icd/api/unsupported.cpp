// What the platform does not support: pipes (section 5.4), and sharing with graphics on the client's host,
// which the nodes have no access to. Each function returns the status that the specification defines for
// devices without that support.
#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/memory.hpp"

namespace clique::icd::api {

namespace {

[[noreturn]] void no_pipes() {
  throw Error(CL_INVALID_OPERATION, "no device supports pipes");
}

[[noreturn]] void no_graphics(cl_context context) {
  get<Context>(context);
  throw Error(CL_INVALID_CONTEXT, "the context was not created from an OpenGL context");
}

[[noreturn]] void no_graphics(cl_command_queue queue) {
  get<Queue>(queue);
  throw Error(CL_INVALID_CONTEXT, "the queue's context was not created from an OpenGL context");
}

[[noreturn]] void no_graphics(cl_mem object) {
  get<Memory>(object);
  throw Error(CL_INVALID_GL_OBJECT, "the memory object was not created from an OpenGL object");
}

[[noreturn]] void no_egl(cl_context context) {
  get<Context>(context);
  throw Error(CL_INVALID_OPERATION, "no device shares objects with EGL");
}

[[noreturn]] void no_egl(cl_command_queue queue) {
  get<Queue>(queue);
  throw Error(CL_INVALID_EGL_OBJECT_KHR, "the object was not created from an EGL object");
}

}  // namespace

// Pipes.

cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags, cl_uint, cl_uint, const cl_pipe_properties*,
                                cl_int* errcode_ret) try {
  get<Context>(context);
  no_pipes();
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clGetPipeInfo(cl_mem, cl_pipe_info, size_t, void*, size_t*) try {
  throw Error(CL_INVALID_MEM_OBJECT, "the memory object is not a pipe");
}
CLIQUE_CATCH_STATUS

// OpenGL.

cl_mem CL_API_CALL clCreateFromGLBuffer(cl_context context, cl_mem_flags, cl_GLuint,
                                        cl_int* errcode_ret) try {
  no_graphics(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateFromGLTexture(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint,
                                         cl_int* errcode_ret) try {
  no_graphics(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateFromGLTexture2D(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint,
                                           cl_int* errcode_ret) try {
  no_graphics(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateFromGLTexture3D(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint, cl_GLuint,
                                           cl_int* errcode_ret) try {
  no_graphics(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_mem CL_API_CALL clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags, cl_GLuint,
                                              cl_int* errcode_ret) try {
  no_graphics(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_event CL_API_CALL clCreateEventFromGLsyncKHR(cl_context context, cl_GLsync, cl_int* errcode_ret) try {
  no_graphics(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clGetGLObjectInfo(cl_mem memobj, cl_gl_object_type*, cl_GLuint*) try {
  no_graphics(memobj);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetGLTextureInfo(cl_mem memobj, cl_gl_texture_info, size_t, void*, size_t*) try {
  no_graphics(memobj);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueAcquireGLObjects(cl_command_queue command_queue, cl_uint, const cl_mem*, cl_uint,
                                             const cl_event*, cl_event*) try {
  no_graphics(command_queue);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueReleaseGLObjects(cl_command_queue command_queue, cl_uint, const cl_mem*, cl_uint,
                                             const cl_event*, cl_event*) try {
  no_graphics(command_queue);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetGLContextInfoKHR(const cl_context_properties*, cl_gl_context_info, size_t, void*,
                                         size_t*) try {
  throw Error(CL_INVALID_OPERATION, "no device shares objects with OpenGL");
}
CLIQUE_CATCH_STATUS

// EGL.

cl_mem CL_API_CALL clCreateFromEGLImageKHR(cl_context context, CLeglDisplayKHR, CLeglImageKHR, cl_mem_flags,
                                           const cl_egl_image_properties_khr*, cl_int* errcode_ret) try {
  no_egl(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_event CL_API_CALL clCreateEventFromEGLSyncKHR(cl_context context, CLeglSyncKHR, CLeglDisplayKHR,
                                                 cl_int* errcode_ret) try {
  no_egl(context);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clEnqueueAcquireEGLObjectsKHR(cl_command_queue command_queue, cl_uint, const cl_mem*,
                                                 cl_uint, const cl_event*, cl_event*) try {
  no_egl(command_queue);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueReleaseEGLObjectsKHR(cl_command_queue command_queue, cl_uint, const cl_mem*,
                                                 cl_uint, const cl_event*, cl_event*) try {
  no_egl(command_queue);
}
CLIQUE_CATCH_STATUS

// cl_ext_device_fission, which clCreateSubDevices and related functions have replaced.

cl_int CL_API_CALL clCreateSubDevicesEXT(cl_device_id in_device, const cl_device_partition_property_ext*,
                                         cl_uint, cl_device_id*, cl_uint*) try {
  get<Device>(in_device);
  throw Error(CL_INVALID_OPERATION, "the device does not offer cl_ext_device_fission");
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clRetainDeviceEXT(cl_device_id device) {
  return api::clRetainDevice(device);
}

cl_int CL_API_CALL clReleaseDeviceEXT(cl_device_id device) {
  return api::clReleaseDevice(device);
}

}  // namespace clique::icd::api
