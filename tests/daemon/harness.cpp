#include "harness.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <list>
#include <regex>
#include <sstream>
#include <thread>

#include "ids.hpp"
#include "protocol/codec.hpp"
#include "protocol/transport/authentication.hpp"

namespace clique::test {

template class Receiver<WorkerMessages>;

namespace {

zmq::context_t& context() {
  // A thread for each connection of a test: one that encrypts a huge message answers no heartbeats meanwhile.
  constexpr int kThreads = 8;
  static zmq::context_t context(kThreads);
  return context;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The line to a worker that has no ports of its own; null: it has.
std::shared_ptr<StreamLine> stream_line(const WorkerAddress& worker, const std::string& daemon) {
  if (worker.commands != 0) return nullptr;
  StreamTarget target;
  target.endpoint = daemon;
  std::copy(worker.streams.begin(), worker.streams.end(), target.worker.begin());
  target.secret = worker.client.stream_key;
  target.encryption = worker.client.encryption();
  auto line = std::make_shared<StreamLine>(target, kCommandsLine, StreamLine::Use{});
  line->set_resumable(false);
  return line;
}

/// For C functions: ends with a null pointer.
std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// @param more variables that this process does not have
pid_t start(const std::vector<std::string>& arguments, const std::string& output,
            const std::map<std::string, std::string>& more = {}) {
  std::vector<std::string> strings{CLIQUED};
  strings.insert(strings.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  for (const auto& [name, value] : more) variables.push_back(name + "=" + value);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, CLIQUED, &actions, nullptr, pointers_to(strings).data(),
                                pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " CLIQUED);
  return pid;
}

std::string temporary_file() {
  std::string name = std::filesystem::temp_directory_path() / "cliqued-test-XXXXXX";
  const int fd = ::mkstemp(name.data());
  if (fd >= 0) ::close(fd);
  return name;
}

/// State letter and parent of a process, from /proc; 'X' where there is none.
std::pair<char, pid_t> process_state(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {'X', 0};
  std::istringstream rest(stat.substr(name_end + 1));
  char state = 'X';
  pid_t parent = 0;
  rest >> state >> parent;
  return {state, parent};
}

/// Whether it is a worker: its command line begins with these words, also when it names node and client.
bool is_worker(pid_t pid) {
  const std::string_view words = "cliqued worker";
  std::string command = read_file("/proc/" + std::to_string(pid) + "/cmdline");
  std::replace(command.begin(), command.end(), '\0', ' ');
  return command.starts_with(words);
}

/// The workers that a process has started and that have not ended.
std::vector<pid_t> workers_of(pid_t starter) {
  std::vector<pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto [state, parent] = process_state(std::stoi(name));
    if (parent == starter && state != 'Z' && is_worker(std::stoi(name))) result.push_back(std::stoi(name));
  }
  return result;
}

}  // namespace

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds within) {
  const auto deadline = std::chrono::steady_clock::now() + within;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool alive(pid_t pid) {
  const char state = process_state(pid).first;
  return state != 'X' && state != 'Z';
}

Node::Node(std::vector<std::string> arguments) : log_file_(temporary_file()) {
  if (std::find(arguments.begin(), arguments.end(), "--resume-timeout") == arguments.end())
    arguments.insert(arguments.end(), {"--resume-timeout", "1"});
  if (std::find(arguments.begin(), arguments.end(), "--encryption") == arguments.end())
    arguments.insert(arguments.end(), {"--encryption", "all"});
  // The tests' clients speak ZeroMQ to the workers.
  if (std::find(arguments.begin(), arguments.end(), "--worker-ports") == arguments.end())
    arguments.insert(arguments.end(), {"--worker-ports", "any"});
  arguments.insert(arguments.begin(), {"--config", "/dev/null", "--listen", "127.0.0.1:0"});
  pid_ = start(arguments, log_file_, programs_.environment());
  const std::string mark = " listens on ";
  if (!eventually([&] { return logged(mark) || !alive(pid_); }) || !logged(mark))
    throw std::runtime_error("cliqued did not start:\n" + log());
  const std::string text = log();
  const auto begin = text.find(mark) + mark.size();
  endpoint_ = text.substr(begin, text.find('\n', begin) - begin);
}

Node::~Node() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  std::filesystem::remove(log_file_);
}

std::string Node::log() const {
  return read_file(log_file_);
}

bool Node::logged(const std::string& text) const {
  return log().find(text) != std::string::npos;
}

pid_t Node::worker_of(const std::string& client) const {
  // The client's address is between its name and what happened.
  const std::regex opened("worker\\[([0-9]+)\\][^\n]*session of " + client + " at [^\n]* open");
  std::smatch found;
  std::string text;
  const bool open = eventually([&] {
    text = log();
    return std::regex_search(text, found, opened);
  });
  if (!open) throw std::runtime_error("no session of " + client + " was opened:\n" + text);
  return std::stoi(found[1]);
}

std::vector<pid_t> Node::workers() const {
  return workers_of(pid_);
}

void Node::signal(int number) const {
  ::kill(pid_, number);
}

int Node::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

PrivateWorkers::PrivateWorkers(int errors) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("no socketpair");
  control_ = Fd(ends[0]);
  const Fd theirs(ends[1]);
  pid_ = ::fork();
  if (pid_ == 0) {
    if (errors >= 0) ::dup2(errors, STDERR_FILENO);
    const int control = ::dup(theirs.get());  // not closed by execl()
    ::execl(CLIQUED, "cliqued", "embedded", "--control-fd", std::to_string(control).c_str(), nullptr);
    ::_exit(127);
  }
  for (;;) {
    const msgpack::object_handle packet = receive();
    const auto elements = protocol::detail::Decoder::array(packet.get());
    if (elements.size() == 1) throw std::runtime_error(elements[0].as<std::string>());
    if (elements[0].type == msgpack::type::ARRAY) break;  // WorkersStarted
    drivers_.push_back(protocol::decode<Driver>(packet.get()));
  }
}

