// The order of commands, transfers, fills, and times.
#include <array>
#include <chrono>
#include <numeric>

#include "session.hpp"

namespace clique::test {
namespace {

class CudaCommands : public testing::Test {
 protected:
  RunKernel increment(Command header, ObjectId buffer, std::uint64_t count = 1) {
    return {std::move(header), 10, {object_arg(0, buffer)}, {}, {count}, {}};
  }
  RunKernel wait(Command header, int milliseconds) {
    return {std::move(header), 11, {value_arg(0, milliseconds)}, {}, {1}, {}};
  }
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
  client_.send(CreateBuffer{5, 1, 1, bytes});
  for (const ObjectId queue : {2, 3}) {
    std::uint64_t done = 0;
    for (std::uint32_t part = 0; done < bytes; ++part) {
      const auto size = std::min<std::uint64_t>(kMaxPayload, bytes - done);
      const std::uint8_t more = done + size < bytes ? Command::kMore : 0;
      client_.send(WriteBuffer{command(100 + queue, Command::kReport | more, {}, queue), 5, done,
                               payload(reinterpret_cast<const char*>(numbers.data()) + done, size)});
      done += size;
    }
    EXPECT_EQ(client_.ended(100 + queue).status, 0);
    client_.send(ReadBuffer{command(200 + queue, Command::kReport | Command::kMore, {}, queue), 0, 5, 0, 8},
                 ReadBuffer{command(200 + queue, Command::kReport, {}, queue), 1, 5, bytes - 8, 8});
    EXPECT_EQ(std::memcmp(client_.data(200 + queue, 0).data(), numbers.data(), 8), 0);
    EXPECT_EQ(std::memcmp(client_.data(200 + queue, 1).data(), &numbers[numbers.size() - 2], 8), 0);
    EXPECT_EQ(client_.ended(200 + queue).status, 0);
  }
}

TEST_F(CudaCommands, GivenManyLaunchesOfAKernelThenEachHasItsOwnArguments) {
  constexpr int kLaunches = 100;
  client_.make_zeros(5, 64);
  client_.make_zeros(6, 64);
  for (const ObjectId queue : {2, 3}) {
    std::vector<int> before{client_.first(5), client_.first(6)};
    for (int i = 0; i < kLaunches; ++i) {
      const CommandId id = queue * 1000 + i;
      // The out-of-order queue's in their order, too.
      std::vector<CommandId> waits;
      if (i > 0) waits.push_back(id - 1);
      client_.send(increment(command(id, Command::kReport, waits, queue), i % 3 == 0 ? 5 : 6, 1 + i % 50));
    }
    for (int i = 0; i < kLaunches; ++i) EXPECT_EQ(client_.ended(queue * 1000 + i).status, 0);
    EXPECT_EQ(client_.first(5) - before[0], (kLaunches + 2) / 3);
    EXPECT_EQ(client_.first(6) - before[1], kLaunches - (kLaunches + 2) / 3);
  }
}

TEST_F(CudaCommands, GivenReadsOfFewBytesThenEachHasWhatIsThereInItsTurn) {
  constexpr ObjectId kQueue = 20;
  std::vector<std::uint32_t> numbers(2000);
  std::iota(numbers.begin(), numbers.end(), 1U);
  const char* const bytes = reinterpret_cast<const char*>(numbers.data());
  client_.send(CreateQueue{kQueue, 1, 0, 0}, CreateBuffer{5, 1, 1, 8000},
               WriteBuffer{command(100, 0, {}, kQueue), 5, 0, payload(bytes, 8000)});
  client_.make_zeros(6);
  CommandId id = 1000;
  for (const bool busy : {false, true}) {
    if (busy) client_.send(wait(command(++id, 0, {}, 3), 100));
    for (int i = 1; i <= 12; ++i) {
      for (const auto& [offset, size] :
           {std::pair(0, 4), {16, 100}, {3904, 4096}, {4, 4100}, {2, 8}, {8, 3}}) {
        client_.send(ReadBuffer{command(++id, Command::kReport, {}, kQueue), 0, 5,
                                static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(size)});
        const auto data = client_.data(id);
        ASSERT_EQ(data.size(), static_cast<std::size_t>(size));
        EXPECT_EQ(std::memcmp(data.data(), bytes + offset, data.size()), 0) << offset << ' ' << size;
        EXPECT_EQ(client_.ended(id).status, 0);
      }
      ++id;
      client_.send(increment(command(id, 0, {}, kQueue), 6),
                   ReadBuffer{command(id + 1, Command::kReport, {}, kQueue), 0, 6, 0, sizeof(int)},
                   increment(command(id + 2, 0, {}, kQueue), 6));
      id += 2;
      int count = 0;
      std::memcpy(&count, client_.data(id - 1).data(), sizeof count);
      EXPECT_EQ(client_.ended(id - 1).status, 0);
      EXPECT_EQ(count, (busy ? 24 : 0) + 2 * i - 1);
    }
  }
}

TEST_F(CudaCommands, GivenUnitsOutsideOfSharedMemoryThenTheSessionEnds) {
  // This client shares none.
  for (const std::uint64_t end :
       {std::uint64_t{4}, std::uint64_t{64}, ~std::uint64_t{7}, ~std::uint64_t{0}}) {
    FakeGpuClient client(node_);
    client.make_zeros(5);
    client.send(ReadBuffer{command(100), 0, 5, 0, 4, end});
    EXPECT_NE(client.next<SessionEnded>().reason.find("units"), std::string::npos) << end;
  }
}

TEST_F(CudaCommands, GivenManyLaunchesOfAKernelThenOneThatCannotBeFailsAlone) {
  client_.make_zeros(5);
  for (int i = 0; i < 20; ++i) client_.send(increment(command(100 + i, 0), 5));
  client_.send(RunKernel{command(130, Command::kReport), 10, {object_arg(0, 5)}, {}, {2048}, {2048}});
  client_.send(increment(command(131, Command::kReport), 5));
  EXPECT_LT(client_.ended(130).status, 0);
  EXPECT_EQ(client_.ended(131).status, 0);
  EXPECT_EQ(client_.first(5), 21);
}

TEST_F(CudaCommands, GivenManyLaunchesOfAKernelThenItCanBeRecorded) {
  client_.make_zeros(5);
  for (int i = 0; i < 20; ++i) client_.send(increment(command(100 + i, 0), 5));
  Batch batch;
  for (int i = 0; i < 20; ++i) batch.add(increment({}, 5));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{20, {bytes, bytes + batch.size()}},
               RunRecording{command(130, Command::kReport), 20}, increment(command(131, 0), 5),
               RunRecording{command(132, Command::kReport), 20});
  EXPECT_EQ(client_.ended(130).status, 0);
  EXPECT_EQ(client_.ended(132).status, 0);
  EXPECT_EQ(client_.first(5), 61);
}

TEST_F(CudaCommands, GivenRecordingThenEachRunIsOneCommand) {
  client_.make_zeros(5);
  client_.make_zeros(6);
  Batch batch;
  batch.add(increment({}, 5));
  batch.add(wait({}, 20));
  batch.add(CopyBuffer{{}, 5, 6, 0, 0, sizeof(int)});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{20, {bytes, bytes + batch.size()}}, AwaitRemote{50, 1});
  // Changed by others in between.
  client_.send(RunRecording{command(100, Command::kReport, {50}), 20}, increment(command(101, 0), 5),
               RunRecording{command(102, Command::kReport), 20}, RunRecording{command(103, 0), 20});
  client_.send(SetRemote{50, CL_COMPLETE});
  const auto first = client_.ended(100);
  EXPECT_EQ(first.status, 0);
  EXPECT_GE(first.times[3] - first.times[2], 20'000'000U) << "the times are those of all of it";
  const auto second = client_.ended(102);
  EXPECT_EQ(second.status, 0);
  EXPECT_LE(first.times[3], second.times[2]);
  EXPECT_EQ(client_.first(6), 4);
}

