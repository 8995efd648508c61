// Small reads whose data a client watches for in the memory that it shares with the worker.
#include <array>
#include <memory>
#include <numeric>

#include "session.hpp"

namespace clique::test {
namespace {

/// In-order queues with and without profiling.
constexpr ObjectId kTimed = kInOrder;
constexpr ObjectId kUntimed = 20;

/// A client that shares memory with its worker. kBuffer holds the numbers from 1 to 100.
class SharingClient : public FakeGpuClient {
 public:
  explicit SharingClient(const Node& node) : SharingClient(hello(node.endpoint()).workers.at(0)) {}
  /// Blocks that the worker has not returned would keep the memory.
  ~SharingClient() { memory->forget_loans(); }
  SharingClient(const SharingClient&) = delete;
  SharingClient& operator=(const SharingClient&) = delete;

  /// Early units, all 0, and the offset of their end in the client's memory.
  std::pair<std::span<EarlyUnit>, std::uint64_t> units(std::size_t count) {
    block_ = memory->take(count * sizeof(EarlyUnit));
    auto* const first = reinterpret_cast<EarlyUnit*>(block_.get());
    std::uninitialized_value_construct_n(first, count);
    return {{first, count},
            static_cast<std::uint64_t>(block_.get() - memory->outgoing().data()) + count * sizeof(EarlyUnit)};
  }
  /// A place for `size` bytes and their unit, all 0, and the offset of its end in the client's memory.
  std::pair<std::span<std::byte>, std::uint64_t> landing(std::size_t size) {
    const auto [units, end] = this->units(landing_size(size) / sizeof(EarlyUnit));
    return {std::as_writable_bytes(units), end};
  }
  /// Reads with early units that end at `end`. @returns how many bytes came as Data.
  std::size_t read(CommandId id, ObjectId queue, std::uint64_t offset, std::uint64_t size,
                   std::uint64_t end) {
    return read(ReadBuffer{command(id, Command::kReport, {}, queue), 0, kBuffer, offset, size, end});
  }
  std::size_t read(ReadBuffer&& message) {
    const CommandId id = message.command.id;
    send(std::move(message));
    EXPECT_EQ(ended(id).status, 0);
    std::size_t bytes = 0;
    for (const auto& message : reports.messages())
      if (const auto* data = std::get_if<Data>(&message); data != nullptr && data->command == id)
        bytes += data->data.bytes.size();
    return bytes;
  }

  const std::array<std::uint32_t, 100> numbers = [] {
    std::array<std::uint32_t, 100> result{};
    std::iota(result.begin(), result.end(), 1U);
    return result;
  }();

 private:
  // The build thread makes small reads ready before it builds the program of a FakeGpuClient.
  explicit SharingClient(const WorkerAddress& worker)
      : FakeGpuClient(worker, shared_by(worker, Guest::Client)) {
    constexpr CommandId kWrite = 1;
    send(CreateQueue{kUntimed, kContext, 0, 0}, CreateBuffer{kBuffer, kContext, kReadWrite, sizeof numbers},
         WriteBuffer{command(kWrite), kBuffer, 0,
                     payload(reinterpret_cast<const char*>(numbers.data()), sizeof numbers)});
    ended(kWrite);
  }

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
    EXPECT_EQ(client.read(++id, kUntimed, 0, count * 4, end), 0U);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(units[i].there, 1U);
      EXPECT_EQ(units[i].data, client.numbers[i]);
    }
  }
}

TEST_F(CudaSmallReads, GivenUnitsThatTheGpuDoesNotFillThenTheDataComesAsEver) {
  SharingClient client(node_);
  const auto [units, end] = client.units(2);
  EXPECT_EQ(client.read(100, kUntimed, 2, 8, end), 8U) << "an offset that is no multiple of 4";
  EXPECT_EQ(client.read(101, kTimed, 0, 8, end), 8U) << "a queue whose commands are timed";
  for (const EarlyUnit& unit : units) EXPECT_EQ(unit.there, 0U);
}

