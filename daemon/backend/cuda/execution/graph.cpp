#include "daemon/backend/cuda/execution/graph.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace clique::daemon::cuda {

namespace {

/// Makes a graph of what `run` puts into the stream. Throws ClError.
template <typename Run>
CUgraphExec instantiate(CUstream stream, Run&& run) {
  // In relaxed mode, the build thread and the captured commands may go on calling the driver meanwhile.
  CLIQUE_CUDA(StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUgraph graph = nullptr;
  try {
    run();
  } catch (const ClError&) {
    static_cast<void>(driver().StreamEndCapture(stream, &graph));
    if (graph != nullptr) static_cast<void>(driver().GraphDestroy(graph));
    throw;
  }
  CLIQUE_CUDA(StreamEndCapture(stream, &graph));
  CUgraphExec native = nullptr;
  const CUresult result = driver().GraphInstantiateWithFlags(&native, graph, 0);
  static_cast<void>(driver().GraphDestroy(graph));
  check(result, "cuGraphInstantiateWithFlags");
  return native;
}

/// Lets what is captured next follow these nodes of the graph, and no others.
void come_after(CUstream stream, std::vector<CUgraphNode> nodes) {
  // The driver refuses a node that is named twice.
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  CLIQUE_CUDA(StreamUpdateCaptureDependencies(stream, nodes.data(), nodes.size(),
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

/// The nodes of the graph that the next captured command would follow.
std::vector<CUgraphNode> last_nodes(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  CLIQUE_CUDA(StreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &count));
  return {nodes, nodes + count};
}

}  // namespace

std::unique_ptr<WorkGraph> Capture::capture(RecordedWork recorded) {
  if (stream_ == nullptr) CLIQUE_CUDA(StreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  CUgraphExec const native = instantiate(stream_, [&] {
    std::vector<std::vector<CUgraphNode>> ends;  // of each step
    for (const RecordedWork::Step& step : recorded.steps) {
      if (!recorded.in_order) {
        std::vector<CUgraphNode> before;
        for (const std::uint64_t earlier : step.after)
          before.insert(before.end(), ends[earlier].begin(), ends[earlier].end());
        come_after(stream_, std::move(before));
      }
      if (step.work.run) step.work.run(stream_);
      if (!recorded.in_order) ends.push_back(last_nodes(stream_));
    }
  });
  std::vector<std::shared_ptr<const void>> keep;
  for (RecordedWork::Step& step : recorded.steps)
    std::move(step.work.keep.begin(), step.work.keep.end(), std::back_inserter(keep));
  return std::make_unique<WorkGraph>(native, std::move(keep), recorded.steps.front().work.kernel);
}

}  // namespace clique::daemon::cuda
