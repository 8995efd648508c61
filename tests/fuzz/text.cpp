// Short texts of others: what is logged or printed, and what names a host to connect to.
#include <algorithm>

#include "icd/common/node_address.hpp"
#include "icd/common/settings.hpp"
#include "protocol/printable.hpp"
#include "protocol/sources/build_options.hpp"
#include "protocol/transport/endpoint.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_text {
namespace {

void print(std::string_view text, std::size_t longest) {
  const std::string shown = protocol::printable(text, longest);
  require(std::none_of(shown.begin(), shown.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }),
          "what is printed is on one line, without commands to terminals");
  constexpr std::size_t kLongestEscape = 4;
  constexpr std::size_t kRemark = 40;
  require(shown.size() <= kLongestEscape * (longest + kLongestEscape) + kRemark, "what is printed is short");
  require(protocol::printable(shown, shown.size()) == shown, "what is printed can be printed again");
}

void connect(const std::string& text) {
  if (!protocol::is_tcp_endpoint(text)) return;
  require(text.starts_with("tcp://") && text.find_first_of(";*/", 6) == std::string::npos,
          "an endpoint is a host and a port");
}

void list_nodes(std::string_view text) {
  try {
    for (const icd::NodeAddress& node : icd::parse_node_list(text)) {
      require(!node.host.empty() && node.port != 0, "a node has a host and a port");
      require(icd::parse_node(node.text()) == node, "a node is the same after a round trip");
    }
  } catch (const icd::SettingError&) {
    return;
  }
}

void split_options(std::string_view text) {
  std::size_t end = 0;
  for (const protocol::OptionWord& word : protocol::option_words(text)) {
    require(word.begin >= end && word.end > word.begin && word.end <= text.size(), "words follow each other");
    end = word.end;
  }
  for (const protocol::OptionValue& value : protocol::option_values(text, "-I"))
    require(value.begin < value.end && value.end <= text.size(), "an option lies within the options");
}

std::vector<std::string> seeds() {
  return {"\x09program[1]@host\n\x1b[31m\xc3\xa9 \xe2\x80\xa6\xff\t\x7f", "\xfftcp://[fe80::1%eth0]:7890",
          "\xfftcp://host.example:7890", "\x7f a, b:7891 ,[::1]:7892,fe80::1,vsock:2",
          "\x20-I a -I 'b c' -Id\\ e \"-I\" f -DX=\"1\""};
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t longest = input.number<std::uint8_t>();
  const std::string_view text = text_of(input.rest());
  print(text, longest);
  connect(std::string(text));
  list_nodes(text);
  split_options(text);
}

const Registration kTarget{"text", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_text