PrivateWorkers::~PrivateWorkers() {
  if (pid_ > 0) close();
}

msgpack::object_handle PrivateWorkers::receive() const {
  std::vector<char> packet(128U << 10U);
  const ssize_t size = ::recv(control_.get(), packet.data(), packet.size(), 0);
  if (size <= 0) throw std::runtime_error("cliqued embedded has ended");
  return msgpack::unpack(packet.data(), static_cast<std::size_t>(size));
}

WorkersStarted PrivateWorkers::start(const std::vector<std::uint32_t>& drivers) const {
  const Buffer request = protocol::encode(StartWorkers{drivers});
  ::send(control_.get(), request.data(), request.size(), MSG_NOSIGNAL);
  WorkersStarted all;
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    const auto one = protocol::decode<WorkersStarted>(receive().get());
    all.workers.insert(all.workers.end(), one.workers.begin(), one.workers.end());
    all.withheld.insert(all.withheld.end(), one.withheld.begin(), one.withheld.end());
  }
  return all;
}

WorkerAddress PrivateWorkers::first() const {
  return start({drivers_.at(0).id}).workers.at(0);
}

std::vector<pid_t> PrivateWorkers::processes() const {
  return workers_of(pid_);
}

int PrivateWorkers::close() {
  control_ = Fd();
  int status = 0;
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  return status;
}

