#include "harness.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <list>
#include <sstream>
#include <thread>

#include "ids.hpp"

namespace clique::test {

namespace {

zmq::context_t& context() {
  static zmq::context_t context(1);
  return context;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t start(const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<std::string> strings{CLIQUED};
  strings.insert(strings.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, CLIQUED, &actions, nullptr, pointers.data(), environ);
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
  arguments.insert(arguments.begin(), {"--config", "/dev/null", "--listen", "127.0.0.1:0"});
  pid_ = start(arguments, log_file_);
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
  const std::string mark = "session of " + client + " open";
  EXPECT_TRUE(eventually([&] { return logged(mark); }));
  const std::string text = log();
  const std::string before = text.substr(0, text.find(mark));
  return std::stoi(before.substr(before.rfind("worker[") + 7));
}

std::vector<pid_t> Node::workers() const {
  std::vector<pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto [state, parent] = process_state(std::stoi(name));
    if (parent == pid_ && state != 'Z') result.push_back(std::stoi(name));
  }
  return result;
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

std::pair<std::string, int> run_cliqued(const std::vector<std::string>& arguments) {
  const std::string output = temporary_file();
  int status = 0;
  ::waitpid(start(arguments, output), &status, 0);
  const std::string text = read_file(output);
  std::filesystem::remove(output);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

zmq::socket_t dealer(const std::string& endpoint) {
  zmq::socket_t socket(context(), zmq::socket_type::dealer);
  configure(socket);
  socket.connect(endpoint);
  return socket;
}

void send_frames(zmq::socket_t& socket, const std::vector<std::string>& frames) {
  for (std::size_t i = 0; i < frames.size(); ++i)
    socket.send(zmq::buffer(frames[i]),
                i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
}

Welcome hello(const std::string& endpoint, const std::string& name, std::uint32_t version) {
  zmq::socket_t made = dealer(endpoint);
  // A client that disconnects from the daemon before it attaches to a worker gives the worker up, so these
  // sockets stay open. They close before the context, because that was constructed first.
  static std::list<zmq::socket_t> connected;
  zmq::socket_t& socket = connected.emplace_back(std::move(made));
  send(socket, Hello{version, protocol::Wish::Session, name});
  Receiver<HandshakeMessages> answers(socket);
  while (true) {
    if (answers.comes<Welcome>(std::chrono::milliseconds(100))) return answers.next<Welcome>();
    if (answers.comes<Refused>(std::chrono::milliseconds(0)))
      throw std::runtime_error(answers.next<Refused>().reason);
  }
}

Client::Client(const Node& node, const std::string& name)
    : Client(hello(node.endpoint(), name).workers.at(0)) {}

Client::Client(const WorkerAddress& worker, std::shared_ptr<SharedMemory> shared)
    : address(worker),
      memory(std::move(shared)),
      commands(dealer("tcp://127.0.0.1:" + std::to_string(worker.commands))),
      reports_socket(dealer("tcp://127.0.0.1:" + std::to_string(worker.reports))) {
  test::send(commands, Attach{worker.token});
  test::send(reports_socket, Attach{worker.token});
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
  send(CreateProgram{1, kProgram, kContext, ProgramKind::Source, {}, {code(source)}},
       BuildProgram{2, kProgram, devices, ""});
  return next<ProgramBuilt>();
}

Finished Client::finish(ObjectId queue) {
  const RequestId request = ++request_;
  send(Finish{request, queue});
  return next<Finished>([request](const Finished& finished) { return finished.request == request; });
}

}  // namespace clique::test
