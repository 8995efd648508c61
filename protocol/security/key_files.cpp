#include "protocol/security/key_files.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "protocol/socket_address.hpp"
#include "protocol/version.hpp"

namespace clique::protocol {

namespace {

/// In bytes. Larger than any sensible file, so that a wrong path cannot fill the memory.
constexpr std::uintmax_t kLargestFile = 16U << 20U;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

using ReadLine = std::function<void(const std::vector<std::string>& words, std::size_t number)>;

/// Calls read() for every line that is an entry, and collects the invalid ones.
std::vector<WrongLine> read_lines(std::string_view text, const ReadLine& read) {
  std::vector<WrongLine> wrong;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    try {
      read(words, number);
    } catch (const SecurityError& error) {
      wrong.push_back({number, error.what()});
    }
  }
  return wrong;
}

std::string text_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return {};
  const auto size = std::filesystem::file_size(path, error);
  if (error) throw SecurityError(path.string() + " cannot be read: " + error.message());
  if (size > kLargestFile)
    throw SecurityError(path.string() + " has " + std::to_string(size) +
                        " bytes; a list of keys has at most " + std::to_string(kLargestFile));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw SecurityError(path.string() + " cannot be read: " + std::strerror(errno));
  return text.str();
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return result;
}

void read_option(AuthorizedClient& client, const std::string& word) {
  const auto equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (name == "admin") {
    if (equals != std::string::npos)
      throw SecurityError("'" + word + "' has a value; write admin alone, or leave it out");
    client.admin = true;
  } else if (name == "sessions") {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), client.sessions);
    if (error != std::errc() || end != value.data() + value.size())
      throw SecurityError("'" + word + "' is not a number of sessions; write sessions=NUMBER");
  } else if (name == "session-memory") {
    client.memory = parse_bytes(value);
  } else if (name == "share") {
    client.share = parse_share(value);
  } else if (name == "devices") {
    if (value.empty())
      throw SecurityError("'" + word + "' names no device; write devices=LIST, or leave it out for all");
    client.devices = value;
  } else if (name == "files") {
    if (value.empty())
      throw SecurityError(
          "'" + word +
          "' names no folder; write files=read:/FOLDER,write:/FOLDER, or files=none, or leave it "
          "out for all of the node's file-roots");
    client.files = value;
  } else {
    throw SecurityError("unknown option '" + word +
                        "'; the options are admin, sessions=NUMBER, session-memory=BYTES, share=NUMBER, "
                        "devices=LIST and files=LIST");
  }
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  const auto unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  const std::size_t shift = unit == std::string_view::npos ? 0 : 10 * (unit + 1);
  const std::string_view digits = text.substr(0, text.size() - (shift > 0 ? 1 : 0));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      number > (std::numeric_limits<std::uint64_t>::max() >> shift))
    throw SecurityError("'" + std::string(text) +
                        "' is not an amount of memory; write bytes, or a number with K, M, G or T");
  return number << shift;
}

std::uint32_t parse_share(std::string_view text) {
  constexpr std::uint32_t kMost = 1000;
  std::uint32_t share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size() || share < 1 || share > kMost)
    throw SecurityError("'" + std::string(text) +
                        "' is not a share of a device; write a whole number from 1 to " +
                        std::to_string(kMost) + ", relative to the shares of other sessions");
  return share;
}

std::string known_node_name(std::string_view host, std::uint16_t port) {
  std::string name = lower(host);
  if (port == kDefaultPort) return name;
  const bool v6 = name.find(':') != std::string::npos && !name.starts_with(kVsockPrefix);
  return (v6 ? "[" + name + "]" : name) + ":" + std::to_string(port);
}

KnownNodes KnownNodes::parse(std::string_view text) {
  KnownNodes known;
  known.wrong = read_lines(text, [&](const std::vector<std::string>& words, std::size_t /*number*/) {
    if (words.size() != 2)
      throw SecurityError("this line has " + std::to_string(words.size()) +
                          (words.size() == 1 ? " word" : " words") + "; write NODE KEY");
    known.nodes.push_back({lower(words[0]), PublicKey::parse(words[1])});
  });
  return known;
}

KnownNodes KnownNodes::read(const std::filesystem::path& path) {
  return parse(text_of(path));
}

std::vector<KnownNode> KnownNodes::find(std::string_view host, std::uint16_t port) const {
  const std::string name = known_node_name(host, port);
  std::vector<KnownNode> found;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(found), [&](const KnownNode& node) {
    return node.pattern == name || ::fnmatch(node.pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
  });
  return found;
}

AuthorizedClients AuthorizedClients::parse(std::string_view text) {
  AuthorizedClients authorized;
  authorized.wrong = read_lines(text, [&](const std::vector<std::string>& words, std::size_t number) {
    if (words.size() < 2)
      throw SecurityError("this line has no name for the client; write KEY NAME [OPTION …]");
    AuthorizedClient client;
    client.key = PublicKey::parse(words[0]);
    client.name = words[1];
    client.line = number;
    for (auto word = words.begin() + 2; word != words.end(); ++word) read_option(client, *word);
    if (!authorized.clients.emplace(client.key, client).second)
      throw SecurityError("an earlier line has the same key, and takes precedence; remove one of them");
  });
  return authorized;
}

AuthorizedClients AuthorizedClients::read(const std::filesystem::path& path) {
  return parse(text_of(path));
}

}  // namespace clique::protocol
