#include "cluster/model/program.hpp"

#include <array>
#include <cstring>
#include <sstream>
#include <thread>

namespace clique::test::model {

namespace {

std::string range_text(std::size_t begin, std::size_t end) {
  return "[" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

std::string triple_text(const Triple& triple) {
  return std::to_string(triple[0]) + "," + std::to_string(triple[1]) + "," + std::to_string(triple[2]);
}

std::string box_text(const Box& box) {
  return "at " + triple_text(box.origin) + " pitches " + std::to_string(box.row) + "," +
         std::to_string(box.slice);
}

std::string flags_text(cl_map_flags flags) {
  if (flags == CL_MAP_READ) return "READ";
  if (flags == CL_MAP_WRITE) return "WRITE";
  return flags == CL_MAP_WRITE_INVALIDATE_REGION ? "INVALIDATE" : "READ|WRITE";
}

void require_call(cl_int status, const char* what) {
  if (status != CL_SUCCESS) throw Wrong(std::string(what) + " returned " + std::to_string(status));
}

void copy_rows(const Contents& from, const Box& source, Contents& to, const Box& destination) {
  std::vector<std::size_t> rows;
  source.rows([&](std::size_t at, std::size_t) { rows.push_back(at); });
  std::size_t next = 0;
  destination.rows([&](std::size_t at, std::size_t) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(rows[next++]), destination.region[0],
                to.begin() + static_cast<std::ptrdiff_t>(at));
  });
}

Box moved(Box box, std::size_t by) {
  box.origin[0] += by;
  return box;
}

/// The local size of a launch: mostly one of few, because PoCL compiles each kernel for each, which takes
/// most of the time of a test; sometimes the driver's choice.
class LocalSize {
 public:
  /// @param salt random
  /// @param count the global size in the first dimension
  LocalSize(cl_uint salt, std::size_t count)
      : chosen_(salt % 32 != 0), sizes_{count % 16 == 0 ? 16U : 1U, 1} {}
  /// For clEnqueueNDRangeKernel, with one or two dimensions.
  const std::size_t* get() const { return chosen_ ? sizes_.data() : nullptr; }

 private:
  bool chosen_;
  std::array<std::size_t, 2> sizes_;
};

}  // namespace

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

// Order.

bool Program::conflict(const Use& use, const Access& access) {
  return use.begin < access.end && access.begin < use.end && (use.writes || access.writes());
}

Program::Commands Program::with_before(std::size_t command) const {
  Commands all = commands_[command].before;
  all.set(command);
  return all;
}

void Program::need(std::size_t command, Commands& before, std::vector<std::size_t>& waits) const {
  waits.push_back(command);
  before |= with_before(command);
}

std::string Program::name_of(std::size_t queue) const {
  return "q" + std::to_string(queue) + "@" + std::to_string(queues_[queue].device) +
         (queues_[queue].in_order ? "" : "*");
}

void Program::check_status(cl_int status, const std::string& what) {
  if (status != CL_SUCCESS) throw Wrong(what + " returned " + std::to_string(status));
}

