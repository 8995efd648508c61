// The order of tasks, with random dependencies: every task checks that the tasks that it waits for have run.
#include "daemon/backend/cuda/execution/scheduler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace clique::daemon::cuda {
namespace {

constexpr std::size_t kMostWaits = 4;
constexpr cl_int kFailure = -77;

class CudaScheduler : public testing::Test {
 protected:
  struct Node {
    TaskRef task;
    std::vector<std::size_t> waits;
    bool gate = false;     // stands for something that happens elsewhere
    bool decided = false;  // of a gate: whether it has been ended
    bool fails = false;
  };

  CudaScheduler() {
    done_ = take(nodes_.capacity());
    seen_ = take(nodes_.capacity() * kMostWaits);
  }

  static CUdeviceptr take(std::size_t count) {
    CUdeviceptr memory = 0;
    CLIQUE_CUDA(MemAlloc(&memory, count * sizeof(std::uint32_t)));
    std::memset(reinterpret_cast<void*>(memory), 0, count * sizeof(std::uint32_t));
    return memory;
  }
  static CUdeviceptr at(CUdeviceptr memory, std::size_t index) {
    return memory + index * sizeof(std::uint32_t);
  }
  /// Whether the condition becomes true within a minute.
  template <typename Condition>
  static bool comes_true(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  static std::uint32_t number(CUdeviceptr memory, std::size_t index) {
    return *reinterpret_cast<const volatile std::uint32_t*>(at(memory, index));
  }

  void add_gate() {
    Node node;
    node.task = std::make_shared<Task>();
    node.gate = true;
    node.fails = random_() % 10 == 0;
    scheduler_.hold(node.task);
    nodes_.push_back(std::move(node));
  }

  void add_task(const std::shared_ptr<Lane>& lane) {
    const std::size_t index = nodes_.size();
    Node node;
    std::vector<TaskRef> waits;
    for (unsigned n = random_() % (kMostWaits + 1); n > 0 && index > 0; --n) {
      node.waits.push_back(index - 1 - random_() % std::min<std::size_t>(index, 40));
      waits.push_back(nodes_[node.waits.back()].task);
      node.fails = node.fails || nodes_[node.waits.back()].fails;
    }
    node.task = std::make_shared<Task>();
    node.task->timed = random_() % 8 == 0;
    node.task->observed = random_() % 2 == 0;
    node.task->prompt = random_() % 8 == 0;
    node.task->awaited = random_() % 8 == 0;
    node.task->run = [this, index, before = node.waits](CUstream stream) {
      for (std::size_t i = 0; i < before.size(); ++i)
        CLIQUE_CUDA(MemcpyDtoDAsync(at(seen_, index * kMostWaits + i), at(done_, before[i]),
                                    sizeof(std::uint32_t), stream));
      CLIQUE_CUDA(MemsetD32Async(at(done_, index), 1, 1, stream));
    };
    node.task->at_end = [this, index](Task& /*task*/, cl_int status) {
      if (status == CL_COMPLETE && number(done_, index) != 1) ++early_;
      ++ended_;
    };
    nodes_.push_back(node);
    scheduler_.enter(node.task, lane, waits, {});
  }

  void decide(Node& gate) {
    gate.decided = true;
    // A gate does nothing, but tasks that wait for it expect it to be done.
    std::memset(reinterpret_cast<void*>(at(done_, static_cast<std::size_t>(&gate - nodes_.data()))), 1, 1);
    scheduler_.end(gate.task, gate.fails ? kFailure : CL_COMPLETE);
  }

  const Driver& driver_ = open_driver();  // before the scheduler's thread
  std::mt19937 random_{7};
  std::vector<Node> nodes_ = [] {
    std::vector<Node> nodes;
    nodes.reserve(4096);
    return nodes;
  }();
  CUdeviceptr done_ = 0;
  CUdeviceptr seen_ = 0;
  std::atomic<std::size_t> ended_ = 0;
  std::atomic<std::size_t> early_ = 0;
  std::atomic<bool> faulty_ = false;
  Scheduler scheduler_{nullptr, [this](CUresult /*result*/) { faulty_ = true; }};
};

TEST_F(CudaScheduler, GivenOneThatOthersMayWaitForThenItsEndIsToldWhileWhatFollowsRuns) {
  const auto lane = scheduler_.make_lane(true);
  const CUdeviceptr gate = take(1);
  const auto first = std::make_shared<Task>();
  first->awaited = true;
  first->run = [](CUstream /*stream*/) {};
  const auto second = std::make_shared<Task>();
  second->run = [gate](CUstream stream) {
    CLIQUE_CUDA(StreamWaitValue32(stream, gate, 1, CU_STREAM_WAIT_VALUE_GEQ));
  };
  for (const TaskRef& task : {first, second}) scheduler_.enter(task, lane, {}, {});
  scheduler_.flush();
  EXPECT_TRUE(comes_true([&] { return first->ended(); }));
  EXPECT_FALSE(second->ended());
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(gate)).store(1);
  EXPECT_TRUE(comes_true([&] { return second->ended(); }));
}

TEST_F(CudaScheduler, GivenKernelsThatAreCountedThenThoseOnTheGpuAre) {
  const PacePage page;
  page.set_pace(0, Pace::Counted);
  Tasks woken;
  Pacer pacer(woken);
  pacer.obey(PacePage(Fd(::dup(page.descriptor()))));
  Scheduler scheduler{nullptr, [this](CUresult /*result*/) { faulty_ = true; }, {}, &pacer};
  const auto lane = scheduler.make_lane(true);
  const CUdeviceptr gate = take(1);
  const auto busy = [&page] {
    const auto now = PacePage::Clock::now();
    return page.busy(0, now + std::chrono::hours(1)) != page.busy(0, now);
  };
  const auto elsewhere = std::make_shared<Task>(), kernel = std::make_shared<Task>();
  kernel->kernel = "one";
  kernel->run = [gate](CUstream stream) {
    CLIQUE_CUDA(StreamWaitValue32(stream, gate, 1, CU_STREAM_WAIT_VALUE_GEQ));
  };
  scheduler.hold(elsewhere);
  scheduler.enter(kernel, lane, {&elsewhere, 1}, {});
  scheduler.flush();
  EXPECT_FALSE(busy()) << "it is held, and the GPU does not know of it";
  scheduler.end(elsewhere, CL_COMPLETE);
  scheduler.flush();
  EXPECT_TRUE(busy());
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(gate)).store(1);
  EXPECT_TRUE(comes_true([&] { return kernel->ended(); }));
  EXPECT_TRUE(comes_true([&] { return !busy(); }));
}

