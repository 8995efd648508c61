#include "icd/trace/stream.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <protozero/basic_pbf_builder.hpp>
#include <protozero/buffer_fixed.hpp>
#include <protozero/buffer_string.hpp>
#include <utility>

#include "icd/common/say.hpp"
#include "icd/trace/perfetto.hpp"

namespace clique::icd::trace {

namespace {

/// A buffer of this size, in bytes, is appended to the file.
constexpr std::size_t kFull = 64U << 10U;
/// The largest number of names of one kind that a stream remembers.
constexpr std::size_t kMostNames = 4096;
/// A longer name, in bytes, is cut off: nodes choose some of them.
constexpr std::size_t kLongestName = 1024;
/// The largest slice, in bytes: one with dozens of the longest names, or hundreds of flows.
constexpr std::size_t kLargestSlice = 64U << 10U;

/// Has no need to look for room in a string with every byte.
using FixedBuffer = protozero::fixed_size_buffer_adaptor;

template <typename Message, typename Buffer = std::string>
using Builder = protozero::basic_pbf_builder<Buffer, Message>;

using perfetto::TracePacket;

/// The largest packet that ends a slice, in bytes: the numbers in it have a largest size.
constexpr std::size_t kLargestEnd = 64;

/// Appends a packet whose length is known, so that nothing has to be moved to make room for it.
void append_packet(std::string& buffer, const FixedBuffer& packet) {
  constexpr auto kTag = static_cast<std::uint64_t>(perfetto::Trace::packet) << 3U |
                        static_cast<std::uint64_t>(protozero::pbf_wire_type::length_delimited);
  std::array<char, std::size_t{2} * protozero::max_varint_length> head;
  int size = protozero::add_varint_to_buffer(head.data(), kTag);
  size += protozero::add_varint_to_buffer(head.data() + size, packet.size());
  buffer.append(head.data(), static_cast<std::size_t>(size)).append(packet.data(), packet.size());
}

/// A packet in a buffer, from construction to destruction.
template <typename Buffer>
class Packet {
 public:
  explicit Packet(Buffer& buffer) : trace_(buffer), packet_(trace_, perfetto::Trace::packet) {}
  Builder<TracePacket, Buffer>* operator->() { return &packet_; }
  Builder<TracePacket, Buffer>& operator*() { return packet_; }