std::size_t Program::enqueue(std::size_t queue, const std::string& text, const std::vector<Access>& accesses,
                             Wanted wanted, const Call& call) {
  unmap_conflicting(accesses);
  if (commands_.size() + 64 > kMaxCommands) throw std::length_error("too many steps");
  Commands before = done_ | queues_[queue].fence;
  std::vector<std::size_t> waits;
  if (wanted.kind != Kind::Plain && !wanted.with_list) before |= queues_[queue].all;
  for (const Access& access : accesses)
    for (std::size_t i = access.store->uses.size(); i-- > 0;) {
      const Use use = access.store->uses[i];
      if (before[use.command] || !conflict(use, access)) continue;
      const std::size_t other = commands_[use.command].queue;
      const std::size_t how = random_.below(100);
      if (how < 6) {
        wait_for(use.command);
        before |= done_;
      } else if (how < 10 && queues_[other].queue) {
        finish(other);
        before |= done_;
      } else if (how < 25 && other == queue && queues_[queue].queue) {
        enqueue(queue, "barrier", {}, {false, false, Kind::Barrier, false},
                [](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                  return clEnqueueBarrierWithWaitList(on, count, list, event);
                });
        before |= queues_[queue].fence;
      } else {
        need(with_event(use.command), before, waits);
      }
    }
  const bool takes_list = wanted.kind == Kind::Plain || wanted.with_list;
  if (takes_list && !commands_.empty() && random_.percent(20)) {
    const std::size_t other = random_.below(commands_.size());
    if (commands_[other].event) need(other, before, waits);
  }
  std::vector<std::size_t> gates;
  if (takes_list && random_.percent(8)) {
    std::vector<std::size_t> closed;
    for (std::size_t gate = 0; gate < gates_.size(); ++gate)
      if (!gates_[gate].open) closed.push_back(gate);
    if (closed.empty() || random_.percent(50)) {
      cl_int err = CL_SUCCESS;
      gates_.push_back({Event(clCreateUserEvent(context_, &err)), false});
      check_status(err, "clCreateUserEvent");
      gates.push_back(gates_.size() - 1);
    } else {
      gates.push_back(closed[random_.below(closed.size())]);
    }
  }
  std::ostringstream line;
  const std::size_t number = commands_.size();
  line << "c" << number << " " << name_of(queue) << " " << text;
  std::vector<cl_event> list;
  for (const std::size_t wait : waits) {
    if (!commands_[wait].event) continue;
    list.push_back(commands_[wait].event);
    line << " <c" << wait;
  }
  for (const std::size_t gate : gates) {
    list.push_back(gates_[gate].event);
    line << " <u" << gate;
  }
  // A marker or barrier with an empty list waits for everything before it.
  if (wanted.kind != Kind::Plain && list.empty()) before |= queues_[queue].all;
  const bool wants_event = wanted.event || loss_ || random_.percent(60);
  if (wants_event) line << " event";
  if (wanted.blocking) line << " blocking";

  CommandRecord record{{}, queue, before, {}, std::move(gates), {}};
  record.nodes.set(queues_[queue].device);
  for (std::size_t earlier = 0; earlier < number; ++earlier)
    if (before[earlier]) record.nodes |= commands_[earlier].nodes;
  for (const Access& access : accesses) {
    record.nodes |= access.store->nodes;
    if (access.mode == Access::Overwrite) continue;
    for (const Use& use : access.store->uses)
      if (use.writes && use.begin < access.end && access.begin < use.end)
        record.data |= commands_[use.command].data | Commands().set(use.command);
  }
  say(line.str());
  cl_int status = CL_SUCCESS;
  {
    std::vector<std::size_t> closed;
    if (wanted.blocking) {
      const auto add = [&](const std::vector<std::size_t>& more) {
        for (const std::size_t gate : more)
          if (!gates_[gate].open && std::find(closed.begin(), closed.end(), gate) == closed.end())
            closed.push_back(gate);
      };
      add(record.gates);
      for (std::size_t earlier = 0; earlier < number; ++earlier)
        if (before[earlier]) add(commands_[earlier].gates);
      for (const std::size_t gate : closed) gates_[gate].open = true;
    }
    const bool meanwhile = random_.percent(50);
    const auto open_all = [&] {
      for (const std::size_t gate : closed) clSetUserEventStatus(gates_[gate].event, CL_COMPLETE);
    };
    if (!closed.empty()) say(std::string("  opens gates ") + (meanwhile ? "meanwhile" : "before"));
    if (!meanwhile) open_all();
    const std::jthread opener = meanwhile && !closed.empty() ? std::jthread(open_all) : std::jthread();
    status = call(queues_[queue].queue, static_cast<cl_uint>(list.size()),
                  list.empty() ? nullptr : list.data(), wants_event ? record.event.out() : nullptr);
  }
  if (status != CL_SUCCESS) {
    if (!lost_ || !record.nodes[loss_->node]) check_status(status, line.str());
    record.failed = true;
    record.before.reset();
    record.data.reset();
    say("  fails: " + std::to_string(status));
  }
  const Nodes nodes = record.nodes;
  commands_.push_back(std::move(record));
  QueueRecord& on = queues_[queue];
  on.all |= with_before(number);
  if (on.in_order || wanted.kind == Kind::Barrier) on.fence |= with_before(number);
  for (const Access& access : accesses) {
    access.store->nodes |= nodes;
    // A command that was not enqueued does not order the ones before it.
    if (access.mode == Access::Overwrite && status == CL_SUCCESS)
      std::erase_if(access.store->uses,
                    [&](const Use& use) { return access.begin <= use.begin && use.end <= access.end; });
    access.store->uses.push_back({number, access.begin, access.end, access.writes()});
  }
  if (wanted.blocking) host_done(with_before(number));
  return number;
}

std::size_t Program::marker(std::size_t queue) {
  return enqueue(queue, "marker", {}, {true, false, Kind::Marker, false},
                 [](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                   return clEnqueueMarkerWithWaitList(on, count, list, event);
                 });
}

std::size_t Program::with_event(std::size_t command) {
  if (commands_[command].event) return command;
  const std::size_t queue = commands_[command].queue;
  if (queues_[queue].tail != kNone) return queues_[queue].tail;
  if (commands_[command].failed) return command;
  return marker(queue);
}

