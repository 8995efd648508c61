#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

namespace clique::test::division {

/// The command line of a program that tries random kernels.
struct Options {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  bool print = false;
};

/// @param options what holds where the command line says nothing
/// @param also called with an option that other programs do not have; @returns whether it is one
/// Throws std::invalid_argument, and std::out_of_range.
inline Options parse(int count, char** words, Options options,
                     const std::function<bool(const std::string& name)>& also = {}) {
  for (int i = 1; i < count; ++i) {
    const std::string name = words[i];
    const auto number = [&] {
      if (i + 1 == count) throw std::invalid_argument(name + " needs a number");
      return std::stoull(words[++i]);
    };
    if (name == "--seed") {
      options.seed = number();
    } else if (name == "--seeds") {
      options.seeds = number();
    } else if (name == "--print") {
      options.print = true;
    } else if (!also || !also(name)) {
      throw std::invalid_argument("what is " + name + "?");
    }
  }
  return options;
}

}  // namespace clique::test::division
