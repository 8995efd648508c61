#pragma once

#include <mutex>
#include <vector>

#include "icd/common/object.hpp"
#include "protocol/ids.hpp"

namespace clique::icd {

class Context;
class Worker;

/// OpenCL 3.0, section 5.7: how kernels read images. Any thread.
class Sampler final : public Object<_cl_sampler, Kind::Sampler, CL_INVALID_SAMPLER> {
 public:
  struct Mode {
    bool normalized = true;
    cl_addressing_mode addressing = CL_ADDRESS_CLAMP;
    cl_filter_mode filter = CL_FILTER_NEAREST;
  };

  /// @param properties the application's list with its closing 0, or empty.
  Sampler(Ref<Context> context, const Mode& mode, std::vector<cl_sampler_properties> properties);
  ~Sampler() override;

  protocol::ObjectId id() const { return id_; }
  const Ref<Context>& context() const { return context_; }
  const Mode& mode() const { return mode_; }
  const std::vector<cl_sampler_properties>& properties() const { return properties_; }

  /// Creates the native object on the worker if it does not exist there. Any thread; not within
  /// Link::compose.
  void ensure_on(Worker& worker);

 private:
  protocol::ObjectId id_ = next_id();
  Ref<Context> context_;
  Mode mode_;
  std::vector<cl_sampler_properties> properties_;
  std::mutex mutex_;
  std::vector<Worker*> created_on_;
};

}  // namespace clique::icd
