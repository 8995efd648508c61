// cl_khr_command_buffer: recording commands.
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"
#include "icd/api/works.hpp"
#include "icd/core/recordings/command_buffer.hpp"

namespace clique::icd::api {

namespace {

using SyncPoints = CommandBuffer::SyncPoints;

/// The number of arguments that all functions have behind their own: the wait list, and what is returned.
constexpr std::size_t kCommonArguments = 4;
static_assert(protocol::DefineRecording::kMaxCommands <= kLargestCount);

template <typename T>
T from_word(Word word) {
  if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<T>(word);  // NOLINT(performance-no-int-to-ptr): it came as a pointer
  else
    return static_cast<T>(word);
}

/// The common arguments of the functions that record.
struct Common {
  Ref<CommandBuffer> object;
  std::size_t queue = 0;  ///< its position
  SyncPoints waits;
  cl_sync_point_khr* sync_point = nullptr;

  const Queue& on() const { return *object->queues()[queue]; }
};

/// The position of a command's queue.
std::size_t position_of(const CommandBuffer& object, cl_command_queue queue) {
  const CommandBuffer::Queues& queues = object.queues();
  if (queue == nullptr) {
    require(queues.size() == 1, CL_INVALID_COMMAND_QUEUE,
            "command_queue is NULL, and the command buffer has ", queues.size(), " queues");
    return 0;
  }
  for (std::size_t i = 0; i < queues.size(); ++i)
    if (queues[i].get() == queue) return i;
  const Ref<Queue> other = get<Queue>(queue);
  require(other->context() == queues.front()->context(), CL_INVALID_CONTEXT,
          "command_queue belongs to another context than the command buffer");
  throw Error(CL_INVALID_COMMAND_QUEUE, "the command buffer was not created with command_queue");
}

/// Checks the common arguments. Throws Error.
Common common(const Ref<CommandBuffer>& object, cl_command_queue queue, cl_uint count,
              const cl_sync_point_khr* waits, cl_sync_point_khr* sync_point) {
  Common all{object, position_of(*object, queue), {}, sync_point};
  object->require_recording();
  require((count == 0) == (waits == nullptr), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
          "num_sync_points_in_wait_list is ", count,
          waits == nullptr ? " and sync_point_wait_list is NULL" : " and sync_point_wait_list is not NULL");
  all.waits = SyncPoints(waits, count);
  object->require_sync_points(all.waits);
  return all;
}

/// The same for a function other than clCommandNDRangeKernelKHR.
/// @param properties null for the older form
/// @param words the common arguments
Common common(const Ref<CommandBuffer>& object, cl_command_queue queue, const CommandProperties* properties,
              std::span<const Word, kCommonArguments> words) {
  require(properties == nullptr || *properties == 0, CL_INVALID_VALUE,
          "properties are not empty; none is defined for this command");
  require(words[3] == 0, CL_INVALID_VALUE, "mutable_handle is not NULL; only launches can be changed");
  return common(object, queue, from_word<cl_uint>(words[0]), from_word<const cl_sync_point_khr*>(words[1]),
                from_word<cl_sync_point_khr*>(words[2]));
}

/// For the commands on shared virtual memory. Throws Error(CL_INVALID_OPERATION).
void require_svm_device(cl_command_buffer_khr command_buffer, cl_command_queue command_queue) {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  require(object->queues()[position_of(*object, command_queue)]->device()->has_svm(), CL_INVALID_OPERATION,
          "the queue's device does not support shared virtual memory");
}

cl_int finish(const Common& common, cl_sync_point_khr point) {
  if (common.sync_point != nullptr) *common.sync_point = point;
  return CL_SUCCESS;
}

/// Whether a word is a memory object's handle, or an address in shared virtual memory. Reads no memory that
/// the word points to.
template <typename T>
bool is_memory(const CommandBuffer& object, Word word) {
  if constexpr (std::is_same_v<T, cl_mem>)
    return static_cast<bool>(find<Memory>(from_word<cl_mem>(word)));
  else
    return static_cast<bool>(object.queues().front()->context()->svm().find(from_word<const void*>(word)));
}

/// Whether a call has the newer form. The first of the function's own arguments is a memory object: if the
/// first word is one, it is not a list of properties. If it is not, those behind it have to be memory
/// objects; the list of properties is read only then. Throws Error if neither is so.
/// @tparam kMemory the number of memory objects, which come first
template <std::size_t kMemory, typename First>
bool is_newer(CommandBuffer& object, std::span<const Word> words) {
  static_assert(kMemory == 1 || kMemory == 2);
  const bool newer = !is_memory<First>(object, words[0]);
  if (newer) {
    constexpr cl_int kInvalid = std::is_same_v<First, cl_mem> ? CL_INVALID_MEM_OBJECT : CL_INVALID_VALUE;
    for (std::size_t i = 1; i <= kMemory; ++i)
      require(is_memory<First>(object, words[i]), kInvalid, "the command's memory object ", i - 1,
              " is not a live handle of this platform, or not shared virtual memory of the context");
  }
  object.newer_form() = newer;
  return newer;
}

/// Records a command that `make` makes of the function's own arguments.
template <std::size_t kMemory, typename M, typename First, typename... Rest>
cl_int record(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
              const std::array<Word, 2 + sizeof...(Rest) + kCommonArguments>& words,
              Work<M> (*make)(const Queue&, First, Rest...)) {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  const bool newer = is_newer<kMemory, First>(*object, words);
  const std::span<const Word> own = std::span(words).subspan(newer ? 1 : 0);
  const Common all =
      common(object, command_queue, newer ? from_word<const CommandProperties*>(words[0]) : nullptr,
             own.subspan<1 + sizeof...(Rest), kCommonArguments>());
  return [&]<std::size_t... I>(std::index_sequence<I...> /*numbers*/) {
    return finish(
        all,
        object->record(all.queue, make(all.on(), from_word<First>(own[0]), from_word<Rest>(own[I + 1])...),
                       all.waits));
  }(std::index_sequence_for<Rest...>{});
}

/// Whether a call of clCommandBarrierWithWaitListKHR has the newer form. A call that is right in one form is
/// wrong in the other, or means the same there. One that is wrong in the newer form may be right in the older
/// one; it is taken for that unless another call for this command buffer had the newer form.
bool is_newer_barrier(CommandBuffer& object, const std::array<Word, 5>& words) {
  bool newer = false;
  if (words[0] != 0) {
    // A list of properties, or a count of sync points.
    newer = words[0] > kLargestCount;
  } else if (words[1] != 0) {
    // A count of sync points, or a list of none.
    newer = words[1] <= kLargestCount;
  } else {
    // Nothing to wait for. The older form has the address for the sync point in words[2], and 0 behind it.
    if (words[3] == 0) return object.newer_form();
    newer = true;
  }
  object.newer_form() = newer;
  return newer;
}

/// Properties of a launch.
struct LaunchProperties {
  std::vector<CommandProperties> list;
  cl_mutable_dispatch_fields_khr fields = 0;
  bool fields_given = false;
  cl_bitfield asserts = 0;
};

LaunchProperties launch_properties(const CommandProperties* properties, const Device& device) {
  LaunchProperties all{property_list(properties)};
  const auto supported =
      device.value<cl_mutable_dispatch_fields_khr>(CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR);
  all.fields = supported;
  for_each_property(all.list, CL_INVALID_VALUE, [&](auto name, auto value) {
    constexpr cl_mutable_dispatch_fields_khr kFields =
        CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
        CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR |
        CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;
    if (name == CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR) {
      require((value & ~kFields) == 0, CL_INVALID_VALUE, "CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR is ",
              Hex{static_cast<std::uint64_t>(value)}, "; the fields ", Hex{kFields}, " are defined");
      require((value & ~supported) == 0, CL_INVALID_OPERATION, "CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR is ",
              Hex{static_cast<std::uint64_t>(value)}, "; the device supports ", Hex{supported});
      all.fields = value;
      all.fields_given = true;
    } else {
      require(name == kCommandAsserts, CL_INVALID_VALUE, "property ", Hex{static_cast<std::uint64_t>(name)},
              " is not defined");
      require((value & ~kAssertNoAdditionalWorkGroups) == 0, CL_INVALID_VALUE,
              "CL_MUTABLE_DISPATCH_ASSERTS_KHR is ", Hex{static_cast<std::uint64_t>(value)},
              "; only CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR is defined");
      all.asserts = value;
    }
  });
  return all;
}

}  // namespace

cl_int CL_API_CALL clCommandBarrierWithWaitListKHR(cl_command_buffer_khr command_buffer,
                                                   cl_command_queue command_queue, const Word w0,
                                                   const Word w1, const Word w2, const Word w3,
                                                   const Word w4) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  const std::array<Word, 5> words{w0, w1, w2, w3, w4};
  const bool newer = is_newer_barrier(*object, words);
  const Common all = common(object, command_queue, newer ? from_word<const CommandProperties*>(w0) : nullptr,
                            std::span<const Word>(words).subspan(newer ? 1 : 0).first<kCommonArguments>());
  return finish(all, object->record_barrier(all.queue, all.waits));
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyBufferKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, const Word w0, const Word w1,
                                          const Word w2, const Word w3, const Word w4, const Word w5,
                                          const Word w6, const Word w7, const Word w8, const Word w9) try {
  return record<2>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9}, copy_buffer);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyBufferRectKHR(cl_command_buffer_khr command_buffer,
                                              cl_command_queue command_queue, const Word w0, const Word w1,
                                              const Word w2, const Word w3, const Word w4, const Word w5,
                                              const Word w6, const Word w7, const Word w8, const Word w9,
                                              const Word w10, const Word w11, const Word w12,
                                              const Word w13) try {
  return record<2>(command_buffer, command_queue,
                   {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13}, copy_buffer_rect);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyBufferToImageKHR(cl_command_buffer_khr command_buffer,
                                                 cl_command_queue command_queue, const Word w0, const Word w1,
                                                 const Word w2, const Word w3, const Word w4, const Word w5,
                                                 const Word w6, const Word w7, const Word w8,
                                                 const Word w9) try {
  return record<2>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9},
                   copy_buffer_to_image);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         const Word w0, const Word w1, const Word w2, const Word w3,
                                         const Word w4, const Word w5, const Word w6, const Word w7,
                                         const Word w8, const Word w9) try {
  return record<2>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9}, copy_image);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandCopyImageToBufferKHR(cl_command_buffer_khr command_buffer,
                                                 cl_command_queue command_queue, const Word w0, const Word w1,
                                                 const Word w2, const Word w3, const Word w4, const Word w5,
                                                 const Word w6, const Word w7, const Word w8,
                                                 const Word w9) try {
  return record<2>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9},
                   copy_image_to_buffer);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandFillBufferKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, const Word w0, const Word w1,
                                          const Word w2, const Word w3, const Word w4, const Word w5,
                                          const Word w6, const Word w7, const Word w8, const Word w9) try {
  return record<1>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7, w8, w9}, fill_buffer);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandFillImageKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         const Word w0, const Word w1, const Word w2, const Word w3,
                                         const Word w4, const Word w5, const Word w6, const Word w7,
                                         const Word w8) try {
  return record<1>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7, w8}, fill_image);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandSVMMemcpyKHR(cl_command_buffer_khr command_buffer, cl_command_queue command_queue,
                                         const Word w0, const Word w1, const Word w2, const Word w3,
                                         const Word w4, const Word w5, const Word w6, const Word w7) try {
  require_svm_device(command_buffer, command_queue);
  return record<2>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7}, svm_copy);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandSVMMemFillKHR(cl_command_buffer_khr command_buffer,
                                          cl_command_queue command_queue, const Word w0, const Word w1,
                                          const Word w2, const Word w3, const Word w4, const Word w5,
                                          const Word w6, const Word w7, const Word w8) try {
  require_svm_device(command_buffer, command_queue);
  return record<1>(command_buffer, command_queue, {w0, w1, w2, w3, w4, w5, w6, w7, w8}, svm_fill);
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCommandNDRangeKernelKHR(
    cl_command_buffer_khr command_buffer, cl_command_queue command_queue, const CommandProperties* properties,
    cl_kernel kernel, cl_uint work_dim, const size_t* global_work_offset, const size_t* global_work_size,
    const size_t* local_work_size, cl_uint num_sync_points_in_wait_list,
    const cl_sync_point_khr* sync_point_wait_list, cl_sync_point_khr* sync_point,
    cl_mutable_command_khr* mutable_handle) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  const Common all =
      common(object, command_queue, num_sync_points_in_wait_list, sync_point_wait_list, sync_point);
  const Queue& queue = all.on();
  LaunchProperties given = launch_properties(properties, *queue.device());
  Ref<Kernel> launched = kernel_for(queue, kernel);
  const NdRange range =
      nd_range(queue, *launched, work_dim, global_work_offset, global_work_size, local_work_size);
  require(((given.asserts | object->traits().asserts) & kAssertNoAdditionalWorkGroups) == 0 ||
              local_work_size != nullptr,
          CL_INVALID_VALUE,
          "local_work_size is NULL, but CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR is set");
  const bool may_lack_arguments =
      object->is_mutable() && given.fields_given && (given.fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR) != 0;
  Ref<MutableCommand> handle;
  if (mutable_handle != nullptr) {
    const Ref<Kernel> arguments = launched->clone();
    handle = Ref<MutableCommand>(new MutableCommand(
        {object->queues()[all.queue], launched, std::move(given.list), given.fields}, {arguments, range}));
    launched = arguments;
  }
  finish(all, object->record(all.queue, *launched, range, all.waits, may_lack_arguments, handle));
  if (mutable_handle != nullptr) *mutable_handle = handle.get();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

// The headers confirm the types of one of the two forms, and the structures.
#ifdef CL_KHR_COMMAND_BUFFER_EXTENSION_VERSION
constexpr bool kHeadersAreNewer = CL_KHR_COMMAND_BUFFER_EXTENSION_VERSION >= CL_MAKE_VERSION(0, 9, 5);
#else
constexpr bool kHeadersAreNewer = false;
#endif
#ifdef CL_KHR_COMMAND_BUFFER_MUTABLE_DISPATCH_EXTENSION_VERSION
constexpr bool kConfigsAreNewer =
    CL_KHR_COMMAND_BUFFER_MUTABLE_DISPATCH_EXTENSION_VERSION >= CL_MAKE_VERSION(0, 9, 2);
#else
constexpr bool kConfigsAreNewer = false;
#endif
template <typename F>
using DeclaredForm = std::conditional_t<kHeadersAreNewer, typename F::Newer, typename F::Older>;
static_assert(std::is_same_v<decltype(::clCommandBarrierWithWaitListKHR), DeclaredForm<BarrierForms>>);
static_assert(std::is_same_v<decltype(::clCommandCopyBufferKHR), DeclaredForm<CopyBufferForms>>);
static_assert(std::is_same_v<decltype(::clCommandCopyBufferRectKHR), DeclaredForm<CopyBufferRectForms>>);
static_assert(
    std::is_same_v<decltype(::clCommandCopyBufferToImageKHR), DeclaredForm<CopyBufferToImageForms>>);
static_assert(std::is_same_v<decltype(::clCommandCopyImageKHR), DeclaredForm<CopyImageForms>>);
static_assert(
    std::is_same_v<decltype(::clCommandCopyImageToBufferKHR), DeclaredForm<CopyImageToBufferForms>>);
static_assert(std::is_same_v<decltype(::clCommandFillBufferKHR), DeclaredForm<FillBufferForms>>);
static_assert(std::is_same_v<decltype(::clCommandFillImageKHR), DeclaredForm<FillImageForms>>);
static_assert(
    std::is_same_v<decltype(::clCommandNDRangeKernelKHR), decltype(api::clCommandNDRangeKernelKHR)>);
static_assert(std::is_same_v<decltype(::clUpdateMutableCommandsKHR)*,
                             std::conditional_t<kConfigsAreNewer, UpdateFunction*,
                                                decltype(::clUpdateMutableCommandsKHR)*>>);
static_assert(sizeof(cl_mutable_dispatch_config_khr) ==
              (kConfigsAreNewer ? sizeof(DispatchConfig) : sizeof(OlderDispatchConfig)));
// Every argument takes one register or one place of the stack.
static_assert(sizeof(Word) == sizeof(size_t) && sizeof(Word) == sizeof(void*));

}  // namespace clique::icd::api
