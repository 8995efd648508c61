// The order of commands, transfers, fills, and profiling times.
#include <array>
#include <chrono>
#include <numeric>

#include "session.hpp"

namespace clique::test {
namespace {

constexpr ObjectId kRecording = 20;

RunKernel increment(Command header, ObjectId buffer, std::uint64_t count = 1) {
  return {std::move(header), kIncrement, {object_arg(0, buffer)}, {}, {count}, {}};
}
RunKernel wait(Command header, int milliseconds) {
  return {std::move(header), kWait, {value_arg(0, milliseconds)}, {}, {1}, {}};
}

class CudaCommands : public testing::Test {
 protected:
  FakeNode node_;
  FakeGpuClient client_{node_};
};

TEST_F(CudaCommands, GivenTheGpuThenItDescribesItself) {
  ASSERT_EQ(client_.attached.devices.size(), 1U);
  const auto text = [this](cl_device_info name) {
    for (const Property& property : client_.attached.devices[0].properties)
      if (property.name == name) return std::string(property.value.begin(), property.value.end() - 1);
    return std::string();
  };
  EXPECT_EQ(text(CL_DEVICE_NAME), "Fake GPU 0");
  EXPECT_EQ(text(CL_DEVICE_VENDOR), "NVIDIA Corporation");
  EXPECT_NE(text(CL_DEVICE_EXTENSIONS).find("cl_khr_fp64"), std::string::npos);
  EXPECT_FALSE(client_.attached.devices[0].image_formats.empty());
}

TEST_F(CudaCommands, GivenSeveralPartsThenOneCommand) {
  std::vector<std::uint32_t> numbers(5'000'000);
  std::iota(numbers.begin(), numbers.end(), 1U);
  const std::uint64_t bytes = numbers.size() * 4;
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, bytes});
  for (const ObjectId queue : {kInOrder, kOutOfOrder}) {
    std::uint64_t done = 0;
    while (done < bytes) {
      const auto size = std::min<std::uint64_t>(kMaxPayload, bytes - done);
      const std::uint8_t more = done + size < bytes ? Command::kMore : 0;
      client_.send(WriteBuffer{command(100 + queue, Command::kReport | more, {}, queue), kBuffer, done,
                               payload(reinterpret_cast<const char*>(numbers.data()) + done, size)});
      done += size;
    }
    EXPECT_EQ(client_.ended(100 + queue).status, 0);
    client_.send(
        ReadBuffer{command(200 + queue, Command::kReport | Command::kMore, {}, queue), 0, kBuffer, 0, 8},
        ReadBuffer{command(200 + queue, Command::kReport, {}, queue), 1, kBuffer, bytes - 8, 8});
    EXPECT_EQ(std::memcmp(client_.data(200 + queue, 0).data(), numbers.data(), 8), 0);
    EXPECT_EQ(std::memcmp(client_.data(200 + queue, 1).data(), &numbers[numbers.size() - 2], 8), 0);
    EXPECT_EQ(client_.ended(200 + queue).status, 0);
  }
}

TEST_F(CudaCommands, GivenManyLaunchesOfAKernelThenEachHasItsOwnArguments) {
  constexpr int kLaunches = 100;
  client_.make_zeros(kBuffer, 64);
  client_.make_zeros(kOther, 64);
  for (const ObjectId queue : {kInOrder, kOutOfOrder}) {
    std::vector<int> before{client_.first(kBuffer), client_.first(kOther)};
    for (int i = 0; i < kLaunches; ++i) {
      const CommandId id = queue * 1000 + i;
      // Also on the out-of-order queue, each launch follows the one before it.
      std::vector<CommandId> waits;
      if (i > 0) waits.push_back(id - 1);
      client_.send(
          increment(command(id, Command::kReport, waits, queue), i % 3 == 0 ? kBuffer : kOther, 1 + i % 50));
    }
    for (int i = 0; i < kLaunches; ++i) EXPECT_EQ(client_.ended(queue * 1000 + i).status, 0);
    EXPECT_EQ(client_.first(kBuffer) - before[0], (kLaunches + 2) / 3);
    EXPECT_EQ(client_.first(kOther) - before[1], kLaunches - (kLaunches + 2) / 3);
  }
}

