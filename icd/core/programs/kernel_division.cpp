// Launches on combined devices.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "icd/core/coherence/coherence.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/division/check_footprint.hpp"
#include "icd/core/division/explain.hpp"
#include "icd/core/division/merge.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/image.hpp"
#include "icd/core/programs/combined_launches.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/programs/program_analysis.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"

namespace clique::icd {

using protocol::KernelArg;

namespace {

bool groups_given(const NdRange& range) {
  return range.local[0] != 0;
}

LaunchSpace space_of(const NdRange& range) {
  LaunchSpace space;
  space.dimensions = range.dimensions;
  for (unsigned d = 0; d < range.dimensions; ++d) {
    space.offset[d] = range.offset[d];
    space.global[d] = range.global[d];
    if (groups_given(range)) space.local[d] = range.local[d];
  }
  return space;
}

/// The work-items of some groups of a range.
protocol::LaunchPart items_of(const NdRange& range, unsigned dimension, const DividedPart& part) {
  const std::uint64_t local = groups_given(range) ? range.local[dimension] : 1;
  return {static_cast<std::uint8_t>(dimension), part.begin * local,
          std::min<std::uint64_t>(part.end * local, range.global[dimension])};
}

std::string text_of(const NdRange& range) {
  std::string text;
  for (unsigned d = 0; d < range.dimensions; ++d)
    text += (d == 0 ? "" : " x ") + std::to_string(range.global[d]);
  return text;
}

/// With one significant digit: explanations that do not differ are given once.
std::string rounded(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1g", value);
  return text.data();
}

/// The parts of a launch.
std::string text_of(const Division& division) {
  std::string text =
      std::to_string(division.parts.size()) + " parts along dimension " + std::to_string(division.dimension);
  for (const MergedBuffer& merged : division.merged)
    text += ", whose changes of argument " + std::to_string(merged.argument) + " are merged";
  return text;
}

/// The memory object that keeps the content.
const Memory& keeper_of(const Memory& memory) {
  const Memory* keeper = &memory;
  while (keeper->base()) keeper = keeper->base().get();
  return *keeper;
}

std::optional<ImageLayout> layout_of(const Memory& memory) {
  const auto* image = dynamic_cast<const Image*>(&memory);
  if (image == nullptr) return std::nullopt;
  const protocol::Triple extent = image->extent();
  const Pitches pitches = image->content_pitches();
  return ImageLayout{image->dimensions(),
                     image->element_size(),
                     {extent[0], extent[1], extent[2]},
                     {image->element_size(), pitches.row, pitches.slice}};
}

bool allows(const LaunchLimits& limits, const NdRange& range) {
  if (!groups_given(range)) return true;
  std::size_t items = 1;
  for (unsigned d = 0; d < range.dimensions; ++d) {
    if (range.local[d] > limits.item_sizes[d]) return false;
    items *= range.local[d];
  }
  return items <= limits.group_size;
}

/// Whether the parts can run in queues of the members, where those of the next launch follow them. Merging
/// needs the application's queue, and so does room for sparse buffers, which earlier launches may occupy. A
/// part that a user event holds back would hold back transfers for commands of other queues. Members of one
/// worker share the content of buffers, so that nothing but the launch's turn would keep one from what
/// another one does.
bool can_follow(const Queue& queue, const Division& division) {
  if (!queue.in_order() || !division.merged.empty() || queue.context()->has_user_events() ||
      queue.context()->has_sparse_memory())
    return false;
  const auto& members = queue.device()->members();
  for (std::size_t i = 0; i < members.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (&members[i]->worker() == &members[j]->worker()) return false;
  return true;
}

constexpr std::size_t kStart = EventProgress::kStart;
constexpr std::size_t kEnd = EventProgress::kEnd;

/// Notes in the gate how long a launch takes that runs whole, once it has ended.
/// @param turn with which its time begins, if content moves for it; null: with its own begin
void measure(const Ref<Event>& event, const std::shared_ptr<LaunchGate>& gate, const LaunchSize& size,
             GateDecision decision, const Ref<Event>& turn) {
  // The event's times are valid when it calls the action, which must not keep the event.
  event->then([times = &event->times(), gate, size, decision, turn](cl_int status) {
    const std::uint64_t start = (*times)[kStart];
    if (status != CL_COMPLETE || start == 0 || (*times)[kEnd] <= start) return;
    const std::uint64_t time = (*times)[kEnd] - start;
    const std::uint64_t begin = turn ? turn->times()[kEnd] : 0;
    gate->measured(size, decision, time, begin == 0 ? time : (*times)[kEnd] - std::min(begin, start));
  });
}

/// The same for a divided launch.
/// @param turn with which its time begins: content for its parts moves from then on
void measure(const Ref<Event>& event, const std::shared_ptr<LaunchGate>& gate, const LaunchSize& size,
             GateDecision decision, const Ref<Event>& turn, const std::vector<Ref<Event>>& parts,
             const Division& division) {
  event->then([of = event.get(), gate, size, decision, turn, parts, borders = division.borders(),
               unit = division.unit](cl_int status) {
    const std::uint64_t begin = turn->times()[kEnd];
    // Both are times of the first member.
    const std::uint64_t end = of->order().marker_end();
    if (status != CL_COMPLETE || begin == 0 || end <= begin) return;
    std::vector<std::uint64_t> each;
    for (const Ref<Event>& part : parts) {
      const auto& of_part = part->times();
      each.push_back(of_part[kEnd] > of_part[kStart] ? of_part[kEnd] - of_part[kStart] : 0);
    }
    gate->measured(size, decision, end - begin, borders, unit, each);
  });
}

/// The ranges without their last bytes.
std::vector<protocol::ByteRange> without(const RangeSet& ranges, std::uint64_t last) {
  std::vector<protocol::ByteRange> result;
  for (const RangeSet::Range& range : ranges.ranges())
    if (const std::uint64_t size = range.end - range.begin; size > last)
      result.push_back({range.begin, size - last});
  return result;
}

template <typename T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// All that the division of a launch depends on besides the kernel and the device.
std::string key_of(ScalarArguments scalars, std::span<const UsedBuffer> buffers, const NdRange& range,
                   std::uint64_t room, std::uint64_t gate_version) {
  std::string key;
  append(key, gate_version);
  append(key, room);
  append(key, range.dimensions);
  append(key, range.offset);
  append(key, range.global);
  append(key, range.local);
  for (const auto& scalar : scalars) {
    append(key, scalar.size());
    key.append(reinterpret_cast<const char*>(scalar.data()), scalar.size());
  }
  for (const UsedBuffer& buffer : buffers) {
    // Which buffers are the same object, not which objects they are.
    const auto same = [&](const UsedBuffer& other) { return other.object == buffer.object; };
    append(key, std::find_if(buffers.begin(), buffers.end(), same) - buffers.begin());
    append(key, buffer.argument);
    append(key, buffer.begin);
    append(key, buffer.size);
    append(key, buffer.sparse);
    append(key, buffer.image.has_value());
    if (!buffer.image) continue;
    append(key, buffer.image->dimensions);
    append(key, buffer.image->pixel_size);
    append(key, buffer.image->extent);
    append(key, buffer.image->pitch);
  }
  return key;
}

/// Has the first member's worker connect to the others, which takes a while.
void connect_members(CombinedLaunches& launches) {
  if (std::exchange(launches.connected, true)) return;
  Worker& first = launches.device->worker();
  for (const Ref<Device>& member : launches.device->members())
    if (member->worker().index() != first.index()) first.connect_peer(member->worker());
}

/// Moves content that nobody uses from the first member to another one, to measure how fast. It is not that
/// of the program's objects: if some of it moved, the members' workers would share all of it from then on
/// (Context::use_content).
void try_movement(const Ref<Context>& context, const Device& combined, std::uint64_t bytes) {
  Worker& first = combined.worker();
  const auto& members = combined.members();
  const auto other = std::find_if(members.begin(), members.end(),
                                  [&](const Ref<Device>& member) { return &member->worker() != &first; });
  // The members should have room for it in plenty.
  if (other == members.end() || bytes > combined.largest_on_one() / 8) return;
  try {
    const Ref<Memory> content(new Buffer(context, CL_MEM_READ_WRITE, bytes, nullptr, {}));
    std::vector<Ref<Event>> transfers;
    {
      const std::lock_guard lock(context->coherence_mutex());
      content->ensure_on(first);
      content->coherence().written(first, 0, bytes, {}, /*may_fail=*/false);
      content->coherence().before_read((*other)->worker(), 0, bytes, transfers,
                                       {CL_COMMAND_MIGRATE_MEM_OBJECTS, nullptr});
    }
    for (const Ref<Event>& transfer : transfers) transfer->then([content](cl_int /*status*/) {});
    context->flush();
  } catch (const Error&) {
    // A member was lost meanwhile. The launch does not need this.
  }
}

}  // namespace

CombinedLaunches& Kernel::combined_launches(const Device& device) {
  for (const auto& each : combined_)
    if (each->device.get() == &device) return *each;
  auto made = std::make_unique<CombinedLaunches>();
  made->device = Ref<Device>(const_cast<Device*>(&device));
  made->gate = function_->gates->of(&device);
  return *combined_.emplace_back(std::move(made));
}

bool Kernel::know_footprint(CombinedLaunches& launches, bool waits) {
  if (launches.looked) return launches.footprint != nullptr;
  const auto analysis = program_->analysis_for(*launches.device);
  if (!analysis) {
    launches.looked = true;
    explain("kernel " + function_->name + " is not divided: its program was not built from source");
    return false;
  }
  if (waits) analysis->wait();
  if (!analysis->known()) return false;
  launches.looked = true;
  const protocol::Footprint* footprint = analysis->find(function_->name);
  if (footprint == nullptr) return false;
  if (const std::string flaw = flaw_of(*footprint, args_.size()); !flaw.empty()) {
    explain("kernel " + function_->name + " is not divided: the node's description of it is wrong: " + flaw);
    return false;
  }
  launches.analysis = analysis;
  launches.footprint = footprint;
  return true;
}

UsedValues Kernel::used_values() const {
  UsedValues values{std::vector<std::span<const std::byte>>(args_.size()), {}};
  for (std::size_t i = 0; i < args_.size(); ++i) {
    const Arg& arg = args_[i];
    if (arg.wire.kind == KernelArg::Value) values.scalars[i] = std::as_bytes(std::span(arg.wire.value));
    if (arg.memory == nullptr) continue;
    auto& memory = *static_cast<Memory*>(arg.memory);
    values.buffers.push_back(
        {i, &keeper_of(memory), memory.coherence_begin(), memory.size(), layout_of(memory), memory.sparse()});
  }
  if (std::any_of(values.buffers.begin(), values.buffers.end(),
                  [](const UsedBuffer& buffer) { return buffer.sparse; }))
    values.room = context()->sure_room();
  return values;
}

const Division& Kernel::division_of(CombinedLaunches& launches, const NdRange& range) {
  const UsedValues values = used_values();
  auto& known = launches.known;
  std::string key = key_of(values.scalars, values.buffers, range, values.room,
                           launches.gate->version({range.global, range.local}));
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return one->key == key; });
  if (found != known.end()) {
    std::rotate(known.begin(), found, found + 1);
    return known.front()->division;
  }
  auto made = std::make_unique<CombinedLaunches::Known>();
  made->key = std::move(key);
  made->division = divide(launches, range, values, launches.device->members().size());
  if (known.size() == CombinedLaunches::kMostKnown) known.pop_back();
  known.insert(known.begin(), std::move(made));
  return known.front()->division;
}

