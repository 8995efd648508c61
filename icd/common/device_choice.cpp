#include "icd/common/device_choice.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "icd/common/setting_text.hpp"

namespace clique::icd {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_number(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<std::size_t> matches(std::span<const DeviceNames> devices, std::string_view entry) {
  if (is_number(entry)) {
    std::size_t position = 0;
    const auto parsed = std::from_chars(entry.data(), entry.data() + entry.size(), position);
    if (parsed.ec != std::errc{} || position >= devices.size()) return {};
    return {position};
  }
  std::vector<std::size_t> found;
  const std::string part = lower(entry);
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (lower(devices[i].device).find(part) != std::string::npos ||
        lower(devices[i].node).find(part) != std::string::npos || devices[i].uuid == part)
      found.push_back(i);
  return found;
}

/// N of `idle:N`, and 1 of `idle`; nothing for other entries.
std::optional<std::size_t> idle_count(std::string_view entry) {
  const std::string text = lower(entry);
  if (text == "idle") return 1;
  constexpr std::string_view kPrefix = "idle:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(text.data() + kPrefix.size(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count == 0) return std::nullopt;
  return count;
}

}  // namespace

DeviceChoice choose_devices(std::span<const DeviceNames> devices, std::string_view choice) {
  DeviceChoice result;
  bool only_idle = true;
  while (!choice.empty()) {
    const auto comma = choice.find(',');
    const std::string_view entry = trimmed(choice.substr(0, comma));
    choice = comma == std::string_view::npos ? std::string_view{} : choice.substr(comma + 1);
    if (entry.empty()) continue;
    if (const auto count = idle_count(entry)) {
      result.idle = count;
      continue;
    }
    only_idle = false;
    const std::vector<std::size_t> found = matches(devices, entry);
    if (found.empty()) result.unmatched.emplace_back(entry);
    for (const std::size_t position : found)
      if (std::find(result.positions.begin(), result.positions.end(), position) == result.positions.end())
        result.positions.push_back(position);
  }
  if (result.idle && only_idle)
    for (std::size_t i = 0; i < devices.size(); ++i) result.positions.push_back(i);
  return result;
}

}  // namespace clique::icd
