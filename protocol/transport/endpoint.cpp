#include "protocol/transport/endpoint.hpp"

#include <regex>

namespace clique::protocol {

bool is_tcp_endpoint(const std::string& endpoint) {
  constexpr std::size_t kLongest = 300;
  static const std::regex allowed(
      R"(tcp://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+(%[A-Za-z0-9._-]+)?\]):[0-9]{1,5})");
  return endpoint.size() <= kLongest && std::regex_match(endpoint, allowed);
}

}  // namespace clique::protocol