Division Kernel::divide(const CombinedLaunches& launches, const NdRange& range, const UsedValues& values,
                        std::size_t members) const {
  for (const Ref<Device>& member : launches.device->members()) {
    const bool first = member == launches.device->members().front();
    const KernelFunction::OnDevice* on = function_->on(first ? *launches.device : *member);
    if (on == nullptr || !allows(on->limits, range)) {
      Division refused;
      refused.reason = "the kernel, or its work-groups, cannot run on " + member->worker().label();
      return refused;
    }
  }
  return icd::divide({*launches.footprint, values.scalars, values.buffers, space_of(range),
                      groups_given(range), values.room},
                     members, launches.gate->borders({range.global, range.local}));
}

std::string Kernel::obstacle_to_merging(const CombinedLaunches& launches, const Division& division,
                                        bool waits) const {
  for (const MergedBuffer& merged : division.merged) {
    for (const MergedChange& change : merged.changes) {
      const Program::Build build =
          program_->merging_program(launches.device, change, waits)->build_of(*launches.device);
      if (build.status == CL_BUILD_SUCCESS) continue;
      if (build.status != CL_BUILD_ERROR) return "the kernel that merges atomic operations is being compiled";
      return "the kernel that merges atomic operations does not compile: " +
             build.log.substr(0, build.log.find('\n'));
    }
  }
  return {};
}

