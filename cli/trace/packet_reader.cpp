#include "cli/trace/packet_reader.hpp"

#include <algorithm>
#include <optional>
#include <protozero/pbf_message.hpp>

#include "icd/trace/perfetto.hpp"

namespace clique::cli::trace_summary {

namespace {

namespace perfetto = icd::trace::perfetto;

/// Slices of one track within each other. Deeper ones are ignored.
constexpr std::size_t kDeepest = 64;

template <typename Field>
using Message = protozero::pbf_message<Field>;

}  // namespace

void PacketReader::take(protozero::data_view packet) {
  using perfetto::TracePacket;
  std::uint64_t time = 0;
  std::uint32_t sequence = 0;
  std::uint32_t flags = 0;
  std::optional<protozero::data_view> event;
  std::optional<protozero::data_view> interned;
  std::optional<protozero::data_view> defaults;
  for (Message<TracePacket> message(packet); message.next();) {
    switch (message.tag()) {
      case TracePacket::timestamp:
        time = message.get_uint64();
        break;
      case TracePacket::trusted_packet_sequence_id:
        sequence = message.get_uint32();
        break;
      case TracePacket::sequence_flags:
        flags = message.get_uint32();
        break;
      case TracePacket::track_event:
        event = message.get_view();
        break;
      case TracePacket::interned_data:
        interned = message.get_view();
        break;
      case TracePacket::trace_packet_defaults:
        defaults = message.get_view();
        break;
      default:
        message.skip();
    }
  }
  if ((flags & perfetto::kIncrementalStateCleared) != 0) sequences_[sequence] = {};
  Sequence& state = sequences_[sequence];
  if (defaults) take_defaults(state, *defaults);
  if (interned) take_names(state, *interned);
  if (event) take_event(state, *event, static_cast<std::int64_t>(time));
}

std::string PacketReader::name_of(const Names& names, std::uint64_t iid) {
  const auto found = names.find(iid);
  return found != names.end() ? found->second : std::string();
}

void PacketReader::take_defaults(Sequence& state, protozero::data_view defaults) {
  using perfetto::TracePacketDefaults;
  for (Message<TracePacketDefaults> message(defaults);
       message.next(TracePacketDefaults::track_event_defaults, protozero::pbf_wire_type::length_delimited);)
    for (Message<perfetto::TrackEventDefaults> event(message.get_view());
         event.next(perfetto::TrackEventDefaults::track_uuid, protozero::pbf_wire_type::varint);)
      state.track = event.get_uint64();
}

void PacketReader::take_names(Sequence& state, protozero::data_view interned) {
  using perfetto::InternedData;
  for (Message<InternedData> message(interned); message.next();) {
    Names* names = nullptr;
    switch (message.tag()) {
      case InternedData::event_categories:
        names = &state.categories;
        break;
      case InternedData::event_names:
        names = &state.names;
        break;
      case InternedData::debug_annotation_names:
        names = &state.facts;
        break;
      case InternedData::debug_annotation_string_values:
        names = &state.values;
        break;
      default:
        break;
    }
    if (names == nullptr) {
      message.skip();
      continue;
    }
    std::uint64_t iid = 0;
    std::string text;
    for (Message<perfetto::Interned> entry(message.get_view()); entry.next();) {
      if (entry.tag() == perfetto::Interned::iid)
        iid = entry.get_uint64();
      else if (entry.tag() == perfetto::Interned::name)
        text = entry.get_string();
      else
        entry.skip();
    }
    (*names)[iid] = std::move(text);
  }
}

void PacketReader::take_fact(const Sequence& state, protozero::data_view annotation, TraceSlice& slice) {
  using perfetto::DebugAnnotation;
  std::string name;
  std::optional<Value> value;
  for (Message<DebugAnnotation> message(annotation); message.next();) {
    switch (message.tag()) {
      case DebugAnnotation::name_iid:
        name = name_of(state.facts, message.get_uint64());
        break;
      case DebugAnnotation::name:
        name = message.get_string();
        break;
      case DebugAnnotation::uint_value:
        value = message.get_uint64();
        break;
      case DebugAnnotation::string_value:
        value = message.get_string();
        break;
      case DebugAnnotation::string_value_iid:
        value = name_of(state.values, message.get_uint64());
        break;
      default:
        message.skip();
    }
  }
  if (value) slice.facts[name] = std::move(*value);
}

void PacketReader::take_event(const Sequence& state, protozero::data_view event, std::int64_t time) {
  using perfetto::TrackEvent;
  TraceSlice slice;
  slice.begin = time;
  std::int32_t type = 0;
  std::uint64_t track = state.track;
  for (Message<TrackEvent> message(event); message.next();) {
    switch (message.tag()) {
      case TrackEvent::type:
        type = message.get_int32();
        break;
      case TrackEvent::track_uuid:
        track = message.get_uint64();
        break;
      case TrackEvent::name_iid:
        slice.name = name_of(state.names, message.get_uint64());
        break;
      case TrackEvent::name:
        slice.name = message.get_string();
        break;
      case TrackEvent::category_iids:
        slice.category = name_of(state.categories, message.get_uint64());
        break;
      case TrackEvent::categories:
        slice.category = message.get_string();
        break;
      case TrackEvent::debug_annotations:
        take_fact(state, message.get_view(), slice);
        break;
      default:
        message.skip();
    }
  }
  auto& open = open_[track];
  if (type == perfetto::kSliceBegin && open.size() < kDeepest) {
    open.push_back(std::move(slice));
  } else if (type == perfetto::kSliceEnd && !open.empty()) {
    open.back().end = std::max(open.back().begin, time);
    const TraceSlice ended = std::move(open.back());
    open.pop_back();
    take_(ended);
  }
}

}  // namespace clique::cli::trace_summary
