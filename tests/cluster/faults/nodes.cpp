#include "nodes.hpp"

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>
#include <regex>
#include <stdexcept>
#include <thread>

namespace clique::test {

namespace {

constexpr std::chrono::seconds kStartLimit{60};

constexpr const char* kSource = R"(
kernel void scale(global const uint* in, global uint* out, uint factor) {
  size_t i = get_global_id(0);
  out[i] = (uint)i * factor + in[i];
}
kernel void copy(global const uint* in, global uint* out) { out[get_global_id(0)] = in[get_global_id(0)]; }
kernel void fill(global uint* out) { out[get_global_id(0)] = (uint)get_global_id(0) + 7; }
kernel void endless(global volatile uint* out) { while (atomic_inc(out) != 0xFFFFFFFFu || *out != 1) { } }
)";

}  // namespace

std::string daemon_path() {
  const char* path = std::getenv("CLIQUE_DAEMON");
  if (path == nullptr) throw std::runtime_error("CLIQUE_DAEMON is not set; run the test through ctest");
  return path;
}

Node::Node(const std::string& name, int drain_timeout)
    : daemon_({daemon_path(), "--listen", "127.0.0.1:0", "--encryption", "all", "--resume-timeout", "1",
               "--name", name, "--devices", "0", "--config", "/dev/null", "--worker-ports", "any",
               "--drain-timeout", std::to_string(drain_timeout)},
              programs_.environment()) {
  std::smatch found;
  const std::regex line("listens on tcp://(\\S+)");
  std::string text;
  if (!eventually(kStartLimit,
                  [&] { return std::regex_search(text = log(), found, line) || !alive(daemon_.pid()); }) ||
      found.empty())
    throw std::runtime_error("cliqued does not listen in time; its log:\n" + log());
  address_ = found[1];
}

int Node::port() const {
  return std::stoi(address_.substr(address_.rfind(':') + 1));
}

pid_t Node::find_worker(pid_t client) const {
  // worker[1234] info: session of program[5678]@host open
  const std::regex line(R"(worker\[(\d+)\] info: session of \S*\[)" + std::to_string(client) +
                        R"(\]\S* at \S+ open)");
  std::smatch found;
  const std::string text = log();
  return std::regex_search(text, found, line) ? std::stoi(found[1]) : -1;
}

pid_t Node::worker(pid_t client) const {
  pid_t pid = -1;
  if (!eventually(kStartLimit, [&] { return (pid = find_worker(client != 0 ? client : ::getpid())) >= 0; }))
    throw std::runtime_error("the node's log has no session of process " +
                             std::to_string(client == 0 ? ::getpid() : client) + ":\n" + log());
  return pid;
}

void use_nodes(const std::vector<std::string>& addresses) {
  std::string list;
  for (const std::string& address : addresses) list += (list.empty() ? "" : ",") + address;
  ::setenv("CLIQUE_NODES", list.c_str(), 1);
}

std::string stderr_of(const std::function<void()>& call) {
  ::testing::internal::CaptureStderr();
  call();
  return ::testing::internal::GetCapturedStderr();
}

void TwoNodes::SetUp() {
  nodes.emplace_back("alpha", drain_timeout);
  nodes.emplace_back("beta");
  use_nodes({nodes[0].address(), nodes[1].address()});
  if (before_opening) before_opening();
  ApiTest::SetUp();
  if (HasFatalFailure()) return;
  ASSERT_EQ(2U, devices().size());
  for (cl_device_id one : devices()) queues.push_back(make_queue(0, one));
  program = build(kSource);
}

Kernel TwoNodes::with_args(const char* name, const std::vector<cl_mem>& mems) {
  Kernel result = kernel(program, name);
  for (cl_uint i = 0; i < mems.size(); ++i) EXPECT_CL(clSetKernelArg(result, i, sizeof mems[i], &mems[i]));
  return result;
}

cl_int TwoNodes::enqueue(cl_command_queue on, cl_kernel kernel, size_t size,
                         const std::vector<cl_event>& waits, cl_event* event) {
  return clEnqueueNDRangeKernel(on, kernel, 1, nullptr, &size, nullptr, static_cast<cl_uint>(waits.size()),
                                waits.empty() ? nullptr : waits.data(), event);
}

void TwoNodes::expect_works(cl_command_queue on, cl_uint factor) {
  constexpr size_t count = 4096;
  std::vector<cl_uint> data(count);
  std::iota(data.begin(), data.end(), 3U);
  const Mem in = buffer<cl_uint>(count);
  const Mem out = buffer<cl_uint>(count);
  Kernel scale = with_args("scale", {in, out});
  ASSERT_CL(clSetKernelArg(scale, 2, sizeof factor, &factor));
  ASSERT_CL(
      clEnqueueWriteBuffer(on, in, CL_FALSE, 0, count * sizeof(cl_uint), data.data(), 0, nullptr, nullptr));
  ASSERT_CL(enqueue(on, scale, count));
  std::vector<cl_uint> result(count);
  ASSERT_CL(
      clEnqueueReadBuffer(on, out, CL_TRUE, 0, count * sizeof(cl_uint), result.data(), 0, nullptr, nullptr));
  for (cl_uint i = 0; i < count; ++i) ASSERT_EQ(i * factor + data[i], result[i]) << "at " << i;
}

Event TwoNodes::start_endless(cl_command_queue on) {
  const cl_uint zero = 0;
  const Mem mem = buffer(1, &zero);
  const Kernel endless = with_args("endless", {mem});
  Event running;
  EXPECT_CL(enqueue(on, endless, 1, {}, running.out()));
  // Polling the status may give an old one; a callback is called at once.
  auto seen = std::make_shared<std::atomic<bool>>(false);
  EXPECT_CL(clSetEventCallback(
      running, CL_RUNNING,
      [](cl_event, cl_int, void* data) {
        const std::unique_ptr<std::shared_ptr<std::atomic<bool>>> flag(
            static_cast<std::shared_ptr<std::atomic<bool>>*>(data));
        **flag = true;
      },
      new std::shared_ptr<std::atomic<bool>>(seen)));
  EXPECT_CL(clFlush(on));
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return seen->load(); }))
      << "its status is " << status_of(running);
  EXPECT_GT(status_of(running), CL_COMPLETE);
  return running;
}

struct Watchdog::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
};

Watchdog::Watchdog(const char* what, std::chrono::milliseconds limit) : state_(std::make_shared<State>()) {
  std::thread([state = state_, what = std::string(what), limit] {
    std::unique_lock lock(state->mutex);
    if (state->changed.wait_for(lock, limit, [&] { return state->over; })) return;
    std::fprintf(stderr, "%s\n  has not returned after %lld ms\n", what.c_str(),
                 static_cast<long long>(limit.count()));
    // The daemons end with this process.
    std::_Exit(EXIT_FAILURE);
  }).detach();
}

Watchdog::~Watchdog() {
  const std::lock_guard lock(state_->mutex);
  state_->over = true;
  state_->changed.notify_all();
}

}  // namespace clique::test