std::vector<Access> Kernel::accesses_of(const Division& division, std::size_t index) const {
  const DividedPart& part = division.parts[index];
  std::vector<Access> accesses;
  std::size_t buffer = 0;
  for (const Arg& arg : args_) {
    if (arg.memory == nullptr) continue;
    const bool copied = index > 0 && std::any_of(division.merged.begin(), division.merged.end(),
                                                 [&](const auto& merged) { return merged.buffer == buffer; });
    if (copied) {
      ++buffer;
      continue;
    }
    auto& memory = *static_cast<Memory*>(arg.memory);
    // The kernel gets the object in any case.
    accesses.push_back({&memory, 0, 0, Access::Read});
    RangeSet only_read = part.reads[buffer];
    only_read.remove(part.writes[buffer]);
    for (const RangeSet::Range& range : only_read.ranges())
      accesses.push_back({&memory, range.begin, range.end - range.begin, Access::Read});
    for (const RangeSet::Range& range : part.writes[buffer].ranges())
      accesses.push_back({&memory, range.begin, range.end - range.begin, Access::ReadWrite});
    ++buffer;
  }
  return accesses;
}

std::vector<protocol::ExpectedAccess> Kernel::expected_of(const Division& division, std::size_t index) const {
  std::vector<protocol::ExpectedAccess> expected;
  if (!function_->checked_without) return expected;
  const DividedPart& part = division.parts[index];
  std::size_t buffer = 0;
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (args_[i].memory == nullptr) continue;
    RangeSet reads = part.reads[buffer];
    RangeSet writes = part.writes[buffer];
    for (const MergedBuffer& merged : division.merged)
      for (const MergedChange& change : merged.changes)
        if (index > 0 && merged.buffer == buffer) writes.add(change.begin, change.end);
    expected.push_back({static_cast<std::uint32_t>(i), without(reads, *function_->checked_without),
                        without(writes, *function_->checked_without)});
    ++buffer;
  }
  return expected;
}

