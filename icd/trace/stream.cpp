#include "icd/trace/stream.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
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

/// The value of a fact that is a text.
std::optional<std::string_view> text_of(const Fact& fact) {
  if (const auto* text = std::get_if<std::string>(&fact.value)) return *text;
  if (const auto* view = std::get_if<std::string_view>(&fact.value)) return *view;
  return std::nullopt;
}

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
  for (const auto& [where, iid] : names.constants)
    if (where == text.data()) return {iid, text, false};
  const Name name = intern(names, text);
  if (name.iid != 0) names.constants.emplace_back(text.data(), name.iid);
  return name;
}

void Stream::add(const Content& slice, std::uint64_t track, std::uint64_t scope) {
  const std::lock_guard lock(mutex_);
  const Name category = intern_constant(categories_, slice.category);
  const Name name = intern(names_, slice.name);
  auto& facts = added_facts_;
  facts.clear();
  for (const Fact& fact : slice.facts) {
    const auto text = text_of(fact);
    facts.emplace_back(intern_constant(facts_, fact.name), text ? intern(values_, *text) : Name{});
  }

  encoded_.resize(kLargestSlice);
  FixedBuffer bytes(encoded_.data(), encoded_.size());
  {
    Packet packet(bytes);
    packet->add_uint64(TracePacket::timestamp, static_cast<std::uint64_t>(slice.begin));
    packet->add_uint32(TracePacket::trusted_packet_sequence_id, sequence_);
    packet->add_uint32(TracePacket::sequence_flags,
                       begun_ ? perfetto::kNeedsIncrementalState
                              : perfetto::kIncrementalStateCleared | perfetto::kNeedsIncrementalState);
    if (!begun_) {
      Builder<perfetto::TracePacketDefaults, FixedBuffer> defaults(*packet,
                                                                   TracePacket::trace_packet_defaults);
      defaults.add_uint32(perfetto::TracePacketDefaults::timestamp_clock_id, perfetto::kMonotonic);
    }
    begun_ = true;
    bool any_new = category.is_new || name.is_new;
    for (const auto& [key, value] : facts) any_new = any_new || key.is_new || value.is_new;
    if (any_new) {
      Builder<perfetto::InternedData, FixedBuffer> data(*packet, TracePacket::interned_data);
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
    Builder<perfetto::TrackEvent, FixedBuffer> event(*packet, TracePacket::track_event);
    using perfetto::TrackEvent;
    event.add_int32(TrackEvent::type, perfetto::kSliceBegin);
    if (track != 0) event.add_uint64(TrackEvent::track_uuid, track);
    if (category.iid != 0)
      event.add_uint64(TrackEvent::category_iids, category.iid);
    else
      event.add_string(TrackEvent::categories, category.text.data(), category.text.size());
    if (name.iid != 0)
      event.add_uint64(TrackEvent::name_iid, name.iid);
    else
      event.add_string(TrackEvent::name, name.text.data(), name.text.size());
    for (const Flow flow : slice.flows) event.add_fixed64(TrackEvent::flow_ids, scope + flow);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      Builder<perfetto::DebugAnnotation, FixedBuffer> annotation(event, TrackEvent::debug_annotations);
      const auto& [key, value] = facts[i];
      if (key.iid != 0)
        annotation.add_uint64(perfetto::DebugAnnotation::name_iid, key.iid);
      else
        annotation.add_string(perfetto::DebugAnnotation::name, key.text.data(), key.text.size());
      if (const auto* number = std::get_if<std::uint64_t>(&slice.facts[i].value))
        annotation.add_uint64(perfetto::DebugAnnotation::uint_value, *number);
      else if (value.iid != 0)
        annotation.add_uint64(perfetto::DebugAnnotation::string_value_iid, value.iid);
      else
        annotation.add_string(perfetto::DebugAnnotation::string_value, value.text.data(), value.text.size());
    }
  }
  {
    Packet packet(bytes);
    packet->add_uint64(TracePacket::timestamp, static_cast<std::uint64_t>(slice.end));
    packet->add_uint32(TracePacket::trusted_packet_sequence_id, sequence_);
    packet->add_uint32(TracePacket::sequence_flags, perfetto::kNeedsIncrementalState);
    Builder<perfetto::TrackEvent, FixedBuffer> event(*packet, TracePacket::track_event);
    event.add_int32(perfetto::TrackEvent::type, perfetto::kSliceEnd);
    if (track != 0) event.add_uint64(perfetto::TrackEvent::track_uuid, track);
  }
  buffer_.append(bytes.data(), bytes.size());
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
