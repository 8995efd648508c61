#include "protocol/host_id.hpp"

#include <fstream>

namespace clique::protocol {

std::string host_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

}  // namespace clique::protocol