std::vector<UsedContent> Kernel::content_of(const Device& combined, const Division* division) const {
  std::vector<UsedContent> content;
  const auto add = [&](const Access& access, std::uint64_t bytes) {
    const void* const object = &keeper_of(*access.memory);
    auto found = std::find_if(content.begin(), content.end(),
                              [object](const UsedContent& one) { return one.object == object; });
    if (found == content.end()) found = content.insert(found, {object, 0, false});
    found->bytes += bytes;
    found->written = found->written || access.mode != Access::Read;
  };
  if (division == nullptr) {
    for (const Access& access : accesses_) add(access, 0);
    return content;
  }
  const std::lock_guard lock(context()->coherence_mutex());
  const auto& members = combined.members();
  for (std::size_t i = 0; i < division->parts.size(); ++i) {
    for (const Access& access : accesses_of(*division, i)) {
      const std::uint64_t begin = access.memory->coherence_begin() + access.begin;
      std::uint64_t bytes =
          access.memory->coherence().missing(members[i]->worker(), begin, begin + access.size);
      // Somebody reads the result, mostly.
      if (i > 0 && access.mode != Access::Read) bytes += access.size;
      add(access, bytes);
    }
  }
  return content;
}

bool Kernel::note_uses(CombinedLaunches& launches, const LaunchSize& size) {
  Worker& first = launches.device->worker();
  bool moves = false;
  launches.uses.clear();
  {
    const std::lock_guard lock(context()->coherence_mutex());
    for (const Access& access : accesses_) {
      if (access.memory->in_place()) continue;
      Coherence& coherence = access.memory->coherence();
      const std::uint64_t begin = access.memory->coherence_begin() + access.begin;
      moves = moves || coherence.elsewhere(first, begin, begin + access.size) != 0;
      launches.uses.push_back({&coherence.writers(), access.mode != Access::Read});
    }
  }
  launches.gate->uses(size, launches.uses);
  return moves;
}

