// Reads of a few bytes for which a client watches in the memory that it shares with the worker.
#include <array>
#include <deque>
#include <numeric>
#include <optional>

#include "protocol/transport/shared_offer.hpp"
#include "session.hpp"

namespace clique::test {
namespace {

/// A client that shares memory with its worker. Context 1, queue 2 in order, queue 3 the same with profiling,
/// and buffer 5 with the numbers from 1 to 100.
class SharingClient {
 public:
  explicit SharingClient(const Node& node) : SharingClient(hello(node.endpoint()).workers.at(0)) {
    send(CreateContext{1, {0}}, CreateQueue{2, 1, 0, 0}, CreateQueue{3, 1, 0, CL_QUEUE_PROFILING_ENABLE},
         CreateProgram{1, 4, 1, ProgramKind::Binary, {0}, {daemon::compiler::serialize(fake_program())}},
         BuildProgram{2, 4, {0}, ""}, CreateBuffer{5, 1, 1, sizeof numbers},
         WriteBuffer{command(1), 5, 0,
                     payload(reinterpret_cast<const char*>(numbers.data()), sizeof numbers)});
    // The thread that builds programs has made small reads ready before.
    next<ProgramBuilt>([](const ProgramBuilt& built) { return built.request == 2; });
  }
  /// What nobody gives back keeps the memory.
  ~SharingClient() { memory->forget_loans(); }
  SharingClient(const SharingClient&) = delete;
  SharingClient& operator=(const SharingClient&) = delete;

  template <typename... M>
  void send(const M&... messages) {
    Batch batch;
    (batch.add(messages), ...);
    ASSERT_EQ(memory->try_send(batch), SharedMemory::Sent::Yes);
  }
  template <typename M>
  M next(const std::function<bool(const M&)>& wanted) {
    std::optional<M> found;
    const bool came = eventually([&] {
      receive();
      for (auto i = messages.begin(); i != messages.end() && !found; ++i)
        if (auto* message = std::get_if<M>(&*i); message != nullptr && wanted(*message)) {
          found = std::move(*message);
          messages.erase(i);
          break;
        }
      return found.has_value();
    });
    if (!came) throw std::runtime_error("a message did not come: " + std::to_string(int(M::op)));
    return std::move(*found);
  }
  /// Room for units, all 0, and where it ends.
  std::pair<std::span<EarlyUnit>, std::uint64_t> units(std::size_t count) {
    block_ = memory->take(count * sizeof(EarlyUnit));
    auto* const first = reinterpret_cast<EarlyUnit*>(block_.get());
    std::uninitialized_value_construct_n(first, count);
    return {{first, count},
            static_cast<std::uint64_t>(block_.get() - memory->outgoing().data()) + count * sizeof(EarlyUnit)};
  }
  /// Reads with units. @returns how much data came besides, in bytes.
  std::size_t read(CommandId id, ObjectId queue, std::uint64_t offset, std::uint64_t size,
                   std::uint64_t end) {
    send(ReadBuffer{command(id, Command::kReport, {}, queue), 0, 5, offset, size, end});
    EXPECT_EQ(next<EventState>([id](const EventState& state) { return state.command == id; }).status, 0);
    std::size_t bytes = 0;
    for (const auto& message : messages)
      if (const auto* data = std::get_if<Data>(&message); data != nullptr && data->command == id)
        bytes += data->data.bytes.size();
    return bytes;
  }

  std::shared_ptr<SharedMemory> memory;
  std::deque<VariantOf<WorkerMessages>::type> messages;
  const std::array<std::uint32_t, 100> numbers = [] {
    std::array<std::uint32_t, 100> result{};
    std::iota(result.begin(), result.end(), 1U);
    return result;
  }();

 private:
  explicit SharingClient(const WorkerAddress& worker)
      : memory(take_shared_offer(worker.shared, worker.token, Guest::Client, kPatience)),
        commands_(dealer("tcp://127.0.0.1:" + std::to_string(worker.commands))),
        reports_(dealer("tcp://127.0.0.1:" + std::to_string(worker.reports))) {
    if (!memory) throw std::runtime_error("the worker has no memory to offer");
    test::send(commands_, Attach{worker.token});
    test::send(reports_, Attach{worker.token});
    next<Attached>([](const Attached&) { return true; });
  }
  void receive() {
    for (Incoming incoming; memory->receive(incoming) == SharedMemory::Received::Batch;)
      reader_.read(
          WorkerMessages{}, incoming.records, incoming.frames, incoming.owner,
          [this](auto&& message) { messages.emplace_back(std::forward<decltype(message)>(message)); });
  }

  zmq::socket_t commands_;
  zmq::socket_t reports_;
  BatchReader reader_;
  std::shared_ptr<std::byte> block_;
};

class CudaSmallReads : public testing::Test {
 protected:
  FakeNode node_;
};

TEST_F(CudaSmallReads, GivenUnitsThenTheDataComesInTheseAlone) {
  SharingClient client(node_);
  CommandId id = 100;
  for (const std::size_t count : {1, 2, 64, 100}) {
    const auto [units, end] = client.units(count);
    EXPECT_EQ(client.read(++id, 2, 0, count * 4, end), 0U);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(units[i].there, 1U);
      EXPECT_EQ(units[i].data, client.numbers[i]);
    }
  }
}

TEST_F(CudaSmallReads, GivenUnitsThatTheGpuDoesNotFillThenTheDataComesAsEver) {
  SharingClient client(node_);
  const auto [units, end] = client.units(2);
  EXPECT_EQ(client.read(100, 2, 2, 8, end), 8U) << "an offset that is no multiple of 4";
  EXPECT_EQ(client.read(101, 3, 0, 8, end), 8U) << "a queue whose commands are timed";
  for (const EarlyUnit& unit : units) EXPECT_EQ(unit.there, 0U);
}

TEST_F(CudaSmallReads, GivenUnitsWhereNoneCanBeThenTheSessionEnds) {
  for (const std::uint64_t past : {4, 8}) {
    SharingClient client(node_);
    client.send(ReadBuffer{command(100), 0, 5, 0, 8, client.memory->outgoing().size() + past});
    const auto end = client.next<SessionEnded>([](const SessionEnded&) { return true; });
    EXPECT_NE(end.reason.find("units"), std::string::npos) << past;
  }
}

}  // namespace
}  // namespace clique::test