TEST_F(CudaCommands, GivenReadsOfFewBytesThenEachHasWhatIsThereInItsTurn) {
  constexpr ObjectId kQueue = 20;
  std::vector<std::uint32_t> numbers(2000);
  std::iota(numbers.begin(), numbers.end(), 1U);
  const char* const bytes = reinterpret_cast<const char*>(numbers.data());
  client_.send(CreateQueue{kQueue, kContext, 0, 0}, CreateBuffer{kBuffer, kContext, kReadWrite, 8000},
               WriteBuffer{command(100, 0, {}, kQueue), kBuffer, 0, payload(bytes, 8000)});
  client_.make_zeros(kOther);
  CommandId id = 1000;
  for (const bool busy : {false, true}) {
    if (busy) client_.send(wait(command(++id, 0, {}, kOutOfOrder), 100));
    for (int i = 1; i <= 12; ++i) {
      for (const auto& [offset, size] :
           {std::pair(0, 4), {16, 100}, {3904, 4096}, {4, 4100}, {2, 8}, {8, 3}}) {
        client_.send(ReadBuffer{command(++id, Command::kReport, {}, kQueue), 0, kBuffer,
                                static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(size)});
        const auto data = client_.data(id);
        ASSERT_EQ(data.size(), static_cast<std::size_t>(size));
        EXPECT_EQ(std::memcmp(data.data(), bytes + offset, data.size()), 0) << offset << ' ' << size;
        EXPECT_EQ(client_.ended(id).status, 0);
      }
      ++id;
      client_.send(increment(command(id, 0, {}, kQueue), kOther),
                   ReadBuffer{command(id + 1, Command::kReport, {}, kQueue), 0, kOther, 0, sizeof(int)},
                   increment(command(id + 2, 0, {}, kQueue), kOther));
      id += 2;
      int count = 0;
      std::memcpy(&count, client_.data(id - 1).data(), sizeof count);
      EXPECT_EQ(client_.ended(id - 1).status, 0);
      EXPECT_EQ(count, (busy ? 24 : 0) + 2 * i - 1);
    }
  }
}

TEST_F(CudaCommands, GivenUnitsOutsideOfSharedMemoryThenTheSessionEnds) {
  // This client shares no memory.
  for (const std::uint64_t end :
       {std::uint64_t{4}, std::uint64_t{64}, ~std::uint64_t{7}, ~std::uint64_t{0}}) {
    FakeGpuClient client(node_);
    client.make_zeros(kBuffer);
    client.send(ReadBuffer{command(100), 0, kBuffer, 0, 4, end});
    EXPECT_NE(client.next<SessionEnded>().reason.find("units"), std::string::npos) << end;
  }
}

TEST_F(CudaCommands, GivenManyLaunchesOfAKernelThenOneThatCannotBeFailsAlone) {
  constexpr CommandId kImpossible = 130, kNext = 131;
  client_.make_zeros(kBuffer);
  for (int i = 0; i < 20; ++i) client_.send(increment(command(100 + i, 0), kBuffer));
  client_.send(RunKernel{
      command(kImpossible, Command::kReport), kIncrement, {object_arg(0, kBuffer)}, {}, {2048}, {2048}});
  client_.send(increment(command(kNext, Command::kReport), kBuffer));
  EXPECT_LT(client_.ended(kImpossible).status, 0);
  EXPECT_EQ(client_.ended(kNext).status, 0);
  EXPECT_EQ(client_.first(kBuffer), 21);
}

TEST_F(CudaCommands, GivenManyLaunchesOfAKernelThenItCanBeRecorded) {
  constexpr CommandId kFirstRun = 130, kLaunch = 131, kSecondRun = 132;
  client_.make_zeros(kBuffer);
  for (int i = 0; i < 20; ++i) client_.send(increment(command(100 + i, 0), kBuffer));
  Batch batch;
  for (int i = 0; i < 20; ++i) batch.add(increment({}, kBuffer));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{kRecording, {bytes, bytes + batch.size()}},
               RunRecording{command(kFirstRun, Command::kReport), kRecording},
               increment(command(kLaunch, 0), kBuffer),
               RunRecording{command(kSecondRun, Command::kReport), kRecording});
  EXPECT_EQ(client_.ended(kFirstRun).status, 0);
  EXPECT_EQ(client_.ended(kSecondRun).status, 0);
  EXPECT_EQ(client_.first(kBuffer), 61);
}

TEST_F(CudaCommands, GivenRecordingThenEachRunIsOneCommand) {
  constexpr CommandId kFirstRun = 100, kLaunch = 101, kSecondRun = 102, kThirdRun = 103;
  client_.make_zeros(kBuffer);
  client_.make_zeros(kOther);
  Batch batch;
  batch.add(increment({}, kBuffer));
  batch.add(wait({}, 20));
  batch.add(CopyBuffer{{}, kBuffer, kOther, 0, 0, sizeof(int)});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{kRecording, {bytes, bytes + batch.size()}}, AwaitRemote{kRemote, kContext});
  // Changed by others in between.
  client_.send(RunRecording{command(kFirstRun, Command::kReport, {kRemote}), kRecording},
               increment(command(kLaunch, 0), kBuffer),
               RunRecording{command(kSecondRun, Command::kReport), kRecording},
               RunRecording{command(kThirdRun, 0), kRecording});
  client_.send(SetRemote{kRemote, CL_COMPLETE});
  const auto first = client_.ended(kFirstRun);
  EXPECT_EQ(first.status, 0);
  EXPECT_GE(first.times[3] - first.times[2], 20'000'000U) << "the times are those of all of it";
  const auto second = client_.ended(kSecondRun);
  EXPECT_EQ(second.status, 0);
  EXPECT_LE(first.times[3], second.times[2]);
  EXPECT_EQ(client_.first(kOther), 4);
}

