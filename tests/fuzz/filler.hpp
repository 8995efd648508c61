// Values for every field of a message, so that seeds contain each of them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::fuzz {

/// Gives every field a value other than its default: texts, blocks and lists get one element.
struct Filler {
  std::uint8_t next = 0;

  template <std::integral T>
  void operator()(T& value) {
    value = static_cast<T>(++next);
  }
  void operator()(bool& value) { value = true; }
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(T& value) {
    value = static_cast<T>(1);
  }
  void operator()(std::string& value) { value = "text"; }
  void operator()(protocol::Payload& value) {
    static const std::vector<std::byte> bytes(3);
    value.bytes = bytes;
  }
  template <typename T>
  void operator()(std::vector<T>& value) {
    (*this)(value.emplace_back());
  }
  template <typename T, std::size_t N>
  void operator()(std::array<T, N>& value) {
    for (T& element : value) (*this)(element);
  }
  template <protocol::Fielded T>
  void operator()(T& value) {
    std::apply([this](auto&... field) { ((*this)(field), ...); }, value.fields());
  }
};

/// A value whose fields all differ from their defaults.
template <typename T>
T filled() {
  T value;
  Filler{}(value);
  return value;
}

/// A batch with each message of the list.
template <typename... M>
protocol::Batch filled_batch(protocol::MessageList<M...> /*list*/) {
  protocol::Batch batch;
  (batch.add(filled<M>()), ...);
  return batch;
}

}  // namespace clique::fuzz