TEST_F(CudaScheduler, GivenOneThatMarksOnlyAfterAKernelThenItDoesWhileOneIsUnderWay) {
  const auto lane = scheduler_.make_lane(true);
  const CUdeviceptr gate = take(1);
  const auto read = [&] {
    bool marks = false;
    const auto task = std::make_shared<Task>();
    task->mark_only_after_kernel = true;
    task->run = [](CUstream /*stream*/) {};
    task->run_and_mark = [&marks](CUstream stream, CUdeviceptr word, std::uint32_t number) {
      marks = true;
      CLIQUE_CUDA(StreamWriteValue32(stream, word, number, 0));
    };
    scheduler_.enter(task, lane, {}, {});
    scheduler_.flush();
    return std::pair{task, marks};
  };
  EXPECT_FALSE(read().second) << "no kernel was launched";
  const auto kernel = std::make_shared<Task>();
  kernel->kernel = "one";
  kernel->run = [gate](CUstream stream) {
    CLIQUE_CUDA(StreamWaitValue32(stream, gate, 1, CU_STREAM_WAIT_VALUE_GEQ));
  };
  scheduler_.enter(kernel, lane, {}, {});
  const auto [task, marks] = read();
  EXPECT_TRUE(marks);
  EXPECT_FALSE(task->ended());
  std::atomic_ref(*reinterpret_cast<std::uint32_t*>(gate)).store(1);
  EXPECT_TRUE(comes_true([&, &ended = *task] { return ended.ended() && kernel->ended(); }));
  EXPECT_FALSE(read().second) << "the kernel has ended";
}

TEST_F(CudaScheduler, GivenRandomDependenciesThenEachComesAfterWhatItWaitsFor) {
  std::vector<std::shared_ptr<Lane>> lanes;
  for (int i = 0; i < 6; ++i) lanes.push_back(scheduler_.make_lane(i % 2 == 0));
  std::size_t tasks = 0;
  while (nodes_.size() < nodes_.capacity()) {
    if (random_() % 50 == 0) {
      add_gate();
    } else {
      add_task(lanes[random_() % lanes.size()]);
      ++tasks;
    }
    if (random_() % 10 == 0) scheduler_.flush();
    Node& any = nodes_[random_() % nodes_.size()];
    if (any.gate && !any.decided) decide(any);
  }
  for (Node& node : nodes_)
    if (node.gate && !node.decided) decide(node);
  scheduler_.flush();
  ASSERT_TRUE(comes_true([&] { return ended_ == tasks; })) << ended_ << " of " << tasks;
  EXPECT_EQ(early_, 0U) << "were told ended before they were done";
  EXPECT_FALSE(faulty_);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    const cl_int expected = !node.fails ? CL_COMPLETE
                            : node.gate ? kFailure
                                        : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    EXPECT_EQ(node.task->status(), expected) << i;
    if (node.gate || node.fails) {
      EXPECT_EQ(number(done_, i), node.gate ? 1U : 0U) << i << " was run, though it must not";
      continue;
    }
    for (std::size_t n = 0; n < node.waits.size(); ++n)
      EXPECT_EQ(number(seen_, i * kMostWaits + n), 1U) << i << " came before " << node.waits[n];
  }
}

}  // namespace
}  // namespace clique::daemon::cuda
