// The fields of a plain aggregate as a tuple, and their number: encoding a type does not compile if
// CLIQUE_FIELDS or CLIQUE_MESSAGE omits one of its fields.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

/// Lists the fields of an aggregate in their order on the wire. fields() is a template so that only the code
/// which encodes or decodes the aggregate instantiates its tuple.
#define CLIQUE_FIELDS(Type, ...)                        \
  template <typename Tie = clique::protocol::TieFields> \
  auto fields() {                                       \
    return Tie{}(__VA_ARGS__);                          \
  }                                                     \
  template <typename Tie = clique::protocol::TieFields> \
  auto fields() const {                                 \
    return Tie{}(__VA_ARGS__);                          \
  }

/// CLIQUE_FIELDS for a message: adds its number.
#define CLIQUE_MESSAGE(Type, ...)    \
  static constexpr Op op = Op::Type; \
  CLIQUE_FIELDS(Type, __VA_ARGS__)

namespace clique::protocol {

/// Makes the tuple of fields(): references to the fields.
struct TieFields {
  template <typename... Field>
  auto operator()(Field&... field) const {
    return std::tie(field...);
  }
};

namespace detail {
struct AnyField {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): only for counting
};

template <typename T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...> /*count*/) {
  return requires { T{(static_cast<void>(I), AnyField{})...}; };
}
}  // namespace detail

/// Number of fields of aggregate T, by trying how many initialisers it takes.
template <typename T, std::size_t N = 1>
constexpr std::size_t arity() {
  static_assert(std::is_aggregate_v<T>);
  if constexpr (!detail::takes<T>(std::make_index_sequence<N>{})) {
    return N - 1;
  } else {
    return arity<T, N + 1>();
  }
}

/// T with CLIQUE_FIELDS or CLIQUE_MESSAGE.
template <typename T>
concept Fielded = requires(T value) { value.fields(); };

template <Fielded T>
inline constexpr std::size_t kFieldCount = std::tuple_size_v<decltype(std::declval<T&>().fields())>;

}  // namespace clique::protocol