// The driver's graphs run what has a choice in the order that is least expected.
TEST_F(CudaCommands, GivenRecordingForQueueWithoutOrderThenCommandsComeAfterThoseThatTheyWaitFor) {
  constexpr ObjectId kUnordered = 3;
  for (const ObjectId buffer : {5, 6, 7}) client_.make_zeros(buffer);
  const auto after = [](auto message, std::vector<CommandId> waits) {
    message.command.waits = std::move(waits);
    return message;
  };
  Batch batch;
  batch.add(increment({}, 5));
  batch.add(after(CopyBuffer{{}, 5, 6, 0, 0, sizeof(int)}, {0}));
  batch.add(after(CopyBuffer{{}, 6, 7, 0, 0, sizeof(int)}, {1}));
  batch.add(after(increment({}, 7), {0, 2}));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{20, {bytes, bytes + batch.size()}},
               RunRecording{command(100, Command::kReport, {}, kUnordered), 20},
               RunRecording{command(101, Command::kReport, {100}, kUnordered), 20});
  EXPECT_EQ(client_.ended(100).status, 0);
  EXPECT_EQ(client_.ended(101).status, 0);
  EXPECT_EQ(client_.first(5), 2);
  EXPECT_EQ(client_.first(6), 2);
  EXPECT_EQ(client_.first(7), 3);
}

