// `clique bench`: a few figures of one device, beside what the way to it can do at best.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <thread>

#include "cli/common/commands.hpp"
#include "cli/common/opencl_loader.hpp"
#include "cli/common/vendors.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/output/print_json.hpp"
#include "cli/output/text_table.hpp"
#include "icd/common/settings.hpp"
#include "icd/remote/nodes/discovery.hpp"
#include "icd/remote/nodes/node_state.hpp"
#include "protocol/fd.hpp"
#include "protocol/limits.hpp"
#include "protocol/printable.hpp"

namespace clique::cli {

namespace {

using doctor::SteadyClock;
using protocol::kMiB;
using protocol::printable;

/// How long repetitions of one measurement may take together.
constexpr std::chrono::milliseconds kTimeOfOne{1000};
constexpr std::size_t kMostRepetitions = 1000;
constexpr std::size_t kFewestRepetitions = 5;
constexpr std::size_t kLaunches = 10'000;
constexpr std::size_t kSmall = 4 * protocol::kKiB;
constexpr std::size_t kLarge = 64 * kMiB;

struct BenchOptions {
  std::optional<std::string> node;
  std::optional<std::string> device;
  bool json = false;
};

/// A figure. `best` is what the way to the device allows, where something is known about it.
struct Figure {
  std::string key;   ///< for JSON; with the unit
  std::string name;  ///< for people
  double value;      ///< in seconds, bytes per second, or things per second
  enum class Unit : std::uint8_t { Seconds, BytesPerSecond, PerSecond } unit;
  std::optional<double> best = {};
  std::string best_name = {};
};

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

/// The median time of an action, which is repeated for a while after it has been done once.
template <typename F>
double median_seconds(F&& action) {
  action();
  std::vector<double> times;
  const auto begin = SteadyClock::now();
  while (times.size() < kFewestRepetitions ||
         (times.size() < kMostRepetitions && SteadyClock::now() - begin < kTimeOfOne)) {
    const auto start = SteadyClock::now();
    action();
    times.push_back(seconds_since(start));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Two ends of a TCP connection over the loopback interface. Throws Failed.
class LoopbackConnection {
 public:
  LoopbackConnection() {
    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    here_ = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::bind(listener.get(), generic, size) != 0 || ::listen(listener.get(), 1) != 0 ||
        ::getsockname(listener.get(), generic, &size) != 0 || ::connect(here_.get(), generic, size) != 0)
      throw Failed(std::string("this host's loopback interface cannot be measured: ") + std::strerror(errno));
    there_ = Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    constexpr int kOn = 1;
    for (const Fd* end : {&here_, &there_})
      ::setsockopt(end->get(), IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
  }
  int here() const { return here_.get(); }
  int there() const { return there_.get(); }
  /// Whether all bytes could be sent, or received.
  static bool send_all(int socket, const char* data, std::size_t size) {
    while (size > 0) {
      const ssize_t count = ::send(socket, data, size, MSG_NOSIGNAL);
      if (count <= 0) return false;
      data += count;
      size -= static_cast<std::size_t>(count);
    }
    return true;
  }
  static bool receive_all(int socket, char* data, std::size_t size) {
    return ::recv(socket, data, size, MSG_WAITALL) == static_cast<ssize_t>(size);
  }

 private:
  Fd here_;
  Fd there_;
};

/// What TCP does on this host: the best that a node on it could do through its port.
struct RawTcp {
  double round_trip;  ///< seconds, of one byte between two threads
  double speed;       ///< bytes per second, through one connection
};

RawTcp measure_loopback() {
  const LoopbackConnection connection;
  RawTcp result{};
  {
    std::jthread echo([&] {
      char byte = 0;
      while (LoopbackConnection::receive_all(connection.there(), &byte, 1) && byte != 0)
        LoopbackConnection::send_all(connection.there(), &byte, 1);
    });
    char byte = 1;
    result.round_trip = median_seconds([&] {
      LoopbackConnection::send_all(connection.here(), &byte, 1);
      LoopbackConnection::receive_all(connection.here(), &byte, 1);
    });
    byte = 0;
    LoopbackConnection::send_all(connection.here(), &byte, 1);
  }
  std::vector<char> sent(kLarge, 1);
  std::vector<char> received(kLarge, 2);
  const double seconds = median_seconds([&] {
    std::jthread receiver(
        [&] { LoopbackConnection::receive_all(connection.there(), received.data(), received.size()); });
    LoopbackConnection::send_all(connection.here(), sent.data(), sent.size());
  });
  result.speed = static_cast<double>(kLarge) / seconds;
  return result;
}

/// The way to the device.
struct Way {
  std::string text;  ///< for people
  double speed = 0;  ///< bytes per second at most; 0: not known
  std::string speed_name;
  double round_trip = 0;  ///< seconds at least; 0: not known
  std::string round_trip_name;
};

Way way_to(const std::string& node) {
  icd::NodeSettings settings = icd::NodeSettings::read();
  // The library has said what is wrong.
  icd::settle_nodes(settings);
  if (settings.nodes.empty()) return {"private workers of this host, through shared memory", 0, "", 0, ""};
  const auto deadline = SteadyClock::now() + settings.connect_timeout;
  for (const doctor::NodeFindings& each :
       doctor::NodeChecks(settings, deadline, settings.connect_timeout).results()) {
    if (each.name != node) continue;
    Way way{"node " + printable(node) + " (" + each.address.text() + ")", 0, "", 0, ""};
    if (each.interface.empty()) {
      const RawTcp tcp = measure_loopback();
      way.text += ", on this host";
      way.speed = tcp.speed;
      way.speed_name = "TCP on this host";
      way.round_trip = tcp.round_trip;
      way.round_trip_name = way.speed_name;
    } else {
      way.text += ", through " + printable(each.interface);
      way.speed = each.link_speed;
      way.speed_name = printable(each.interface);
      const icd::Trust trust(settings.security);
      const auto state = icd::look_at_nodes({each.address}, settings.connect_timeout, trust);
      way.round_trip = std::chrono::duration<double>(state.front().round_trip).count();
      way.round_trip_name = "TCP to the node";
    }
    return way;
  }
  return {"node " + printable(node), 0, "", 0, ""};
}

/// Measures one device. The first calls are part of what is measured, so they happen here.
class Bench {
 public:
  explicit Bench(const OpenClFunctions& cl) : cl_(cl) {
    auto begin = SteadyClock::now();
    const auto platforms = platforms_of_clique(cl_);
    if (platforms.empty())
      throw Failed("OpenCL's loader does not offer the platform Clique; 'clique doctor' says why");
    const auto devices = devices_of(cl_, platforms[0]);
    const double listing = seconds_since(begin);
    if (devices.empty()) throw Failed("there are no devices; 'clique doctor' says why");
    device_ = devices[0];
    begin = SteadyClock::now();
    opened_ = open_device(cl_, device_);
    const double opening = seconds_since(begin);
    add("list_devices_s", "start of the library, and list of devices", listing, Figure::Unit::Seconds);
    add("open_session_s", "context and queue, with the session", opening, Figure::Unit::Seconds);
  }

  std::string device_name() const { return printable(device_text(cl_, device_, CL_DEVICE_NAME)); }
  std::string node() const { return node_in(device_text(cl_, device_, CL_DRIVER_VERSION)); }

  const std::vector<Figure>& run(const Way& way) {
    measure_kernels(way);
    measure_transfers(way);
    return figures_;
  }

 private:
  void add(const char* key, std::string name, double value, Figure::Unit unit, double best = 0,
           std::string best_name = {}) {
    figures_.push_back({key, std::move(name), value, unit, {}, std::move(best_name)});
    if (best > 0) figures_.back().best = best;
  }

  void finish() const { expect_success(cl_.clFinish(opened_.queue), "clFinish"); }

  void measure_kernels(const Way& way) {
    auto begin = SteadyClock::now();
    // No cache has this program.
    const std::string source = "kernel void nothing() {} // " + std::to_string(::getpid()) + " " +
                               std::to_string(begin.time_since_epoch().count()) + "\n";
    const cl_kernel kernel = build_kernel(cl_, opened_, device_, source, "nothing");
    add("build_s", "build of a program with an empty kernel", seconds_since(begin), Figure::Unit::Seconds);
    const auto launch = [&] {
      constexpr std::size_t kOne = 1;
      expect_success(
          cl_.clEnqueueNDRangeKernel(opened_.queue, kernel, 1, nullptr, &kOne, nullptr, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    };
    add("kernel_s", "empty kernel and clFinish", median_seconds([&] {
          launch();
          finish();
        }),
        Figure::Unit::Seconds, way.round_trip, way.round_trip_name);
    begin = SteadyClock::now();
    std::size_t launched = 0;
    while (launched < kLaunches && SteadyClock::now() - begin < kTimeOfOne) {
      launch();
      ++launched;
    }
    finish();
    add("kernels_per_s", "empty kernels, enqueued without waiting",
        static_cast<double>(launched) / seconds_since(begin), Figure::Unit::PerSecond);
  }

  void measure_transfers(const Way& way) {
    std::vector<unsigned char> data(kLarge);
    std::iota(data.begin(), data.end(), static_cast<unsigned char>(0));
    std::vector<unsigned char> back(kLarge, 0);
    const cl_mem buffer = new_buffer(cl_, opened_.context, kLarge);
    const cl_mem other = new_buffer(cl_, opened_.context, kLarge);
    const auto write = [&](std::size_t size) {
      expect_success(
          cl_.clEnqueueWriteBuffer(opened_.queue, buffer, CL_TRUE, 0, size, data.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    };
    const auto read = [&](std::size_t size) {
      expect_success(
          cl_.clEnqueueReadBuffer(opened_.queue, buffer, CL_TRUE, 0, size, back.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    };
    using Unit = Figure::Unit;
    add("write_small_s", "write of 4 KiB and clFinish", median_seconds([&] {
          write(kSmall);
          finish();
        }),
        Unit::Seconds, way.round_trip, way.round_trip_name);
    add("read_small_s", "read of 4 KiB", median_seconds([&] { read(kSmall); }), Unit::Seconds, way.round_trip,
        way.round_trip_name);
    const auto speed = [](double seconds) { return static_cast<double>(kLarge) / seconds; };
    add("write_bytes_per_s", "write of 64 MiB and clFinish", speed(median_seconds([&] {
          write(kLarge);
          finish();
        })),
        Unit::BytesPerSecond, way.speed, way.speed_name);
    add("read_bytes_per_s", "read of 64 MiB", speed(median_seconds([&] { read(kLarge); })),
        Unit::BytesPerSecond, way.speed, way.speed_name);
    if (back != data)
      throw Failed(
          "the data that came back differ from those that were sent; try another device, and read the log of "
          "the node");
    add("copy_bytes_per_s", "copy of 64 MiB on the device", speed(median_seconds([&] {
          expect_success(
              cl_.clEnqueueCopyBuffer(opened_.queue, buffer, other, 0, 0, kLarge, 0, nullptr, nullptr),
              "clEnqueueCopyBuffer");
          finish();
        })),
        Unit::BytesPerSecond);
  }

  const OpenClFunctions& cl_;
  cl_device_id device_ = nullptr;
  OpenedDevice opened_;
  std::vector<Figure> figures_;
};

std::string figure_text(double value, Figure::Unit unit) {
  char text[64];
  switch (unit) {
    case Figure::Unit::Seconds:
      std::snprintf(text, sizeof text, value < 0.001 ? "%.1f µs" : "%.2f ms",
                    value * (value < 0.001 ? 1e6 : 1e3));
      return text;
    case Figure::Unit::BytesPerSecond:
      return doctor::speed_text(value);
    case Figure::Unit::PerSecond:
      return rate_text(value) + " per second";
  }
  return {};
}

void print_figures(const Bench& bench, const Way& way, const std::vector<Figure>& figures) {
  std::printf("%s, %s\n\n", bench.device_name().c_str(), way.text.c_str());
  std::vector<std::vector<std::string>> rows;
  rows.reserve(figures.size());
  for (const Figure& figure : figures)
    rows.push_back({figure.name, figure_text(figure.value, figure.unit),
                    figure.best ? figure_text(*figure.best, figure.unit) + " " + figure.best_name : ""});
  for (const std::string& line : table_lines({{"FIGURE"}, {"CLIQUE", true}, {"AT BEST", true}}, rows))
    std::puts(line.c_str());
}

void print_figures_as_json(const Bench& bench, const std::vector<Figure>& figures) {
  nlohmann::ordered_json document{{"device", bench.device_name()}, {"node", printable(bench.node())}};
  for (const Figure& figure : figures) {
    document[figure.key] = figure.value;
    if (figure.best) document["best"][figure.key] = *figure.best;
  }
  print_json(document);
}

void run_bench(const BenchOptions& options) {
  if (options.node) ::setenv("CLIQUE_NODES", options.node->c_str(), 1);
  if (options.device) ::setenv("CLIQUE_DEVICES", options.device->c_str(), 1);
  if (icd::is_off()) throw Failed("CLIQUE_NODES is off, so there are no devices; unset it, or name a node");
  register_clique();
  void* const library = ::dlopen(kOpenClLoader, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Failed(std::string("there is no OpenCL loader: ") + ::dlerror() +
                 "; install one, for instance the package ocl-icd-libopencl1");
  const OpenClFunctions cl(library);
  Bench bench(cl);
  const Way way = way_to(bench.node());
  const std::vector<Figure>& figures = bench.run(way);
  if (options.json)
    print_figures_as_json(bench, figures);
  else
    print_figures(bench, way, figures);
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "bench",
      "Measure a device, beside what TCP can do on the way to it. Takes about 10 seconds. Other programs on "
      "the node, its devices and the network make the figures worse");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("NODE,--node", options->node,
                      "The node, written as in CLIQUE_NODES; by default that of the first device");
  command->add_option("--device", options->device, "The device, as in CLIQUE_DEVICES; the first by default")
      ->type_name("DEVICE");
  command->add_flag("--json", options->json,
                    "Print JSON, in seconds, bytes per second and kernels per second");
  command->callback([=, &chosen] { chosen = [=] { run_bench(*options); }; });
}

}  // namespace clique::cli