 private:
  Builder<perfetto::Trace, Buffer> trace_;
  Builder<TracePacket, Buffer> packet_;
};

std::uint64_t time_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

void File::append(std::string_view packets) noexcept {
  const std::lock_guard lock(mutex_);
  while (descriptor_ >= 0 && !packets.empty()) {
    const ssize_t written = ::write(descriptor_, packets.data(), packets.size());
    if (written >= 0) {
      packets.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      const int error = errno;
      ::close(std::exchange(descriptor_, -1));
      try {
        say("the trace cannot be continued: " + path_ + ": " + std::strerror(error) +
            ". The program goes on without it");
      } catch (...) {  // no memory for the message
      }
    }
  }
}

void Stream::describe(const Process& process) {
  const std::lock_guard lock(mutex_);
  {
    Packet packet(buffer_);
    Builder<perfetto::ClockSnapshot> snapshot(*packet, TracePacket::clock_snapshot);
    const std::array<std::pair<perfetto::BuiltinClock, clockid_t>, 3> clocks{
        {{perfetto::kMonotonic, CLOCK_MONOTONIC},
         {perfetto::kBoottime, CLOCK_BOOTTIME},
         {perfetto::kRealtime, CLOCK_REALTIME}}};
    for (const auto& [id, clock] : clocks) {
      Builder<perfetto::Clock> entry(snapshot, perfetto::ClockSnapshot::clocks);
      entry.add_uint32(perfetto::Clock::clock_id, id);
      entry.add_uint64(perfetto::Clock::timestamp, time_of(clock));
    }
    snapshot.add_uint32(perfetto::ClockSnapshot::primary_trace_clock, perfetto::kMonotonic);
  }
  Packet packet(buffer_);
  Builder<perfetto::TrackDescriptor> track(*packet, TracePacket::track_descriptor);
  track.add_uint64(perfetto::TrackDescriptor::uuid, process.track);
  Builder<perfetto::ProcessDescriptor> described(track, perfetto::TrackDescriptor::process);
  described.add_int32(perfetto::ProcessDescriptor::pid, process.pid);
  for (const std::string& argument : process.arguments)
    described.add_string(perfetto::ProcessDescriptor::cmdline, argument);
  if (!process.arguments.empty())
    described.add_string(perfetto::ProcessDescriptor::process_name, process.arguments.front());
}

void Stream::describe_thread(const Process& process, std::uint64_t track, std::int64_t id,
                             std::string_view name) {
  const std::lock_guard lock(mutex_);
  {
    Packet packet(buffer_);
    Builder<perfetto::TrackDescriptor> descriptor(*packet, TracePacket::track_descriptor);
    descriptor.add_uint64(perfetto::TrackDescriptor::uuid, track);
    descriptor.add_uint64(perfetto::TrackDescriptor::parent_uuid, process.track);
    Builder<perfetto::ThreadDescriptor> thread(descriptor, perfetto::TrackDescriptor::thread);
    thread.add_int32(perfetto::ThreadDescriptor::pid, process.pid);
    thread.add_int64(perfetto::ThreadDescriptor::tid, id);
    thread.add_string(perfetto::ThreadDescriptor::thread_name, name.data(), name.size());
  }
  Packet packet(buffer_);
  packet->add_uint32(TracePacket::trusted_packet_sequence_id, sequence_);
  packet->add_uint32(TracePacket::sequence_flags, perfetto::kIncrementalStateCleared);
  Builder<perfetto::TracePacketDefaults> defaults(*packet, TracePacket::trace_packet_defaults);
  defaults.add_uint32(perfetto::TracePacketDefaults::timestamp_clock_id, perfetto::kMonotonic);
  Builder<perfetto::TrackEventDefaults> event(defaults, perfetto::TracePacketDefaults::track_event_defaults);
  event.add_uint64(perfetto::TrackEventDefaults::track_uuid, track);
  begun_ = true;
}

void Stream::describe_track(std::uint64_t track, std::uint64_t parent, std::string_view name) {
  const std::lock_guard lock(mutex_);
  Packet packet(buffer_);
  Builder<perfetto::TrackDescriptor> descriptor(*packet, TracePacket::track_descriptor);
  descriptor.add_uint64(perfetto::TrackDescriptor::uuid, track);
  descriptor.add_uint64(perfetto::TrackDescriptor::parent_uuid, parent);
  descriptor.add_string(perfetto::TrackDescriptor::name, name.data(), name.size());
}

Stream::Name Stream::intern(Names& names, std::string_view text) {
  text = text.substr(0, kLongestName);
  const auto found = names.iids.find(text);
  if (found != names.iids.end()) return {found->second, text, false};
  if (names.iids.size() >= kMostNames) return {0, text, false};
  const std::uint64_t iid = names.iids.size() + 1;
  names.iids.emplace(text, iid);
  return {iid, text, true};
}

Stream::Name Stream::intern_constant(Names& names, std::string_view text) {
  // The lowest bits of addresses say little.
  auto& [where, iid] =
      names.constants[(reinterpret_cast<std::uintptr_t>(text.data()) >> 3U) % names.constants.size()];
  if (where == text.data()) return {iid, text, false};
  const Name name = intern(names, text);
  if (name.iid != 0) {
    where = text.data();
    iid = name.iid;
  }
  return name;
}

void Stream::add(const SliceView& slice, Span span, std::uint64_t track, std::uint64_t scope) {
  const std::lock_guard lock(mutex_);
  const Name category = intern_constant(categories_, slice.category);
  const Name name = slice.is_constant ? intern_constant(names_, slice.name) : intern(names_, slice.name);
  auto& facts = added_facts_;
  facts.clear();
  for (const Fact& fact : slice.facts) {
    Name value{};
    if (const auto* text = std::get_if<std::string>(&fact.value)) value = intern(values_, *text);
    if (const auto* text = std::get_if<std::string_view>(&fact.value)) value = intern_constant(values_, *text);
    facts.emplace_back(intern_constant(facts_, fact.name), value);
  }

  encoded_.resize(2 * kLargestSlice);
  const auto add_name = [](auto& message, auto number, auto text, const Name& added) {
    if (added.iid != 0)
      message.add_uint64(number, added.iid);
    else
      message.add_string(text, added.text.data(), added.text.size());
  };
  FixedBuffer event(encoded_.data(), kLargestSlice);
  {
    using perfetto::TrackEvent;
    Builder<TrackEvent, FixedBuffer> begun(event);
    begun.add_int32(TrackEvent::type, perfetto::kSliceBegin);
    if (track != 0) begun.add_uint64(TrackEvent::track_uuid, track);
    add_name(begun, TrackEvent::category_iids, TrackEvent::categories, category);
    add_name(begun, TrackEvent::name_iid, TrackEvent::name, name);
    for (const Flow flow : slice.flows) begun.add_fixed64(TrackEvent::flow_ids, scope + flow);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      using perfetto::DebugAnnotation;
      const auto& [key, value] = facts[i];
      const auto* const number = std::get_if<std::uint64_t>(&slice.facts[i].value);
      Builder<DebugAnnotation, FixedBuffer> annotation(begun, TrackEvent::debug_annotations);
      add_name(annotation, DebugAnnotation::name_iid, DebugAnnotation::name, key);
      if (number != nullptr)
        annotation.add_uint64(DebugAnnotation::uint_value, *number);
      else
        add_name(annotation, DebugAnnotation::string_value_iid, DebugAnnotation::string_value, value);
    }
  }
  FixedBuffer begin(encoded_.data() + kLargestSlice, kLargestSlice);
  {
    Builder<TracePacket, FixedBuffer> packet(begin);
    packet.add_uint64(TracePacket::timestamp, static_cast<std::uint64_t>(span.begin));
    packet.add_uint32(TracePacket::trusted_packet_sequence_id, sequence_);
    packet.add_uint32(TracePacket::sequence_flags,
                      begun_ ? perfetto::kNeedsIncrementalState
                             : perfetto::kIncrementalStateCleared | perfetto::kNeedsIncrementalState);
    if (!begun_) {
      Builder<perfetto::TracePacketDefaults, FixedBuffer> defaults(packet,
                                                                   TracePacket::trace_packet_defaults);
      defaults.add_uint32(perfetto::TracePacketDefaults::timestamp_clock_id, perfetto::kMonotonic);
    }
    begun_ = true;
    bool any_new = category.is_new || name.is_new;
    for (const auto& [key, value] : facts) any_new = any_new || key.is_new || value.is_new;
    if (any_new) {
      Builder<perfetto::InternedData, FixedBuffer> data(packet, TracePacket::interned_data);
      const auto define = [&data](perfetto::InternedData kind, const Name& defined) {
        if (!defined.is_new) return;
        Builder<perfetto::Interned, FixedBuffer> entry(data, kind);
        entry.add_uint64(perfetto::Interned::iid, defined.iid);
        entry.add_string(perfetto::Interned::name, defined.text.data(), defined.text.size());
      };
      define(perfetto::InternedData::event_categories, category);
      define(perfetto::InternedData::event_names, name);
      for (const auto& [key, value] : facts) {
        define(perfetto::InternedData::debug_annotation_names, key);
        define(perfetto::InternedData::debug_annotation_string_values, value);
      }
    }
    packet.add_message(TracePacket::track_event, event.data(), event.size());
  }
  append_packet(buffer_, begin);