// A busy machine notices late that the GPU has reached the event that relates the two clocks.
TEST(CudaTimes, GivenClocksThatAreHardToCompareThenTimesAreInOrder) {
  ::setenv("FAKE_CUDA_LATE", "8", 1);
  const FakeNode node;
  ::unsetenv("FAKE_CUDA_LATE");
  FakeGpuClient client(node);
  client.make_zeros(kBuffer);
  std::uint64_t end_before = 0;
  for (CommandId id = 100; id < 110; ++id) {
    client.send(id % 2 == 0 ? wait(command(id, Command::kReport), 2)
                            : increment(command(id, Command::kReport), kBuffer));
    const auto report = client.ended(id);
    EXPECT_EQ(report.status, 0);
    EXPECT_LE(report.times[0], report.times[1]);
    EXPECT_LE(report.times[1], report.times[2]);
    EXPECT_LE(report.times[2], report.times[3]);
    EXPECT_LE(end_before, report.times[2]) << "of command " << id;
    end_before = report.times[3];
  }
}

// If a graph leaves a choice, the fake driver runs its commands in reverse order.
TEST_F(CudaCommands, GivenRecordingForQueueWithoutOrderThenCommandsComeAfterThoseThatTheyWaitFor) {
  constexpr CommandId kFirstRun = 100, kSecondRun = 101;
  for (const ObjectId buffer : {kBuffer, kOther, kThird}) client_.make_zeros(buffer);
  const auto after = [](auto message, std::vector<CommandId> waits) {
    message.command.waits = std::move(waits);
    return message;
  };
  Batch batch;
  batch.add(increment({}, kBuffer));
  batch.add(after(CopyBuffer{{}, kBuffer, kOther, 0, 0, sizeof(int)}, {0}));
  batch.add(after(CopyBuffer{{}, kOther, kThird, 0, 0, sizeof(int)}, {1}));
  batch.add(after(increment({}, kThird), {0, 2}));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{kRecording, {bytes, bytes + batch.size()}},
               RunRecording{command(kFirstRun, Command::kReport, {}, kOutOfOrder), kRecording},
               RunRecording{command(kSecondRun, Command::kReport, {kFirstRun}, kOutOfOrder), kRecording});
  EXPECT_EQ(client_.ended(kFirstRun).status, 0);
  EXPECT_EQ(client_.ended(kSecondRun).status, 0);
  EXPECT_EQ(client_.first(kBuffer), 2);
  EXPECT_EQ(client_.first(kOther), 2);
  EXPECT_EQ(client_.first(kThird), 3);
}

namespace {
UpdateRecording replacing(std::vector<CommandId> numbers, const std::vector<RunKernel>& launches) {
  Batch batch;
  for (const RunKernel& launch : launches) batch.add(launch);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  return {kRecording, std::move(numbers), {bytes, bytes + batch.size()}};
}
}  // namespace

TEST_F(CudaCommands, GivenLaunchOfARecordingThatIsReplacedThenOnlyLaterRunsHaveIt) {
  constexpr CommandId kFirstRun = 100, kSecondRun = 101, kThirdRun = 102, kFourthRun = 103;
  for (const ObjectId buffer : {kBuffer, kOther, kThird}) client_.make_zeros(buffer);
  for (const ObjectId queue : {kInOrder, kOutOfOrder}) {
    Batch batch;
    RunKernel second = increment({}, kBuffer);
    second.command.waits = {0};
    batch.add(increment({}, kBuffer));
    batch.add(second);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
    client_.send(DefineRecording{kRecording, {bytes, bytes + batch.size()}},
                 RunRecording{command(kFirstRun, Command::kReport, {}, queue), kRecording});
    EXPECT_EQ(client_.ended(kFirstRun).status, 0);
    // In place, and then while a run waits, which keeps what it had.
    client_.send(replacing({1}, {increment({}, kOther)}), AwaitRemote{kRemote, kContext},
                 RunRecording{command(kSecondRun, Command::kReport, {kRemote}, queue), kRecording},
                 replacing({0, 1}, {increment({}, kThird), increment({}, kThird)}),
                 RunRecording{command(kThirdRun, Command::kReport, {kSecondRun}, queue), kRecording},
                 replacing({0}, {increment({}, kOther)}),
                 RunRecording{command(kFourthRun, Command::kReport, {kThirdRun}, queue), kRecording});
    client_.send(SetRemote{kRemote, CL_COMPLETE});
    for (const CommandId run : {kSecondRun, kThirdRun, kFourthRun}) EXPECT_EQ(client_.ended(run).status, 0);
    client_.send(Release{{kRecording}, {kRemote, kFirstRun, kSecondRun, kThirdRun, kFourthRun}});
  }
  EXPECT_EQ(client_.first(kBuffer), 6);
  EXPECT_EQ(client_.first(kOther), 4);
  EXPECT_EQ(client_.first(kThird), 6);
}

