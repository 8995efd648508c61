// The fields of Perfetto's trace format that Clique writes and reads, by the message that they belong to.
// Perfetto's reference describes them (https://perfetto.dev/docs/reference/trace-packet-proto and
// .../synthetic-track-event); a trace is one message Trace. The enumerators have the names that the fields
// have there.
#pragma once

#include <cstdint>

namespace clique::icd::trace::perfetto {

enum class Trace : std::uint32_t { packet = 1 };

enum class TracePacket : std::uint32_t {
  clock_snapshot = 6,
  timestamp = 8,
  trusted_packet_sequence_id = 10,
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  timestamp_clock_id = 58,
  trace_packet_defaults = 59,
  track_descriptor = 60,
};

/// Bits of TracePacket::sequence_flags.
enum SequenceFlags : std::uint32_t {
  kIncrementalStateCleared = 1,  ///< the sequence begins: earlier names of it are forgotten
  kNeedsIncrementalState = 2,    ///< the packet uses names of earlier ones
};

enum class TracePacketDefaults : std::uint32_t { track_event_defaults = 11, timestamp_clock_id = 58 };

enum class TrackEventDefaults : std::uint32_t { track_uuid = 11 };

enum class TrackEvent : std::uint32_t {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track_uuid = 11,
  categories = 22,
  name = 23,
  flow_ids = 47,
};

/// Values of TrackEvent::type.
enum EventType : std::int32_t { kSliceBegin = 1, kSliceEnd = 2 };

enum class DebugAnnotation : std::uint32_t {
  name_iid = 1,
  uint_value = 3,
  string_value = 6,
  name = 10,
  string_value_iid = 17,
};

enum class InternedData : std::uint32_t {
  event_categories = 1,
  event_names = 2,
  debug_annotation_names = 3,
  debug_annotation_string_values = 29,
};

/// EventCategory, EventName, DebugAnnotationName and InternedString.
enum class Interned : std::uint32_t { iid = 1, name = 2 };

enum class TrackDescriptor : std::uint32_t { uuid = 1, name = 2, process = 3, thread = 4, parent_uuid = 5 };

enum class ProcessDescriptor : std::uint32_t { pid = 1, cmdline = 2, process_name = 6 };

enum class ThreadDescriptor : std::uint32_t { pid = 1, tid = 2, thread_name = 5 };

enum class ClockSnapshot : std::uint32_t { clocks = 1, primary_trace_clock = 2 };

/// ClockSnapshot.Clock
enum class Clock : std::uint32_t { clock_id = 1, timestamp = 2 };

/// Values of Clock::clock_id, TracePacket::timestamp_clock_id and ClockSnapshot::primary_trace_clock.
enum BuiltinClock : std::uint32_t { kRealtime = 1, kMonotonic = 3, kBoottime = 6 };

}  // namespace clique::icd::trace::perfetto
