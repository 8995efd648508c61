#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz {

namespace {

/// A function, because targets register themselves in any order with the construction of other constants.
std::vector<Target>& registered() {
  static std::vector<Target> all;
  return all;
}

}  // namespace

const std::vector<Target>& targets() {
  return registered();
}

Registration::Registration(std::string_view name, std::vector<std::string> (*seeds)(),
                           void (*test)(const std::uint8_t* data, std::size_t size)) {
  registered().push_back({name, seeds, test});
}

}  // namespace clique::fuzz
