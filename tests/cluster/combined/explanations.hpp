#pragma once

#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

namespace clique::test::division {

/// What the library says on standard error, which goes to a file. Wants CLIQUE_COMBINE_EXPLAIN=1.
class Explanations {
 public:
  Explanations() {
    std::snprintf(path_.data(), path_.size(), "/tmp/combined-tests-%d", ::getpid());
    if (std::freopen(path_.data(), "w", stderr) == nullptr)
      throw std::runtime_error("cannot redirect stderr");
  }
  ~Explanations() { ::unlink(path_.data()); }
  Explanations(const Explanations&) = delete;
  Explanations& operator=(const Explanations&) = delete;

  /// How many lines have both.
  unsigned count(const std::string& text, const std::string& other = "") const {
    std::fflush(stderr);
    std::ifstream file(path_.data());
    unsigned found = 0;
    for (std::string line; std::getline(file, line);)
      found += line.find(text) != std::string::npos && line.find(other) != std::string::npos ? 1 : 0;
    return found;
  }

 private:
  std::array<char, 64> path_{};
};

}  // namespace clique::test::division