TEST_F(CudaCommands, GivenRecordingWithACommandThatFailsThenItsRunsFail) {
  client_.make_zeros(5);
  Batch batch;
  batch.add(increment({}, 5));
  batch.add(CopyBuffer{{}, 5, 77, 0, 0, sizeof(int)});
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(CreateBuffer{77, 1, 1, std::uint64_t{1} << 62U});
  EXPECT_NE(client_.next<Failed>().status, 0);
  client_.send(DefineRecording{20, {bytes, bytes + batch.size()}});
  for (const CommandId id : {100, 101}) {
    client_.send(RunRecording{command(id, Command::kReport), 20});
    EXPECT_NE(client_.ended(id).status, 0);
  }
  client_.send(increment(command(102, Command::kReport), 5));
  EXPECT_EQ(client_.ended(102).status, 0);
}

TEST_F(CudaCommands, GivenRecordingThatIsReleasedThenItsRunsComeToTheirEnd) {
  client_.make_zeros(5);
  Batch batch;
  for (int i = 0; i < 10; ++i) batch.add(increment({}, 5));
  batch.add(FillBuffer{{}, 5, Bytes{0, 0, 0, 1}, 0, sizeof(int)});
  batch.add(increment({}, 5));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  client_.send(DefineRecording{20, {bytes, bytes + batch.size()}}, AwaitRemote{50, 1},
               RunRecording{command(100, 0, {50}), 20}, RunRecording{command(101, Command::kReport), 20},
               Release{{20}, {}});
  client_.send(SetRemote{50, CL_COMPLETE});
  EXPECT_EQ(client_.ended(101).status, 0);
  EXPECT_EQ(client_.first(5), (1 << 24) + 1);
}

TEST_F(CudaCommands, GivenWaitListsThenTheOrderHoldsAcrossQueues) {
  client_.make_zeros(5);
  // In the end all have to have waited for the slow one.
  client_.send(wait(command(100, Command::kEvent), 50), increment(command(101, Command::kEvent), 5));
  for (CommandId id = 102; id < 150; ++id)
    client_.send(increment(command(id, Command::kEvent, {id - 1}, id % 2 == 0 ? 3 : 2), 5));
  EXPECT_EQ(client_.first(5, {149}), 49);
}

TEST_F(CudaCommands, GivenOutOfOrderQueueThenABarrierKeepsOrder) {
  client_.make_zeros(5);
  client_.send(wait(command(100, 0, {}, 3), 50), increment(command(101, 0, {}, 3), 5),
               Barrier{command(102, 0, {}, 3)}, increment(command(103, 0, {}, 3), 5),
               Marker{command(104, Command::kReport, {}, 3)});
  EXPECT_EQ(client_.ended(104).status, 0);
  EXPECT_EQ(client_.first(5), 2);
}

