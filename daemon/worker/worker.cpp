#include "daemon/worker/worker.hpp"

#include <malloc.h>
#include <sys/random.h>

#include <array>
#include <cstdlib>

#include "daemon/common/process.hpp"
#include "daemon/worker/session.hpp"

namespace clique::daemon {

namespace {

/// Received and staged blocks are taken and given back all the time; keeping them saves faulting their pages
/// in anew.
void keep_large_blocks() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
}

std::string make_token() {
  std::array<unsigned char, 32> secret{};
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    throw std::runtime_error("no random numbers");
  std::string token;
  for (const unsigned char byte : secret) token += fmt::format("{:02x}", byte);
  return token;
}

/// A ROUTER on a free port of the range. @returns the port.
std::uint16_t bind(zmq::socket_ref socket, const WorkerOptions& options) {
  const bool v6 = options.bind.find(':') != std::string::npos;
  const std::string host = "tcp://" + (v6 ? "[" + options.bind + "]" : options.bind) + ":";
  if (options.ports.first == 0) {
    socket.bind(host + "*");
    const std::string endpoint = socket.get(zmq::sockopt::last_endpoint);
    return static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1)));
  }
  for (unsigned port = options.ports.first; port <= options.ports.second; ++port) {
    try {
      socket.bind(host + std::to_string(port));
      return static_cast<std::uint16_t>(port);
    } catch (const zmq::error_t& error) {
      if (error.num() != EADDRINUSE) throw;
    }
  }
  throw std::runtime_error(fmt::format("no port of {}-{} is free on {}; widen --worker-ports",
                                       options.ports.first, options.ports.second, options.bind));
}

zmq::socket_t router(zmq::context_t& context) {
  zmq::socket_t socket(context, zmq::socket_type::router);
  protocol::configure(socket);
  socket.set(zmq::sockopt::router_mandatory, 1);
  return socket;
}

void serve(const WorkerOptions& options, BackendFactory make_backend, const ControlChannel& control) {
  PrintCapture prints;
  zmq::context_t context(protocol::io_threads());
  zmq::socket_t commands = router(context);
  zmq::socket_t peers = router(context);
  zmq::socket_t reports = router(context);
  protocol::expect_payloads(commands);
  protocol::expect_payloads(peers);
  protocol::keep_payload_memory();
  // Nobody says more than Attach there.
  constexpr std::int64_t kMaxAttach = 64 << 10;
  reports.set(zmq::sockopt::maxmsgsize, kMaxAttach);
  Tasks tasks;
  Reporter reporter(std::move(reports), prints, tasks);
  ReportOrder order(reporter);
  PeerLinks peer_links(context, options.resume_timeout);
  MemoryBudget memory(options.session_memory);
  const Surroundings surroundings{reporter, order, peer_links, tasks, memory, options.kernel_timeout};
  const auto backend = make_backend(options, surroundings);

  auto offer = std::make_unique<protocol::SharedOffer>();
  // For as long as this process lives: drivers may have it pinned.
  const auto shared = offer->memory();
  backend->share(shared->incoming());
  backend->share(shared->outgoing());

  WorkerReady ready;
  for (const auto& property : backend->description().platform)
    if (property.name == 0x0902 /* CL_PLATFORM_NAME */)
      ready.platform.assign(property.value.begin(),
                            property.value.empty() ? property.value.end() : property.value.end() - 1);
  ready.address = {bind(commands, options), bind(reporter.socket(), options),
                   bind(peers, options),    make_token(),
                   offer->name(),           0};
  Session session(context, {std::move(commands), std::move(peers)}, control, ready.address.token,
                  std::move(offer), options.resume_timeout, surroundings, *backend);
  for (const protocol::DeviceDescription& device : backend->description().devices) control.send(device);
  control.send(ready);
  session.run();
  // Neither the driver's threads nor ZeroMQ's are waited for.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace

std::vector<std::string> worker_arguments(const WorkerOptions& options) {
  std::vector<std::string> arguments{"worker",
                                     "--platform",
                                     std::to_string(options.platform),
                                     "--bind",
                                     options.bind,
                                     "--log-level",
                                     spdlog::level::to_string_view(spdlog::get_level()).data()};
  if (options.kind == PlatformKind::Cuda) arguments.emplace_back("--cuda");
  if (!options.devices.empty()) {
    std::string list;
    for (const std::uint32_t device : options.devices)
      list += (list.empty() ? "" : ",") + std::to_string(device);
    arguments.insert(arguments.end(), {"--devices", list});
  }
  if (options.ports.first != 0)
    arguments.insert(arguments.end(),
                     {"--worker-ports", fmt::format("{}-{}", options.ports.first, options.ports.second)});
  if (options.resume_timeout.count() != 0)
    arguments.insert(arguments.end(), {"--resume-timeout", std::to_string(options.resume_timeout.count())});
  if (options.kernel_timeout.count() != 0)
    arguments.insert(arguments.end(), {"--kernel-timeout", std::to_string(options.kernel_timeout.count())});
  if (options.session_memory != 0)
    arguments.insert(arguments.end(), {"--session-memory", std::to_string(options.session_memory)});
  return arguments;
}

void run_worker(const WorkerOptions& options, BackendFactory make_backend) {
  die_with_parent();
  keep_large_blocks();
  const ControlChannel control{Fd(options.control_fd)};
  try {
    serve(options, make_backend, control);
  } catch (const std::exception& error) {
    control.send(std::string(error.what()));
  }
  std::_Exit(EXIT_FAILURE);
}

}  // namespace clique::daemon
