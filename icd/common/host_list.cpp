#include "icd/common/host_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "icd/common/setting_text.hpp"
#include "icd/common/settings.hpp"

namespace clique::icd {

namespace {

/// More nodes than anybody means by one text.
constexpr std::size_t kMostHosts = 1024;

std::optional<std::uint32_t> number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Reads one host list.
class HostList {
 public:
  explicit HostList(std::string_view text) : text_(text) {}

  std::vector<std::string> expand() const {
    std::vector<std::string> hosts{""};
    std::size_t at = 0;
    for (;;) {
      const std::size_t open = std::min(text_.find('[', at), text_.size());
      for (std::string& host : hosts) host += text_.substr(at, open - at);
      if (open == text_.size()) return hosts;
      const std::size_t close = text_.find(']', open);
      if (close == std::string_view::npos) fail("the bracket", open, "is not closed");
      hosts = product(hosts, numbers(open + 1, close));
      at = close + 1;
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::size_t at, const std::string& why) const {
    throw SettingError("node " + in_quotes(text_) + ": " + what + " at character " + std::to_string(at + 1) +
                       " " + why + "; write for example node[01-04,7]");
  }

  void check_count(std::size_t count) const {
    if (count > kMostHosts)
      throw SettingError("node " + in_quotes(text_) + " stands for more than " + std::to_string(kMostHosts) +
                         " nodes; write fewer");
  }

  /// The numbers between two brackets, as they are written.
  std::vector<std::string> numbers(std::size_t begin, std::size_t close) const {
    std::vector<std::string> all;
    for (std::size_t end = begin; begin <= close; begin = end + 1) {
      end = std::min(text_.find(',', begin), close);
      add_range(begin, text_.substr(begin, end - begin), all);
    }
    return all;
  }

  void add_range(std::size_t at, std::string_view range, std::vector<std::string>& all) const {
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string_view low = range.substr(0, dash);
    const auto first = number(low);
    const auto last = dash < range.size() ? number(range.substr(dash + 1)) : first;
    if (!first || !last) fail(in_quotes(range), at, "is neither a number nor a range of numbers");
    if (*last < *first) fail(in_quotes(range), at, "is a range that ends before it begins");
    check_count(all.size() + std::size_t{*last - *first} + 1);
    for (std::size_t value = *first; value <= *last; ++value) {
      const std::string digits = std::to_string(value);
      all.push_back(std::string(low.size() - std::min(low.size(), digits.size()), '0') + digits);
    }
  }

  std::vector<std::string> product(const std::vector<std::string>& hosts,
                                   const std::vector<std::string>& numbers) const {
    check_count(hosts.size() * numbers.size());
    std::vector<std::string> all;
    all.reserve(hosts.size() * numbers.size());
    for (const std::string& host : hosts)
      for (const std::string& each : numbers) all.push_back(host + each);
    return all;
  }

  const std::string_view text_;
};

}  // namespace

std::vector<std::string> expand_host_list(std::string_view text) {
  if (text.starts_with('[')) return {std::string(text)};
  return HostList(text).expand();
}

}  // namespace clique::icd
