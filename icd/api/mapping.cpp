// Mapping and migrating memory objects: OpenCL 3.0, sections 5.2.4, 5.3.6, 5.5.
#include <vector>

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/transfer.hpp"
#include "icd/core/commands/host_transfers.hpp"

namespace clique::icd::api {

void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_map,
                                     cl_map_flags map_flags, size_t offset, size_t size,
                                     cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                     cl_event* event, cl_int* errcode_ret) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Memory> memory = buffer_for(*queue, buffer);
  require(size != 0, CL_INVALID_VALUE, "size is 0");
  require_range(offset, size, *memory);
  check_map_flags(map_flags, *memory);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  Mapping mapping;
  mapping.flags = map_flags;
  mapping.origin = {offset, 0, 0};
  mapping.region = {size, 1, 1};
  conclude(map(*queue, *memory, mapping, {CL_COMMAND_MAP_BUFFER, waits}), blocking_map != CL_FALSE, waits,
           event);
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return mapping.pointer;
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

void* CL_API_CALL clEnqueueMapImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_map,
                                    cl_map_flags map_flags, const size_t* origin, const size_t* region,
                                    size_t* image_row_pitch, size_t* image_slice_pitch,
                                    cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                    cl_event* event, cl_int* errcode_ret) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Image> object = image_for(*queue, image);
  Mapping mapping;
  mapping.flags = map_flags;
  mapping.origin = triple(origin);
  mapping.region = triple(region);
  check_region(*object, mapping.origin, mapping.region);
  require(image_row_pitch != nullptr, CL_INVALID_VALUE, "image_row_pitch is NULL");
  const bool layered = object->is_array() || object->type() == CL_MEM_OBJECT_IMAGE3D;
  require(!layered || image_slice_pitch != nullptr, CL_INVALID_VALUE, "image_slice_pitch is NULL");
  check_map_flags(map_flags, *object);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  conclude(map(*queue, *object, mapping, {CL_COMMAND_MAP_IMAGE, waits}), blocking_map != CL_FALSE, waits,
           event);
  const bool lines = object->type() == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  *image_row_pitch = mapping.pitches.row;
  if (image_slice_pitch != nullptr)
    *image_slice_pitch = !layered ? 0 : lines ? mapping.pitches.row : mapping.pitches.slice;
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return mapping.pointer;
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue command_queue, cl_mem memobj, void* mapped_ptr,
                                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                           cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Memory> memory = memory_for(*queue, memobj);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  auto mapping = memory->take_mapping(mapped_ptr);
  require(mapping.has_value(), CL_INVALID_VALUE, "mapped_ptr is not mapped from this memory object");
  give_event(unmap(*queue, *memory, std::move(*mapping), {CL_COMMAND_UNMAP_MEM_OBJECT, waits},
                   report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue command_queue, cl_uint num_mem_objects,
                                              const cl_mem* mem_objects, cl_mem_migration_flags flags,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  require(num_mem_objects != 0 && mem_objects != nullptr, CL_INVALID_VALUE, "num_mem_objects is ",
          num_mem_objects, mem_objects == nullptr ? " and mem_objects is NULL" : "");
  check_migration_flags(flags);
  std::vector<Ref<Memory>> objects;
  for (cl_uint i = 0; i < num_mem_objects; ++i) objects.push_back(memory_for(*queue, mem_objects[i]));
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  std::vector<Access> ranges;
  ranges.reserve(objects.size());
  for (const Ref<Memory>& object : objects) ranges.push_back(Access::all(*object, Access::Read));
  give_event(migrate(*queue, std::move(ranges), flags, {CL_COMMAND_MIGRATE_MEM_OBJECTS, waits},
                     report_if(event != nullptr)),
             event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
