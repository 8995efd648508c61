#include "cli/trace/trace_summary.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <protozero/pbf_message.hpp>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/common/commands.hpp"
#include "cli/output/print_json.hpp"
#include "icd/trace/names.hpp"
#include "icd/trace/perfetto.hpp"
#include "protocol/printable.hpp"

namespace clique::cli {

// The program is one unit: these names are not for its other files.
namespace trace_summary {
namespace {

using namespace icd::trace;

/// Packets of Clique are much smaller, in bytes. A longer one is not of a trace.
constexpr std::uint64_t kLongestPacket = 64U << 20U;
/// How many kernels, entry points and migrations are listed.
constexpr std::size_t kListed = 3;
/// Slices of one track within each other. Deeper ones are ignored.
constexpr std::size_t kDeepest = 64;

template <typename Field>
using Message = protozero::pbf_message<Field>;

using Value = std::variant<std::uint64_t, std::string>;

/// A slice of the trace.
struct TraceSlice {
  std::string category;
  std::string name;
  std::map<std::string, Value, std::less<>> facts;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::uint64_t number(std::string_view fact) const {
    const auto found = facts.find(fact);
    const auto* value = found != facts.end() ? std::get_if<std::uint64_t>(&found->second) : nullptr;
    return value != nullptr ? *value : 0;
  }
  std::string text(std::string_view fact) const {
    const auto found = facts.find(fact);
    const auto* value = found != facts.end() ? std::get_if<std::string>(&found->second) : nullptr;
    return value != nullptr ? *value : std::string();
  }
};

/// Time spans, which may overlap.
class Spans {
 public:
  void add(std::int64_t begin, std::int64_t end) { spans_.emplace_back(begin, end); }
  std::size_t count() const { return spans_.size(); }
  /// The time, in ns, during which there is at least one.
  std::int64_t covered() const {
    auto spans = spans_;
    std::sort(spans.begin(), spans.end());
    std::int64_t total = 0;
    std::int64_t until = INT64_MIN;
    for (const auto& [begin, end] : spans) {
      if (end <= until) continue;
      total += end - std::max(begin, until);
      until = end;
    }
    return total;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> spans_;
};

/// How often something happened, and how long it took altogether, in ns.
struct Sum {
  std::size_t count = 0;
  std::int64_t time = 0;