TEST_F(CudaCommands, GivenSomethingElsewhereThenOnlyWhatWaitsIsHeld) {
  client_.make_zeros(5);
  client_.make_zeros(6);
  client_.send(AwaitRemote{50, 1}, increment(command(100, Command::kReport, {50}, 3), 5),
               increment(command(101, Command::kReport, {}, 3), 6));
  EXPECT_EQ(client_.ended(101).status, 0);
  EXPECT_EQ(client_.first(5), 0);
  client_.send(SetRemote{50, 0});
  EXPECT_EQ(client_.ended(100).status, 0);
  EXPECT_EQ(client_.first(5), 1);
}

TEST_F(CudaCommands, GivenHeldCommandInAnOrderedQueueThenThoseBehindItComeAfterIt) {
  client_.make_zeros(5);
  client_.send(AwaitRemote{50, 1}, FillBuffer{command(100, 0, {50}), 5, Bytes{7, 0, 0, 0}, 0, 4},
               increment(command(101, 0), 5), Finish{77, 2});
  EXPECT_FALSE(client_.reports.comes<Finished>(std::chrono::milliseconds(100)));
  client_.send(SetRemote{50, 0});
  client_.next<Finished>([](const Finished& finished) { return finished.request == 77; });
  EXPECT_EQ(client_.first(5), 8);
}

