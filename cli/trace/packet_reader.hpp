#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <protozero/data_view.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/trace/trace_slice.hpp"

namespace clique::cli::trace_summary {

/// Puts the packets of a trace together to slices.
class PacketReader {
 public:
  /// @param take called with each slice, at its end
  explicit PacketReader(std::function<void(const TraceSlice&)> take) : take_(std::move(take)) {}

  /// Takes the next packet. Throws protozero::exception if it is malformed.
  void take(protozero::data_view packet);

 private:
  using Names = std::map<std::uint64_t, std::string>;
  /// What the packets of a sequence refer to.
  struct Sequence {
    Names categories;
    Names names;
    Names facts;
    Names values;
    std::uint64_t track = 0;
  };

  static std::string name_of(const Names& names, std::uint64_t iid);
  static void take_defaults(Sequence& state, protozero::data_view defaults);
  static void take_names(Sequence& state, protozero::data_view interned);
  static void take_fact(const Sequence& state, protozero::data_view annotation, TraceSlice& slice);
  void take_event(const Sequence& state, protozero::data_view event, std::int64_t time);

  const std::function<void(const TraceSlice&)> take_;
  std::map<std::uint32_t, Sequence> sequences_;
  std::map<std::uint64_t, std::vector<TraceSlice>> open_;  // by their track
};

}  // namespace clique::cli::trace_summary
