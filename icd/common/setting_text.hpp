// What the parsers of settings share.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/encryption.hpp"
#include "protocol/printable.hpp"

namespace clique::icd {

enum class Transport : std::uint8_t;

/// Without blanks at both ends.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

using protocol::in_quotes;

/// A time for reaching a node. Throws SettingError if it is out of range.
/// @param name of the setting
std::chrono::milliseconds checked_connect_timeout(std::int64_t ms, std::string_view name);

/// A time for building programs. Throws SettingError if it is out of range.
/// @param name of the setting
std::chrono::seconds checked_build_timeout(std::int64_t seconds, std::string_view name);

/// "plain" or "node": whether the names of devices contain those of their nodes. Throws SettingError.
/// @param name of the setting
bool parse_device_names(std::string_view text, std::string_view name);
/// "all", "commands" or "none": what nodes must encrypt. Throws SettingError.
/// @param name of the setting
protocol::Encryption parse_encryption(std::string_view text, std::string_view name);
/// Whether devices are listed by their load. Throws SettingError unless the text is "nodes" or "idle".
bool parse_order(std::string_view text, std::string_view name);
/// Whether large transfers may be compressed. Throws SettingError unless the text is "auto" or "none".
bool parse_compression(std::string_view text, std::string_view name);
/// "auto", "ucx" or "zeromq". Throws SettingError.
Transport parse_transport(std::string_view text, std::string_view name);

/// "keys", "munge" or "munge:SOCKET". Throws SettingError.
/// @returns the socket of munged (empty: its default); nothing for "keys"
/// @param name of the setting
std::optional<std::string> parse_auth(std::string_view text, std::string_view name);

}  // namespace clique::icd
