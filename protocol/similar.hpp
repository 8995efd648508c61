// Names that somebody may have meant.
#pragma once

#include <span>
#include <string_view>

namespace clique::protocol {

/// The candidate with the most similar name, by the number of characters to insert, remove or replace; of
/// several, the first one. Empty if none is similar.
std::string_view most_similar(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace clique::protocol
