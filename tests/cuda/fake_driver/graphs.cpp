// Captures of streams, and graphs.
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels.hpp"
#include "streams.hpp"

using namespace fake_cuda;

struct CUgraph_st {
  std::vector<std::function<void()>> work;
  std::deque<CUgraphNode_st> nodes;  // which an application has
  std::vector<std::unique_ptr<CUgraphNode_st>> captured;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};
EXPORT cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode /*mode*/) {
  if (stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  stream->captured.emplace();
  return CUDA_SUCCESS;
}
EXPORT cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  if (!stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  Capture captured = std::move(*std::exchange(stream->captured, std::nullopt));
  auto work = captured.in_order();
  *graph = new CUgraph_st{std::move(work), {}, captured.take_nodes()};
  return CUDA_SUCCESS;
}
EXPORT cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* /*id*/,
                                 CUgraph* /*graph*/, const CUgraphNode** after, size_t* count) {
  if (!stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  *after = stream->captured->last().data();
  *count = stream->captured->last().size();
  return CUDA_SUCCESS;
}
EXPORT cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* after, size_t count, unsigned flags) {
  if (!stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  return flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES && stream->captured->come_after({after, after + count})
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}
EXPORT cuGraphCreate(CUgraph* graph, unsigned /*flags*/) {
  *graph = new CUgraph_st;
  return CUDA_SUCCESS;
}
EXPORT cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* /*after*/, size_t count,
                               const CUDA_KERNEL_NODE_PARAMS* parameters) {
  auto work = work_of(*parameters);
  if (!work || count != 0) return CUDA_ERROR_INVALID_VALUE;
  *node = &graph->nodes.emplace_back(CUgraphNode_st{graph->work.size()});
  graph->work.push_back(std::move(work));
  return CUDA_SUCCESS;
}
EXPORT cuGraphExecKernelNodeSetParams_v2(CUgraphExec native, CUgraphNode node,
                                         const CUDA_KERNEL_NODE_PARAMS* parameters) {
  auto work = work_of(*parameters);
  if (!work) return CUDA_ERROR_INVALID_VALUE;
  native->work.at(node->index) = std::move(work);
  return CUDA_SUCCESS;
}
EXPORT cuGraphInstantiateWithFlags(CUgraphExec* native, CUgraph graph, unsigned long long /*flags*/) {
  *native = new CUgraphExec_st{graph->work};
  return CUDA_SUCCESS;
}
EXPORT cuGraphDestroy(CUgraph graph) {
  delete graph;
  return CUDA_SUCCESS;
}
EXPORT cuGraphExecDestroy(CUgraphExec native) {
  delete native;
  return CUDA_SUCCESS;
}
EXPORT cuGraphLaunch(CUgraphExec native, CUstream stream) {
  if (stream->captured) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return stream->put([work = native->work] {
    for (const auto& one : work) one();
  });
}
