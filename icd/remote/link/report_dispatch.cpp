#include "icd/remote/link/report_dispatch.hpp"

#include <string>
#include <utility>

#include "icd/remote/link/answers.hpp"
#include "icd/remote/link/link_control.hpp"
#include "icd/remote/link/reports.hpp"
#include "icd/remote/transfers/bulk_lines.hpp"
#include "icd/remote/transfers/guest_segments.hpp"
#include "icd/remote/transfers/uploads.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

Reports& ReportDispatch::reports() const {
  Reports* const receiver = this->receiver();
  if (receiver == nullptr) throw protocol::DecodeError("a report before the first command");
  return *receiver;
}

void ReportDispatch::take(WorkerMessage&& message) {
  std::visit([this](auto&& one) { take_one(std::forward<decltype(one)>(one)); }, std::move(message));
}

namespace {

/// Refuses answers that would make the client allocate any amount of memory.
template <typename M>
void check(const M& /*message*/) {}
template <>
void check(const protocol::ProgramBuilt& message) {
  std::uint64_t arguments = 0;
  for (const protocol::KernelDescription& kernel : message.kernels) {
    arguments += kernel.arg_count;
    if (arguments > protocol::Limits::kElements)
      throw protocol::DecodeError("kernel " + kernel.name + " with " + std::to_string(kernel.arg_count) +
                                  " arguments; the kernels of a program have at most " +
                                  std::to_string(protocol::Limits::kElements) + " together");
  }
}

}  // namespace

template <typename M>
void ReportDispatch::take_one(M&& message) {
  // Replies have the number of their request; reports have none.
  check<std::remove_cvref_t<M>>(message);
  if constexpr (requires { message.request; })
    answers_.deliver(message.request, std::remove_cvref_t<M>::op, &message);
  else
    take_report(std::forward<M>(message));
}

void ReportDispatch::take_report(protocol::Attached&& /*attached*/) {
  throw protocol::DecodeError("a second Attached");
}

void ReportDispatch::take_report(protocol::SessionEnded&& end) {
  last_words_ = end.reason.empty() ? "no reason given" : std::move(end.reason);
  control_.give_up(last_words_);
}

void ReportDispatch::take_report(protocol::EventState&& state) {
  // NOLINTNEXTLINE(performance-move-const-arg): all reports are handed on in one way
  reports().event_state(std::move(state));
}

void ReportDispatch::take_report(protocol::Data&& data) {
  reports().data(std::move(data));
}

void ReportDispatch::take_report(protocol::Print&& text) {
  reports().print(std::move(text));
}

void ReportDispatch::take_report(protocol::Failed&& failure) {
  reports().failed(std::move(failure));
}

void ReportDispatch::take_report(protocol::PeerLost&& loss) {
  reports().unreachable(loss);
}

void ReportDispatch::take_report(protocol::PeerSilent&& silence) {
  reports().out_of_reach(silence.peer, silence.reason);
}

void ReportDispatch::take_report(protocol::PeerData&& part) {
  bulk_.open_more_incoming();
  reports().pushed(std::move(part));
}

void ReportDispatch::take_report(protocol::Taken&& taken) {
  if (uploads_.taken(taken)) inbox_.run({[this] { uploads_.go_on(); }, {}});
}

void ReportDispatch::take_report(protocol::SegmentFreed&& freed) {
  if (segments_ == nullptr)
    throw protocol::DecodeError("segment " + std::to_string(freed.segment) +
                                " is freed, in a session that can place none");
  segments_->freed(freed.segment);
}

}  // namespace clique::icd
