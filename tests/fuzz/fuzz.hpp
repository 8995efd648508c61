// What the targets of this folder share. A target is one file, which registers a function that feeds an input
// to one surface of Clique. An input may be refused in the ways that the code under test documents; anything
// else is a finding: another exception, a report of a sanitizer, a failed require().
//
// As tests, all targets are one program; with libFuzzer, each is a program of its own, because libFuzzer
// looks at counters of all code of a program after each input. Each file has a namespace of its own,
// target_FILE, because unity builds compile several as one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "protocol/fd.hpp"

namespace clique::fuzz {

struct Target {
  /// The name of its file, without the extension.
  std::string_view name;
  /// Well-formed inputs, from which others are made by mutation. They are made by Clique's own encoders, so
  /// that they follow every change of the formats.
  std::vector<std::string> (*seeds)();
  /// Tests one input.
  void (*test)(const std::uint8_t* data, std::size_t size);
};

/// The targets of this program, complete when main() begins.
const std::vector<Target>& targets();

/// Makes a target one of targets(). Constructed before main() begins, as a constant of the target's file.
class Registration {
 public:
  Registration(std::string_view name, std::vector<std::string> (*seeds)(),
               void (*test)(const std::uint8_t* data, std::size_t size));
};

/// Ends the process with a message if a property that the target checks does not hold.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "ERROR: the property does not hold: %s\n", property);
  std::abort();
}

/// An input as the bytes that the code under test takes.
inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Hands out an input piece by piece, from its beginning. When it is used up, numbers are 0 and pieces empty.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(std::as_bytes(std::span(data, size))) {}

  bool empty() const { return rest_.empty(); }

  /// The next number, in the host's byte order.
  template <typename T>
  T number() {
    static_assert(std::is_unsigned_v<T>);
    T value = 0;
    const auto bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  /// The next `size` bytes, or what is left.
  std::span<const std::byte> take(std::size_t size) {
    const auto piece = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(piece.size());
    return piece;
  }
  std::span<const std::byte> rest() { return take(rest_.size()); }
  /// take() into a block of its own, so that sanitizers notice reads beyond its ends, or after its release.
  std::shared_ptr<const std::vector<std::byte>> block(std::size_t size) {
    const auto piece = take(size);
    return std::make_shared<const std::vector<std::byte>>(piece.begin(), piece.end());
  }

 private:
  std::span<const std::byte> rest_;
};

/// Writes what Input reads, for seeds.
class Output {
 public:
  template <typename T>
  Output& number(T value) {
    static_assert(std::is_unsigned_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Output& bytes(std::span<const std::byte> bytes) {
    text_.append(text_of(bytes));
    return *this;
  }
  Output& bytes(std::string_view text) { return bytes(bytes_of(text)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A file in memory, for code that reads files. Only this user can read it.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> content);
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  Fd file_;
};

}  // namespace clique::fuzz