TEST_F(CudaCommands, GivenReplacementThatFailsThenRunsFailUntilTheNextOne) {
  constexpr CommandId kFirstRun = 100, kSecondRun = 101, kThirdRun = 102;
  client_.make_zeros(kBuffer);
  Batch batch;
  for (int i = 0; i < 3; ++i) batch.add(increment({}, kBuffer));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  const RunKernel impossible{{}, kIncrement, {object_arg(0, kBuffer)}, {}, {2048}, {2048}};
  client_.send(DefineRecording{kRecording, {bytes, bytes + batch.size()}},
               RunRecording{command(kFirstRun, Command::kReport), kRecording}, replacing({1}, {impossible}),
               RunRecording{command(kSecondRun, Command::kReport), kRecording},
               replacing({1}, {increment({}, kBuffer)}),
               RunRecording{command(kThirdRun, Command::kReport), kRecording});
  EXPECT_EQ(client_.ended(kFirstRun).status, 0);
  EXPECT_LT(client_.ended(kSecondRun).status, 0);
  EXPECT_EQ(client_.ended(kThirdRun).status, 0);
  // The launches before the one that failed have run.
  EXPECT_EQ(client_.first(kBuffer), 7);
}

TEST_F(CudaCommands, GivenRecordingWithACommandThatFailsThenItsRunsFail) {
  constexpr ObjectId kTooLarge = 77;
  client_.make_zeros(kBuffer);
  Batch batch;
  batch.add(increment({}, kBuffer));
  batch.add(CopyBuffer{{}, kBuffer, kTooLarge, 0, 0, sizeof(int)});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(CreateBuffer{kTooLarge, kContext, kReadWrite, std::uint64_t{1} << 62U});
  EXPECT_NE(client_.next<Failed>().status, 0);
  client_.send(DefineRecording{kRecording, {bytes, bytes + batch.size()}});
  for (const CommandId id : {100, 101}) {
    client_.send(RunRecording{command(id, Command::kReport), kRecording});
    EXPECT_NE(client_.ended(id).status, 0);
  }
  client_.send(increment(command(102, Command::kReport), kBuffer));
  EXPECT_EQ(client_.ended(102).status, 0);
}

TEST_F(CudaCommands, GivenRecordingThatIsReleasedThenItsRunsComeToTheirEnd) {
  constexpr CommandId kFirstRun = 100, kSecondRun = 101;
  client_.make_zeros(kBuffer);
  Batch batch;
  for (int i = 0; i < 10; ++i) batch.add(increment({}, kBuffer));
  batch.add(FillBuffer{{}, kBuffer, Bytes{0, 0, 0, 1}, 0, sizeof(int)});
  batch.add(increment({}, kBuffer));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{kRecording, {bytes, bytes + batch.size()}}, AwaitRemote{kRemote, kContext},
               RunRecording{command(kFirstRun, 0, {kRemote}), kRecording},
               RunRecording{command(kSecondRun, Command::kReport), kRecording}, Release{{kRecording}, {}});
  client_.send(SetRemote{kRemote, CL_COMPLETE});
  EXPECT_EQ(client_.ended(kSecondRun).status, 0);
  EXPECT_EQ(client_.first(kBuffer), (1 << 24) + 1);
}

TEST_F(CudaCommands, GivenWaitListsThenTheOrderHoldsAcrossQueues) {
  client_.make_zeros(kBuffer);
  // Finally, all have waited for the slow one.
  client_.send(wait(command(100, Command::kEvent), 50), increment(command(101, Command::kEvent), kBuffer));
  for (CommandId id = 102; id < 150; ++id)
    client_.send(
        increment(command(id, Command::kEvent, {id - 1}, id % 2 == 0 ? kOutOfOrder : kInOrder), kBuffer));
  EXPECT_EQ(client_.first(kBuffer, {149}), 49);
}

TEST_F(CudaCommands, GivenOutOfOrderQueueThenABarrierKeepsOrder) {
  client_.make_zeros(kBuffer);
  client_.send(
      wait(command(100, 0, {}, kOutOfOrder), 50), increment(command(101, 0, {}, kOutOfOrder), kBuffer),
      Barrier{command(102, 0, {}, kOutOfOrder)}, increment(command(103, 0, {}, kOutOfOrder), kBuffer),
      Marker{command(104, Command::kReport, {}, kOutOfOrder)});
  EXPECT_EQ(client_.ended(104).status, 0);
  EXPECT_EQ(client_.first(kBuffer), 2);
}

TEST_F(CudaCommands, GivenSomethingElsewhereThenOnlyWhatWaitsIsHeld) {
  constexpr CommandId kHeld = 100, kFree = 101;
  client_.make_zeros(kBuffer);
  client_.make_zeros(kOther);
  client_.send(AwaitRemote{kRemote, kContext},
               increment(command(kHeld, Command::kReport, {kRemote}, kOutOfOrder), kBuffer),
               increment(command(kFree, Command::kReport, {}, kOutOfOrder), kOther));
  EXPECT_EQ(client_.ended(kFree).status, 0);
  EXPECT_EQ(client_.first(kBuffer), 0);
  client_.send(SetRemote{kRemote, CL_COMPLETE});
  EXPECT_EQ(client_.ended(kHeld).status, 0);
  EXPECT_EQ(client_.first(kBuffer), 1);
}