const Division* Kernel::chosen_division(CombinedLaunches& launches, const NdRange& range, bool has_room,
                                        GateDecision& decision, std::string& why) {
  const bool must = divides_always() || !has_room;
  if (!must && !explains() &&
      !launches.gate->may_gain({range.global, range.local}, launches.device->members().size()))
    return nullptr;
  why = "how it accesses memory is not known";
  if (range.dimensions == 0 || uses_svm() || !know_footprint(launches, must)) return nullptr;
  // If a member is lost, the first one does all.
  const auto lost = [](const Ref<Device>& member) { return member->worker().lost(); };
  const auto& members = launches.device->members();
  if (std::any_of(members.begin(), members.end(), lost)) {
    why = "a member is lost";
    return nullptr;
  }
  {
    why = "a buffer has a content size, or is memory of the host";
    const std::lock_guard lock(context()->coherence_mutex());
    for (const Access& access : accesses_)
      if (access.memory->content_size() || access.memory->in_place()) return nullptr;
  }
  const Division& division = division_of(launches, range);
  const auto tell = [&](auto&&... text) {
    if (explains())
      explain((("kernel " + function_->name + ", global size " + text_of(range) + ": ") + ... + text));
  };
  if (!division.reason.empty() || division.parts.size() < 2) {
    why = division.reason.empty() ? "it has too few work-groups" : division.reason;
    tell("runs whole: ", why);
    return nullptr;
  }
  const std::string parts = explains() ? text_of(division) : std::string();
  const bool near = std::all_of(members.begin(), members.end(), [](const Ref<Device>& member) {
    return member->worker().link().shares_memory();
  });
  if (!must) {
    const auto content = [&] { return content_of(*launches.device, &division); };
    const MovementMeter::Speed movement = context()->movement(near).speed();
    decision = launches.gate->decide(
        {range.global, range.local},
        {division.parts.size(), movement, division.merged_bytes(), division.dimension}, content);
    // The workers connect while launches still run whole.
    if (decision.hopeful) connect_members(launches);
    if (decision.tries_movement) try_movement(context(), *launches.device, context()->movement(near).least());
    if (explains() && movement.measured)
      explain("content moves among the members of " + launches.device->text(CL_DEVICE_NAME) + " at about " +
              rounded(1 / movement.each_byte) + " GB/s");
    if (!decision.divided) {
      tell("can be divided into ", parts,
           ", but runs whole as long as that is faster, or how long it takes is not known");
      return nullptr;
    }
  }
  if (std::string obstacle = obstacle_to_merging(launches, division, must); !obstacle.empty()) {
    tell("runs whole: ", obstacle);
    why = std::move(obstacle);
    return nullptr;
  }
  tell("divided into ", parts);
  return &division;
}

bool Kernel::has_room(const Device& device, std::span<const Access> accesses) {
  std::uint64_t room = device.largest_on_one();
  for (const Access& access : accesses) {
    if (!access.memory->sparse()) continue;
    if (access.size > room) return false;
    room -= access.size;
  }
  return true;
}

void Kernel::require_room(const Device& device, std::span<const Access> accesses,
                          const std::string& why) const {
  if (has_room(device, accesses)) return;
  std::string uses;
  for (std::size_t i = 0; i < args_.size(); ++i) {
    std::uint64_t bytes = 0;
    for (const Access& access : accesses)
      if (args_[i].memory == access.memory && access.memory->sparse()) bytes += access.size;
    if (bytes != 0)
      uses += (uses.empty() ? "" : ", ") + std::to_string(bytes) + " bytes of argument " + std::to_string(i);
  }
  throw Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "kernel ", function_->name, " may access ", uses, "; ",
              device.is_combined() ? "a member of " : "", device.text(CL_DEVICE_NAME), " has room for ",
              device.largest_on_one(), " bytes. The launch is not divided, or not enough: ", why);
}

