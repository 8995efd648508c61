// Steps that create and release objects.
#include "cluster/model/program.hpp"
#include "cluster/model/texts.hpp"

namespace clique::test::model {

void Program::create_queue(std::size_t device, bool in_order) {
  cl_command_queue_properties properties = in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  if (random_.percent(20)) properties |= CL_QUEUE_PROFILING_ENABLE;
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
  cl_int err = CL_SUCCESS;
  Queue queue(clCreateCommandQueueWithProperties(context_, devices()[device], list, &err));
  if (lost_ && err != CL_SUCCESS) return;
  check_status(err, "clCreateCommandQueueWithProperties");
  queues_.push_back({std::move(queue), device, in_order, {}, {}});
  say("creates " + name_of(queues_.size() - 1));
}

void Program::create_buffer() {
  const std::size_t size = any_size();
  auto object = std::make_shared<Object>();
  object->name = "b" + std::to_string(names_++);
  object->store = std::make_shared<Store>();
  object->store->name = object->name;
  object->store->cells.assign(size, kUnknown);
  object->size = size;
  bytes_ += size;
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  if (random_.percent(10)) {
    flags = CL_MEM_READ_ONLY;
    object->read_only = true;
  }
  const std::size_t kind = random_.below(100);
  std::byte* host = nullptr;
  std::string how;
  if (has_svm_ && kind >= 90) {
    auto* memory = static_cast<std::byte*>(clSVMAlloc(context_, CL_MEM_READ_WRITE, size, 0));
    if (memory == nullptr) throw Wrong("clSVMAlloc returned NULL");
    allocations_.emplace_back(memory, [context = context_](void* pointer) { clSVMFree(context, pointer); });
    flags |= CL_MEM_USE_HOST_PTR;
    object->host = host = memory;
    object->is_svm = true;
    how = " in shared virtual memory";
  } else if (kind < 60) {
    const bool use = kind < 25;
    flags |= use ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
    host_pointers_.emplace_back(new std::byte[size]);
    host = host_pointers_.back().get();
    for (std::size_t i = 0; i < size; ++i) {
      const auto value = static_cast<std::uint8_t>(i * 5 + (i >> 7U) + names_);
      host[i] = std::byte{value};
      object->store->cells[i] = value;
    }
    if (use) object->host = host;
    how = use ? " USE_HOST_PTR" : " COPY_HOST_PTR";
  }
  cl_int err = CL_SUCCESS;
  object->mem = Mem(clCreateBuffer(context_, flags, size, host, &err));
  check_status(err, "clCreateBuffer");
  // The program may change the memory after it was copied.
  if ((flags & CL_MEM_COPY_HOST_PTR) != 0) std::fill_n(host, size, std::byte{0xDD});
  say("creates " + object->name + ": " + std::to_string(size) + " bytes" + how +
      (object->read_only ? " READ_ONLY" : ""));
  objects_.push_back(std::move(object));
}

void Program::create_sub_buffer() {
  const auto parent = any_buffer();
  if (!parent || parent->is_sub || parent->size <= alignment_) return;
  const std::size_t begin = random_.below(parent->size / alignment_) * alignment_;
  const std::size_t size =
      random_.percent(30) ? parent->size - begin : random_.between(1, parent->size - begin);
  auto object = std::make_shared<Object>();
  object->name = "s" + std::to_string(names_++);
  object->store = parent->store;
  object->begin = begin;
  object->size = size;
  object->host = parent->host != nullptr ? parent->host + begin : nullptr;
  object->is_svm = parent->is_svm;
  object->read_only = parent->read_only;
  object->is_sub = true;
  const cl_buffer_region region = {begin, size};
  cl_int err = CL_SUCCESS;
  object->mem = Mem(clCreateSubBuffer(parent->mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  check_status(err, "clCreateSubBuffer");
  say("creates " + object->name + ": " + parent->name + range_text(begin, begin + size));
  objects_.push_back(std::move(object));
}

void Program::create_image() {
  auto object = std::make_shared<Object>();
  object->name = "i" + std::to_string(names_++);
  object->is_image = true;
  switch (random_.below(3)) {
    case 0:
      object->format = {CL_RGBA, CL_UNSIGNED_INT8};
      object->unit = 4;
      object->channels = 4;
      break;
    case 1:
      object->format = {CL_RGBA, CL_UNSIGNED_INT32};
      object->unit = 16;
      object->channels = 4;
      break;
    default:
      object->format = {CL_R, CL_UNSIGNED_INT32};
      object->unit = 4;
      object->channels = 1;
      break;
  }
  const bool deep = random_.percent(20);
  object->extent = {random_.between(1, 48), random_.between(1, 24), deep ? random_.between(1, 5) : 1};
  if (random_.percent(6) && bytes_ < (24U << 20U))
    object->extent = {random_.between(300, 600), random_.between(200, 400), 1};
  const auto& extent = object->extent;
  object->size = extent[0] * extent[1] * extent[2] * object->unit;
  object->store = std::make_shared<Store>();
  object->store->name = object->name;
  object->store->cells.assign(object->size, kUnknown);
  bytes_ += object->size;
  cl_image_desc desc = {};
  desc.image_type = deep ? CL_MEM_OBJECT_IMAGE3D : CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = extent[0];
  desc.image_height = extent[1];
  desc.image_depth = deep ? extent[2] : 0;
  cl_mem_flags flags = CL_MEM_READ_WRITE;
  std::byte* host = nullptr;
  std::string how;
  const std::size_t kind = random_.below(100);
  if (kind < 60) {
    const bool use = kind < 20;
    flags |= use ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
    const std::size_t row = (extent[0] + random_.below(4)) * object->unit;
    const std::size_t slice = row * (extent[1] + (deep ? random_.below(2) : 0));
    desc.image_row_pitch = row;
    desc.image_slice_pitch = deep ? slice : 0;
    host_pointers_.emplace_back(new std::byte[slice * extent[2]]);
    host = host_pointers_.back().get();
    const Box box{{}, {extent[0] * object->unit, extent[1], extent[2]}, row, slice};
    box.rows([&](std::size_t at, std::size_t in_box) {
      for (std::size_t i = 0; i < box.region[0]; ++i) {
        const auto value = static_cast<std::uint8_t>((in_box + i) * 3 + ((in_box + i) >> 7U) + names_);
        host[at + i] = std::byte{value};
        object->store->cells[in_box + i] = value;
      }
    });
    if (use) object->host = host;
    how = std::string(use ? " USE_HOST_PTR" : " COPY_HOST_PTR") + " pitches " + std::to_string(row) + "," +
          std::to_string(slice);
  }
  cl_int err = CL_SUCCESS;
  object->mem = Mem(clCreateImage(context_, flags, &object->format, &desc, host, &err));
  check_status(err, "clCreateImage");
  say("creates " + object->name + ": " + triple_text(extent) + " of " + std::to_string(object->unit) +
      " bytes" + how);
  objects_.push_back(std::move(object));
}

void Program::release_object() {
  if (objects_.size() < 4) return;
  const auto object = objects_[random_.below(objects_.size())];
  for (std::size_t i = mappings_.size(); i-- > 0;)
    if (mappings_[i].object == object) unmap(i);
  say("releases " + object->name);
  std::erase(objects_, object);
}

void Program::release_queue() {
  const std::size_t queue = any_queue();
  queues_[queue].tail = marker(queue);
  commands_[queues_[queue].tail].pinned = true;
  say("releases " + name_of(queue));
  queues_[queue].queue.reset();
  create_queue(queues_[queue].device, queues_[queue].in_order);
}

void Program::release_event() {
  if (commands_.empty() || loss_) return;
  CommandRecord& command = commands_[random_.below(commands_.size())];
  // In a released queue, no other command could stand for it.
  if (!command.event || command.pinned) return;
  say("releases the event of c" + std::to_string(&command - commands_.data()));
  command.event.reset();
}

}  // namespace clique::test::model
