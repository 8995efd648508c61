#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace clique::cli::trace_summary {

/// What a fact about a slice says.
using Value = std::variant<std::uint64_t, std::string>;

/// Something that took time, as a trace has it. Times in ns, of one clock.
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

}  // namespace clique::cli::trace_summary
