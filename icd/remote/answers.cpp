#include "icd/remote/answers.hpp"

#include <utility>

#include "protocol/decode_error.hpp"

namespace clique::icd {

protocol::RequestId Answers::expect(protocol::Op reply, Answer answer) {
  std::unique_lock lock(mutex_);
  if (failed_) {
    const std::string failure = failure_;
    lock.unlock();
    answer(nullptr, failure);
    return 0;
  }
  expected_.emplace(++last_, Expected{reply, std::move(answer)});
  return last_;
}

void Answers::deliver(protocol::RequestId request, protocol::Op op, void* reply) {
  Answer answer;
  {
    std::lock_guard lock(mutex_);
    const auto found = expected_.find(request);
    if (found == expected_.end())
      throw protocol::DecodeError("a reply to request " + std::to_string(request) +
                                  ", which is not outstanding");
    if (found->second.reply != op)
      throw protocol::DecodeError("message type " + std::to_string(static_cast<int>(op)) +
                                  " as reply to request " + std::to_string(request) +
                                  ", which expects type " +
                                  std::to_string(static_cast<int>(found->second.reply)));
    answer = std::move(found->second.answer);
    expected_.erase(found);
  }
  answer(reply, {});
}

void Answers::fail_all(const std::string& reason) {
  std::unordered_map<protocol::RequestId, Expected> failing;
  {
    std::lock_guard lock(mutex_);
    failed_ = true;
    failure_ = reason;
    failing.swap(expected_);
  }
  for (auto& [request, expected] : failing) expected.answer(nullptr, reason);
}

}  // namespace clique::icd
