#include "daemon/backend/cuda/execution/stream.hpp"

namespace clique::daemon::cuda {

Stream::Stream(unsigned index, const std::uint32_t* word, CUdeviceptr address)
    : index_(index), word_(word), address_(address) {
  CLIQUE_CUDA(StreamCreate(&native_, CU_STREAM_NON_BLOCKING));
}

}  // namespace clique::daemon::cuda
