/* Declarations of the OpenCL extensions by Clique that have functions. docs/extensions specifies them.
 * clGetExtensionFunctionAddressForPlatform returns the functions: define a pointer of the type NAME_fn for each. */
#ifndef CL_EXT_CLIQUE_H_
#define CL_EXT_CLIQUE_H_

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cl_clique_file: reading files into buffers, and writing buffers into files, on the node where they lie. */
#define cl_clique_file 1
#define CL_CLIQUE_FILE_EXTENSION_NAME "cl_clique_file"

typedef struct _cl_file_clique* cl_file_clique;
typedef cl_bitfield cl_file_flags_clique;
typedef cl_uint cl_file_info_clique;

/* cl_file_flags_clique */
#define CL_FILE_READ_CLIQUE (1 << 0)
#define CL_FILE_WRITE_CLIQUE (1 << 1)
#define CL_FILE_CREATE_CLIQUE (1 << 2)

/* cl_file_info_clique */
#define CL_FILE_CONTEXT_CLIQUE 0xC110
#define CL_FILE_FLAGS_CLIQUE 0xC111
#define CL_FILE_REFERENCE_COUNT_CLIQUE 0xC112
#define CL_FILE_NODE_CLIQUE 0xC113
#define CL_FILE_PATH_CLIQUE 0xC114
#define CL_FILE_SIZE_CLIQUE 0xC115

/* cl_command_type */
#define CL_COMMAND_READ_FILE_CLIQUE 0xC118
#define CL_COMMAND_WRITE_FILE_CLIQUE 0xC119

/* Error codes */
#define CL_INVALID_FILE_CLIQUE -1300
#define CL_FILE_NOT_FOUND_CLIQUE -1301
#define CL_FILE_ACCESS_DENIED_CLIQUE -1302
#define CL_FILE_NOT_REGULAR_CLIQUE -1303
#define CL_FILE_END_CLIQUE -1304
#define CL_FILE_NO_SPACE_CLIQUE -1305
#define CL_FILE_IO_ERROR_CLIQUE -1306

typedef cl_file_clique CL_API_CALL clCreateFileCLIQUE_t(cl_context context, cl_file_flags_clique flags,
                                                        const char* path, cl_int* errcode_ret);
typedef clCreateFileCLIQUE_t* clCreateFileCLIQUE_fn;

typedef cl_int CL_API_CALL clRetainFileCLIQUE_t(cl_file_clique file);
typedef clRetainFileCLIQUE_t* clRetainFileCLIQUE_fn;

typedef cl_int CL_API_CALL clReleaseFileCLIQUE_t(cl_file_clique file);
typedef clReleaseFileCLIQUE_t* clReleaseFileCLIQUE_fn;

typedef cl_int CL_API_CALL clGetFileInfoCLIQUE_t(cl_file_clique file, cl_file_info_clique param_name,
                                                 size_t param_value_size, void* param_value,
                                                 size_t* param_value_size_ret);
typedef clGetFileInfoCLIQUE_t* clGetFileInfoCLIQUE_fn;

typedef cl_int CL_API_CALL clEnqueueReadFileCLIQUE_t(cl_command_queue command_queue, cl_file_clique file,
                                                     cl_bool blocking_read, cl_ulong file_offset, cl_mem buffer,
                                                     size_t buffer_offset, size_t size,
                                                     cl_uint num_events_in_wait_list,
                                                     const cl_event* event_wait_list, cl_event* event);
typedef clEnqueueReadFileCLIQUE_t* clEnqueueReadFileCLIQUE_fn;

typedef cl_int CL_API_CALL clEnqueueWriteFileCLIQUE_t(cl_command_queue command_queue, cl_file_clique file,
                                                      cl_bool blocking_write, cl_ulong file_offset, cl_mem buffer,
                                                      size_t buffer_offset, size_t size,
                                                      cl_uint num_events_in_wait_list,
                                                      const cl_event* event_wait_list, cl_event* event);
typedef clEnqueueWriteFileCLIQUE_t* clEnqueueWriteFileCLIQUE_fn;

typedef cl_int CL_API_CALL clEnqueueSVMReadFileCLIQUE_t(cl_command_queue command_queue, cl_file_clique file,
                                                        cl_bool blocking_read, cl_ulong file_offset,
                                                        void* svm_ptr, size_t size,
                                                        cl_uint num_events_in_wait_list,
                                                        const cl_event* event_wait_list, cl_event* event);
typedef clEnqueueSVMReadFileCLIQUE_t* clEnqueueSVMReadFileCLIQUE_fn;

typedef cl_int CL_API_CALL clEnqueueSVMWriteFileCLIQUE_t(cl_command_queue command_queue, cl_file_clique file,
                                                         cl_bool blocking_write, cl_ulong file_offset,
                                                         const void* svm_ptr, size_t size,
                                                         cl_uint num_events_in_wait_list,
                                                         const cl_event* event_wait_list, cl_event* event);
typedef clEnqueueSVMWriteFileCLIQUE_t* clEnqueueSVMWriteFileCLIQUE_fn;

#ifdef __cplusplus
}
#endif

#endif
