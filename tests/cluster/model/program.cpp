#include "cluster/model/program.hpp"

#include "cluster/model/calls.hpp"

namespace clique::test::model {

const char* Program::source() {
  return R"(
uint advanced(uint value, uint position, uint salt) {
  return value * 1664525u + position * 2654435761u + salt;
}
kernel void combine(global const uint* a, uint na, global const uint* b, uint nb, global uint* out, uint salt) {
  uint i = get_global_id(0);
  out[i] = advanced(a[(i * 3u + salt) % na] ^ b[(i + salt) % nb], i, salt);
}
kernel void advance(global uint* data, uint salt) {
  uint i = get_global_id(0);
  data[i] = advanced(data[i], i, salt);
}
kernel void advance_part(global uint* data, uint begin, uint salt) {
  uint i = get_global_id(0);
  data[begin + i] = advanced(data[begin + i], i, salt);
}
kernel void advance_image(read_only image2d_t in, write_only image2d_t out, uint salt, uint mask) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  uint4 texel = read_imageui(in, (int2)(at.x % get_image_width(in), at.y % get_image_height(in)));
  uint position = at.y * get_image_width(out) + at.x;
  uint4 result = (uint4)(advanced(texel.x, position, salt), advanced(texel.y, position, salt + 1),
                         advanced(texel.z, position, salt + 2), advanced(texel.w, position, salt + 3));
  write_imageui(out, at, result & mask);
}
)";
}

Box Program::Object::box(const Triple& origin, const Triple& region) const {
  const std::size_t row = extent[0] * unit;
  return {{begin + origin[0] * unit, origin[1], origin[2]},
          {region[0] * unit, region[1], region[2]},
          row,
          row * extent[1]};
}

Program::Access Program::Mapping::access() const {
  return {object->store.get(), stored.begin(), stored.end(),
          flags == CL_MAP_READ ? Access::Read : Access::Change};
}

Program::Program(std::uint64_t seed, cl_context context, std::vector<std::size_t> used, cl_program built,
                 std::optional<Loss> loss)
    : random_(seed), context_(context), devices_(std::move(used)), loss_(std::move(loss)) {
  const auto make = [&](const char* name) {
    cl_int err = CL_SUCCESS;
    Kernel kernel(clCreateKernel(built, name, &err));
    require_call(err, "clCreateKernel");
    return kernel;
  };
  kernels_ = {make("combine"), make("advance"), make("advance_part"), make("advance_image")};
  for (const std::size_t device : devices_) {
    cl_device_svm_capabilities svm = 0;
    require_call(clGetDeviceInfo(devices()[device], CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, nullptr),
                 "clGetDeviceInfo");
    has_svm_ = has_svm_ && svm != 0;
    cl_uint bits = 0;
    require_call(
        clGetDeviceInfo(devices()[device], CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, nullptr),
        "clGetDeviceInfo");
    alignment_ = std::max<std::size_t>({alignment_, bits / 8, 4});
    create_queue(device, true);
    create_queue(device, false);
  }
}

Program::~Program() {
  for (std::size_t gate = 0; gate < gates_.size(); ++gate)
    if (!gates_[gate].open) open(gate);
  for (const Mapping& mapping : mappings_)
    for (const QueueRecord& queue : queues_)
      if (queue.queue) {
        clEnqueueUnmapMemObject(queue.queue, mapping.object->mem, mapping.pointer, 0, nullptr, nullptr);
        break;
      }
  mappings_.clear();
  objects_.clear();
  for (const QueueRecord& queue : queues_)
    if (queue.queue) clFinish(queue.queue);
  for (const CommandRecord& command : commands_)
    if (command.event) clWaitForEvents(1, command.event.ptr());
}

// Choices.

std::size_t Program::any_queue() {
  std::size_t queue = random_.below(queues_.size());
  while (!queues_[queue].queue) queue = (queue + 1) % queues_.size();
  return queue;
}

std::shared_ptr<Program::Object> Program::any_buffer() {
  std::vector<std::shared_ptr<Object>> found;
  for (const auto& object : objects_)
    if (!object->is_image) found.push_back(object);
  return found.empty() ? nullptr : found[random_.below(found.size())];
}

std::shared_ptr<Program::Object> Program::any_image() {
  std::vector<std::shared_ptr<Object>> found;
  for (const auto& object : objects_)
    if (object->is_image) found.push_back(object);
  return found.empty() ? nullptr : found[random_.below(found.size())];
}

