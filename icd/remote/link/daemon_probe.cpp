#include "icd/remote/link/daemon_probe.hpp"

#include <exception>
#include <utility>

#include "protocol/random.hpp"

namespace clique::icd {

DaemonProbe::DaemonProbe(std::optional<protocol::StreamTarget> target) : target_(std::move(target)) {}

void DaemonProbe::ask() {
  if (!target_ || asked_) return;
  asked_ = true;
  protocol::fill_random(target_->worker);
  try {
    question_ = protocol::begin_dial(*target_, {});
  } catch (const std::exception&) {
    // The daemon cannot be reached.
  }
}

bool DaemonProbe::answered() {
  try {
    if (question_) question_->step();
  } catch (const protocol::DialFailed& failure) {
    answered_ = failure.kind() == protocol::DialFailed::Kind::Gone;
    question_.reset();
  } catch (const std::exception&) {
    question_.reset();
  }
  return answered_;
}

void DaemonProbe::reset() {
  question_.reset();
  asked_ = answered_ = false;
}

}  // namespace clique::icd
