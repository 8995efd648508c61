// Files of nodes: cl_clique_file, and cl_amd_liquid_flash, which are the same functions by other names.
#include "icd/core/objects/file.hpp"

#include <cstdint>
#include <cwchar>
#include <limits>
#include <string>
#include <type_traits>

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/info.hpp"
#include "icd/core/commands/file_transfers.hpp"
#include "icd/core/objects/context.hpp"

namespace clique::icd::api {

namespace {

enum class Direction : bool { FromFile, ToFile };

/// A part of memory that content of a file goes to, or comes from.
struct Place {
  Ref<Memory> memory;
  size_t offset = 0;
  size_t size = 0;
};

/// The file of a command. Throws Error(CL_INVALID_FILE_CLIQUE), Error(CL_INVALID_CONTEXT).
Ref<File> file_for(const Queue& queue, cl_file_clique handle) {
  Ref<File> file = get<File>(handle);
  require(file->context() == queue.context(), CL_INVALID_CONTEXT,
          "file and command_queue belong to different contexts");
  return file;
}

Place place_in(const Queue& queue, cl_mem buffer, size_t offset, size_t size) {
  Ref<Memory> memory = buffer_for(queue, buffer);
  require_range(offset, size, *memory);
  return {std::move(memory), offset, size};
}

Place place_at(const Queue& queue, const void* pointer, size_t size) {
  SvmPointer svm = svm_part(queue, pointer, size);
  return {std::move(svm.allocation), svm.offset, size};
}

/// What the application says of a command besides memory and file.
struct Call {
  Direction direction;
  cl_command_type type;
  cl_bool blocking;
  cl_uint wait_count;
  const cl_event* waits;
  cl_event* event;
};

/// Enqueues the command, and waits for it if the call is blocking.
void transfer(Queue& queue, File& file, std::uint64_t file_offset, const Place& place, const Call& call) {
  const bool reads = call.direction == Direction::FromFile;
  require((file.flags() & (reads ? CL_FILE_READ_CLIQUE : CL_FILE_WRITE_CLIQUE)) != 0, CL_INVALID_OPERATION,
          "the file was created without ", reads ? "CL_FILE_READ_CLIQUE" : "CL_FILE_WRITE_CLIQUE");
  constexpr std::uint64_t kEnd = std::numeric_limits<std::int64_t>::max();
  require(within(file_offset, place.size, kEnd), CL_INVALID_VALUE, "file_offset is ", file_offset,
          " and size is ", place.size, "; a file ends before byte ", kEnd);
  const auto waits = wait_list(*queue.context(), call.wait_count, call.waits);
  const CommandInfo command{call.type, waits};
  const bool blocking = call.blocking != CL_FALSE;
  Ref<Event> event;
  if (place.size == 0)
    event = queue.nothing(command, report_if(blocking || call.event != nullptr));
  else if (reads)
    event = read_file(queue, file, file_offset, *place.memory, place.offset, place.size, command);
  else
    event = write_file(queue, file, file_offset, *place.memory, place.offset, place.size, command);
  conclude(event, blocking, waits, call.event);
}

/// AMD's extension has a status of its own for what is no file.
Ref<File> file_of(cl_file_amd handle) {
  Ref<File> file = find<File>(reinterpret_cast<cl_file_clique>(handle));
  require(static_cast<bool>(file), CL_INVALID_FILE_OBJECT_AMD,
          "the handle is not that of a file: it has been released, or belongs to another platform");
  return file;
}

cl_file_flags_clique flags_of(cl_file_flags_amd flags) {
  switch (flags) {
    case CL_FILE_READ_ONLY_AMD:
      return CL_FILE_READ_CLIQUE;
    case CL_FILE_WRITE_ONLY_AMD:
      return CL_FILE_WRITE_CLIQUE;
    case CL_FILE_READ_WRITE_AMD:
      return CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE;
    default:
      throw Error(CL_INVALID_VALUE, "flags are ", Hex{flags},
                  "; allowed is one of CL_FILE_READ_ONLY_AMD, CL_FILE_WRITE_ONLY_AMD and "
                  "CL_FILE_READ_WRITE_AMD");
  }
}

/// UTF-8 for wide characters, whatever the application's locale is.
std::string utf8_of(const wchar_t* text) {
  std::string result;
  for (; *text != L'\0'; ++text) {
    const auto code = static_cast<std::uint32_t>(std::make_unsigned_t<wchar_t>(*text));
    require(code < 0x110000 && (code < 0xd800 || code > 0xdfff), CL_INVALID_VALUE, "file_name contains ",
            Hex{code}, ", which is not a character");
    const auto add = [&](std::uint32_t byte) { result += static_cast<char>(byte); };
    const auto follow = [&](unsigned shift) { add(0x80U | ((code >> shift) & 0x3fU)); };
    if (code < 0x80) {
      add(code);
    } else if (code < 0x800) {
      add(0xc0U | (code >> 6U));
      follow(0);
    } else if (code < 0x10000) {
      add(0xe0U | (code >> 12U));
      follow(6);
      follow(0);
    } else {
      add(0xf0U | (code >> 18U));
      follow(12);
      follow(6);
      follow(0);
    }
  }
  return result;
}

}  // namespace

cl_file_clique CL_API_CALL clCreateFileCLIQUE(cl_context context, cl_file_flags_clique flags,
                                              const char* path, cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  constexpr cl_file_flags_clique kAll = CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE;
  require((flags & ~kAll) == 0 && (flags & (CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE)) != 0,
          CL_INVALID_VALUE, "flags are ", Hex{flags},
          "; allowed are CL_FILE_READ_CLIQUE and CL_FILE_WRITE_CLIQUE, of which one is required, and "
          "CL_FILE_CREATE_CLIQUE");
  require((flags & CL_FILE_CREATE_CLIQUE) == 0 || (flags & CL_FILE_WRITE_CLIQUE) != 0, CL_INVALID_VALUE,
          "flags are ", Hex{flags}, "; CL_FILE_CREATE_CLIQUE requires CL_FILE_WRITE_CLIQUE");
  require(path != nullptr, CL_INVALID_VALUE, "path is NULL");
  const Ref<File> file(new File(owner, flags, File::parse(path)));
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return file->give_out();
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clRetainFileCLIQUE(cl_file_clique file) try {
  get<File>(file)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseFileCLIQUE(cl_file_clique file) try {
  get<File>(file)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetFileInfoCLIQUE(cl_file_clique file, cl_file_info_clique param_name,
                                       size_t param_value_size, void* param_value,
                                       size_t* param_value_size_ret) try {
  const Ref<File> object = get<File>(file);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_FILE_CONTEXT_CLIQUE:
      write(static_cast<cl_context>(object->context().get()));
      break;
    case CL_FILE_FLAGS_CLIQUE:
      write(object->flags());
      break;
    case CL_FILE_REFERENCE_COUNT_CLIQUE:
      write(object->api_references());
      break;
    case CL_FILE_NODE_CLIQUE:
      write(object->name().node);
      break;
    case CL_FILE_PATH_CLIQUE:
      write(object->name().path);
      break;
    case CL_FILE_SIZE_CLIQUE:
      // The application may ask for the size of the answer only, which needs no node.
      write(param_value != nullptr ? cl_ulong{object->size()} : cl_ulong{0});
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueReadFileCLIQUE(cl_command_queue command_queue, cl_file_clique file,
                                           cl_bool blocking_read, cl_ulong file_offset, cl_mem buffer,
                                           size_t buffer_offset, size_t size, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<File> source = file_for(*queue, file);
  transfer(*queue, *source, file_offset, place_in(*queue, buffer, buffer_offset, size),
           {Direction::FromFile, CL_COMMAND_READ_FILE_CLIQUE, blocking_read, num_events_in_wait_list,
            event_wait_list, event});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueWriteFileCLIQUE(cl_command_queue command_queue, cl_file_clique file,
                                            cl_bool blocking_write, cl_ulong file_offset, cl_mem buffer,
                                            size_t buffer_offset, size_t size,
                                            cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                            cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<File> destination = file_for(*queue, file);
  transfer(*queue, *destination, file_offset, place_in(*queue, buffer, buffer_offset, size),
           {Direction::ToFile, CL_COMMAND_WRITE_FILE_CLIQUE, blocking_write, num_events_in_wait_list,
            event_wait_list, event});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSVMReadFileCLIQUE(cl_command_queue command_queue, cl_file_clique file,
                                              cl_bool blocking_read, cl_ulong file_offset, void* svm_ptr,
                                              size_t size, cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  const Ref<File> source = file_for(*queue, file);
  transfer(*queue, *source, file_offset, place_at(*queue, svm_ptr, size),
           {Direction::FromFile, CL_COMMAND_READ_FILE_CLIQUE, blocking_read, num_events_in_wait_list,
            event_wait_list, event});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueSVMWriteFileCLIQUE(cl_command_queue command_queue, cl_file_clique file,
                                               cl_bool blocking_write, cl_ulong file_offset,
                                               const void* svm_ptr, size_t size,
                                               cl_uint num_events_in_wait_list,
                                               const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = svm_queue(command_queue);
  const Ref<File> destination = file_for(*queue, file);
  transfer(*queue, *destination, file_offset, place_at(*queue, svm_ptr, size),
           {Direction::ToFile, CL_COMMAND_WRITE_FILE_CLIQUE, blocking_write, num_events_in_wait_list,
            event_wait_list, event});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

// cl_amd_liquid_flash.

cl_file_amd CL_API_CALL clCreateSsgFileObjectAMD(cl_context context, cl_file_flags_amd flags,
                                                 const wchar_t* file_name, cl_int* errcode_ret) try {
  const Ref<Context> owner = get<Context>(context);
  const cl_file_flags_clique access = flags_of(flags);
  require(file_name != nullptr, CL_INVALID_VALUE, "file_name is NULL");
  const Ref<File> file(new File(owner, access, File::parse(utf8_of(file_name))));
  // Programs written for AMD's driver expect that a file that exists no longer, or not yet, is noticed here.
  try {
    static_cast<void>(file->size());
  } catch (const Error& error) {
    throw Error(CL_INVALID_VALUE, error.what());
  }
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return reinterpret_cast<cl_file_amd>(file->give_out());
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clGetSsgFileObjectInfoAMD(cl_file_amd file, cl_file_info_amd param_name,
                                             size_t param_value_size, void* param_value,
                                             size_t* param_value_size_ret) try {
  const Ref<File> object = file_of(file);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_FILE_BLOCK_SIZE_AMD:
      // Offsets and sizes may be any multiples of it.
      write(cl_uint{1});
      break;
    case CL_FILE_SIZE_AMD:
      write(param_value != nullptr ? cl_ulong{object->size()} : cl_ulong{0});
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clRetainSsgFileObjectAMD(cl_file_amd file) try {
  file_of(file)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseSsgFileObjectAMD(cl_file_amd file) try {
  file_of(file)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueReadSsgFileAMD(cl_command_queue command_queue, cl_mem buffer,
                                           cl_bool blocking_write, size_t buffer_offset, size_t cb,
                                           cl_file_amd file, size_t file_offset,
                                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                           cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<File> source = file_for(*queue, file_of(file).get());
  transfer(*queue, *source, file_offset, place_in(*queue, buffer, buffer_offset, cb),
           {Direction::FromFile, CL_COMMAND_READ_SSG_FILE_AMD, blocking_write, num_events_in_wait_list,
            event_wait_list, event});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueWriteSsgFileAMD(cl_command_queue command_queue, cl_mem buffer,
                                            cl_bool blocking_read, size_t buffer_offset, size_t cb,
                                            cl_file_amd file, size_t file_offset,
                                            cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                            cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<File> destination = file_for(*queue, file_of(file).get());
  transfer(*queue, *destination, file_offset, place_in(*queue, buffer, buffer_offset, cb),
           {Direction::ToFile, CL_COMMAND_WRITE_SSG_FILE_AMD, blocking_read, num_events_in_wait_list,
            event_wait_list, event});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
