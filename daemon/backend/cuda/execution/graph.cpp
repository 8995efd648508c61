#include "daemon/backend/cuda/execution/graph.hpp"

#include <algorithm>
#include <utility>

#include "daemon/backend/cuda/execution/launches.hpp"

namespace clique::daemon::cuda {

namespace {

/// Makes a graph of what `run` puts into the stream. Throws ClError.
template <typename Run>
WorkGraph::Native instantiate(CUstream stream, Run&& run) {
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
  WorkGraph::Native native{graph};
  const CUresult result = driver().GraphInstantiateWithFlags(&native.instance, graph, 0);
  if (result != CUDA_SUCCESS) static_cast<void>(driver().GraphDestroy(graph));
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

bool WorkGraph::replace(const std::vector<std::uint64_t>& numbers, RecordedWork& work) {
  if (work.steps.size() != numbers.size()) return false;
  Keep keep = *keep_;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    CUgraphNode const node = native_.nodes.at(numbers[i]);
    Work& step = work.steps[i].work;
    if (node == nullptr || !step.launch || !set_node(native_.instance, node, *step.launch)) return false;
    keep[numbers[i]] = std::move(step.keep);
    // The name belongs to what has just been replaced.
    if (numbers[i] == 0) kernel_ = step.kernel;
  }
  keep_ = std::make_shared<const Keep>(std::move(keep));
  return true;
}

std::unique_ptr<WorkGraph> Capture::capture(RecordedWork recorded) {
  if (stream_ == nullptr) CLIQUE_CUDA(StreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  std::vector<CUgraphNode> nodes;
  WorkGraph::Native native = instantiate(stream_, [&] {
    std::vector<std::vector<CUgraphNode>> ends;  // of each step
    for (const RecordedWork::Step& step : recorded.steps) {
      if (!recorded.in_order) {
        std::vector<CUgraphNode> before;
        for (const std::uint64_t earlier : step.after)
          before.insert(before.end(), ends[earlier].begin(), ends[earlier].end());
        come_after(stream_, std::move(before));
      }
      if (step.work.run) step.work.run(stream_);
      std::vector<CUgraphNode> last;
      if (!recorded.in_order || step.work.launch) last = last_nodes(stream_);
      nodes.push_back(step.work.launch && last.size() == 1 ? last.front() : nullptr);
      if (!recorded.in_order) ends.push_back(std::move(last));
    }
  });
  native.nodes = std::move(nodes);
  WorkGraph::Keep keep;
  for (RecordedWork::Step& step : recorded.steps) keep.push_back(std::move(step.work.keep));
  return std::make_unique<WorkGraph>(std::move(native), std::move(keep), recorded.steps.front().work.kernel);
}

}  // namespace clique::daemon::cuda
