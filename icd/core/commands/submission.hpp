// The description of a command that a queue needs to enqueue it.
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "icd/common/object.hpp"
#include "icd/core/events/event_order.hpp"
#include "icd/core/objects/access.hpp"
#include "icd/core/workers/expected.hpp"

namespace clique::icd {

struct KernelFunction;

/// The purpose of a command's event.
enum class EventUse : std::uint8_t {
  None,    ///< nothing: the command has no event
  Order,   ///< other commands wait for it, but nobody looks at its status
  Report,  ///< the worker reports its status
};

/// For entry points. @param wanted whether the application gets the event, or a blocking call waits for it.
constexpr EventUse report_if(bool wanted) {
  return wanted ? EventUse::Report : EventUse::None;
}

/// What is common to all commands. The wait list has to outlive the call.
struct CommandInfo {
  cl_command_type type;
  std::span<const Ref<Event>> waits = {};
  /// Whether the library uses its times: those in a queue of a combined device are only measured then, unless
  /// the queue has profiling.
  bool timed = false;
};

/// How a command is ordered among those of its queue. An in-order queue orders all of them anyway.
struct Place {
  bool after_all = false;   ///< it follows everything that was enqueued before
  bool before_all = false;  ///< everything that is enqueued later follows it
};

/// The kernel that a command launches, for messages to people and traces.
struct KernelUse {
  const KernelFunction* function = nullptr;  ///< null: it launches none
  /// For each of the command's accesses the index of the kernel's argument that it belongs to, or
  /// kNoArgument.
  std::span<const cl_uint> arguments = {};

  static constexpr cl_uint kNoArgument = ~0U;
};

/// What a command moves between host memory and its device, for traces.
struct HostTransfer {
  std::uint64_t bytes = 0;
  bool to_host = false;
  std::string_view way = {};  ///< of icd/trace/names.hpp
};

/// One command, as Queue::submit() takes it.
struct Submission {
  CommandInfo command;
  /// The memory that it uses.
  std::span<const Access> accesses = {};
  EventUse event = EventUse::None;
  EventTraits traits = {};
  Place place = {};
  /// Whether the wait list is sent with the events that have ended: a marker or barrier with an empty wait
  /// list would wait for all commands.
  bool keep_ended_waits = false;
  /// Whether it is a part of a launch on a combined device after which the next launch may begin although
  /// parts on other members are still under way (Queue::follows_launch).
  bool is_followed_part = false;
  /// The host memory that it fills. Needs EventUse::Report.
  std::span<const std::byte> fills = {};
  /// Takes the data of a read. Needs EventUse::Report; moved from.
  DataSink sink = {};
  KernelUse kernel = {};
  HostTransfer moves = {};
  /// What the command consists of (EventOrder::set_parts). Needs EventUse::Report. They have to be among what
  /// it waits for.
  std::span<const Ref<Event>> parts = {};
  /// The marker after which the parts began, if the command has their times (EventOrder::set_launch_parts).
  Ref<Event> turn = {};
};

}  // namespace clique::icd
