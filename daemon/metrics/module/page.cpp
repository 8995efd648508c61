// The module with which cliqued serves metrics by HTTP.
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "daemon/metrics/metrics.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::array<const char*, kWishes> kWishNames{"session", "devices", "status",
                                                      "steer",   "reserve", "reach"};
constexpr std::array<const char*, kRefusals> kRefusalNames{"access",    "version", "draining", "limit",
                                                           "exclusive", "busy",    "request",  "failure"};

/// Builds families of metrics.
class Families {
 public:
  using Labels = std::vector<ClientMetric::Label>;

  /// Begins a family. Its values follow.
  Families& family(std::string name, std::string help, MetricType type) {
    families_.push_back({std::move(name), std::move(help), type, {}});
    return *this;
  }
  Families& counter(std::string name, std::string help) {
    return family(std::move(name), std::move(help), MetricType::Counter);
  }
  Families& gauge(std::string name, std::string help) {
    return family(std::move(name), std::move(help), MetricType::Gauge);
  }
  Families& value(std::uint64_t number, Labels labels = {}) {
    return value(static_cast<double>(number), std::move(labels));
  }
  Families& value(double number, Labels labels = {}) {
    MetricFamily& family = families_.back();
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = std::move(labels);
    (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = number;
    return *this;
  }
  /// @param bounds of the buckets, in microseconds
  template <std::size_t N>
  void histogram(std::string name, std::string help, const std::array<std::uint64_t, N>& bounds,
                 const DurationCounts<N>& durations) {
    constexpr double kSecond = 1e6;
    family(std::move(name), std::move(help), MetricType::Histogram);
    ClientMetric::Histogram& histogram = families_.back().metric.emplace_back().histogram;
    // Hostile workers choose the numbers: those of a histogram have to grow all the same.
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t& count = histogram.sample_count;
    for (std::size_t i = 0; i <= N; ++i) {
      count += std::min(durations.counts[i], kMost - count);
      const double bound =
          i < N ? static_cast<double>(bounds[i]) / kSecond : std::numeric_limits<double>::infinity();
      histogram.bucket.push_back({count, bound});
    }
    histogram.sample_sum = static_cast<double>(durations.sum_us) / kSecond;
  }
  std::vector<MetricFamily> take() {
    // Prometheus wants no family without values.
    std::erase_if(families_, [](const MetricFamily& family) { return family.metric.empty(); });
    return std::move(families_);
  }

 private:
  std::vector<MetricFamily> families_;
};

void add_sessions(const MetricsSnapshot& state, Families& families) {
  families.gauge("clique_build_info", "The releases of cliqued and of clique-compiler, as labels; always 1.")
      .value(1.0, {{"version", CLIQUE_VERSION},
                   {"node", state.node},
                   {"compiler", protocol::printable(state.compiler_release)}});
  families
      .gauge("clique_draining", "Whether the node refuses new sessions and stops when the others have ended.")
      .value(state.draining ? 1.0 : 0.0);
  families.gauge("clique_sessions", "Sessions that run.").value(state.sessions);
  families.gauge("clique_session_limit", "The most sessions at a time; 0 is no limit.")
      .value(state.session_limit);
  families.gauge("clique_waiting_clients", "Clients whose requests are not answered yet.")
      .value(state.waiting);
  families
      .gauge("clique_queued_commands",
             "Commands that sessions have enqueued on the node's devices and that have not ended.")
      .value(state.queued);
  families.counter("clique_sessions_opened_total", "Sessions that were opened.").value(state.counts.sessions);
  families.counter("clique_admissions_total",
                   "Requests of clients that were accepted, by what they ask for.");
  for (std::size_t i = 0; i < kWishes; ++i)
    families.value(state.counts.admissions[i], {{"wish", kWishNames[i]}});
  families.counter("clique_refusals_total", "Requests of clients that were refused, by reason.");
  for (std::size_t i = 0; i < kRefusals; ++i)
    families.value(state.counts.refusals[i], {{"reason", kRefusalNames[i]}});
  families.gauge("clique_client_sessions", "Sessions that run, by client.");
  for (const ClientUsage& one : state.clients)
    families.value(one.sessions, {{"client", protocol::printable(one.client)}});
  families.gauge("clique_client_memory_bytes", "Memory of the buffers and images of sessions, by client.");
  for (const ClientUsage& one : state.clients)
    families.value(one.memory, {{"client", protocol::printable(one.client)}});
}

void add_traffic(const protocol::Usage& usage, Families& families) {
  families.counter("clique_kernels_total", "Kernels that sessions have enqueued.").value(usage.kernels);
  families.counter("clique_transfer_bytes_total",
                   "Bytes that sessions have received (in) and sent (out): through connections of clients, "
                   "memory shared with clients, and from and to other workers.");
  families.value(usage.network_in, {{"way", "network"}, {"direction", "in"}})
      .value(usage.network_out, {{"way", "network"}, {"direction", "out"}})
      .value(usage.shared_in, {{"way", "shared"}, {"direction", "in"}})
      .value(usage.shared_out, {{"way", "shared"}, {"direction", "out"}})
      .value(usage.peers_in, {{"way", "peers"}, {"direction", "in"}})
      .value(usage.peers_out, {{"way", "peers"}, {"direction", "out"}});
}

void add_measured(const Measured& measured, Families& families) {
  families
      .counter("clique_resumes_total",
               "Connections between nodes and clients that broke and came back, so that the session went on.")
      .value(measured.resumes);
  families
      .counter(
          "clique_compiler_cache_requests_total",
          "Programs for CUDA devices that the cache of compiled programs had (hit), or that were compiled "
          "(miss).")
      .value(measured.cache_hits, {{"result", "hit"}})
      .value(measured.cache_misses, {{"result", "miss"}});
  families.histogram("clique_build_seconds", "How long builds of programs took, also from a cache.",
                     kBuildBounds, measured.builds);
  families.histogram("clique_round_trip_seconds",
                     "Round trips of connections to clients as TCP estimates them, once a second for each "
                     "session that is busy and does not share memory with its client.",
                     kRoundTripBounds, measured.round_trips);
}

/// Figures that dcgm-exporter has as well get its names, units and labels, so that its dashboards work.
void add_gpus(const MetricsSnapshot& state, Families& families) {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  const auto add = [&](const char* name, const char* help, auto&& value_of) {
    families.gauge(name, help);
    for (const GpuState& gpu : state.gpus) {
      const double value = value_of(gpu);
      if (value >= 0)
        families.value(
            value,
            {{"gpu", std::to_string(gpu.index)}, {"UUID", "GPU-" + gpu.uuid}, {"Hostname", state.host}});
    }
  };
  const auto mebibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / kMebibyte; };
  add("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", [](const GpuState& gpu) {
    return gpu.utilisation == protocol::kUnknown ? -1.0 : static_cast<double>(gpu.utilisation);
  });
  add("DCGM_FI_DEV_FB_FREE", "Frame buffer memory free (in MiB).", [&](const GpuState& gpu) {
    return gpu.memory_free == protocol::kUnknown ? -1.0 : mebibytes(gpu.memory_free);
  });
  add("DCGM_FI_DEV_FB_USED", "Frame buffer memory used (in MiB).", [&](const GpuState& gpu) {
    return gpu.memory_free > gpu.memory_total       ? -1.0
           : gpu.memory_total == protocol::kUnknown ? -1.0
                                                    : mebibytes(gpu.memory_total - gpu.memory_free);
  });
}

