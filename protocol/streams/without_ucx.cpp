// Instead of ucx_channel.cpp and ucx_engine.cpp where UCX's headers are not installed.
#include "protocol/streams/ucx_channel.hpp"

namespace clique::protocol {

const std::string& ucx_missing() {
  static const std::string reason = "Clique was built without UCX. Install libucx-dev and build it again";
  return reason;
}

std::unique_ptr<UcxChannel> UcxChannel::open(int /*socket*/) {
  throw UcxError(ucx_missing());
}

}  // namespace clique::protocol
