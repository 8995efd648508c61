#include "process.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

namespace clique::test {

namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text(*variable);
    if (!changes.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : changes) result.push_back(name + "=" + value);
  return result;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> result;
  for (const auto& entry : fs::directory_iterator("/proc"))
    if (const pid_t pid = std::atoi(entry.path().filename().c_str()); pid > 0) result.push_back(pid);
  return result;
}

std::string proc(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

int as_shells_say(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

bool eventually(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Child::Child(std::vector<std::string> command, const std::map<std::string, std::string>& environment) {
  output_ = ::memfd_create("output", MFD_CLOEXEC);
  if (output_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  auto variables = environment_with(environment);
  const auto arguments = pointers(command);
  const auto values = pointers(variables);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::getppid() != parent || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(output_, STDOUT_FILENO) < 0 ||
        ::dup2(output_, STDERR_FILENO) < 0)
      ::_exit(126);
    ::execve(arguments[0], arguments.data(), values.data());
    ::_exit(127);
  }
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), output_(std::exchange(other.output_, -1)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(output_, other.output_);
  return *this;
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    if (wait(std::chrono::seconds(5)) < 0) kill();
  }
  if (output_ >= 0) ::close(output_);
}

std::string Child::output() const {
  struct stat about{};
  if (::fstat(output_, &about) != 0) return {};
  std::string text(static_cast<size_t>(about.st_size), '\0');
  const ssize_t size = ::pread(output_, text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

void Child::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(std::exchange(pid_, -1), nullptr, 0);
}

int Child::wait(std::chrono::milliseconds limit) {
  int status = 0;
  if (pid_ < 0 || !eventually(limit, [&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; })) return -1;
  pid_ = -1;
  return as_shells_say(status);
}

Child start_test(const std::string& name, const std::map<std::string, std::string>& environment) {
  return Child({fs::read_symlink("/proc/self/exe").string(), "--gtest_filter=" + name,
                "--gtest_also_run_disabled_tests"},
               environment);
}

bool alive(pid_t pid) {
  // "pid (name) state …", where the name may contain any character.
  const std::string stat = content(proc(pid, "stat"));
  const auto end = stat.rfind(')');
  return end != std::string::npos && end + 2 < stat.size() && stat[end + 2] != 'Z' && stat[end + 2] != 'X';
}

std::vector<pid_t> cliqued_processes_with(const std::string& name, const std::string& value) {
  std::vector<pid_t> found;
  const std::string wanted = '\0' + name + "=" + value + '\0';
  for (const pid_t pid : all_processes()) {
    if (!alive(pid) || content(proc(pid, "comm")).empty()) continue;
    std::error_code error;
    // Compares the executable, because the first argument may be any name. The link of an ending process
    // cannot be read.
    const auto program = fs::read_symlink(proc(pid, "exe"), error).filename();
    if (program == "cliqued" && ('\0' + content(proc(pid, "environ"))).find(wanted) != std::string::npos)
      found.push_back(pid);
  }
  return found;
}

std::vector<int> listening_ports(pid_t pid) {
  std::set<std::string> sockets;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(proc(pid, "fd"), error)) {
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (target.starts_with("socket:[")) sockets.insert(target.substr(8, target.size() - 9));
  }
  std::vector<int> ports;
  for (const char* table : {"net/tcp", "net/tcp6"}) {
    std::istringstream lines(content(proc(pid, table)));
    std::string line;
    std::getline(lines, line);  // the headings
    while (std::getline(lines, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >>
          inode;
      constexpr const char* kListening = "0A";
      if (state == kListening && sockets.contains(inode))
        ports.push_back(std::stoi(local.substr(local.rfind(':') + 1), nullptr, 16));
    }
  }
  return ports;
}

}  // namespace clique::test
