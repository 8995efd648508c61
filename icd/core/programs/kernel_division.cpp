// Launches on combined devices.
#include <algorithm>
#include <utility>

#include "icd/core/coherence/coherence.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/division/explain.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/programs/combined_launches.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/programs/program_analysis.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link.hpp"

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

/// The part of a range that consists of some of its groups.
NdRange part_of(const NdRange& range, unsigned dimension, const DividedPart& part) {
  const std::uint64_t local = groups_given(range) ? range.local[dimension] : 1;
  NdRange result = range;
  result.offset[dimension] = range.offset[dimension] + part.begin * local;
  result.global[dimension] =
      std::min<std::uint64_t>(part.end * local, range.global[dimension]) - part.begin * local;
  return result;
}

std::string text_of(const NdRange& range) {
  std::string text;
  for (unsigned d = 0; d < range.dimensions; ++d)
    text += (d == 0 ? "" : " x ") + std::to_string(range.global[d]);
  return text;
}

/// The memory object that keeps the content.
const Memory& keeper_of(const Memory& memory) {
  const Memory* keeper = &memory;
  while (keeper->base()) keeper = keeper->base().get();
  return *keeper;
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

/// Notes in the gate how long a launch takes, once it has ended.
/// @param turn of a divided launch, with which its time begins: content for its parts moves from then on.
/// Null: it is not divided.
void measure(const Ref<Event>& event, const std::shared_ptr<LaunchGate>& gate, const LaunchGate::Size& size,
             const Ref<Event>& turn) {
  constexpr std::size_t kStart = 2;
  constexpr std::size_t kEnd = 3;
  // The event's times are valid when it calls the action, which must not keep the event.
  event->then([times = &event->times(), gate, size, turn](cl_int status) {
    const std::uint64_t begin = turn ? turn->times()[kEnd] : (*times)[kStart];
    if (status == CL_COMPLETE && begin != 0 && (*times)[kEnd] > begin)
      gate->measured(size, static_cast<bool>(turn), (*times)[kEnd] - begin);
  });
}

}  // namespace

CombinedLaunches& Kernel::combined_launches(const Device& device) {
  for (const auto& each : combined_)
    if (each->device.get() == &device) return *each;
  auto made = std::make_unique<CombinedLaunches>();
  made->device = Ref<Device>(const_cast<Device*>(&device));
  return *combined_.emplace_back(std::move(made));
}

