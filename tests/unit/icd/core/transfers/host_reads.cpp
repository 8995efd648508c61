// The host memory that reads fill, and how long the library remembers it.
#include "icd/core/transfers/host_reads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <thread>

#include "icd/core/commands/host_transfers.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/messages.hpp"
#include "unit/icd/remote/fakes.hpp"

namespace clique::icd::test {
namespace {

/// A context on a worker that answers reads.
class HostReadsOfAContext : public ::testing::Test {
 protected:
  HostReadsOfAContext() {
    fake_.on_read = [this](const protocol::ReadBuffer& read) {
      static const std::array<std::byte, 64> zeros{};
      fake_.reply(protocol::Data{read.command.id, read.part, {std::span(zeros).first(read.size), nullptr}});
      fake_.reply(protocol::EventState{read.command.id, CL_COMPLETE, {}});
    };
    fake_.on_release = [this](const protocol::Release& message) {
      const auto& ids = message.objects;
      if (std::find(ids.begin(), ids.end(), context_id_.load()) != ids.end()) released_ = true;
    };
    fake_.run([] {});  // so that its thread sees these functions
    const auto open = [this](const auto&, const auto&) {
      std::vector<std::unique_ptr<Link>> links;
      links.push_back(std::make_unique<Link>(zmq_, fake_.endpoint(), kPatience));
      return OpenedSession{std::move(links)};
    };
    node_ = std::make_unique<icd::Node>("node", std::vector<protocol::Driver>(1), open,
                                        [] { return std::set<std::uint32_t>{0}; });
    worker_ = std::make_unique<Worker>(*node_, 0, 0);
    device_ = Ref<Device>(new Device(*worker_, 0, {}, nullptr, {}));
    context_ = Ref<Context>(new Context({device_}, {}, nullptr, nullptr));
    context_id_ = context_->id();
  }
  /// Reads into the whole memory, and waits for the end.
  void read() {
    const Ref<Queue> queue(new Queue(context_, device_, 0, {}));
    const Ref<Memory> buffer(new Buffer(context_, CL_MEM_READ_WRITE, memory_.size(), nullptr, {}));
    const Ref<Event> event = read_buffer(*queue, *buffer, 0, memory_, {CL_COMMAND_READ_BUFFER, {}}, nullptr);
    event->wait();
    EXPECT_EQ(event->status(), CL_COMPLETE);
  }

  // The worker's thread uses these two.
  std::atomic<protocol::ObjectId> context_id_{0};
  std::atomic<bool> released_{false};
  protocol::ZmqContext zmq_{1};
  FakeWorker fake_;
  std::array<std::byte, 64> memory_{};
  std::unique_ptr<icd::Node> node_;
  std::unique_ptr<Worker> worker_;
  Ref<Device> device_;
  Ref<Context> context_;
};

TEST_F(HostReadsOfAContext, GivenReadsHaveEndedThenTheContextGoesWithItsLastReference) {
  read();
  read();
  context_ = nullptr;
  worker_->link().flush();
  EXPECT_TRUE(eventually([&] { return released_.load(); })) << "a read that has ended keeps the context";
}

}  // namespace
}  // namespace clique::icd::test
