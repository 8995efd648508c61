#include "icd/core/objects/sampler.hpp"

#include <algorithm>

#include "icd/core/objects/context.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

Sampler::Sampler(Ref<Context> context, const Mode& mode, std::vector<cl_sampler_properties> properties)
    : context_(std::move(context)), mode_(mode), properties_(std::move(properties)) {}

Sampler::~Sampler() {
  for (Worker* worker : created_on_) worker->release_object(id_);
}

void Sampler::ensure_on(Worker& worker) {
  // Posted under the lock: a thread that finds the worker in the list may use the sampler in its next
  // message.
  const std::lock_guard lock(mutex_);
  if (std::find(created_on_.begin(), created_on_.end(), &worker) != created_on_.end()) return;
  worker.link().post(
      protocol::CreateSampler{id_, context_->id(), mode_.normalized, mode_.addressing, mode_.filter});
  created_on_.push_back(&worker);
}

}  // namespace clique::icd