bool Kernel::know_footprint(CombinedLaunches& launches) {
  if (launches.looked) return launches.footprint != nullptr;
  const auto analysis = program_->analysis_for(*launches.device);
  if (!analysis) {
    launches.looked = true;
    explain("kernel " + function_->name + " is not divided: its program was not built from source");
    return false;
  }
  if (divides_always()) analysis->wait();
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

std::string Kernel::divide(CombinedLaunches& launches, const NdRange& range) {
  std::vector<std::span<const std::byte>> scalars(args_.size());
  std::vector<UsedBuffer> buffers;
  for (std::size_t i = 0; i < args_.size(); ++i) {
    const Arg& arg = args_[i];
    if (arg.wire.kind == KernelArg::Value) scalars[i] = std::as_bytes(std::span(arg.wire.value));
    if (arg.memory == nullptr) continue;
    auto& memory = *static_cast<Memory*>(arg.memory);
    buffers.push_back({i, &keeper_of(memory), memory.coherence_begin(), memory.size(), memory.is_image()});
  }
  for (const Ref<Device>& member : launches.device->members()) {
    const bool first = member == launches.device->members().front();
    const KernelFunction::OnDevice* on = function_->on(first ? *launches.device : *member);
    if (on == nullptr || !allows(on->limits, range))
      return "the kernel, or its work-groups, cannot run on " + member->worker().label();
  }
  launches.division =
      icd::divide({*launches.footprint, scalars, buffers, space_of(range), groups_given(range)},
                  launches.device->members().size());
  launches.range = range;
  launches.version = version_;
  return launches.division.reason;
}

std::vector<Access> Kernel::accesses_of(const DividedPart& part) const {
  std::vector<Access> accesses;
  std::size_t buffer = 0;
  for (const Arg& arg : args_) {
    if (arg.memory == nullptr) continue;
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

std::uint64_t Kernel::bytes_to_move(const CombinedLaunches& launches) const {
  std::uint64_t bytes = 0;
  const std::lock_guard lock(context()->coherence_mutex());
  const auto& members = launches.device->members();
  for (std::size_t i = 0; i < launches.division.parts.size(); ++i) {
    for (const Access& access : accesses_of(launches.division.parts[i])) {
      const std::uint64_t begin = access.memory->coherence_begin() + access.begin;
      bytes += access.memory->coherence().missing(members[i]->worker(), begin, begin + access.size);
      // Somebody reads the result, mostly.
      if (i > 0 && access.mode != Access::Read) bytes += access.size;
    }
  }
  return bytes;
}

bool Kernel::divides(CombinedLaunches& launches, const NdRange& range, std::span<const Ref<Event>> waits) {
  if (range.dimensions == 0 || uses_svm() || !know_footprint(launches)) return false;
  // The launch does not run, or a member is lost: then the first member does all.
  const auto failed = [](const Ref<Event>& wait) { return wait->status() < 0; };
  const auto lost = [](const Ref<Device>& member) { return member->worker().lost(); };
  const auto& members = launches.device->members();
  if (std::any_of(waits.begin(), waits.end(), failed) || std::any_of(members.begin(), members.end(), lost))
    return false;
  for (const Access& access : accesses_) {
    const std::lock_guard lock(context()->coherence_mutex());
    if (access.memory->content_size()) return false;
  }
  const std::string what = "kernel " + function_->name + ", global size " + text_of(range);
  const bool same = launches.version == version_ && launches.range == range;
  const std::string reason = same ? launches.division.reason : divide(launches, range);
  if (!reason.empty() || launches.division.parts.size() < 2) {
    explain(what + ": runs whole: " + (reason.empty() ? "it has too few work-groups" : reason));
    return false;
  }
  const auto bytes = [&] { return bytes_to_move(launches); };
  if (!divides_always() &&
      !launches.gate->divides({range.global, range.local}, launches.division.parts.size(), bytes)) {
    explain(what + ": can be divided into " + std::to_string(launches.division.parts.size()) +
            " parts along dimension " + std::to_string(launches.division.dimension) +
            ", but runs whole as long as that is faster, or how long it takes is not known");
    return false;
  }
  explain(what + ": divided into " + std::to_string(launches.division.parts.size()) +
          " parts along dimension " + std::to_string(launches.division.dimension));
  return true;
}

Ref<Event> Kernel::launch_combined(Queue& queue, const NdRange& range, const CommandInfo& command) {
  CombinedLaunches& launches = combined_launches(*queue.device());
  const LaunchGate::Size size{range.global, range.local};
  if (!divides(launches, range, command.waits)) {
    Ref<Event> whole = post_launch(queue, range, accesses_, accesses_arguments_, command, EventUse::Report);
    if (whole) measure(whole, launches.gate, size, {});
    return whole;
  }
  // The launch is two markers in the application's queue, and its parts between them: the first marker ends
  // when it is the launch's turn, and the second one when all parts have ended.
  const Ref<Event> turn = queue.nothing({CL_COMMAND_MARKER, command.waits}, EventUse::Report);
  std::vector<Ref<Event>> parts;
  for (std::size_t i = 0; i < launches.division.parts.size(); ++i) {
    const DividedPart& part = launches.division.parts[i];
    Queue& on = i == 0 ? queue : queue.member_queue(i);
    const std::vector<Access> accesses = accesses_of(part);
    const std::vector<cl_uint> arguments(accesses.size(), KernelUse::kNoArgument);
    parts.push_back(post_launch(on, part_of(range, launches.division.dimension, part), accesses, arguments,
                                {command.type, {&turn, 1}}, EventUse::Report));
  }
  Ref<Event> whole = queue.join(turn, std::move(parts), command.type);
  measure(whole, launches.gate, size, turn);
  return whole;
}

}  // namespace clique::icd