/// What scrapes read. Any thread.
class Page final : public prometheus::Collectable {
 public:
  void publish(MetricsSnapshot snapshot) {
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(snapshot);
  }
  std::vector<MetricFamily> Collect() const override {
    Families families;
    const std::lock_guard lock(mutex_);
    add_sessions(snapshot_, families);
    add_traffic(snapshot_.counts.usage, families);
    add_measured(snapshot_.counts.measured, families);
    add_gpus(snapshot_, families);
    return families.take();
  }

 private:
  mutable std::mutex mutex_;
  MetricsSnapshot snapshot_;
};

class PrometheusMetrics final : public Metrics {
 public:
  explicit PrometheusMetrics(const std::string& address) : exposer_(address), address_(address) {
    exposer_.RegisterCollectable(page_);
    const auto ports = exposer_.GetListeningPorts();
    if (!ports.empty()) address_ = address.substr(0, address.rfind(':') + 1) + std::to_string(ports.front());
  }
  std::string address() const override { return address_; }
  void publish(MetricsSnapshot snapshot) override { page_->publish(std::move(snapshot)); }

 private:
  const std::shared_ptr<Page> page_ = std::make_shared<Page>();
  prometheus::Exposer exposer_;
  std::string address_;
};

}  // namespace
}  // namespace clique::daemon

extern "C" [[gnu::visibility("default")]] clique::daemon::Metrics* clique_make_metrics(
    const std::string& address) {
  return new clique::daemon::PrometheusMetrics(address);
}
