// The functions of cl_amd_liquid_flash, which the OpenCL headers of AMD's SDKs declare and Khronos' do not.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstddef>

#ifndef cl_amd_liquid_flash
#define CL_COMMAND_READ_SSG_FILE_AMD 0x4083
#define CL_INVALID_FILE_OBJECT_AMD 0x4084
#define CL_FILE_BLOCK_SIZE_AMD 0x4085
#define CL_FILE_SIZE_AMD 0x4086
#define CL_COMMAND_WRITE_SSG_FILE_AMD 0x4087
#define CL_FILE_READ_ONLY_AMD (1 << 0)
#define CL_FILE_WRITE_ONLY_AMD (1 << 1)
#define CL_FILE_READ_WRITE_AMD (1 << 2)

using cl_file_amd = struct _cl_file_amd*;
using cl_file_flags_amd = cl_uint;
using cl_file_info_amd = cl_uint;
#endif

namespace clique::icd::api {

cl_file_amd CL_API_CALL clCreateSsgFileObjectAMD(cl_context context, cl_file_flags_amd flags,
                                                 const wchar_t* file_name, cl_int* errcode_ret);
cl_int CL_API_CALL clGetSsgFileObjectInfoAMD(cl_file_amd file, cl_file_info_amd param_name,
                                             size_t param_value_size, void* param_value,
                                             size_t* param_value_size_ret);
cl_int CL_API_CALL clRetainSsgFileObjectAMD(cl_file_amd file);
cl_int CL_API_CALL clReleaseSsgFileObjectAMD(cl_file_amd file);
cl_int CL_API_CALL clEnqueueReadSsgFileAMD(cl_command_queue command_queue, cl_mem buffer,
                                           cl_bool blocking_write, size_t buffer_offset, size_t cb,
                                           cl_file_amd file, size_t file_offset,
                                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                           cl_event* event);
cl_int CL_API_CALL clEnqueueWriteSsgFileAMD(cl_command_queue command_queue, cl_mem buffer,
                                            cl_bool blocking_read, size_t buffer_offset, size_t cb,
                                            cl_file_amd file, size_t file_offset,
                                            cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                            cl_event* event);

}  // namespace clique::icd::api
