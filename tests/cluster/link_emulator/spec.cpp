#include "spec.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace clique::test {
namespace {

using Units = std::map<std::string_view, double>;

const Units kTimes{{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
const Units kRates{{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
const Units kPercent{{"%", 0.01}};

/// A number directly followed by its unit.
std::optional<double> quantity(std::string_view text, const Units& units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  const auto unit = units.find(std::string_view(rest, static_cast<std::size_t>(end - rest)));
  if (error != std::errc() || unit == units.end()) return std::nullopt;
  return number * unit->second;
}

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// The words of a specification, one after the other.
class Words {
 public:
  explicit Words(const std::string& text) : text_(text) {}

  /// The next word; empty at the end.
  std::string next() {
    std::string word;
    text_ >> word;
    return word;
  }
  /// Whether the next word begins with a digit.
  bool number_follows() {
    text_ >> std::ws;
    return text_.peek() >= '0' && text_.peek() <= '9';
  }
  /// The value of the next word, converted by `read`. Throws if it is not between `least` and `most`.
  template <typename Read, typename Number>
  Number value(const std::string& of, Read&& read, Number least, Number most, const char* wanted) {
    const std::string word = next();
    const std::optional<Number> value = read(word);
    if (!value || !(*value >= least && *value <= most))
      throw std::invalid_argument("'" + of + "' needs " + wanted +
                                  (word.empty() ? "" : ", not '" + word + "'"));
    return *value;
  }
  double probability(const std::string& of) {
    return value(
        of, [](std::string_view word) { return quantity(word, kPercent); }, 0.0, 1.0,
        "a percentage, such as 1.5%");
  }
  std::chrono::nanoseconds time(const std::string& of) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(value(
        of, [](std::string_view word) { return quantity(word, kTimes); }, 0.0, 1e12,
        "a time of 1000s at most, such as 20ms (us, ms, s)")));
  }

 private:
  std::istringstream text_;
};

}  // namespace

LinkSpec parse_link_spec(const std::string& text) {
  LinkSpec spec;
  Words words(text);
  const std::map<std::string, std::function<void(const std::string&)>> meanings{
      {"delay",
       [&](const std::string& word) {
         spec.delay = words.time(word);
         if (words.number_follows()) spec.jitter = words.time(word);
       }},
      {"loss", [&](const std::string& word) { spec.loss = words.probability(word); }},
      {"duplicate", [&](const std::string& word) { spec.duplicate = words.probability(word); }},
      {"reorder", [&](const std::string& word) { spec.reorder = words.probability(word); }},
      {"rate",
       [&](const std::string& word) {
         spec.rate = words.value(
             word, [](std::string_view rate) { return quantity(rate, kRates); }, 1.0, 1e15,
             "a rate, such as 100mbit (bit, kbit, mbit, gbit)");
       }},
      {"limit",
       [&](const std::string& word) {
         spec.limit = words.value(word, whole_number<std::size_t>, std::size_t{1}, std::size_t{1} << 32U,
                                  "a number of packets");
       }},
      {"mtu",
       [&](const std::string& word) {
         spec.mtu =
             words.value(word, whole_number<unsigned>, 576U, 65000U, "a number of bytes, 576 to 65000");
       }},
      {"seed",
       [&](const std::string& word) {
         spec.seed =
             words.value(word, whole_number<std::uint64_t>, std::uint64_t{0}, ~std::uint64_t{0}, "a number");
       }},
  };
  for (std::string word = words.next(); !word.empty(); word = words.next()) {
    const auto meaning = meanings.find(word);
    if (meaning == meanings.end())
      throw std::invalid_argument(
          "'" + word + "' is unknown; known are delay, loss, duplicate, reorder, rate, limit, mtu and seed");
    meaning->second(word);
  }
  if (spec.reorder > 0 && spec.delay.count() == 0)
    throw std::invalid_argument("'reorder' needs 'delay': reordered packets are those that are not delayed");
  return spec;
}

}  // namespace clique::test
