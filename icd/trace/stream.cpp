#include "icd/trace/stream.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
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
/// What a slice shows at most.
constexpr std::size_t kMostFlows = 256;
constexpr std::size_t kMostFacts = 16;
/// The largest slice, in bytes: numbers, and texts of which each is defined, or else is in the place of its
/// number.
constexpr std::size_t kLargestSlice = 512 + kMostFlows * 16 + (2 + 2 * kMostFacts) * (kLongestName + 64);

template <typename Message>
using Builder = protozero::basic_pbf_builder<std::string, Message>;

using perfetto::TracePacket;

// Bytes of the lengths of messages.

/// Below 128 bytes: that which ends a slice consists of a few numbers.
constexpr int kLeastLength = 1;
/// Below 16 KiB: numbers alone, or two texts.
constexpr int kShortLength = 2;
/// Below 2 MiB.
constexpr int kLongLength = 3;
static_assert(kMostFlows * 16 + kMostFacts * 64 + 512 < 1U << 14U && kLargestSlice < 1U << 21U);

/// A packet in a buffer, from construction to destruction.
class Packet {
 public:
  explicit Packet(std::string& buffer) : trace_(buffer), packet_(trace_, perfetto::Trace::packet) {}
  Builder<TracePacket>* operator->() { return &packet_; }
  Builder<TracePacket>& operator*() { return packet_; }

 private:
  Builder<perfetto::Trace> trace_;
  Builder<TracePacket> packet_;
};

/// Encodes fields of messages in memory that has room for them and 7 bytes more. protozero's builders check
/// their memory for each field, and move what a message contains when they learn its length: with them, a
/// trace of empty kernels takes twice as long. So slices, which are most of a trace, are encoded here.
class Fields {
 public:
  explicit Fields(char* at) : at_(at) {}