Ref<Event> Kernel::launch_without_room(Queue& queue, const NdRange& range, const CombinedLaunches& launches,
                                       const CommandInfo& command, const std::string& why) {
  Division used;
  if (launches.footprint != nullptr && !uses_svm()) used = divide(launches, range, used_values(), 1);
  if (used.parts.size() != 1) {
    require_room(*queue.device(), accesses_, why);
    return post_launch(queue, range, {}, accesses_, accesses_arguments_, command, EventUse::Report);
  }
  const std::vector<Access> accesses = accesses_of(used, 0);
  require_room(*queue.device(), accesses, why);
  const std::vector<cl_uint> arguments(accesses.size(), KernelUse::kNoArgument);
  return post_launch(queue, range, {}, accesses, arguments, command, EventUse::Report);
}

Ref<Event> Kernel::post_part(Queue& queue, const NdRange& range, const Division& division, std::size_t part,
                             std::span<const Access> accesses, const CommandInfo& command, bool followed) {
  const std::vector<cl_uint> arguments(accesses.size(), KernelUse::kNoArgument);
  return post_launch(queue, range,
                     {items_of(range, division.dimension, division.parts[part]), expected_of(division, part)},
                     accesses, arguments, command, EventUse::Report, followed);
}

Ref<Event> Kernel::post_on_copies(Queue& queue, const NdRange& range, const Division& division,
                                  std::size_t part, const CommandInfo& command,
                                  std::vector<Ref<Memory>>& copies) {
  // Another kernel object, because this one's arguments on the worker are the buffers.
  const Ref<Kernel> kernel = clone_locked();
  std::vector<Access> accesses = accesses_of(division, part);
  std::vector<Ref<Event>> waits(command.waits.begin(), command.waits.end());
  for (const MergedBuffer& merged : division.merged) {
    const Ref<Memory> copy(new Buffer(context(), CL_MEM_READ_WRITE, merged.end(), nullptr, {}));
    kernel->set(static_cast<cl_uint>(merged.argument),
                {.kind = KernelArg::Object, .number = copy->id(), .memory = copy});
    for (const MergedChange& each : merged.changes) {
      waits.push_back(
          queue.enqueue(fill(copy, neutral_element(each), each.begin, each.size()), {}, EventUse::Order));
      accesses.push_back({copy.get(), each.begin, each.size(), Access::ReadWrite});
    }
    copies.push_back(copy);
  }
  return kernel->post_part(queue, range, division, part, accesses, {command.type, waits, command.timed},
                           /*followed=*/false);
}

Ref<Event> Kernel::merge_copy(Queue& queue, std::size_t argument, const MergedChange& merged,
                              const Ref<Memory>& copy, const Ref<Event>& part) {
  const Ref<Kernel> kernel =
      program_->merging_program(queue.device(), merged, divides_always())->create_kernel(kMergingKernel);
  const Ref<Memory> buffer(static_cast<Memory*>(args_[argument].memory));
  kernel->set(0, {.kind = KernelArg::Object, .number = buffer->id(), .memory = buffer});
  kernel->set(1, {.kind = KernelArg::Object, .number = copy->id(), .memory = copy});
  const std::array accesses{Access{buffer.get(), merged.begin, merged.size(), Access::ReadWrite},
                            Access{copy.get(), merged.begin, merged.size(), Access::Read}};
  const std::vector<cl_uint> arguments(accesses.size(), KernelUse::kNoArgument);
  return kernel->post_launch(queue, {1, {merged.begin / merged.width}, {merged.size() / merged.width}, {}},
                             {}, accesses, arguments, {CL_COMMAND_NDRANGE_KERNEL, {&part, 1}},
                             EventUse::Report);
}