void Program::host_done(const Commands& commands) {
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    CommandRecord& command = commands_[i];
    if (!commands[i] || done_[i]) continue;
    done_.set(i);
    if (!command.event) continue;
    cl_int status = CL_QUEUED;
    check_status(
        clGetEventInfo(command.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
        "clGetEventInfo");
    if (status > CL_COMPLETE && lost_) {
      clWaitForEvents(1, command.event.ptr());
      clGetEventInfo(command.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    }
    if (status > CL_COMPLETE)
      throw Wrong("c" + std::to_string(i) + " has the status " + std::to_string(status) +
                  ", although something that comes after it has ended");
    if (status == CL_COMPLETE) continue;
    if (!lost_ || !command.nodes[loss_->node])
      throw Wrong("c" + std::to_string(i) + " failed with " + std::to_string(status));
    say("  c" + std::to_string(i) + " has failed: " + std::to_string(status));
    command.failed = true;
  }
}

void Program::open(std::size_t gate) {
  say("opens u" + std::to_string(gate));
  gates_[gate].open = true;
  clSetUserEventStatus(gates_[gate].event, CL_COMPLETE);
}

void Program::open_gates_of(const Commands& commands) {
  for (std::size_t i = 0; i < commands_.size(); ++i)
    if (commands[i])
      for (const std::size_t gate : commands_[i].gates)
        if (!gates_[gate].open) open(gate);
}

void Program::wait_for(std::size_t command) {
  const std::size_t stands = with_event(command);
  const Commands all = with_before(stands);
  open_gates_of(all);
  say("waits for c" + std::to_string(stands));
  if (commands_[stands].event) {
    const cl_int status = clWaitForEvents(1, commands_[stands].event.ptr());
    if (!lost_) check_status(status, "clWaitForEvents");
  }
  host_done(all);
}

void Program::finish(std::size_t queue) {
  open_gates_of(queues_[queue].all);
  say("finishes " + name_of(queue));
  const cl_int status = clFinish(queues_[queue].queue);
  Nodes nodes;
  for (std::size_t i = 0; i < commands_.size(); ++i)
    if (queues_[queue].all[i]) nodes |= commands_[i].nodes;
  nodes.set(queues_[queue].device);
  if (!lost_ || !nodes[loss_->node]) check_status(status, "clFinish");
  host_done(queues_[queue].all);
}

void Program::host_access(const Access& access) {
  for (std::size_t i = access.store->uses.size(); i-- > 0;) {
    const Use use = access.store->uses[i];
    if (done_[use.command] || !conflict(use, access)) continue;
    const std::size_t queue = commands_[use.command].queue;
    if (random_.percent(30) && queues_[queue].queue) {
      finish(queue);
    } else {
      wait_for(use.command);
    }
  }
  if (access.writes())
    std::erase_if(access.store->uses,
                  [&](const Use& use) { return access.begin <= use.begin && use.end <= access.end; });
}

bool Program::doubtful(const Store& store, std::size_t begin, std::size_t end) const {
  for (const Use& use : store.uses) {
    if (!use.writes || use.begin >= end || begin >= use.end) continue;
    const Commands all = commands_[use.command].data | Commands().set(use.command);
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (all[i] && commands_[i].failed) return true;
  }
  return false;
}

void Program::check(const std::byte* actual, const Contents& expected, std::size_t begin, std::size_t size,
                    const std::string& what) {
  std::size_t differences = 0;
  std::ostringstream text;
  for (std::size_t i = 0; i < size; ++i) {
    const Cell want = expected[begin + i];
    const auto got = std::to_integer<Cell>(actual[i]);
    if (want == kUnknown || want == got) continue;
    if (++differences <= 8) text << "\n  byte " << begin + i << ": " << got << " instead of " << want;
  }
  if (differences != 0)
    throw Wrong(what + ": " + std::to_string(differences) + " of " + std::to_string(size) + " bytes differ" +
                text.str());
}

// Objects.

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

// Buffers and the host.

void Program::write_buffer() {
  const auto object = any_buffer();
  if (!object) return;
  const auto [offset, size] = any_range(object->size);
  const auto [area, from] = any_area(size, false);
  const bool blocking = random_.percent(30);
  const std::byte* data = area->bytes.data() + from;
  enqueue(any_queue(),
          "write " + object->name + range_text(offset, offset + size) + " from " + area->store.name + "+" +
              std::to_string(from),
          {object->part(offset, size, Access::Overwrite), {&area->store, from, from + size, Access::Read}},
          {false, blocking},
          [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                            cl_event* event) {
            return clEnqueueWriteBuffer(on, object->mem, blocking ? CL_TRUE : CL_FALSE, offset, size, data,
                                        count, list, event);
          });
  std::copy_n(area->store.cells.begin() + static_cast<std::ptrdiff_t>(from), size,
              object->store->cells.begin() + static_cast<std::ptrdiff_t>(object->begin + offset));
  if (blocking && random_.percent(50)) {
    // The application may use the memory again.
    say("overwrites " + area->store.name + range_text(from, from + size));
    host_access({&area->store, from, from + size, Access::Overwrite});
    std::fill_n(area->bytes.begin() + static_cast<std::ptrdiff_t>(from), size, std::byte{0xEE});
    std::fill_n(area->store.cells.begin() + static_cast<std::ptrdiff_t>(from), size, Cell{0xEE});
  }
}

void Program::read_buffer() {
  const auto object = any_buffer();
  if (!object) return;
  const auto [offset, size] = any_range(object->size);
  const auto [area, to] = any_area(size, true);
  const bool blocking = random_.percent(30);
  std::byte* data = area->bytes.data() + to;
  enqueue(any_queue(),
          "read " + object->name + range_text(offset, offset + size) + " to " + area->store.name + "+" +
              std::to_string(to),
          {object->part(offset, size, Access::Read), {&area->store, to, to + size, Access::Overwrite}},
          {false, blocking},
          [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                            cl_event* event) {
            return clEnqueueReadBuffer(on, object->mem, blocking ? CL_TRUE : CL_FALSE, offset, size, data,
                                       count, list, event);
          });
  std::copy_n(object->store->cells.begin() + static_cast<std::ptrdiff_t>(object->begin + offset), size,
              area->store.cells.begin() + static_cast<std::ptrdiff_t>(to));
  if (blocking && !doubtful(area->store, to, to + size)) check(data, area->store.cells, to, size, "read");
}

void Program::rect_to_host(bool reads) {
  const auto object = any_buffer();
  if (!object) return;
  const Triple region = box_region(object->size);
  const Box box = any_box(region, object->size);
  const std::size_t dense = region[0] * region[1] * region[2];
  const auto [area, at] = any_area(dense + random_.below(dense + 1), reads);
  const Box host = any_box(region, area->bytes.size() - at);
  const bool blocking = random_.percent(30);
  std::byte* data = area->bytes.data() + at;
  const Access stored = object->part(box.begin(), box.size(), reads ? Access::Read : Access::Change);
  const Access on_host{&area->store, at + host.begin(), at + host.end(),
                       reads ? Access::Change : Access::Read};
  enqueue(any_queue(),
          std::string(reads ? "read " : "write ") + object->name + " box " + triple_text(region) + " " +
              box_text(box) + (reads ? " to " : " from ") + area->store.name + "+" + std::to_string(at) +
              " " + box_text(host),
          {stored, on_host}, {false, blocking},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            const cl_bool block = blocking ? CL_TRUE : CL_FALSE;
            return reads ? clEnqueueReadBufferRect(on, object->mem, block, box.origin.data(),
                                                   host.origin.data(), region.data(), box.row, box.slice,
                                                   host.row, host.slice, data, count, list, event)
                         : clEnqueueWriteBufferRect(on, object->mem, block, box.origin.data(),
                                                    host.origin.data(), region.data(), box.row, box.slice,
                                                    host.row, host.slice, data, count, list, event);
          });
  if (reads) {
    copy_rows(object->store->cells, moved(box, object->begin), area->store.cells, moved(host, at));
    if (blocking && !doubtful(area->store, at + host.begin(), at + host.end()))
      check(data + host.begin(), area->store.cells, at + host.begin(), host.size(), "read of a box");
  } else {
    copy_rows(area->store.cells, moved(host, at), object->store->cells, moved(box, object->begin));
  }
}