  std::array<char, kLargestEnd> space;
  FixedBuffer end(space);
  {
    Builder<TracePacket, FixedBuffer> packet(end);
    packet.add_uint64(TracePacket::timestamp, static_cast<std::uint64_t>(span.end));
    packet.add_uint32(TracePacket::trusted_packet_sequence_id, sequence_);
    packet.add_uint32(TracePacket::sequence_flags, perfetto::kNeedsIncrementalState);
    Builder<perfetto::TrackEvent, FixedBuffer> ending(packet, TracePacket::track_event);
    ending.add_int32(perfetto::TrackEvent::type, perfetto::kSliceEnd);
    if (track != 0) ending.add_uint64(perfetto::TrackEvent::track_uuid, track);
  }
  append_packet(buffer_, end);
  flush_if_full();
}

void Stream::flush_if_full() noexcept {
  if (buffer_.size() < kFull && !write_through_) return;
  file_.append(buffer_);
  buffer_.clear();
}

void Stream::flush() noexcept {
  const std::lock_guard lock(mutex_);
  if (buffer_.empty()) return;
  file_.append(buffer_);
  buffer_.clear();
}

void Stream::write_through() noexcept {
  flush();
  const std::lock_guard lock(mutex_);
  write_through_ = true;
}

}  // namespace clique::icd::trace