std::size_t Program::any_size() {
  const std::size_t kind = bytes_ > (24U << 20U) ? 0 : random_.below(100);
  if (kind < 70) return random_.between(1, 4096);
  if (kind < 84) return random_.between(4096, 200'000);
  // Sizes around those of the parts of transfers.
  if (kind < 92) return (512U << 10U) + random_.below(64) * 4 - 128;
  if (kind < 98) return (1U << 20U) + random_.below(1U << 20U);
  return kind < 99 ? (2U << 20U) + 4 : 8U << 20U;
}

std::pair<std::size_t, std::size_t> Program::any_range(std::size_t size, std::size_t unit) {
  const std::size_t units = size / unit;
  if (random_.percent(35)) return {0, units * unit};
  const std::size_t begin = random_.below(units);
  const std::size_t count = random_.percent(30) ? units - begin : 1 + random_.below(units - begin);
  return {begin * unit, count * unit};
}

Triple Program::any_region(const Triple& extent) {
  if (random_.percent(40)) return extent;
  return {random_.between(1, extent[0]), random_.between(1, extent[1]), random_.between(1, extent[2])};
}

Triple Program::box_region(std::size_t size) {
  const std::size_t width = random_.between(1, random_.percent(15) ? size : std::min<std::size_t>(size, 300));
  const std::size_t height = random_.between(1, std::clamp<std::size_t>(size / width, 1, 40));
  const std::size_t depth = random_.between(1, std::clamp<std::size_t>(size / (width * height), 1, 4));
  return {width, height, depth};
}

Box Program::any_box(const Triple& region, std::size_t size) {
  Box box{{}, region, region[0], region[0] * region[1]};
  for (int attempt = 0; attempt < 3; ++attempt) {
    Box wider = box;
    wider.row = region[0] + random_.below(region[0] + 16);
    wider.slice = wider.row * (region[1] + random_.below(3));
    if (wider.size() > size) continue;
    box = wider;
    break;
  }
  const std::size_t room = size - box.size();
  box.origin[0] = random_.below(std::min(room, box.row - region[0]) + 1);
  const std::size_t rows = (room - box.origin[0]) / box.row;
  box.origin[1] = random_.below(rows + 1);
  if (random_.percent(50)) {
    box.origin[2] = box.origin[1] * box.row / box.slice;
    box.origin[1] -= box.origin[2] * box.slice / box.row;
  }
  return box;
}

Program::Area& Program::new_area(std::size_t size) {
  areas_.push_back(std::make_unique<Area>());
  Area& area = *areas_.back();
  area.store.name = "h" + std::to_string(areas_.size() - 1);
  area.bytes.resize(size);
  area.store.cells.resize(size);
  bytes_ += size;
  const std::uint8_t first = random_.byte();
  const std::uint8_t factor = random_.byte() | 1U;
  for (std::size_t i = 0; i < size; ++i) {
    const auto value = static_cast<std::uint8_t>(first + factor * i + (i >> 8U) + (i >> 16U) * 31U);
    area.bytes[i] = std::byte{value};
    area.store.cells[i] = value;
  }
  return area;
}

std::pair<Program::Area*, std::size_t> Program::any_area(std::size_t size, bool for_reading) {
  std::vector<Area*> fit;
  for (const auto& area : areas_)
    if (area->bytes.size() >= size) fit.push_back(area.get());
  if (!fit.empty() && random_.percent(for_reading ? 30 : 40)) {
    Area* area = fit[random_.below(fit.size())];
    return {area, random_.below(area->bytes.size() - size + 1)};
  }
  const std::size_t offset = random_.percent(30) ? random_.below(64) : 0;
  return {&new_area(size + offset + (random_.percent(20) ? random_.below(100) : 0)), offset};
}

// The log.

void Program::say(const std::string& text) {
  const std::lock_guard lock(log_mutex_);
  log_ += text + "\n";
}

std::string Program::log() const {
  const std::lock_guard lock(log_mutex_);
  return log_;
}

// Other steps.

void Program::migrate() {
  if (objects_.empty()) return;
  std::vector<std::shared_ptr<Object>> chosen;
  for (std::size_t i = random_.between(1, 3); i-- > 0;) {
    const auto object = objects_[random_.below(objects_.size())];
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&](const auto& other) { return other->store == object->store; }))
      chosen.push_back(object);
  }
  cl_mem_migration_flags flags = 0;
  if (random_.percent(25)) flags |= CL_MIGRATE_MEM_OBJECT_HOST;
  const bool undefined = random_.percent(15);
  if (undefined) flags |= CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  std::vector<Access> accesses;
  std::vector<cl_mem> mems;
  std::string text = "migrate";
  for (const auto& object : chosen) {
    accesses.push_back(object->all(undefined ? Access::Overwrite : Access::Read));
    mems.push_back(object->mem);
    text += " " + object->name;
  }
  if (undefined) text += " UNDEFINED";
  if ((flags & CL_MIGRATE_MEM_OBJECT_HOST) != 0) text += " HOST";
  enqueue(any_queue(), text, accesses, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueMigrateMemObjects(on, static_cast<cl_uint>(mems.size()), mems.data(), flags,
                                              count, list, event);
          });
  if (undefined)
    for (const Access& access : accesses)
      std::fill(access.store->cells.begin() + static_cast<std::ptrdiff_t>(access.begin),
                access.store->cells.begin() + static_cast<std::ptrdiff_t>(access.end), kUnknown);
}