// Buffers.

void Program::copy_buffer() {
  const auto from = any_buffer();
  const auto to = any_buffer();
  if (!from || !to) return;
  const auto [offset, most] = any_range(from->size);
  const std::size_t size = std::min(most, to->size);
  const std::size_t target = random_.below(to->size - size + 1);
  const Access source = from->part(offset, size, Access::Read);
  const Access destination = to->part(target, size, Access::Overwrite);
  if (source.store == destination.store && source.begin < destination.end && destination.begin < source.end)
    return;
  enqueue(any_queue(),
          "copy " + from->name + range_text(offset, offset + size) + " to " + to->name + "+" +
              std::to_string(target),
          {source, destination}, {},
          [&, offset = offset](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueCopyBuffer(on, from->mem, to->mem, offset, target, size, count, list, event);
          });
  const Contents copied = cut(from->store->cells, source.begin, size);
  std::copy(copied.begin(), copied.end(),
            to->store->cells.begin() + static_cast<std::ptrdiff_t>(destination.begin));
}

Contents Program::cut(const Contents& from, std::size_t begin, std::size_t size) {
  return {from.begin() + static_cast<std::ptrdiff_t>(begin),
          from.begin() + static_cast<std::ptrdiff_t>(begin + size)};
}

void Program::copy_rect() {
  const auto from = any_buffer();
  const auto to = any_buffer();
  if (!from || !to || from->store == to->store) return;
  // PoCL 3.1 crashes when it copies boxes from or to sub-buffers.
  if (from->is_sub || to->is_sub) return;
  const Triple region = box_region(std::min(from->size, to->size));
  const Box source = any_box(region, from->size);
  const Box destination = any_box(region, to->size);
  enqueue(any_queue(),
          "copy " + from->name + " box " + triple_text(region) + " " + box_text(source) + " to " + to->name +
              " " + box_text(destination),
          {from->part(source.begin(), source.size(), Access::Read),
           to->part(destination.begin(), destination.size(), Access::Change)},
          {}, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueCopyBufferRect(on, from->mem, to->mem, source.origin.data(),
                                           destination.origin.data(), region.data(), source.row, source.slice,
                                           destination.row, destination.slice, count, list, event);
          });
  copy_rows(from->store->cells, moved(source, from->begin), to->store->cells, moved(destination, to->begin));
}