  char* end() const { return at_; }
  [[gnu::always_inline]] void number(auto field, std::uint64_t value) {
    tag(field, protozero::pbf_wire_type::varint);
    varint(value);
  }
  void fixed64(auto field, std::uint64_t value) {
    tag(field, protozero::pbf_wire_type::fixed64);
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void text(auto field, std::string_view value) {
    tag(field, protozero::pbf_wire_type::length_delimited);
    varint(value.size());
    bytes(value);
  }
  /// Adds fields that are encoded.
  void bytes(std::string_view encoded) {
    std::memcpy(at_, encoded.data(), encoded.size());
    at_ += encoded.size();
  }
  /// Adds a message, whose fields add() adds. @param length_bytes for its length, which has 7 bits in each
  [[gnu::always_inline]] void message(auto field, int length_bytes, auto add) {
    tag(field, protozero::pbf_wire_type::length_delimited);
    char* const length = at_;
    at_ += length_bytes;
    add();
    auto size = static_cast<std::size_t>(at_ - length - length_bytes);
    // A varint may have more bytes than it needs. Thus nothing has to be moved.
    for (int i = 0; i < length_bytes; ++i, size >>= 7U)
      length[i] = static_cast<char>((size & 0x7fU) | (i + 1 < length_bytes ? 0x80U : 0U));
  }

 private:
  [[gnu::always_inline]] void tag(auto field, protozero::pbf_wire_type type) {
    varint(static_cast<std::uint64_t>(field) << 3U | static_cast<std::uint64_t>(type));
  }
  [[gnu::always_inline]] void varint(std::uint64_t value) {
    if (value < 0x80U) {
      *at_++ = static_cast<char>(value);
      return;
    }
    long_varint(value);
  }
  /// Encodes 7 bits in each byte, 56 of them at once: times and ids have that many.
  void long_varint(std::uint64_t value) {
    constexpr unsigned kBits = 56;
    constexpr std::uint64_t kMore = 0x8080'8080'8080'8080U;
    std::uint64_t spread = value & ((std::uint64_t{1} << kBits) - 1);
    // The upper half of the bits moves into the upper half of the bytes, and so on in each half.
    spread = (spread & 0x0000'0000'0fff'ffffU) | (spread & 0x00ff'ffff'f000'0000U) << 4U;
    spread = (spread & 0x0000'3fff'0000'3fffU) | (spread & 0x0fff'c000'0fff'c000U) << 2U;
    spread = (spread & 0x007f'007f'007f'007fU) | (spread & 0x3f80'3f80'3f80'3f80U) << 1U;
    const std::uint64_t rest = value >> kBits;
    const unsigned count = rest != 0 ? 8 : (static_cast<unsigned>(std::bit_width(value)) + 6) / 7;
    const std::uint64_t last = rest != 0 ? 0 : std::uint64_t{0x80} << 8U * (count - 1);
    spread |= kMore;
    spread &= ~last;
    std::memcpy(at_, &spread, sizeof spread);
    at_ += count;
    if (rest == 0) return;
    if (rest >= 0x80U) *at_++ = static_cast<char>(rest | 0x80U);
    *at_++ = static_cast<char>(rest >= 0x80U ? rest >> 7U : rest);
  }

  char* at_;
};
static_assert(std::endian::native == std::endian::little);

/// Room for the whole numbers that Fields stores at once.
constexpr std::size_t kSlack = sizeof(std::uint64_t);

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

Stream::Stream(File& file, std::uint32_t sequence)
    : file_(file),
      sequence_(sequence),
      buffer_(std::make_unique_for_overwrite<char[]>(kFull + kLargestSlice + kSlack)) {
  std::array<char, 2 * kSlack> encoded{};
  Fields fields(encoded.data());
  fields.number(TracePacket::trusted_packet_sequence_id, sequence_);
  encoded_sequence_size_ = static_cast<std::size_t>(fields.end() - encoded.data());
  std::copy_n(encoded.begin(), encoded_sequence_size_, encoded_sequence_.begin());
}

void Stream::describe(const Process& process) {
  std::string packets;
  {
    Packet packet(packets);
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
  {
    Packet packet(packets);
    Builder<perfetto::TrackDescriptor> track(*packet, TracePacket::track_descriptor);
    track.add_uint64(perfetto::TrackDescriptor::uuid, process.track);
    Builder<perfetto::ProcessDescriptor> described(track, perfetto::TrackDescriptor::process);
    described.add_int32(perfetto::ProcessDescriptor::pid, process.pid);
    for (const std::string& argument : process.arguments)
      described.add_string(perfetto::ProcessDescriptor::cmdline, argument);
    if (!process.arguments.empty())
      described.add_string(perfetto::ProcessDescriptor::process_name, process.arguments.front());
  }
  append(packets);
}

void Stream::describe_thread(const Process& process, std::uint64_t track, std::int64_t id,
                             std::string_view name) {
  std::string packets;
  {
    Packet packet(packets);
    Builder<perfetto::TrackDescriptor> descriptor(*packet, TracePacket::track_descriptor);
    descriptor.add_uint64(perfetto::TrackDescriptor::uuid, track);
    descriptor.add_uint64(perfetto::TrackDescriptor::parent_uuid, process.track);
    Builder<perfetto::ThreadDescriptor> thread(descriptor, perfetto::TrackDescriptor::thread);
    thread.add_int32(perfetto::ThreadDescriptor::pid, process.pid);
    thread.add_int64(perfetto::ThreadDescriptor::tid, id);
    thread.add_string(perfetto::ThreadDescriptor::thread_name, name.data(), name.size());
  }
  {
    Packet packet(packets);
    packet->add_uint32(TracePacket::trusted_packet_sequence_id, sequence_);
    packet->add_uint32(TracePacket::sequence_flags, perfetto::kIncrementalStateCleared);
    Builder<perfetto::TracePacketDefaults> defaults(*packet, TracePacket::trace_packet_defaults);
    defaults.add_uint32(perfetto::TracePacketDefaults::timestamp_clock_id, perfetto::kMonotonic);
    Builder<perfetto::TrackEventDefaults> event(defaults,
                                                perfetto::TracePacketDefaults::track_event_defaults);
    event.add_uint64(perfetto::TrackEventDefaults::track_uuid, track);
  }
  append(packets);
  begun_ = true;
}

void Stream::describe_track(std::uint64_t track, std::uint64_t parent, std::string_view name) {
  std::string packets;
  {
    Packet packet(packets);
    Builder<perfetto::TrackDescriptor> descriptor(*packet, TracePacket::track_descriptor);
    descriptor.add_uint64(perfetto::TrackDescriptor::uuid, track);
    descriptor.add_uint64(perfetto::TrackDescriptor::parent_uuid, parent);
    descriptor.add_string(perfetto::TrackDescriptor::name, name.data(), name.size());
  }
  append(packets);
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
  const Name category = intern_constant(categories_, slice.category);
  const Name name = slice.is_constant ? intern_constant(names_, slice.name) : intern(names_, slice.name);
  const auto facts = slice.facts.first(std::min(slice.facts.size(), kMostFacts));
  auto& fact_names = added_facts_;
  fact_names.clear();
  bool any_new = category.is_new || name.is_new;
  bool has_texts = any_new || category.iid == 0 || name.iid == 0;
  for (const Fact& fact : facts) {
    Name value{};
    if (const auto* text = std::get_if<std::string>(&fact.value)) value = intern(values_, *text);
    if (const auto* text = std::get_if<std::string_view>(&fact.value))
      value = intern_constant(values_, *text);
    const auto& added = fact_names.emplace_back(intern_constant(facts_, fact.name), value);
    any_new = any_new || added.first.is_new || value.is_new;
    has_texts = has_texts || any_new || added.first.iid == 0 || (value.iid == 0 && !value.text.empty());
  }

  // Numbers alone, as in most slices, take less than 16 KiB.
  const int length_bytes = has_texts ? kLongLength : kShortLength;

  using perfetto::TrackEvent;
  Fields fields(buffer_.get() + published_.load(std::memory_order_relaxed));
  const auto add_header = [&](std::int64_t time, perfetto::SequenceFlags more) {
    fields.number(TracePacket::timestamp, static_cast<std::uint64_t>(time));
    fields.bytes({encoded_sequence_.data(), encoded_sequence_size_});
    fields.number(TracePacket::sequence_flags, perfetto::kNeedsIncrementalState | more);
  };
  const auto add_name = [&](auto number, auto text, const Name& added) {
    if (added.iid != 0)
      fields.number(number, added.iid);
    else
      fields.text(text, added.text);
  };
  const auto add_fact = [&](const Fact& fact, const std::pair<Name, Name>& names) {
    using perfetto::DebugAnnotation;
    add_name(DebugAnnotation::name_iid, DebugAnnotation::name, names.first);
    if (const auto* const number = std::get_if<std::uint64_t>(&fact.value))
      fields.number(DebugAnnotation::uint_value, *number);
    else
      add_name(DebugAnnotation::string_value_iid, DebugAnnotation::string_value, names.second);
  };
  const auto define = [&](perfetto::InternedData kind, const Name& defined) {
    if (!defined.is_new) return;
    fields.message(kind, kShortLength, [&] {
      fields.number(perfetto::Interned::iid, defined.iid);
      fields.text(perfetto::Interned::name, defined.text);
    });
  };
  fields.message(perfetto::Trace::packet, length_bytes, [&] {
    const bool begins = !std::exchange(begun_, true);
    add_header(span.begin, begins ? perfetto::kIncrementalStateCleared : perfetto::SequenceFlags{});
    if (begins)
      fields.message(TracePacket::trace_packet_defaults, kShortLength, [&] {
        fields.number(perfetto::TracePacketDefaults::timestamp_clock_id, perfetto::kMonotonic);
      });
    if (any_new)
      fields.message(TracePacket::interned_data, length_bytes, [&] {
        define(perfetto::InternedData::event_categories, category);
        define(perfetto::InternedData::event_names, name);
        for (std::size_t i = 0; i < facts.size(); ++i) {
          define(perfetto::InternedData::debug_annotation_names, fact_names[i].first);
          define(perfetto::InternedData::debug_annotation_string_values, fact_names[i].second);
        }
      });
    fields.message(TracePacket::track_event, length_bytes, [&] {
      fields.number(TrackEvent::type, perfetto::kSliceBegin);
      if (track != 0) fields.number(TrackEvent::track_uuid, track);
      add_name(TrackEvent::category_iids, TrackEvent::categories, category);
      add_name(TrackEvent::name_iid, TrackEvent::name, name);
      for (const Flow flow : slice.flows.first(std::min(slice.flows.size(), kMostFlows)))
        fields.fixed64(TrackEvent::flow_ids, scope + flow);
      for (std::size_t i = 0; i < facts.size(); ++i)
        fields.message(TrackEvent::debug_annotations, kShortLength,
                       [&] { add_fact(facts[i], fact_names[i]); });
    });
  });
  fields.message(perfetto::Trace::packet, kLeastLength, [&] {
    add_header(span.end, {});
    fields.message(TracePacket::track_event, kLeastLength, [&] {
      fields.number(TrackEvent::type, perfetto::kSliceEnd);
      if (track != 0) fields.number(TrackEvent::track_uuid, track);
    });
  });
  publish(static_cast<std::size_t>(fields.end() - buffer_.get()));
}

void Stream::append(std::string_view packets) noexcept {
  if (packets.size() > kLargestSlice) {
    // In pieces, packets of other streams could get between them.
    flush();
    file_.append(packets);
    return;
  }
  const std::size_t size = published_.load(std::memory_order_relaxed);
  std::copy(packets.begin(), packets.end(), buffer_.get() + size);
  publish(size + packets.size());
}

void Stream::publish(std::size_t size) noexcept {
  published_.store(size, std::memory_order_release);
  if (size < kFull && !write_through_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  append_published();
  appended_ = 0;
  published_.store(0, std::memory_order_relaxed);
}

void Stream::append_published() noexcept {
  const std::size_t size = published_.load(std::memory_order_acquire);
  if (size > appended_) file_.append({buffer_.get() + appended_, size - appended_});
  appended_ = size;
}

void Stream::flush() noexcept {
  const std::lock_guard lock(mutex_);
  append_published();
}

void Stream::write_through() noexcept {
  write_through_ = true;
  flush();
}

}  // namespace clique::icd::trace
