#include "daemon/worker/worker.hpp"

#include <cstdlib>

#include "daemon/common/caches.hpp"
#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"
#include "daemon/common/process.hpp"
#include "daemon/confinement/confine.hpp"
#include "daemon/worker/backend.hpp"
#include "daemon/worker/connections/dial_requests.hpp"
#include "daemon/worker/options.hpp"
#include "daemon/worker/session.hpp"
#include "protocol/properties.hpp"
#include "protocol/spin.hpp"
#include "protocol/streams/ucx_channel.hpp"
#include "protocol/transport/authentication.hpp"
#include "protocol/transport/zmq_context.hpp"

namespace clique::daemon {

namespace {

// Of cl.h.
constexpr std::uint32_t kPlatformName = 0x0902;
constexpr std::uint32_t kPlatformVendor = 0x0903;

CuFileUse cufile_use(const WorkerOptions& options) {
  return options.kind == PlatformKind::Cuda ? options.session.cufile : CuFileUse::Never;
}

/// Before the driver is loaded, so that its threads have the walls, too.
void confine(const WorkerOptions& options) {
  const auto role =
      options.kind == PlatformKind::Cuda ? confinement::Role::CudaWorker : confinement::Role::OpenClWorker;
  const bool rdma = options.session.ucx == UcxUse::Offered;
  const bool cufile = cufile_use(options) != CuFileUse::Never;
  const auto missing = confinement::confine({role, options.folder, {}, rdma, cufile}, options.start,
                                            confinement::mode_of_environment(), network_of(options));
  // The daemon has said it for all of its workers.
  if (!missing.empty()) spdlog::debug("this worker goes without walls: {}", to_text(missing));
}

/// What CLIQUE_SPIN_US asks for. cliqued has refused a wrong value, and a private worker's application
/// reports it.
void set_spin_time() {
  try {
    protocol::set_spin_time(protocol::parse_spin_time(environment("CLIQUE_SPIN_US").value_or("").c_str()));
  } catch (const std::runtime_error&) {
    protocol::set_spin_time(std::nullopt);
  }
}

/// WorkerAddress::without_ucx.
std::string without_ucx(const WorkerOptions& options) {
  return options.session.ucx == UcxUse::Offered ? protocol::ucx_missing()
                                                : "set ucx = true in the configuration of cliqued";
}

/// Binds to a free port of the range. @returns the port; 0: there is to be none.
std::uint16_t bind(zmq::socket_ref socket, const WorkerOptions& options) {
  if (options.session.ports.none()) return 0;
  const bool v6 = options.bind.find(':') != std::string::npos;
  const std::string host = "tcp://" + (v6 ? "[" + options.bind + "]" : options.bind) + ":";
  const PortRange& ports = options.session.ports;
  if (ports.any()) {
    socket.bind(host + "*");
    const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
    return static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  }
  for (unsigned port = ports.first; port <= ports.last; ++port) {
    try {
      socket.bind(host + std::to_string(port));
      return static_cast<std::uint16_t>(port);
    } catch (const zmq::error_t& error) {
      if (error.num() != EADDRINUSE) throw;
    }
  }
  throw std::runtime_error(fmt::format("every port of {} is in use on {}; widen worker-ports of cliqued",
                                       to_text(ports), options.bind));
}

zmq::socket_t router(zmq::context_t& context) {
  zmq::socket_t socket(context, zmq::socket_type::router);
  protocol::configure(socket);
  socket.set(zmq::sockopt::router_mandatory, 1);
  return socket;
}

/// Waits until the starter says which GPU to serve.
std::uint32_t await_gpu(const ControlChannel& control) {
  const auto packet = control.receive();
  if (!packet) std::_Exit(EXIT_SUCCESS);  // none: the starter is gone
  const Notice notice = parse_notice(*packet);
  if (notice.kind != Notice::Kind::Serve || notice.devices.size() != 1)
    throw std::runtime_error("the process that started this worker has not said which GPU to serve");
  return notice.devices[0];
}

void serve(const WorkerOptions& options, BackendFactory make_backend, const ControlChannel& control) {
  PrintCapture prints;
  using Role = protocol::Authenticator::Role;
  // Without ports, this worker's own connections to others are all that may need threads of ZeroMQ.
  protocol::ZmqContext zmq(options.session.ports.none() ? 1 : protocol::io_threads());
  zmq::context_t& context = zmq.get();
  const protocol::Authenticator authenticator(context, options.encryption);
  zmq::socket_t commands = router(context);
  zmq::socket_t peers = router(context);
  zmq::socket_t reports = router(context);
  authenticator.guard(commands, Role::Client);
  authenticator.guard(peers, Role::Peer);
  authenticator.guard(reports, Role::Client);
  protocol::expect_payloads(commands);
  protocol::expect_payloads(peers);
  protocol::keep_payload_memory();
  // Clients send nothing longer than Attach there.
  constexpr std::int64_t kMaxAttach = 64 << 10;
  reports.set(zmq::sockopt::maxmsgsize, kMaxAttach);
  Tasks tasks;
  WaitingData waiting(options.session.memory);
  Reporter reporter(std::move(reports), prints, tasks, waiting);
  ReportOrder order(reporter);
  const std::string no_ucx = without_ucx(options);
  DialRequests dials([&control](const DialRequest& request) { control.send(request); });
  protocol::Dialler dialler;
  if (network_of(options) != confinement::Network::Own)
    dialler = [&dials](const auto& target, const auto& request) { return dials.begin(target, request); };
  PeerLinks peer_links(context, std::move(dialler), options.session.resume_timeout,
                       options.session.compression, no_ucx.empty());
  MemoryBudget memory(options.session.memory);
  Pacer pacer(tasks);
  const Surroundings surroundings{reporter,
                                  order,
                                  peer_links,
                                  tasks,
                                  memory,
                                  waiting,
                                  pacer,
                                  options.session.kernel_timeout,
                                  options.session.compression,
                                  no_ucx.empty(),
                                  cufile_use(options)};
  const auto backend = make_backend(options, surroundings);

  auto offer = std::make_unique<protocol::SharedOffer>();
  // Lives as long as this process, since drivers may pin it.
  const auto shared = offer->memory();
  backend->share(shared->incoming());
  backend->share(shared->outgoing());

  WorkerReady ready;
  ready.platform = protocol::property_text(backend->description().platform, kPlatformName);
  ready.vendor = protocol::property_text(backend->description().platform, kPlatformVendor);
  ready.address = {bind(commands, options),
                   bind(reporter.socket(), options),
                   bind(peers, options),
                   authenticator.pass(Role::Client),
                   authenticator.pass(Role::Peer),
                   offer->name(),
                   0,
                   WorkerStreams::new_address(),
                   0,
                   no_ucx};
  Session session(context, {std::move(commands), std::move(peers)}, control, dials, authenticator,
                  std::move(offer), options.session.resume_timeout, surroundings, *backend);
  for (const protocol::DeviceDescription& device : backend->description().devices) control.send(device);
  control.send(ready);
  session.run();
  // Does not wait for the driver's threads and ZeroMQ's.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace

void run_worker(const ControlChannel& control, WorkerOptions options, BackendFactory make_backend,
                GpuLister send_gpus) {
  die_with_parent();
  init_log("worker", options.log);
  // The CUDA backend does not compile into files of its driver, and the daemon has found room for the folder.
  if (options.kind != PlatformKind::Cuda && options.folder.empty()) find_room_for_driver_cache();
  try {
    prepare_cufile(cufile_use(options));
    confine(options);
    set_spin_time();
    if (options.platform == kAnyGpu) {
      send_gpus(control);
      options.platform = await_gpu(control);
    }
    serve(options, make_backend, control);
  } catch (const std::exception& error) {
    control.send(std::string(error.what()));
  }
  std::_Exit(EXIT_FAILURE);
}

}  // namespace clique::daemon