void Program::fill_buffer() {
  const auto object = any_buffer();
  if (!object) return;
  std::size_t unit = std::size_t{1} << random_.below(8);
  while (unit > object->size) unit /= 2;
  const auto [offset, size] = any_range(object->size, unit);
  std::array<std::uint8_t, 128> pattern{};
  for (std::uint8_t& byte : pattern) byte = random_.byte();
  enqueue(
      any_queue(),
      "fill " + object->name + range_text(offset, offset + size) + " with " + std::to_string(unit) + " bytes",
      {object->part(offset, size, Access::Overwrite)}, {},
      [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                        cl_event* event) {
        return clEnqueueFillBuffer(on, object->mem, pattern.data(), unit, offset, size, count, list, event);
      });
  for (std::size_t i = 0; i < size; ++i) object->store->cells[object->begin + offset + i] = pattern[i % unit];
}

void Program::launch() {
  const auto out = any_buffer();
  if (!out || out->size < 4 || out->read_only) return;
  const auto words = static_cast<cl_uint>(out->size / 4);
  const cl_uint salt = random_.word();
  Contents& cells = out->store->cells;
  const auto set = [](cl_kernel kernel, cl_uint index, auto value) {
    require_call(clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg");
  };
  // A pointer stands for its whole allocation.
  const auto by_pointer = [&](const Object& object) { return object.is_svm && salt % 2 == 0; };
  const auto set_memory = [&](cl_kernel kernel, cl_uint index, const Object& object) {
    if (!by_pointer(object)) return set(kernel, index, object.mem.get());
    require_call(clSetKernelArgSVMPointer(kernel, index, object.host), "clSetKernelArgSVMPointer");
  };
  const auto used = [&](const Object& object, Access::Mode mode) {
    return by_pointer(object) ? Access{object.store.get(), 0, object.store->cells.size(), mode}
                              : object.all(mode);
  };
  const auto run = [&](cl_kernel kernel, const std::string& text, std::vector<Access> accesses,
                       std::size_t count, const std::function<void()>& arguments) {
    enqueue(any_queue(), text, accesses, {},
            [&](cl_command_queue on, cl_uint waits, const cl_event* list, cl_event* event) {
              arguments();
              const LocalSize local(salt, count);
              return clEnqueueNDRangeKernel(on, kernel, 1, nullptr, &count, local.get(), waits, list, event);
            });
  };
  const std::size_t kind = random_.below(3);
  if (kind == 0) {
    run(kernels_.advance, "advance " + out->name, {used(*out, Access::Change)}, words, [&] {
      set_memory(kernels_.advance, 0, *out);
      set(kernels_.advance, 1, salt);
    });
    for (cl_uint i = 0; i < words; ++i) {
      Number number = number_at(cells, out->begin + i * 4);
      number.value = advanced(number.value, i, salt);
      put_number(cells, out->begin + i * 4, number);
    }
  } else if (kind == 1) {
    const auto [first, count] = any_range(words);
    run(kernels_.advance_part, "advance " + out->name + range_text(first * 4, (first + count) * 4),
        {used(*out, Access::Change)}, count, [&, first = first] {
          set_memory(kernels_.advance_part, 0, *out);
          set(kernels_.advance_part, 1, static_cast<cl_uint>(first));
          set(kernels_.advance_part, 2, salt);
        });
    for (std::size_t i = 0; i < count; ++i) {
      Number number = number_at(cells, out->begin + (first + i) * 4);
      number.value = advanced(number.value, i, salt);
      put_number(cells, out->begin + (first + i) * 4, number);
    }
  } else {
    const auto a = any_buffer();
    const auto b = any_buffer();
    const auto fits = [&](const Object& in) {
      return in.size >= 4 && (in.store != out->store || in.begin + in.size <= out->begin ||
                              out->begin + out->size <= in.begin);
    };
    if (!fits(*a) || !fits(*b)) return;
    const auto na = static_cast<cl_uint>(a->size / 4);
    const auto nb = static_cast<cl_uint>(b->size / 4);
    run(kernels_.combine, "combine " + a->name + ", " + b->name + " to " + out->name,
        {used(*a, Access::Read), used(*b, Access::Read), used(*out, Access::Change)}, words, [&] {
          set_memory(kernels_.combine, 0, *a);
          set(kernels_.combine, 1, na);
          set_memory(kernels_.combine, 2, *b);
          set(kernels_.combine, 3, nb);
          set_memory(kernels_.combine, 4, *out);
          set(kernels_.combine, 5, salt);
        });
    const Contents& in_a = a->store->cells;
    const Contents& in_b = b->store->cells;
    for (cl_uint i = 0; i < words; ++i) {
      const Number left = number_at(in_a, a->begin + ((i * 3U + salt) % na) * std::size_t{4});
      const Number right = number_at(in_b, b->begin + ((i + salt) % nb) * std::size_t{4});
      put_number(cells, out->begin + i * std::size_t{4},
                 {advanced(left.value ^ right.value, i, salt), left.known && right.known});
    }
  }
}

// Images.

void Program::launch_image() {
  const auto in = any_image();
  const auto out = any_image();
  if (!in || in == out || in->extent[2] != 1 || out->extent[2] != 1 || in->unit != out->unit ||
      in->channels != out->channels)
    return;
  // 3D images with one slice are not 2D images.
  for (const auto& image : {in, out}) {
    cl_mem_object_type type = 0;
    require_call(clGetMemObjectInfo(image->mem, CL_MEM_TYPE, sizeof type, &type, nullptr),
                 "clGetMemObjectInfo");
    if (type != CL_MEM_OBJECT_IMAGE2D) return;
  }
  const cl_uint salt = random_.word();
  const std::size_t bytes = out->unit / out->channels;
  const cl_uint mask = bytes == 1 ? 0xFFU : 0xFFFFFFFFU;
  const cl_kernel kernel = kernels_.advance_image;
  enqueue(any_queue(), "advance " + in->name + " to " + out->name,
          {in->all(Access::Read), out->all(Access::Overwrite)}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            const cl_mem from = in->mem;
            const cl_mem to = out->mem;
            require_call(clSetKernelArg(kernel, 0, sizeof from, &from), "clSetKernelArg");
            require_call(clSetKernelArg(kernel, 1, sizeof to, &to), "clSetKernelArg");
            require_call(clSetKernelArg(kernel, 2, sizeof salt, &salt), "clSetKernelArg");
            require_call(clSetKernelArg(kernel, 3, sizeof mask, &mask), "clSetKernelArg");
            const LocalSize local(salt, out->extent[0]);
            return clEnqueueNDRangeKernel(on, kernel, 2, nullptr, out->extent.data(), local.get(), count,
                                          list, event);
          });
  for (std::size_t y = 0; y < out->extent[1]; ++y)
    for (std::size_t x = 0; x < out->extent[0]; ++x) {
      const std::size_t position = y * out->extent[0] + x;
      const std::size_t texel = ((y % in->extent[1]) * in->extent[0] + x % in->extent[0]) * in->unit;
      // A texel is read as a whole, but its channels do not affect each other.
      for (std::size_t c = 0; c < out->channels; ++c) {
        Number number = number_at(in->store->cells, texel + c * bytes, bytes);
        number.value = advanced(number.value, position, salt + static_cast<cl_uint>(c)) & mask;
        put_number(out->store->cells, position * out->unit + c * bytes, number, bytes);
      }
    }
}