TEST_F(CudaCommands, GivenFailureElsewhereThenDependantsFailAndOthersDoNot) {
  client_.make_zeros(5);
  client_.send(AwaitRemote{50, 1}, increment(command(100, Command::kReport, {50}), 5),
               increment(command(101, Command::kReport, {100}, 3), 5),
               increment(command(102, Command::kReport), 5), SetRemote{50, -77});
  EXPECT_EQ(client_.ended(100).status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(client_.ended(101).status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  EXPECT_EQ(client_.ended(102).status, 0);
  EXPECT_EQ(client_.first(5), 1);
  // And what comes later.
  client_.send(increment(command(103, Command::kReport, {101}), 5));
  EXPECT_EQ(client_.ended(103).status, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

TEST_F(CudaCommands, GivenThousandsThatWaitForOneThenAllRun) {
  constexpr CommandId kCount = 20'000;
  client_.make_zeros(5);
  client_.send(AwaitRemote{50, 1});
  for (CommandId id = 0; id < kCount; ++id)
    client_.send(increment(command(1000 + id, id == 0 ? Command::kEvent : 0,
                                   id == 0 ? std::vector<CommandId>{50} : std::vector<CommandId>{}),
                           5));
  client_.send(SetRemote{50, 0});
  EXPECT_EQ(client_.finish().status, 0);
  EXPECT_EQ(client_.first(5), static_cast<int>(kCount));
}

TEST_F(CudaCommands, GivenProfilingThenTimesAreInOrder) {
  client_.send(wait(command(100), 20), wait(command(101), 1));
  const EventState slow = client_.ended(100);
  const EventState quick = client_.ended(101);
  for (const EventState& state : {slow, quick})
    for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(state.times[i], state.times[i + 1]);
  EXPECT_NE(slow.times[0], 0U);
  EXPECT_GE(slow.times[3] - slow.times[2], 19'000'000U);
  EXPECT_LE(slow.times[3], quick.times[3]);
}

TEST_F(CudaCommands, GivenWatchedEventThenItIsToldRunning) {
  client_.send(AwaitRemote{50, 1}, wait(command(100, Command::kReport, {50}), 100), WatchEvent{100},
               SetRemote{50, 0});
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
    client_.send(CreateBuffer{buffer, 1, 1, kSize},
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
  // 6 bytes × 5 rows × 4 slices, in a buffer of rows of 8 and slices of 7 rows.
  constexpr std::uint64_t kRow = 8;
  constexpr std::uint64_t kSlice = 56;
  std::vector<std::uint8_t> dense(6 * 5 * 4);
  std::iota(dense.begin(), dense.end(), std::uint8_t{1});
  client_.send(
      CreateBuffer{5, 1, 1, 512}, CreateBuffer{6, 1, 1, 512},
      FillBuffer{command(100, 0), 5, Bytes{0}, 0, 512}, FillBuffer{command(101, 0), 6, Bytes{0}, 0, 512},
      WriteBufferRect{
          command(102, 0), 5, {1, 1, 1}, {6, 5, 4}, kRow, kSlice, payload(dense.data(), dense.size())},
      CopyBufferRect{command(103, 0), 5, 6, {1, 1, 1}, {2, 0, 2}, {6, 5, 4}, {kRow, kSlice}, {10, 60}},
      ReadBufferRect{command(104), 0, 6, {2, 0, 2}, {6, 5, 4}, 10, 60},
      ReadBuffer{command(105), 0, 5, 0, 512});
  const auto back = client_.data(104);
  EXPECT_EQ(std::memcmp(back.data(), dense.data(), dense.size()), 0);
  const auto raw = client_.data(105);
  for (std::uint64_t z = 0; z < 4; ++z)
    for (std::uint64_t y = 0; y < 5; ++y)
      EXPECT_EQ(std::memcmp(&raw[(z + 1) * kSlice + (y + 1) * kRow + 1], &dense[(z * 5 + y) * 6], 6), 0);
}

TEST_F(CudaCommands, GivenRangesThatAreNotRightThenTheStatusOfTheSpecification) {
  client_.make_zeros(5, 4);
  client_.send(RunKernel{command(100), 10, {object_arg(0, 5)}, {}, {4}, {2048}},
               RunKernel{command(101), 10, {}, {}, {5}, {2}},
               RunKernel{command(102), 11, {value_arg(0, std::uint64_t{1})}, {}, {1}, {1}});
  EXPECT_EQ(client_.ended(100).status, CL_INVALID_WORK_ITEM_SIZE);
  EXPECT_EQ(client_.ended(101).status, CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(client_.ended(102).status, CL_INVALID_ARG_SIZE);
}

TEST_F(CudaCommands, GivenMoreGroupsThanAGridHasThenEveryOneRunsOnce) {
  // add(global int*, int) with its offset in the second dimension: see fake_driver.cpp.
  using daemon::compiler::ArgKind;
  auto program = fake_program();
  auto& add = program.kernels.emplace_back();
  add.name = "add";
  add.args = {argument(ArgKind::Global, 0, 8), argument(ArgKind::Value, 8, 4)};
  add.hidden = {{1, 16}};
  add.params_size = 24;
  const std::string entry = ".entry add(.param .u64 numbers, .param .u32 amount, .param .u64 offset)\n";
  program.code.insert(program.code.end(), entry.begin(), entry.end());
  constexpr std::uint64_t kCount = 70000;
  client_.make_zeros(5, kCount);
  client_.send(CreateProgram{7, 50, 1, ProgramKind::Binary, {0}, {daemon::compiler::serialize(program)}},
               BuildProgram{8, 50, {0}, ""}, CreateKernel{60, 50, "add"},
               RunKernel{command(100), 60, {object_arg(0, 5), value_arg(1, 3)}, {}, {1, kCount}, {1, 1}},
               ReadBuffer{command(101), 0, 5, 0, kCount * sizeof(int)});
  EXPECT_EQ(client_.ended(100).status, CL_SUCCESS);
  const auto bytes = client_.data(101);
  ASSERT_EQ(bytes.size(), kCount * sizeof(int));
  std::vector<int> numbers(kCount);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  EXPECT_EQ(numbers, std::vector<int>(kCount, 3));
}

TEST_F(CudaCommands, GivenTooMuchMemoryThenItsUsersFail) {
  client_.send(CreateBuffer{5, 1, 1, 1ULL << 40U}, ReadBuffer{command(100), 0, 5, 0, 16});
  EXPECT_EQ(client_.ended(100).status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

}  // namespace
}  // namespace clique::test