Ref<Event> Kernel::launch_combined(Queue& queue, const NdRange& range, const CommandInfo& command,
                                   EventUse event) {
  CombinedLaunches& launches = combined_launches(*queue.device());
  const LaunchSize size{range.global, range.local};
  // A launch whose wait list has failed does not run.
  const bool doomed = std::any_of(command.waits.begin(), command.waits.end(),
                                  [](const Ref<Event>& wait) { return wait->status() < 0; });
  const bool sparse = !doomed && context()->has_sparse_memory() &&
                      std::any_of(accesses_.begin(), accesses_.end(),
                                  [](const Access& access) { return access.memory->sparse(); });
  const Look look = doomed || sparse || divides_always() ? Look::Needed : launches.gate->look(size);
  if (look != Look::Needed) {
    if (look == Look::SparedAsTooShort && explains())
      explain("kernel " + function_->name + ", global size " + text_of(range) +
              ": runs whole: larger launches are too short to gain from division");
    return post_launch(queue, range, {}, accesses_, accesses_arguments_, command, event);
  }
  const auto begin = std::chrono::steady_clock::now();
  const bool moves = !doomed && note_uses(launches, size);
  GateDecision decision;
  std::string why;
  const Division* const division =
      doomed ? nullptr : chosen_division(launches, range, !sparse, decision, why);
  if (division == nullptr && sparse) return launch_without_room(queue, range, launches, command, why);
  if (division == nullptr) {
    if (!doomed && decision.epoch == 0)
      decision = launches.gate->decide(size, {}, [&] { return content_of(*launches.device, nullptr); });
    if (!doomed) {
      const std::chrono::nanoseconds time = std::chrono::steady_clock::now() - begin;
      launches.gate->looked(size, static_cast<std::uint64_t>(time.count()));
    }
    if (!decision.measured)
      return post_launch(queue, range, {}, accesses_, accesses_arguments_, command, event);
    const auto together = queue.keep_together();
    Ref<Event> turn;
    if (moves) turn = queue.nothing({CL_COMMAND_MARKER, command.waits, /*timed=*/true}, EventUse::Report);
    Ref<Event> whole = post_launch(queue, range, {}, accesses_, accesses_arguments_,
                                   {command.type, command.waits, /*timed=*/true}, EventUse::Report);
    if (whole) measure(whole, launches.gate, size, decision, turn);
    return whole;
  }
  if (sparse)
    for (std::size_t i = 0; i < division->parts.size(); ++i)
      require_room(*queue.device(), accesses_of(*division, i), "part " + std::to_string(i) + " needs them");
  // The launch is two markers in the application's queue, and its parts between them: the first marker ends
  // when it is the launch's turn, and the second one when all parts have ended, and are merged.
  const auto together = queue.keep_together();
  const bool for_members = can_follow(queue, *division);
  const bool follows = for_members && queue.follows_launch(command.waits);
  const Ref<Event> turn = queue.nothing({CL_COMMAND_MARKER, command.waits, /*timed=*/true}, EventUse::Report);
  CommandInfo each{command.type, {&turn, 1}, /*timed=*/true};
  if (follows) each.waits = {};
  std::vector<Ref<Event>> parts;
  std::vector<std::vector<Ref<Memory>>> copies(division->parts.size());
  for (std::size_t i = 0; i < division->parts.size(); ++i) {
    Queue& on = i == 0 && !for_members ? queue : queue.member_queue(i);
    parts.push_back(i > 0 && !division->merged.empty()
                        ? post_on_copies(on, range, *division, i, each, copies[i])
                        : post_part(on, range, *division, i, accesses_of(*division, i), each, for_members));
  }
  std::vector<Ref<Event>> ends = parts;
  for (std::size_t i = 1; i < copies.size(); ++i)
    for (std::size_t k = 0; k < copies[i].size(); ++k)
      for (const MergedBuffer& merged = division->merged[k]; const MergedChange& change : merged.changes)
        ends.push_back(merge_copy(queue, merged.argument, change, copies[i][k], parts[i]));
  Ref<Event> whole = queue.join(turn, std::move(ends), command.type);
  if (for_members && whole->status() >= 0) queue.note_launch();
  measure(whole, launches.gate, size, decision, turn, parts, *division);
  return whole;
}

}  // namespace clique::icd