void Program::image_to_host(bool reads) {
  const auto image = any_image();
  if (!image) return;
  const Triple region = any_region(image->extent);
  Triple origin{};
  for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(image->extent[i] - region[i] + 1);
  const Box stored = image->box(origin, region);
  const std::size_t row = stored.region[0] + (random_.percent(30) ? random_.below(4) * image->unit : 0);
  const std::size_t slice = row * (region[1] + (image->extent[2] > 1 && random_.percent(30) ? 1 : 0));
  Box host{{}, stored.region, row, slice};
  const auto [area, at] = any_area(host.size(), reads);
  const bool blocking = random_.percent(30);
  std::byte* data = area->bytes.data() + at;
  const bool all = region == image->extent;
  enqueue(any_queue(),
          std::string(reads ? "read " : "write ") + image->name + " at " + triple_text(origin) + " region " +
              triple_text(region) + (reads ? " to " : " from ") + area->store.name + "+" +
              std::to_string(at) + " pitches " + std::to_string(row) + "," + std::to_string(slice),
          {image->all(reads ? Access::Read
                      : all ? Access::Overwrite
                            : Access::Change),
           {&area->store, at, at + host.size(), reads ? Access::Change : Access::Read}},
          {false, blocking}, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            const cl_bool block = blocking ? CL_TRUE : CL_FALSE;
            const std::size_t slices = image->extent[2] > 1 ? slice : 0;
            return reads ? clEnqueueReadImage(on, image->mem, block, origin.data(), region.data(), row,
                                              slices, data, count, list, event)
                         : clEnqueueWriteImage(on, image->mem, block, origin.data(), region.data(), row,
                                               slices, data, count, list, event);
          });
  if (reads) {
    copy_rows(image->store->cells, stored, area->store.cells, moved(host, at));
    if (blocking && !doubtful(area->store, at, at + host.size()))
      check(data, area->store.cells, at, host.size(), "read of an image");
  } else {
    copy_rows(area->store.cells, moved(host, at), image->store->cells, stored);
  }
}

