#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>

namespace clique::cli {

/// Prints a document in ASCII: names of nodes, of other clients and of kernels may have characters that
/// control terminals. Bytes that are no UTF-8 are replaced.
/// @param document a nlohmann::json or nlohmann::ordered_json
template <typename Json = nlohmann::ordered_json>
void print_json(const Json& document, std::FILE* to = stdout) {
  constexpr bool kAscii = true;
  std::fprintf(to, "%s\n", document.dump(2, ' ', kAscii, Json::error_handler_t::replace).c_str());
}

}  // namespace clique::cli
