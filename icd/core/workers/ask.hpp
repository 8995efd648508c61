// Sending requests to several workers. Only for source files: it includes the link.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "icd/core/workers/replies.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

/// How long a worker may answer none of the requests about programs.
AnswerLimit build_limit(const Link& link);

/// Sends each worker its request, which is about a program. Does not wait. The caller must not hold a lock
/// that `done` takes.
template <typename Reply, typename M>
std::shared_ptr<Replies<Reply>> ask(std::vector<std::pair<Worker*, M>> requests,
                                    typename Replies<Reply>::Done done = {}) {
  auto replies = std::make_shared<Replies<Reply>>(requests.size(), std::move(done));
  for (std::size_t i = 0; i < requests.size(); ++i) replies->expect(i, *requests[i].first);
  if (requests.empty()) replies->finish_empty();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    Link& link = requests[i].first->link();
    link.template request<Reply>(
        std::move(requests[i].second),
        [replies, i](Reply* reply, const std::string& reason) { replies->take(i, reply, reason); },
        build_limit(link));
    link.flush();
  }
  return replies;
}

}  // namespace clique::icd