void Program::copy_image() {
  const auto from = any_image();
  const auto to = any_image();
  if (!from || from == to || from->unit != to->unit || from->channels != to->channels) return;
  Triple least{};
  for (std::size_t i = 0; i < 3; ++i) least[i] = std::min(from->extent[i], to->extent[i]);
  const Triple region = any_region(least);
  Triple source{};
  Triple destination{};
  for (std::size_t i = 0; i < 3; ++i) {
    source[i] = random_.below(from->extent[i] - region[i] + 1);
    destination[i] = random_.below(to->extent[i] - region[i] + 1);
  }
  enqueue(any_queue(),
          "copy " + from->name + " at " + triple_text(source) + " region " + triple_text(region) + " to " +
              to->name + " at " + triple_text(destination),
          {from->all(Access::Read), to->all(region == to->extent ? Access::Overwrite : Access::Change)}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueCopyImage(on, from->mem, to->mem, source.data(), destination.data(),
                                      region.data(), count, list, event);
          });
  copy_rows(from->store->cells, from->box(source, region), to->store->cells, to->box(destination, region));
}

void Program::fill_image() {
  const auto image = any_image();
  if (!image) return;
  const Triple region = any_region(image->extent);
  Triple origin{};
  for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(image->extent[i] - region[i] + 1);
  const std::size_t bytes = image->unit / image->channels;
  std::array<cl_uint, 4> color{};
  for (cl_uint& channel : color) channel = bytes == 1 ? random_.byte() : random_.word();
  enqueue(any_queue(),
          "fill " + image->name + " at " + triple_text(origin) + " region " + triple_text(region),
          {image->all(region == image->extent ? Access::Overwrite : Access::Change)}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueFillImage(on, image->mem, color.data(), origin.data(), region.data(), count, list,
                                      event);
          });
  image->box(origin, region).rows([&](std::size_t at, std::size_t) {
    for (std::size_t x = 0; x < region[0]; ++x)
      for (std::size_t c = 0; c < image->channels; ++c)
        put_number(image->store->cells, at + x * image->unit + c * bytes, {color[c], true}, bytes);
  });
}

void Program::image_and_buffer() {
  const auto image = any_image();
  const auto buffer = any_buffer();
  // PoCL 3.1 crashes with sub-buffers here.
  if (!image || !buffer || buffer->is_sub) return;
  const Triple region = any_region(image->extent);
  Triple origin{};
  for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(image->extent[i] - region[i] + 1);
  const Box stored = image->box(origin, region);
  const std::size_t size = stored.region[0] * region[1] * region[2];
  if (size > buffer->size) return;
  const std::size_t offset = random_.below(buffer->size - size + 1);
  const Box linear{
      {buffer->begin + offset, 0, 0}, stored.region, stored.region[0], stored.region[0] * region[1]};
  const std::string where = image->name + " at " + triple_text(origin) + " region " + triple_text(region);
  const std::string there = buffer->name + "+" + std::to_string(offset);
  if (random_.percent(50)) {
    enqueue(any_queue(), "copy " + where + " to " + there,
            {image->all(Access::Read), buffer->part(offset, size, Access::Overwrite)}, {},
            [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
              return clEnqueueCopyImageToBuffer(on, image->mem, buffer->mem, origin.data(), region.data(),
                                                offset, count, list, event);
            });
    copy_rows(image->store->cells, stored, buffer->store->cells, linear);
  } else {
    enqueue(any_queue(), "copy " + there + " to " + where,
            {buffer->part(offset, size, Access::Read),
             image->all(region == image->extent ? Access::Overwrite : Access::Change)},
            {}, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
              return clEnqueueCopyBufferToImage(on, buffer->mem, image->mem, offset, origin.data(),
                                                region.data(), count, list, event);
            });
    copy_rows(buffer->store->cells, linear, image->store->cells, stored);
  }
}

// Maps.

void Program::unmap_conflicting(const std::vector<Access>& accesses) {
  for (std::size_t i = mappings_.size(); i-- > 0;) {
    if (i >= mappings_.size()) continue;
    const Access mapped = mappings_[i].access();
    const Use use{mappings_[i].command, mapped.begin, mapped.end, mapped.writes()};
    if (std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
          return access.store == mapped.store && conflict(use, access);
        }))
      unmap(i);
  }
}