std::pair<std::string, int> run_cliqued(const std::vector<std::string>& arguments) {
  const std::string output = temporary_file();
  int status = 0;
  ::waitpid(start(arguments, output), &status, 0);
  const std::string text = read_file(output);
  std::filesystem::remove(output);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

zmq::socket_t dealer(const std::string& endpoint, const Pass& pass) {
  zmq::socket_t socket(context(), zmq::socket_type::dealer);
  configure(socket);
  present(socket, pass);
  socket.connect(endpoint);
  return socket;
}

zmq::socket_t dealer(std::uint16_t port, const Pass& pass) {
  return dealer("tcp://127.0.0.1:" + std::to_string(port), pass);
}

std::shared_ptr<SharedMemory> shared_by(const WorkerAddress& worker, Guest guest) {
  const std::string& token = guest == Guest::Client ? worker.client.secret : worker.peer.secret;
  std::shared_ptr<SharedMemory> memory;
  const auto take = [&] {
    memory = take_shared_offer(worker.shared, token, guest, kPatience);
    return memory != nullptr;
  };
  if (!eventually(take)) throw std::runtime_error("the worker has no memory to offer");
  return memory;
}

Caller::Caller(const std::string& endpoint) {
  static const TlsContext tls(TlsContext::Role::Client, identity());
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("nobody listens at " + endpoint);
  channel_ = std::make_unique<TlsChannel>(tls, std::move(socket), 16 * kMiB);
  const bool open = eventually([this] {
    channel_->work();
    return channel_->open() || channel_->ended();
  });
  if (!open || channel_->ended())
    throw std::runtime_error("the daemon at " + endpoint + " does not speak TLS");
}

void Caller::receive() {
  channel_->work();
  while (const auto records = channel_->receive())
    BatchReader().read(MessageList<Welcome, Offer, Refused, Starting, Status, Steered, Loads, Reached>{},
                       std::as_bytes(std::span(*records)), {}, records, [this](auto&& message) {
                         messages_.emplace_back(std::forward<decltype(message)>(message));
                       });
}

bool Caller::closed(std::chrono::milliseconds within) {
  return eventually(
      [this] {
        receive();
        return channel_->ended();
      },
      within);
}

void send_frames(zmq::socket_t& socket, const std::vector<std::string>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i)
    socket.send(zmq::buffer(frames[i]),
                i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

Welcome Caller::ask(const std::string& name, std::uint32_t version, std::uint32_t oldest) {
  send(Hello{version, protocol::Wish::Session, name, {}, oldest});
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (comes<Welcome>(std::chrono::milliseconds(10))) return next<Welcome>();
    if (comes<Refused>(std::chrono::milliseconds(0))) throw std::runtime_error(next<Refused>().reason);
  }
  throw std::logic_error("the daemon does not answer");
}

const Identity& identity() {
  static const Identity own = Identity::generate();
  return own;
}

Welcome hello(const std::string& endpoint, const std::string& name, std::uint32_t version,
              std::uint32_t oldest) {
  // A client that disconnects from the daemon before it attaches to a worker gives the worker up, so these
  // connections stay open.
  static std::list<Caller> connected;
  return connected.emplace_back(endpoint).ask(name, version, oldest);
}

Client::Client(const Node& node, const std::string& name)
    : Client(hello(node.endpoint(), name).workers.at(0), nullptr, node.endpoint()) {}

Client::Client(const WorkerAddress& worker, std::shared_ptr<SharedMemory> shared, const std::string& daemon)
    : address(worker), memory(std::move(shared)), line(stream_line(worker, daemon)) {
  if (line) {
    line->await_connection(std::chrono::steady_clock::now() + kPatience);
  } else {
    commands = dealer(worker.commands, worker.client);
    reports_socket = dealer(worker.reports, worker.client);
    test::send(commands, Attach{});
    test::send(reports_socket, Attach{});
  }
  attached = next<Attached>();
}

std::vector<std::byte> Client::data(CommandId command, std::uint32_t part) {
  const Data found =
      next<Data>([&](const Data& data) { return data.command == command && data.part == part; });
  return {found.data.bytes.begin(), found.data.bytes.end()};
}

ProgramBuilt Client::set_up(const std::string& source) {
  std::vector<DeviceId> devices;
  for (DeviceId id = 0; id < attached.devices.size(); ++id) devices.push_back(id);
  constexpr std::uint64_t kOutOfOrderMode = 1;  // CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
  send(CreateContext{kContext, devices}, CreateQueue{kInOrder, kContext, 0, 0},
       CreateQueue{kOutOfOrder, kContext, 0, kOutOfOrderMode});
  if (source.empty()) return {};
  send(CreateProgram{kRequest, kProgram, kContext, ProgramKind::Source, {}, {code(source)}},
       BuildProgram{kRequest, kProgram, devices, ""});
  return next<ProgramBuilt>();
}

Finished Client::finish(ObjectId queue) {
  const RequestId request = ++request_;
  send(Finish{request, queue});
  return next<Finished>([request](const Finished& finished) { return finished.request == request; });
}

}  // namespace clique::test
