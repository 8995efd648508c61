// Recordings as CUDA graphs: commands that are captured once, and launched as one.
#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/backend/cuda/cuda_backend.hpp"

namespace clique::daemon::cuda {

namespace {

/// What `run` puts into the stream, as a graph. Throws ClError.
CUgraphExec capture(CUstream stream, const std::function<void()>& run) {
  // Relaxed: the build thread may go on to call the driver meanwhile, and so may what is captured.
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

/// What comes next into the stream comes after these nodes of the graph.
void come_after(CUstream stream, std::vector<CUgraphNode> nodes) {
  // None may be named twice.
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  CLIQUE_CUDA(StreamUpdateCaptureDependencies(stream, nodes.data(), nodes.size(),
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES));
}

/// @returns the nodes of the graph that come last in the stream as it is.
std::vector<CUgraphNode> last_nodes(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  CLIQUE_CUDA(StreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &count));
  return {nodes, nodes + count};
}

}  // namespace

/// Keeps what its commands use.
class CudaBackend::CapturedGraph : public Graph, public std::enable_shared_from_this<CapturedGraph> {
 public:
  /// @param kernel the first
  CapturedGraph(CudaBackend& backend, CUgraphExec native, std::vector<std::shared_ptr<const void>> keep,
                std::string_view kernel)
      : backend_(backend), native_(native), keep_(std::move(keep)), kernel_(kernel) {}
  ~CapturedGraph() override { static_cast<void>(driver().GraphExecDestroy(native_)); }

  void run(const Command& command) override {
    backend_.submit(command, [this] {
      Work work;
      work.keep = {shared_from_this()};
      work.kernel = kernel_;
      work.run = [native = native_](CUstream stream) { CLIQUE_CUDA(GraphLaunch(native, stream)); };
      return work;
    });
  }

 private:
  CudaBackend& backend_;
  CUgraphExec const native_;
  const std::vector<std::shared_ptr<const void>> keep_;
  const std::string_view kernel_;
};

bool CudaBackend::begin_graph(ObjectId queue) {
  // A limit is one for each kernel.
  if (surroundings_.kernel_limit.count() != 0) return false;
  try {
    collected_ = Collected{queues_.get(queue)->in_order, {}, {}, false};
    return true;
  } catch (const ClError&) {
    return false;  // the queue could not be made, and so nothing runs in it
  }
}

std::shared_ptr<Graph> CudaBackend::end_graph() {
  Collected collected = std::move(*std::exchange(collected_, std::nullopt));
  if (collected.refused) return nullptr;
  try {
    if (capturing_ == nullptr) CLIQUE_CUDA(StreamCreate(&capturing_, CU_STREAM_NON_BLOCKING));
    CUgraphExec const native = capture(capturing_, [&] {
      std::vector<std::vector<CUgraphNode>> ends;  // of each work
      for (std::size_t i = 0; i < collected.works.size(); ++i) {
        if (!collected.in_order) {
          std::vector<CUgraphNode> before;
          for (const CommandId earlier : collected.waits[i])
            before.insert(before.end(), ends[earlier].begin(), ends[earlier].end());
          come_after(capturing_, std::move(before));
        }
        if (collected.works[i].run) collected.works[i].run(capturing_);
        if (!collected.in_order) ends.push_back(last_nodes(capturing_));
      }
    });
    std::vector<std::shared_ptr<const void>> keep;
    for (Work& work : collected.works)
      std::move(work.keep.begin(), work.keep.end(), std::back_inserter(keep));
    return std::make_shared<CapturedGraph>(*this, native, std::move(keep), collected.works.front().kernel);
  } catch (const ClError& error) {
    spdlog::debug("a recording runs command by command: {}", error.what());
    return nullptr;
  }
}

void CudaBackend::collect(const Command& command, Work work) {
  // What is to be done at the end of each run, as to print, is not a graph's.
  collected_->refused = collected_->refused || work.data || work.before_report;
  collected_->works.push_back(std::move(work));
  collected_->waits.push_back(command.waits);
}

}  // namespace clique::daemon::cuda