TEST_F(CudaCommands, GivenHeldCommandInAnOrderedQueueThenThoseBehindItComeAfterIt) {
  constexpr RequestId kFinish = 77;
  client_.make_zeros(kBuffer);
  client_.send(AwaitRemote{kRemote, kContext},
               FillBuffer{command(100, 0, {kRemote}), kBuffer, Bytes{7, 0, 0, 0}, 0, 4},
               increment(command(101, 0), kBuffer), Finish{kFinish, kInOrder});
  EXPECT_FALSE(client_.reports.comes<Finished>(std::chrono::milliseconds(100)));
  client_.send(SetRemote{kRemote, CL_COMPLETE});
  client_.next<Finished>([](const Finished& finished) { return finished.request == kFinish; });
  EXPECT_EQ(client_.first(kBuffer), 8);
}

TEST_F(CudaCommands, GivenFailureElsewhereThenDependantsFailAndOthersDoNot) {
  constexpr CommandId kHeld = 100, kDependant = 101, kIndependent = 102, kLater = 103;
  client_.make_zeros(kBuffer);
  client_.send(AwaitRemote{kRemote, kContext},
               increment(command(kHeld, Command::kReport, {kRemote}), kBuffer),
               increment(command(kDependant, Command::kReport, {kHeld}, kOutOfOrder), kBuffer),
               increment(command(kIndependent, Command::kReport), kBuffer), SetRemote{kRemote, -77});
  EXPECT_EQ(client_.ended(kHeld).status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(client_.ended(kDependant).status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(client_.ended(kIndependent).status, 0);
  EXPECT_EQ(client_.first(kBuffer), 1);
  // And what comes later.
  client_.send(increment(command(kLater, Command::kReport, {kDependant}), kBuffer));
  EXPECT_EQ(client_.ended(kLater).status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(CudaCommands, GivenThousandsThatWaitForOneThenAllRun) {
  constexpr CommandId kCount = 20'000;
  client_.make_zeros(kBuffer);
  client_.send(AwaitRemote{kRemote, kContext});
  for (CommandId id = 0; id < kCount; ++id)
    client_.send(increment(command(1000 + id, id == 0 ? Command::kEvent : 0,
                                   id == 0 ? std::vector<CommandId>{kRemote} : std::vector<CommandId>{}),
                           kBuffer));
  client_.send(SetRemote{kRemote, CL_COMPLETE});
  EXPECT_EQ(client_.finish().status, 0);
  EXPECT_EQ(client_.first(kBuffer), static_cast<int>(kCount));
}

TEST_F(CudaCommands, GivenProfilingThenTimesAreInOrder) {
  constexpr CommandId kSlow = 100, kQuick = 101;
  client_.send(wait(command(kSlow), 20), wait(command(kQuick), 1));
  const EventState slow = client_.ended(kSlow);
  const EventState quick = client_.ended(kQuick);
  for (const EventState& state : {slow, quick})
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(state.times[i], state.times[i + 1]);
  EXPECT_NE(slow.times[0], 0U);
  EXPECT_GE(slow.times[3] - slow.times[2], 19'000'000U);
  EXPECT_LE(slow.times[3], quick.times[3]);
}

TEST_F(CudaCommands, GivenUntimedCommandsThenTheyHaveNoTimes) {
  constexpr CommandId kLaunch = 100, kRead = 101, kTimed = 102;
  client_.make_zeros(kBuffer);
  constexpr std::uint8_t kUntimed = Command::kReport | Command::kUntimed;
  client_.send(increment(command(kLaunch, kUntimed), kBuffer),
               ReadBuffer{command(kRead, kUntimed), 0, kBuffer, 0, sizeof(int)},
               increment(command(kTimed), kBuffer));
  for (const CommandId id : {kLaunch, kRead, kTimed}) {
    const EventState state = client_.ended(id);
    EXPECT_EQ(state.status, CL_COMPLETE) << "of command " << id;
    EXPECT_EQ(state.times[3] != 0, id == kTimed) << "of command " << id;
  }
}

// The host sees when the commands of a traced queue end.
TEST_F(CudaCommands, GivenTracedQueueThenTimesAreInOrder) {
  constexpr ObjectId kTraced = 21;
  constexpr std::uint8_t kForTrace = Command::kReport | Command::kUnhurried;
  client_.make_zeros(kBuffer);
  client_.send(CreateQueue{kTraced, kContext, 0, CL_QUEUE_PROFILING_ENABLE, true});
  const auto traced = [](CommandId id, std::vector<CommandId> waits = {}) {
    return Command{id, kTraced, kForTrace, std::move(waits)};
  };
  client_.send(wait(traced(100), 20), increment(traced(101), kBuffer),
               ReadBuffer{traced(102), 0, kBuffer, 0, sizeof(int)}, wait(traced(103), 20),
               Finish{kRequest, kTraced});
  std::uint64_t end_before = 0;
  for (CommandId id = 100; id < 104; ++id) {
    const EventState state = client_.ended(id);
    EXPECT_EQ(state.status, CL_COMPLETE);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(state.times[i], state.times[i + 1]) << "of command " << id;
    EXPECT_LE(end_before, state.times[2]) << "command " << id << " begins when the one before has ended";
    // A busy machine notices late that the previous command has ended, so that this one seems to begin late.
    const bool waits = id == 100 || id == 103;
    EXPECT_GE(state.times[3] - state.times[1], waits ? 19'000'000U : 0U) << "of command " << id;
    end_before = state.times[3];
  }
}

TEST_F(CudaCommands, GivenTracedCommandThatWaitsForOtherQueueThenItBeginsAfterwards) {
  constexpr CommandId kSlow = 100, kAfter = 101;
  constexpr ObjectId kTraced = 21;
  client_.make_zeros(kBuffer);
  client_.send(CreateQueue{kTraced, kContext, 0, CL_QUEUE_PROFILING_ENABLE, true});
  client_.send(wait(command(kSlow), 20),
               increment(Command{kAfter, kTraced, Command::kEvent | Command::kReport, {kSlow}}, kBuffer));
  const EventState slow = client_.ended(kSlow);
  const EventState after = client_.ended(kAfter);
  EXPECT_EQ(after.status, CL_COMPLETE);
  EXPECT_GE(after.times[2] - slow.times[2], 19'000'000U);
  EXPECT_LE(after.times[2], after.times[3]);
}

TEST_F(CudaCommands, GivenWatchedEventThenItIsToldRunning) {
  constexpr CommandId kSlow = 100;
  client_.send(AwaitRemote{kRemote, kContext}, wait(command(kSlow, Command::kReport, {kRemote}), 100),
               WatchEvent{kSlow}, SetRemote{kRemote, CL_COMPLETE});
  EXPECT_EQ(client_.next<EventState>().status, CL_SUBMITTED);
  EXPECT_EQ(client_.next<EventState>().status, CL_RUNNING);
  EXPECT_EQ(client_.next<EventState>().status, CL_COMPLETE);
}

TEST_F(CudaCommands, GivenPatternsOfAllSizesThenBuffersAreFilled) {
  constexpr std::uint64_t kSize = 4096;
  for (std::size_t length = 1; length <= 128; length *= 2) {
    Bytes pattern(length);
    std::iota(pattern.begin(), pattern.end(), std::uint8_t{1});
    const ObjectId buffer = 1000 + length;
    client_.send(CreateBuffer{buffer, kContext, kReadWrite, kSize},
                 FillBuffer{command(1000 + length, 0), buffer, Bytes{0xEE}, 0, kSize},
                 FillBuffer{command(2000 + length, 0), buffer, pattern, 2 * length, kSize - 4 * length},
                 ReadBuffer{command(3000 + length), 0, buffer, 0, kSize});
    const auto bytes = client_.data(3000 + length);
    for (std::uint64_t i = 0; i < kSize; ++i) {
      const bool inside = i >= 2 * length && i < kSize - 2 * length;
      ASSERT_EQ(bytes[i], std::byte(inside ? pattern[i % length] : 0xEE)) << length << " at " << i;
    }
  }
}

TEST_F(CudaCommands, GivenRectanglesThenRowsAndSlicesAreInPlace) {
  constexpr CommandId kFirstFill = 100, kSecondFill = 101, kWriteRect = 102, kCopyRect = 103, kReadRect = 104,
                      kRead = 105;
  // A rectangle of 6 bytes x 5 rows x 4 slices, in a buffer with rows of 8 bytes and slices of 7 rows.
  constexpr std::uint64_t kRow = 8;
  constexpr std::uint64_t kSlice = 56;
  std::vector<std::uint8_t> dense(6 * 5 * 4);
  std::iota(dense.begin(), dense.end(), std::uint8_t{1});
  client_.send(
      CreateBuffer{kBuffer, kContext, kReadWrite, 512}, CreateBuffer{kOther, kContext, kReadWrite, 512},
      FillBuffer{command(kFirstFill, 0), kBuffer, Bytes{0}, 0, 512},
      FillBuffer{command(kSecondFill, 0), kOther, Bytes{0}, 0, 512},
      WriteBufferRect{command(kWriteRect, 0),
                      kBuffer,
                      {1, 1, 1},
                      {6, 5, 4},
                      kRow,
                      kSlice,
                      payload(dense.data(), dense.size())},
      CopyBufferRect{
          command(kCopyRect, 0), kBuffer, kOther, {1, 1, 1}, {2, 0, 2}, {6, 5, 4}, {kRow, kSlice}, {10, 60}},
      ReadBufferRect{command(kReadRect), 0, kOther, {2, 0, 2}, {6, 5, 4}, 10, 60},
      ReadBuffer{command(kRead), 0, kBuffer, 0, 512});
  const auto back = client_.data(kReadRect);
  EXPECT_EQ(std::memcmp(back.data(), dense.data(), dense.size()), 0);
  const auto raw = client_.data(kRead);
  for (std::uint64_t z = 0; z < 4; ++z)
    for (std::uint64_t y = 0; y < 5; ++y)
      EXPECT_EQ(std::memcmp(&raw[(z + 1) * kSlice + (y + 1) * kRow + 1], &dense[(z * 5 + y) * 6], 6), 0);
}

TEST_F(CudaCommands, GivenRangesThatAreNotRightThenTheStatusOfTheSpecification) {
  constexpr CommandId kTooLargeGroups = 100, kUnevenGroups = 101, kWrongSize = 102;
  client_.make_zeros(kBuffer, 4);
  client_.send(RunKernel{command(kTooLargeGroups), kIncrement, {object_arg(0, kBuffer)}, {}, {4}, {2048}},
               RunKernel{command(kUnevenGroups), kIncrement, {}, {}, {5}, {2}},
               RunKernel{command(kWrongSize), kWait, {value_arg(0, std::uint64_t{1})}, {}, {1}, {1}});
  EXPECT_EQ(client_.ended(kTooLargeGroups).status, CL_INVALID_WORK_ITEM_SIZE);
  EXPECT_EQ(client_.ended(kUnevenGroups).status, CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(client_.ended(kWrongSize).status, CL_INVALID_ARG_SIZE);
}

/// A program with the kernel add(global int*, int) of fake_driver/kernels.cpp, which gets the global offset
/// of a dimension, and whose launches may run in parts.
daemon::compiler::ProgramBinary program_with_add(std::uint8_t dimension) {
  using daemon::compiler::ArgKind;
  auto program = fake_program();
  auto& add = program.kernels.emplace_back();
  add.name = "add";
  add.args = {argument(ArgKind::Global, 0, 8), argument(ArgKind::Value, 8, 4)};
  add.hidden = {{dimension, 16}};
  add.params_size = 24;
  add.in_parts = true;
  const std::string entry = ".entry add(.param .u64 numbers, .param .u32 amount, .param .u64 offset)\n";
  program.code.insert(program.code.end(), entry.begin(), entry.end());
  return program;
}

TEST_F(CudaCommands, GivenMoreGroupsThanAGridHasThenEveryOneRunsOnce) {
  constexpr CommandId kLaunch = 100, kRead = 101;
  const auto program = program_with_add(1);
  constexpr std::uint64_t kCount = 70000;
  client_.make_zeros(kBuffer, kCount);
  client_.send(
      CreateProgram{
          kRequest, kOwnProgram, kContext, ProgramKind::Binary, {0}, {daemon::compiler::serialize(program)}},
      BuildProgram{kRequest, kOwnProgram, {0}, ""}, CreateKernel{kOwnKernel, kOwnProgram, "add"},
      RunKernel{
          command(kLaunch), kOwnKernel, {object_arg(0, kBuffer), value_arg(1, 3)}, {}, {1, kCount}, {1, 1}},
      ReadBuffer{command(kRead), 0, kBuffer, 0, kCount * sizeof(int)});
  EXPECT_EQ(client_.ended(kLaunch).status, CL_SUCCESS);
  const auto bytes = client_.data(kRead);
  ASSERT_EQ(bytes.size(), kCount * sizeof(int));
  std::vector<int> numbers(kCount);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  EXPECT_EQ(numbers, std::vector<int>(kCount, 3));
}

TEST_F(CudaCommands, GivenAPartOfALaunchThenOnlyItsWorkItemsRun) {
  constexpr CommandId kFirstPart = 100, kSecondPart = 101, kRead = 102, kNotInParts = 103;
  const auto program = program_with_add(0);
  constexpr std::uint64_t kCount = 64;
  client_.make_zeros(kBuffer, kCount);
  client_.send(
      CreateProgram{
          kRequest, kOwnProgram, kContext, ProgramKind::Binary, {0}, {daemon::compiler::serialize(program)}},
      BuildProgram{kRequest, kOwnProgram, {0}, ""}, CreateKernel{kOwnKernel, kOwnProgram, "add"},
      RunKernel{command(kFirstPart),
                kOwnKernel,
                {object_arg(0, kBuffer), value_arg(1, 3)},
                {},
                {kCount},
                {8},
                {},
                {0, 16, 40}},
      RunKernel{command(kSecondPart), kOwnKernel, {}, {}, {kCount}, {}, {}, {0, 40, 50}},
      ReadBuffer{command(kRead), 0, kBuffer, 0, kCount * sizeof(int)},
      RunKernel{
          command(kNotInParts), kIncrement, {object_arg(0, kBuffer)}, {}, {kCount}, {8}, {}, {0, 16, 40}});
  EXPECT_EQ(client_.ended(kFirstPart).status, CL_SUCCESS);
  EXPECT_EQ(client_.ended(kSecondPart).status, CL_SUCCESS);
  const auto bytes = client_.data(kRead);
  ASSERT_EQ(bytes.size(), kCount * sizeof(int));
  std::vector<int> numbers(kCount);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(numbers[i], i >= 16 && i < 50 ? 3 : 0) << i;
  EXPECT_EQ(client_.ended(kNotInParts).status, CL_INVALID_OPERATION) << "it was not built to run in parts";
}

/// A program with the kernel neighbours(from, to, count) of fake_driver/kernels.cpp, which checks its
/// accesses.
daemon::compiler::ProgramBinary program_with_checks() {
  using daemon::compiler::ArgKind;
  using daemon::compiler::Hidden;
  auto program = fake_program();
  auto& kernel = program.kernels.emplace_back();
  kernel.name = "neighbours";
  kernel.args = {argument(ArgKind::Global, 0, 8), argument(ArgKind::Global, 8, 8),
                 argument(ArgKind::Value, 16, 4)};
  kernel.hidden = {{static_cast<std::uint8_t>(Hidden::IdOffset), 24},
                   {static_cast<std::uint8_t>(Hidden::AccessChecks), 32}};
  kernel.params_size = 40;
  kernel.in_parts = true;
  const std::string entry =
      ".entry neighbours(.param .u64 from, .param .u64 to, .param .u32 count, .param .u64 offset, .param "
      ".u64 "
      "checks)\n";
  program.code.insert(program.code.end(), entry.begin(), entry.end());
  return program;
}

/// A launch of 16 of 64 work-items, which is to access this.
RunKernel checked_part(CommandId id, std::vector<ExpectedAccess> expected) {
  RunKernel launch{command(id, Command::kReport),
                   kOwnKernel,
                   {object_arg(0, kBuffer), object_arg(1, kOther), value_arg(2, 64)},
                   {},
                   {64},
                   {8},
                   {},
                   {0, 16, 32}};
  launch.expected = std::move(expected);
  return launch;
}

TEST_F(CudaCommands, GivenWhatALaunchMayAccessThenItFailsIfItAccessesMore) {
  constexpr CommandId kWithin = 100, kUnchecked = 101, kBeyond = 102, kNext = 103;
  client_.make_zeros(kBuffer, 64);
  client_.make_zeros(kOther, 64);
  client_.send(
      CreateProgram{kRequest,
                    kOwnProgram,
                    kContext,
                    ProgramKind::Binary,
                    {0},
                    {daemon::compiler::serialize(program_with_checks())}},
      BuildProgram{kRequest, kOwnProgram, {0}, ""}, CreateKernel{kOwnKernel, kOwnProgram, "neighbours"},
      checked_part(kWithin, {{0, {{64, 68}}, {}}, {1, {}, {{64, 64}}}}), checked_part(kUnchecked, {}),
      checked_part(kBeyond, {{0, {{64, 64}}, {}}, {1, {{64, 64}}, {{64, 60}}}}));
  EXPECT_EQ(client_.ended(kWithin).status, CL_SUCCESS);
  EXPECT_EQ(client_.ended(kUnchecked).status, CL_SUCCESS) << "nothing is checked";
  const std::string why = client_.next<Failed>().what;
  EXPECT_NE(
      why.find(
          "kernel 'neighbours' reads 4 bytes at offset 128 of argument 0; accesses that are not expected: 2"),
      std::string::npos)
      << why;
  EXPECT_EQ(client_.ended(kBeyond).status, CL_INVALID_OPERATION);
  // The next launch is checked anew.
  client_.send(checked_part(kNext, {{0, {{64, 68}}, {}}, {1, {}, {{64, 64}}}}));
  EXPECT_EQ(client_.ended(kNext).status, CL_SUCCESS);
}

TEST_F(CudaCommands, GivenAccessesThatCannotBeCheckedThenTheLaunchFails) {
  constexpr CommandId kLaunch = 100;
  const auto program = program_with_add(0);
  client_.make_zeros(kBuffer, 64);
  RunKernel launch{command(kLaunch, Command::kReport),
                   kOwnKernel,
                   {object_arg(0, kBuffer), value_arg(1, 3)},
                   {},
                   {64},
                   {8}};
  launch.expected = {{0, {}, {{0, 256}}}};
  client_.send(
      CreateProgram{
          kRequest, kOwnProgram, kContext, ProgramKind::Binary, {0}, {daemon::compiler::serialize(program)}},
      BuildProgram{kRequest, kOwnProgram, {0}, ""}, CreateKernel{kOwnKernel, kOwnProgram, "add"},
      std::move(launch));
  EXPECT_EQ(client_.ended(kLaunch).status, CL_INVALID_OPERATION) << "it was not built to check them";
}

TEST_F(CudaCommands, GivenExpectedAccessesThatAreNotRightThenTheSessionEnds) {
  const std::pair<std::vector<ExpectedAccess>, const char*> wrong[] = {
      {{{3, {}, {}}}, "argument 3"},
      {{{0, {{200, 100}}, {}}}, "expected to access"},
      {{{1, {}, {}}, {0, {}, {}}}, "order"},
      {{{0, {}, {}}, {0, {}, {}}}, "order"},
  };
  for (const auto& [expected, why] : wrong) {
    FakeGpuClient client(node_);
    client.make_zeros(kBuffer, 64);
    client.make_zeros(kOther, 64);
    client.send(CreateProgram{kRequest,
                              kOwnProgram,
                              kContext,
                              ProgramKind::Binary,
                              {0},
                              {daemon::compiler::serialize(program_with_checks())}},
                BuildProgram{kRequest, kOwnProgram, {0}, ""},
                CreateKernel{kOwnKernel, kOwnProgram, "neighbours"}, checked_part(100, expected));
    EXPECT_NE(client.next<SessionEnded>().reason.find(why), std::string::npos) << why;
  }
}

TEST_F(CudaCommands, GivenTooMuchMemoryThenItsUsersFail) {
  constexpr CommandId kRead = 100;
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 1ULL << 40U},
               ReadBuffer{command(kRead), 0, kBuffer, 0, 16});
  EXPECT_EQ(client_.ended(kRead).status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

}  // namespace
}  // namespace clique::test