void Program::synchronise() {
  const std::size_t queue = any_queue();
  switch (random_.below(8)) {
    case 0:
      finish(queue);
      break;
    case 1:
      if (!commands_.empty()) wait_for(random_.below(commands_.size()));
      break;
    case 2:
      marker(queue);
      break;
    case 3:
    case 4: {
      const bool barrier = random_.percent(50);
      enqueue(queue, barrier ? "barrier with list" : "marker with list", {},
              {random_.percent(50), false, barrier ? Kind::Barrier : Kind::Marker, true},
              [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                return barrier ? clEnqueueBarrierWithWaitList(on, count, list, event)
                               : clEnqueueMarkerWithWaitList(on, count, list, event);
              });
      break;
    }
    case 5:
      say("flushes " + name_of(queue));
      if (const cl_int status = clFlush(queues_[queue].queue); !lost_) check_status(status, "clFlush");
      break;
    case 6: {
      for (std::size_t gate = 0; gate < gates_.size(); ++gate)
        if (!gates_[gate].open) {
          open(gate);
          break;
        }
      break;
    }
    default: {
      if (areas_.empty()) break;
      Area& area = *areas_[random_.below(areas_.size())];
      const std::size_t size = area.bytes.size();
      host_access({&area.store, 0, size, Access::Read});
      say("looks at " + area.store.name);
      if (!doubtful(area.store, 0, size))
        check(area.bytes.data(), area.store.cells, 0, size, area.store.name);
      break;
    }
  }
}

void Program::step() {
  struct Choice {
    std::size_t weight;
    void (*act)(Program&);
  };
  static constexpr Choice choices[] = {
      {5, [](Program& p) { p.create_buffer(); }},
      {5, [](Program& p) { p.create_sub_buffer(); }},
      {4, [](Program& p) { p.create_image(); }},
      {2, [](Program& p) { p.release_object(); }},
      {1, [](Program& p) { p.release_queue(); }},
      {3, [](Program& p) { p.release_event(); }},
      {9, [](Program& p) { p.write_buffer(); }},
      {9, [](Program& p) { p.read_buffer(); }},
      {9, [](Program& p) { p.copy_buffer(); }},
      {5, [](Program& p) { p.fill_buffer(); }},
      {3, [](Program& p) { p.rect_to_host(true); }},
      {3, [](Program& p) { p.rect_to_host(false); }},
      {4, [](Program& p) { p.copy_rect(); }},
      {20, [](Program& p) { p.launch(); }},
      {5, [](Program& p) { p.launch_image(); }},
      {3, [](Program& p) { p.image_to_host(true); }},
      {3, [](Program& p) { p.image_to_host(false); }},
      {3, [](Program& p) { p.copy_image(); }},
      {2, [](Program& p) { p.fill_image(); }},
      {4, [](Program& p) { p.image_and_buffer(); }},
      {8, [](Program& p) { p.map(); }},
      {4,
       [](Program& p) {
         if (!p.mappings_.empty()) p.unmap(p.random_.below(p.mappings_.size()));
       }},
      {5, [](Program& p) { p.migrate(); }},
      {8, [](Program& p) { p.synchronise(); }},
  };
  std::size_t sum = 0;
  for (const Choice& choice : choices) sum += choice.weight;
  std::size_t at = random_.below(sum);
  for (const Choice& choice : choices) {
    if (at < choice.weight) return choice.act(*this);
    at -= choice.weight;
  }
}

void Program::run(std::size_t steps) {
  for (int i = 0; i < 3; ++i) create_buffer();
  create_image();
  for (std::size_t i = 0; i < steps; ++i) {
    if (loss_ && i == loss_->step) {
      say("node " + std::to_string(loss_->node) + " is killed");
      lost_ = true;
      loss_->kill();
    }
    step();
  }
  finish_all();
}

void Program::finish_all() {
  say("the end");
  while (!mappings_.empty()) unmap(mappings_.size() - 1);
  for (const auto& object : objects_) {
    Area& area = new_area(object->size);
    enqueue(any_queue(), "read all of " + object->name,
            {object->all(Access::Read), {&area.store, 0, object->size, Access::Overwrite}}, {true, false},
            [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
              const Triple origin{};
              return object->is_image
                         ? clEnqueueReadImage(on, object->mem, CL_FALSE, origin.data(), object->extent.data(),
                                              0, 0, area.bytes.data(), count, list, event)
                         : clEnqueueReadBuffer(on, object->mem, CL_FALSE, 0, object->size, area.bytes.data(),
                                               count, list, event);
            });
    area.store.cells = cut(object->store->cells, object->begin, object->size);
  }
  objects_.clear();
  for (std::size_t queue = 0; queue < queues_.size(); ++queue)
    if (queues_[queue].queue) finish(queue);
  for (std::size_t gate = 0; gate < gates_.size(); ++gate)
    if (!gates_[gate].open) open(gate);
  Commands all;
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    all.set(i);
    if (commands_[i].event) clWaitForEvents(1, commands_[i].event.ptr());
  }
  host_done(all);
  for (const auto& area : areas_)
    if (!doubtful(area->store, 0, area->bytes.size()))
      check(area->bytes.data(), area->store.cells, 0, area->bytes.size(), area->store.name);
}

}  // namespace clique::test::model