void Program::map() {
  if (objects_.empty()) return;
  const auto object = objects_[random_.below(objects_.size())];
  const cl_map_flags choices[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                  CL_MAP_WRITE_INVALIDATE_REGION};
  Mapping mapping{};
  mapping.object = object;
  mapping.flags = choices[random_.below(4)];
  const bool blocking = random_.percent(40);
  const cl_bool block = blocking ? CL_TRUE : CL_FALSE;
  const auto mode = mapping.flags == CL_MAP_READ ? Access::Read : Access::Change;
  const std::string how = std::string(" ") + flags_text(mapping.flags);
  if (object->is_image) {
    const Triple region = any_region(object->extent);
    Triple origin{};
    for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(object->extent[i] - region[i] + 1);
    mapping.stored = object->box(origin, region);
    mapping.host = {{}, mapping.stored.region, 0, 0};
    mapping.command =
        enqueue(any_queue(),
                "map " + object->name + " at " + triple_text(origin) + " region " + triple_text(region) + how,
                {object->all(mode)}, {true, blocking},
                [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                  cl_int err = CL_SUCCESS;
                  mapping.pointer = static_cast<std::byte*>(
                      clEnqueueMapImage(on, object->mem, block, mapping.flags, origin.data(), region.data(),
                                        &mapping.host.row, &mapping.host.slice, count, list, event, &err));
                  return err;
                });
    if (mapping.host.slice == 0) mapping.host.slice = mapping.host.row * region[1];
  } else {
    const auto [offset, size] = any_range(object->size);
    mapping.stored = {{object->begin + offset, 0, 0}, {size, 1, 1}, size, size};
    mapping.host = {{}, {size, 1, 1}, size, size};
    mapping.command =
        enqueue(any_queue(), "map " + object->name + range_text(offset, offset + size) + how,
                {object->part(offset, size, mode)}, {true, blocking},
                [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                                  cl_event* event) {
                  cl_int err = CL_SUCCESS;
                  mapping.pointer = static_cast<std::byte*>(clEnqueueMapBuffer(
                      on, object->mem, block, mapping.flags, offset, size, count, list, event, &err));
                  return err;
                });
    if (object->host != nullptr && mapping.pointer != nullptr && mapping.pointer != object->host + offset)
      throw Wrong("the mapped region is not in the memory of CL_MEM_USE_HOST_PTR");
  }
  commands_[mapping.command].pinned = true;
  if (mapping.pointer != nullptr) mappings_.push_back(mapping);
}

void Program::unmap(std::size_t index) {
  const Mapping mapping = mappings_[index];
  mappings_.erase(mappings_.begin() + static_cast<std::ptrdiff_t>(index));
  if (!done_[mapping.command]) wait_for(mapping.command);
  Contents& cells = mapping.object->store->cells;
  const bool invalidates = mapping.flags == CL_MAP_WRITE_INVALIDATE_REGION;
  const bool writes = mapping.flags != CL_MAP_READ;
  const bool there = !commands_[mapping.command].failed;
  const std::size_t begin = mapping.stored.begin();
  const std::size_t end = mapping.stored.end();
  if (there && !invalidates && !doubtful(*mapping.object->store, begin, end)) {
    std::vector<std::size_t> rows;
    mapping.stored.rows([&](std::size_t at, std::size_t) { rows.push_back(at); });
    std::size_t next = 0;
    mapping.host.rows([&](std::size_t at, std::size_t) {
      check(mapping.pointer + at, cells, rows[next++], mapping.host.region[0],
            "mapped " + mapping.object->name);
    });
  }
  std::string text = "unmap " + mapping.object->name;
  if (writes) {
    // If the map has failed, the region may have any content.
    if (invalidates || !there)
      mapping.stored.rows([&](std::size_t at, std::size_t) {
        std::fill_n(cells.begin() + static_cast<std::ptrdiff_t>(at), mapping.stored.region[0], kUnknown);
      });
    std::size_t rows_left = mapping.host.region[1] * mapping.host.region[2];
    if (random_.percent(30)) rows_left = random_.below(rows_left + 1);
    const std::size_t width =
        random_.percent(60) ? mapping.host.region[0] : random_.below(mapping.host.region[0] + 1);
    const std::uint8_t first = random_.byte();
    std::vector<std::size_t> rows;
    mapping.stored.rows([&](std::size_t at, std::size_t) { rows.push_back(at); });
    std::size_t next = 0;
    text += " after writing " + std::to_string(width) + " bytes of " + std::to_string(rows_left) + " rows";
    mapping.host.rows([&](std::size_t at, std::size_t in_box) {
      const std::size_t stored = rows[next];
      if (next++ >= rows_left) return;
      for (std::size_t i = 0; i < width; ++i) {
        const auto value = static_cast<std::uint8_t>(first + (in_box + i) * 7 + ((in_box + i) >> 8U));
        if (!there) continue;
        mapping.pointer[at + i] = std::byte{value};
        cells[stored + i] = value;
      }
    });
  }
  // What the host has not written has the content at the time of the map.
  const auto mode = writes ? Access::Change : Access::Read;
  const Access access = mapping.object->is_image ? mapping.object->all(mode)
                                                 : Access{mapping.object->store.get(), begin, end, mode};
  enqueue(any_queue(), text, {access}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueUnmapMemObject(on, mapping.object->mem, mapping.pointer, count, list, event);
          });
}

// The rest.

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