  void add(const TraceSlice& slice) {
    ++count;
    time += slice.end - slice.begin;
  }
};

std::string seconds(std::int64_t ns) {
  char text[32];
  if (ns >= 1'000'000'000)
    std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(ns) * 1e-9);
  else if (ns >= 1'000'000)
    std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(ns) * 1e-6);
  else
    std::snprintf(text, sizeof text, "%.1f us", static_cast<double>(ns) * 1e-3);
  return text;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t kKibi = 1U << 10U;
  constexpr std::uint64_t kMebi = 1U << 20U;
  char text[32];
  if (bytes >= kMebi)
    std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / kMebi);
  else if (bytes >= kKibi)
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / kKibi);
  else
    std::snprintf(text, sizeof text, "%u bytes", static_cast<unsigned>(bytes));
  return text;
}

std::string times(std::size_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

/// The entries with the longest time, the longest first.
template <typename Key, typename Entry, typename Time>
std::vector<std::pair<Key, Entry>> longest(const std::map<Key, Entry>& all, Time time, std::size_t most) {
  std::vector<std::pair<Key, Entry>> list(all.begin(), all.end());
  std::stable_sort(list.begin(), list.end(),
                   [&](const auto& a, const auto& b) { return time(a.second) > time(b.second); });
  if (list.size() > most) list.resize(most);
  return list;
}

/// The figures of a trace.
class Summary {
 public:
  void add(const TraceSlice& slice) {
    begin_ = std::min(begin_, slice.begin);
    end_ = std::max(end_, slice.end);
    if (slice.category == kApi) {
      // The time of a call within another one is that of the other, too.
      if (slice.facts.find(kWithin) == slice.facts.end()) api_[slice.name].add(slice);
    } else if (slice.category == kWait) {
      waits_[slice.name].add(slice);
    } else if (slice.category == kKernel || slice.category == kCommand) {
      Device& device = devices_[slice.text(icd::trace::kDevice)];
      device.busy.add(slice.begin, slice.end);
      if (slice.category == kKernel) device.kernels[slice.name].add(slice);
    } else if (slice.category == kTransfer || slice.category == kMigration) {
      const std::string route = slice.text(kFrom) + " → " + slice.text(kTo) + ", " + slice.text(kWay);
      Transfers& transfers = transfers_[route];
      transfers.spans.add(slice.begin, slice.end);
      transfers.bytes += slice.number(kBytes);
      if (slice.category == kMigration) {
        Migrations& migrations = migrations_[slice.text(kReason)];
        migrations.sum.add(slice);
        migrations.bytes += slice.number(kBytes);
        migrations.route = route;
      }
    } else if (slice.category == kCompilation) {
      compilations_[slice.text(kNode)].add(slice);
    }
  }

  bool empty() const { return begin_ > end_; }

  void print(std::FILE* to) const {
    line(to, "Traced: " + seconds(end_ - begin_));
    print_devices(to);
    print_host(to);
    print_transfers(to);
    print_compilations(to);
    print_migrations(to);
  }

  /// The same with everything that print() leaves out.
  nlohmann::ordered_json json() const {
    using nlohmann::ordered_json;
    auto devices = ordered_json::array();
    for (const auto& [name, device] : devices_)
      devices.push_back({{"name", name},
                         {"busy", device.busy.covered()},
                         {"commands", device.busy.count()},
                         {"kernels", json_of_sums(device.kernels)}});
    auto transfers = ordered_json::array();
    for (const auto& [route, one] : transfers_)
      transfers.push_back({{"route", route},
                           {"bytes", one.bytes},
                           {"time", one.spans.covered()},
                           {"count", one.spans.count()}});
    auto migrations = ordered_json::array();
    for (const auto& [reason, one] : migrations_)
      migrations.push_back({{"reason", reason},
                            {"route", one.route},
                            {"bytes", one.bytes},
                            {"time", one.sum.time},
                            {"count", one.sum.count}});
    return {{"traced", end_ - begin_},
            {"devices", std::move(devices)},
            {"calls", json_of_sums(api_)},
            {"waits", json_of_sums(waits_)},
            {"transfers", std::move(transfers)},
            {"compilations", json_of_sums(compilations_)},
            {"migrations", std::move(migrations)}};
  }

 private:
  struct Device {
    Spans busy;
    std::map<std::string, Sum> kernels;
  };
  struct Transfers {
    Spans spans;
    std::uint64_t bytes = 0;
  };
  struct Migrations {
    Sum sum;
    std::uint64_t bytes = 0;
    std::string route;
  };

  static void line(std::FILE* to, const std::string& text) {
    std::fprintf(to, "%s\n", protocol::printable(text).c_str());
  }
  /// A heading, after an empty line.
  static void heading(std::FILE* to, const char* text) { std::fprintf(to, "\n%s\n", text); }
  static std::string text_of(const Sum& sum) { return seconds(sum.time) + ", " + times(sum.count); }
  static std::int64_t time_of(const Sum& sum) { return sum.time; }
  static nlohmann::ordered_json json_of_sums(const std::map<std::string, Sum>& sums) {
    auto list = nlohmann::ordered_json::array();
    for (const auto& [name, sum] : sums)
      list.push_back({{"name", name}, {"time", sum.time}, {"count", sum.count}});
    return list;
  }
  static Sum total(const std::map<std::string, Sum>& all) {
    Sum sum;
    for (const auto& [name, one] : all) {
      sum.count += one.count;
      sum.time += one.time;
    }
    return sum;
  }

  void print_devices(std::FILE* to) const {
    if (devices_.empty()) return;
    heading(to, "Devices");
    for (const auto& [name, device] : devices_) {
      const std::int64_t busy = device.busy.covered();
      const std::int64_t percent = end_ > begin_ ? 100 * busy / (end_ - begin_) : 0;
      line(to, "  " + name + ": busy " + seconds(busy) + " (" + std::to_string(percent) + " %), " +
                   std::to_string(device.busy.count()) + " commands");
      for (const auto& [kernel, sum] : longest(device.kernels, time_of, kListed))
        line(to, "    kernel " + kernel + ": " + text_of(sum));
    }
  }

  void print_host(std::FILE* to) const {
    const Sum calls = total(api_);
    const Sum waiting = total(waits_);
    heading(to, "Host (all threads together)");
    line(to, "  waiting: " + text_of(waiting));
    for (const auto& [what, sum] : longest(waits_, time_of, kListed))
      line(to, "    for " + what + ": " + text_of(sum));
    line(to, "  in calls, without waiting: " + seconds(std::max<std::int64_t>(0, calls.time - waiting.time)) +
                 ", " + std::to_string(calls.count) + " calls");
    for (const auto& [name, sum] : longest(api_, time_of, kListed))
      line(to, "    " + name + ", with waiting: " + text_of(sum));
  }

  void print_transfers(std::FILE* to) const {
    if (transfers_.empty()) return;
    heading(to, "Transfers");
    for (const auto& [route, transfers] : transfers_)
      line(to, "  " + route + ": " + size_text(transfers.bytes) + " in " +
                   seconds(transfers.spans.covered()) + ", " + times(transfers.spans.count()));
  }

  void print_compilations(std::FILE* to) const {
    if (compilations_.empty()) return;
    heading(to, "Compilations");
    for (const auto& [node, sum] : compilations_) line(to, "  " + node + ": " + text_of(sum));
  }

  void print_migrations(std::FILE* to) const {
    if (migrations_.empty()) return;
    heading(to, "Most expensive migrations");
    std::size_t number = 0;
    const auto time = [](const Migrations& migrations) { return migrations.sum.time; };
    for (const auto& [reason, migrations] : longest(migrations_, time, kListed)) {
      line(to, "  " + std::to_string(++number) + ". " + migrations.route + ": " +
                   size_text(migrations.bytes) + " in " + text_of(migrations.sum));
      line(to, "     " + reason);
    }
  }

  std::int64_t begin_ = INT64_MAX;
  std::int64_t end_ = INT64_MIN;
  std::map<std::string, Device> devices_;
  std::map<std::string, Sum> api_;
  std::map<std::string, Sum> waits_;
  std::map<std::string, Transfers> transfers_;  // by their places and way
  std::map<std::string, Sum> compilations_;
  std::map<std::string, Migrations> migrations_;  // by their reason
};

/// Puts the packets of a trace together to slices.
class PacketReader {
 public:
  explicit PacketReader(Summary& summary) : summary_(summary) {}

  /// Throws protozero::exception.
  void take(protozero::data_view packet) {
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

 private:
  using Names = std::map<std::uint64_t, std::string>;
  struct Sequence {
    Names categories;
    Names names;
    Names facts;
    Names values;
    std::uint64_t track = 0;
  };

  static std::string name_of(const Names& names, std::uint64_t iid) {
    const auto found = names.find(iid);
    return found != names.end() ? found->second : std::string();
  }

  static void take_defaults(Sequence& state, protozero::data_view defaults) {
    using perfetto::TracePacketDefaults;
    for (Message<TracePacketDefaults> message(defaults);
         message.next(TracePacketDefaults::track_event_defaults, protozero::pbf_wire_type::length_delimited);)
      for (Message<perfetto::TrackEventDefaults> event(message.get_view());
           event.next(perfetto::TrackEventDefaults::track_uuid, protozero::pbf_wire_type::varint);)
        state.track = event.get_uint64();
  }

  static void take_names(Sequence& state, protozero::data_view interned) {
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

  static void take_fact(const Sequence& state, protozero::data_view annotation, TraceSlice& slice) {
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

  void take_event(const Sequence& state, protozero::data_view event, std::int64_t time) {
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
      summary_.add(ended);
    }
  }

  Summary& summary_;
  std::map<std::uint32_t, Sequence> sequences_;
  std::map<std::uint64_t, std::vector<TraceSlice>> open_;  // by their track
};

/// Reads a file packet by packet.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : path_(path), stream_(path, std::ios::binary) {
    if (!stream_ || stream_.peek() == std::ifstream::traits_type::eof())
      throw Failed(path +
                   " cannot be read, or is empty; it must be a file that 'clique trace -o' has written");
  }

  /// @returns the next packet; nothing at the end. Throws Failed.
  std::optional<std::string> next() {
    const auto tag = varint();
    if (!tag) return std::nullopt;
    constexpr std::uint64_t kPacket = (static_cast<std::uint64_t>(perfetto::Trace::packet) << 3U) | 2U;
    const auto size = *tag == kPacket ? varint() : std::optional<std::uint64_t>(kLongestPacket + 1);
    if (size && *size > kLongestPacket) throw Failed(path_ + " is not a trace in Perfetto's format");
    std::string packet(size.value_or(0), '\0');
    if (!size || !stream_.read(packet.data(), static_cast<std::streamsize>(packet.size()))) {
      cut_off_ = true;
      return std::nullopt;
    }
    return packet;
  }
  /// Whether the file ended within a packet.
  bool cut_off() const { return cut_off_; }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const int byte = stream_.get();
      if (byte == std::ifstream::traits_type::eof()) return std::nullopt;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return kLongestPacket + 1;
  }

  const std::string path_;
  std::ifstream stream_;
  bool cut_off_ = false;
};

}  // namespace
}  // namespace trace_summary

void print_trace_summary(const std::string& file, std::FILE* to, bool as_json) {
  trace_summary::TraceFile trace(file);
  trace_summary::Summary summary;
  trace_summary::PacketReader reader(summary);
  try {
    while (const auto packet = trace.next()) reader.take(protozero::data_view(*packet));
  } catch (const protozero::exception& error) {
    throw Failed(file + " is not a trace in Perfetto's format: " + error.what());
  }
  if (summary.empty()) throw Failed(file + " has no slices");
  if (as_json) {
    auto document = summary.json();
    document["complete"] = !trace.cut_off();
    print_json(document, to);
    return;
  }
  summary.print(to);
  if (trace.cut_off())
    std::fprintf(to, "\nThe trace ends in the middle: the program was killed, or the disk is full.\n");
}

}  // namespace clique::cli