TEST_F(CudaSmallReads, GivenALandingThenTheDataComesThereBehindAKernelAndIfItIsSmall) {
  constexpr ObjectId kLarge = 30;
  SharingClient client(node_);
  CommandId id = 100;
  client.send(CreateBuffer{kLarge, kContext, kReadWrite, (std::uint64_t{1} << 20U)},
              FillBuffer{command(++id, Command::kReport), kLarge, Bytes(4, 7), 0, (std::uint64_t{1} << 20U)});
  client.ended(id);
  for (const std::size_t size : {260, 4096, 65536, 262144})
    for (const bool behind_kernel : {false, true}) {
      if (behind_kernel)
        client.send(RunKernel{command(++id, 0, {}, kUntimed), kWait, {value_arg(0, 50)}, {}, {1}, {1}});
      const auto [place, end] = client.landing(size);
      const std::size_t sent =
          client.read({command(++id, Command::kReport, {}, kUntimed), 0, kLarge, 4096, size, 0, end});
      const bool lands = behind_kernel || size <= 4096;
      EXPECT_EQ(sent, lands ? 0 : size);
      const auto bytes = place.first(size);
      EXPECT_EQ(std::count(bytes.begin(), bytes.end(), std::byte{7}), lands ? size : 0U) << size;
      EXPECT_EQ(reinterpret_cast<const EarlyUnit*>(place.data() + place.size())[-1].there, lands ? 1U : 0U);
    }
}

TEST_F(CudaSmallReads, GivenReadsOfAllSizesBehindKernelsThenTheyHaveTheData) {
  constexpr ObjectId kLarge = 30;
  constexpr std::size_t kCount = std::size_t{80} << 10;
  SharingClient client(node_);
  std::vector<std::uint32_t> numbers(kCount);
  std::iota(numbers.begin(), numbers.end(), 7U);
  const auto bytes = std::as_bytes(std::span(numbers));
  client.send(CreateBuffer{kLarge, kContext, kReadWrite, bytes.size()},
              WriteBuffer{command(50), kLarge, 0,
                          payload(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  client.ended(50);
  CommandId id = 100;
  for (const std::size_t size : {4096, 4112, 4100, 16384, 65536, 65552, 131072, 262144, 262160})
    for (const std::size_t offset : {0, 16, 4, 2}) {
      const CommandId kernel = ++id, read = ++id;
      client.send(RunKernel{command(kernel, 0, {}, kUntimed), kWait, {value_arg(0, 2)}, {}, {1}, {1}},
                  ReadBuffer{command(read, Command::kReport, {}, kUntimed), 0, kLarge, offset, size});
      const auto data = client.data(read);
      EXPECT_EQ(client.ended(id).status, 0);
      ASSERT_EQ(data.size(), size);
      EXPECT_TRUE(std::equal(data.begin(), data.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset)))
          << size << " bytes from " << offset;
    }
}

TEST_F(CudaSmallReads, GivenUnitsWhereNoneCanBeThenTheSessionEnds) {
  for (const std::uint64_t past : {4, 8}) {
    SharingClient client(node_);
    client.send(ReadBuffer{command(100), 0, kBuffer, 0, 8, client.memory->outgoing().size() + past});
    EXPECT_NE(client.next<SessionEnded>().reason.find("units"), std::string::npos) << past;
  }
  // Behind the memory's end, no whole number of units, before its begin, and with a size that is none.
  constexpr ObjectId kLarge = 30;
  constexpr std::uint64_t kSize = 4096;
  for (const auto& [end, size] : {std::pair{std::uint64_t{1} << 60U, kSize},
                                  {kSize + 16 + 4, kSize},
                                  {kSize, kSize},
                                  {2 * kSize, kSize - 2}}) {
    SharingClient client(node_);
    client.send(CreateBuffer{kLarge, kContext, kReadWrite, (std::uint64_t{1} << 20U)},
                ReadBuffer{command(100, Command::kReport, {}, kUntimed), 0, kLarge, 0, size, 0, end});
    EXPECT_NE(client.next<SessionEnded>().reason.find("units"), std::string::npos) << end;
  }
}

}  // namespace
}  // namespace clique::test
