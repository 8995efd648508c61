// Commands from raw messages to the driver and back.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

constexpr const char* kCommandKernels = R"(
  typedef struct { int a; char b; } Pair;
  kernel void add(global int* data, int amount) { data[get_global_id(0)] += amount; }
  kernel void many(global const float4* in, float3 v, Pair p, local int* scratch, constant int* table, uchar16 u) {}
  kernel void shout(int number) { printf("number %d\n", number); }
)";

class Commands : public testing::Test {
 protected:
  Node node_;
  Client client_{node_};
};

TEST_F(Commands, GivenKernelWhenItRunsThenItsResultIsRead) {
  constexpr CommandId kWrite = 100, kFirstLaunch = 101, kSecondLaunch = 102, kRead = 103;
  const ProgramBuilt built = client_.set_up(kCommandKernels);
  ASSERT_EQ(built.status, 0) << built.devices.at(0).log;
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::size_t bytes = numbers.size() * sizeof(int);
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, bytes}, CreateKernel{kKernel, kProgram, "add"},
               WriteBuffer{command(kWrite, 0), kBuffer, 0, payload(numbers.data(), bytes)},
               RunKernel{command(kFirstLaunch),
                         kKernel,
                         {object_arg(0, kBuffer), value_arg(1, 7)},
                         {},
                         {numbers.size()},
                         {}},
               RunKernel{command(kSecondLaunch, 0), kKernel, {value_arg(1, 1)}, {10}, {1}, {1}},
               ReadBuffer{command(kRead), 0, kBuffer, 0, bytes});
  EXPECT_EQ(client_.ended(kFirstLaunch).status, 0);
  const auto result = client_.data(kRead);
  EXPECT_EQ(client_.ended(kRead).status, 0);
  ASSERT_EQ(result.size(), bytes);
  const auto* values = reinterpret_cast<const int*>(result.data());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(values[i], i + 7 + (i == 10 ? 1 : 0));
  EXPECT_EQ(client_.finish().status, 0);
}

TEST_F(Commands, GivenReportsThatNobodyWaitsForThenTheyPrecedeFinished) {
  ASSERT_EQ(client_.set_up(kCommandKernels).status, 0);
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4}, CreateKernel{kKernel, kProgram, "add"});
  constexpr auto kFlags = static_cast<std::uint8_t>(Command::kReport | Command::kUnhurried);
  for (CommandId id = 100; id < 110; ++id)
    client_.send(
        RunKernel{command(id, kFlags), kKernel, {object_arg(0, kBuffer), value_arg(1, 7)}, {}, {1}, {1}});
  client_.finish();
  const auto& waiting = client_.reports.messages();
  EXPECT_EQ(std::count_if(waiting.begin(), waiting.end(),
                          [](const auto& message) { return std::holds_alternative<EventState>(message); }),
            10);
}

TEST_F(Commands, GivenReportsThatNobodyWaitsForThenTheyComeWithoutOthers) {
  constexpr CommandId kFirstMarker = 100, kSecondMarker = 101, kFailing = 200;
  ASSERT_EQ(client_.set_up(kCommandKernels).status, 0);
  constexpr auto kFlags = static_cast<std::uint8_t>(Command::kReport | Command::kUnhurried);
  client_.send(Marker{command(kFirstMarker, kFlags)});
  EXPECT_EQ(client_.ended(kFirstMarker).status, 0);
  // A failure is reported at once: there may be nothing else to report.
  client_.send(AwaitRemote{kFailing, kContext}, Marker{command(kSecondMarker, kFlags, {kFailing})},
               SetRemote{kFailing, -5});
  EXPECT_LT(client_.ended(kSecondMarker).status, 0);
}

TEST_F(Commands, GivenProgramWhenBuiltThenItsKernelsAreDescribed) {
  const ProgramBuilt built = client_.set_up(kCommandKernels);
  ASSERT_EQ(built.kernels.size(), 3U);
  for (const KernelDescription& kernel : built.kernels) {
    ASSERT_EQ(kernel.devices.size(), client_.attached.devices.size());
    EXPECT_FALSE(kernel.devices[0].work_group.empty());
    if (kernel.name != "many") continue;
    ASSERT_EQ(kernel.args.size(), 6U);
    EXPECT_EQ(kernel.args[0].type, "float4*");
    EXPECT_EQ(kernel.args[0].name, "in");
    EXPECT_EQ(kernel.args[0].size, 0U);
    EXPECT_EQ(kernel.args[1].size, 16U);
    EXPECT_TRUE(kernel.args[2].size == 8 || kernel.args[2].size == 0) << kernel.args[2].size;
    EXPECT_EQ(kernel.args[5].size, 16U);
  }
}

TEST_F(Commands, GivenPrintfThenPrintComesBeforeTheEnd) {
  constexpr CommandId kLaunch = 100;
  client_.set_up(kCommandKernels);
  client_.send(CreateKernel{kKernel, kProgram, "shout"},
               RunKernel{command(kLaunch), kKernel, {value_arg(0, 42)}, {}, {1}, {}});
  const auto print = client_.next<Print>();
  EXPECT_EQ(std::string(print.text.begin(), print.text.end()), "number 42\n");
  EXPECT_EQ(client_.ended(kLaunch).status, 0);
}

TEST_F(Commands, GivenPartsThenTheyAreOneCommand) {
  client_.set_up();
  for (const ObjectId queue : {kInOrder, kOutOfOrder}) {
    const std::size_t part = kPartSize;
    std::vector<char> bytes(3 * part);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + queue);
    const ObjectId buffer = 10 + queue;
    const CommandId write = 100 * queue;
    const CommandId read = write + 1;
    client_.send(CreateBuffer{buffer, kContext, kReadWrite, bytes.size()});
    for (int i = 0; i < 3; ++i) {
      const std::uint8_t more = i < 2 ? Command::kMore : 0;
      client_.send(WriteBuffer{command(write, Command::kReport | more, {}, queue), buffer, i * part,
                               payload(bytes.data() + i * part, part)});
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::uint8_t more = i < 2 ? Command::kMore : 0;
      client_.send(
          ReadBuffer{command(read, Command::kReport | more, {write}, queue), i, buffer, i * part, part});
    }
    EXPECT_EQ(client_.ended(write).status, 0);
    EXPECT_EQ(client_.ended(read).status, 0);
    // All data came before the end.
    for (std::uint32_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(client_.reports.comes<Data>(std::chrono::milliseconds(0)));
      const auto data = client_.data(read, i);
      ASSERT_EQ(data.size(), part);
      EXPECT_EQ(std::memcmp(data.data(), bytes.data() + i * part, part), 0);
    }
  }
}

TEST_F(Commands, GivenProfilingThenTimesAreOnTheNodesClockAndInOrder) {
  constexpr CommandId kLaunch = 100;
  constexpr ObjectId kProfiled = 7;
  client_.set_up(kCommandKernels);
  constexpr std::uint64_t kProfiling = 2;
  client_.send(CreateQueue{kProfiled, kContext, 0, kProfiling},
               CreateBuffer{kBuffer, kContext, kReadWrite, 4096}, CreateKernel{kKernel, kProgram, "add"});
  client_.send(SyncClock{kRequest});
  const auto before = client_.next<ClockSynced>().clock;
  client_.send(RunKernel{command(kLaunch, Command::kReport, {}, kProfiled),
                         kKernel,
                         {object_arg(0, kBuffer), value_arg(1, 7)},
                         {},
                         {64},
                         {}});
  const auto times = client_.ended(kLaunch).times;
  client_.send(SyncClock{kRequest});
  const auto after = client_.next<ClockSynced>().clock;
  EXPECT_LE(static_cast<std::uint64_t>(before), times[0]);
  EXPECT_LE(times[0], times[1]);
  EXPECT_LE(times[1], times[2]);
  EXPECT_LE(times[2], times[3]);
  EXPECT_LE(times[3], static_cast<std::uint64_t>(after));
  constexpr CommandId kWithout = kLaunch + 1;
  client_.send(RunKernel{
      command(kWithout, Command::kReport | Command::kUntimed, {}, kProfiled), kKernel, {}, {}, {64}, {}});
  EXPECT_EQ(client_.ended(kWithout).times[3], 0U);
}

TEST_F(Commands, GivenFailureThenWhatDependsOnItFailsAndTheSessionGoesOn) {
  constexpr CommandId kFirstLaunch = 100, kFirstMarker = 101, kSecondLaunch = 102, kThirdLaunch = 103,
                      kSecondMarker = 104;
  client_.set_up(kCommandKernels);
  constexpr std::int32_t kBadArg = -52;  // CL_INVALID_KERNEL_ARGS
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4096}, CreateKernel{kKernel, kProgram, "add"},
               CreateKernel{kOtherKernel, kProgram, "absent"},
               RunKernel{command(kFirstLaunch), kKernel, {}, {}, {64}, {}},
               Marker{command(kFirstMarker, Command::kReport, {kFirstLaunch})},
               RunKernel{command(kSecondLaunch), kOtherKernel, {}, {}, {64}, {}},
               RunKernel{command(kThirdLaunch, 0), kOtherKernel, {}, {}, {64}, {}},
               Marker{command(kSecondMarker)});
  EXPECT_EQ(client_.ended(kFirstLaunch).status, kBadArg);
  EXPECT_EQ(client_.ended(kFirstMarker).status, -14);
  EXPECT_EQ(client_.ended(kSecondLaunch).status, -46);  // CL_INVALID_KERNEL_NAME
  EXPECT_EQ(client_.ended(kSecondMarker).status, 0);
  // A command without an event shows up at the finish, once.
  EXPECT_EQ(client_.finish().status, -46);
  EXPECT_EQ(client_.finish().status, 0);
}

TEST_F(Commands, GivenRemoteEventWhenItFailsThenDependantsFailWhateverTheyAre) {
  constexpr CommandId kFirstRemote = 50, kSecondRemote = 51, kThirdRemote = 60, kLaunch = 100,
                      kFirstMarker = 101, kSecondMarker = 102, kThirdMarker = 103, kFourthMarker = 104,
                      kFifthMarker = 105, kSixthMarker = 106;
  client_.set_up(kCommandKernels);
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4096}, CreateKernel{kKernel, kProgram, "add"},
               AwaitRemote{kFirstRemote, kContext}, AwaitRemote{kSecondRemote, kContext},
               RunKernel{command(kLaunch, Command::kReport, {kFirstRemote}),
                         kKernel,
                         {object_arg(0, kBuffer), value_arg(1, 7)},
                         {},
                         {64},
                         {}},
               Marker{command(kFirstMarker)},  // behind it in the queue
               Marker{command(kSecondMarker, Command::kReport, {kLaunch}, kOutOfOrder)},
               Marker{command(kThirdMarker, Command::kReport, {kSecondRemote}, kOutOfOrder)});
  EXPECT_FALSE(client_.reports.comes<EventState>(std::chrono::milliseconds(100)));
  client_.send(SetRemote{kFirstRemote, -1234}, SetRemote{kSecondRemote, 0});
  EXPECT_LT(client_.ended(kLaunch).status, 0);
  client_.ended(kFirstMarker);
  EXPECT_LT(client_.ended(kSecondMarker).status, 0);
  EXPECT_EQ(client_.ended(kThirdMarker).status, 0);
  // What comes later and waits for a failed one fails, too.
  client_.send(Marker{command(kFourthMarker, Command::kReport, {kFirstRemote})},
               Marker{command(kFifthMarker, Command::kReport, {kSecondMarker}, kOutOfOrder)});
  EXPECT_EQ(client_.ended(kFourthMarker).status, -14);
  EXPECT_EQ(client_.ended(kFifthMarker).status, -14);
  // The status may come before somebody waits.
  client_.send(SetRemote{kThirdRemote, 0}, AwaitRemote{kThirdRemote, kContext},
               Marker{command(kSixthMarker, Command::kReport, {kThirdRemote}, kOutOfOrder)});
  EXPECT_EQ(client_.ended(kSixthMarker).status, 0);
  EXPECT_EQ(client_.finish(kInOrder).status, 0);
  EXPECT_EQ(client_.finish(kOutOfOrder).status, 0);
}

TEST_F(Commands, GivenSomebodyLooksThenRunningIsReported) {
  constexpr CommandId kFill = 99, kLaunch = 100;
  client_.set_up(R"(kernel void spin(global volatile int* flag) {
    for (int i = 0; i < 200000000 && flag[1] == 0; ++i) flag[0] = i; })");
  client_.send(
      CreateBuffer{kBuffer, kContext, kReadWrite, 4096},
      FillBuffer{command(kFill, 0), kBuffer, Bytes(4), 0, 4096}, CreateKernel{kKernel, kProgram, "spin"},
      RunKernel{command(kLaunch), kKernel, {object_arg(0, kBuffer)}, {}, {1}, {}}, WatchEvent{kLaunch});
  const auto running = client_.next<EventState>();
  EXPECT_GT(running.status, 0);
  EXPECT_EQ(client_.ended(kLaunch).status, 0);
}

TEST_F(Commands, GivenImageThenItsPixelsTravel) {
  constexpr CommandId kWriteImage = 100, kReadImage = 101;
  client_.set_up();
  constexpr std::uint32_t kRgba = 0x10B5;
  constexpr std::uint32_t kUint8 = 0x10DA;
  constexpr std::uint32_t kImage2d = 0x10F1;
  std::vector<std::uint8_t> pixels(16 * 8 * 4);
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
  client_.send(
      CreateImage{kImage, kContext, kReadWrite, kRgba, kUint8, kImage2d, {16, 8, 1}, 0, 0, 0},
      WriteImage{command(kWriteImage), kImage, {0, 0, 0}, {16, 8, 1}, payload(pixels.data(), pixels.size())},
      ReadImage{command(kReadImage), 0, kImage, {0, 2, 0}, {16, 3, 1}, 16 * 3 * 4});
  EXPECT_EQ(client_.ended(kWriteImage).status, 0);
  const auto data = client_.data(kReadImage);
  ASSERT_EQ(data.size(), 16U * 3 * 4);
  EXPECT_EQ(std::memcmp(data.data(), pixels.data() + 16 * 2 * 4, data.size()), 0);
}

TEST_F(Commands, GivenRectanglesThenRowsTravelWithoutGaps) {
  constexpr CommandId kFill = 100, kWriteRect = 101, kCopyRect = 102, kRead = 103, kReadRect = 104;
  client_.set_up();
  const std::vector<char> row(8, 'x');
  client_.send(
      CreateBuffer{kBuffer, kContext, kReadWrite, 64},
      FillBuffer{command(kFill, 0), kBuffer, Bytes{'.'}, 0, 64},
      WriteBufferRect{command(kWriteRect, 0), kBuffer, {2, 1, 0}, {4, 2, 1}, 8, 0, payload(row.data(), 8)},
      CopyBufferRect{
          command(kCopyRect, 0), kBuffer, kBuffer, {2, 1, 0}, {0, 6, 0}, {4, 2, 1}, {8, 0}, {8, 0}},
      ReadBuffer{command(kRead, 0), 0, kBuffer, 0, 64},
      ReadBufferRect{command(kReadRect, 0), 0, kBuffer, {1, 1, 0}, {6, 1, 1}, 8, 0});
  EXPECT_EQ(client_.finish().status, 0);
  const auto all = client_.data(kRead);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(all.data()), 64),
            "..........xxxx....xxxx..........................xxxx....xxxx....");
  const auto some = client_.data(kReadRect);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(some.data()), 6), ".xxxx.");
}

TEST_F(Commands, GivenProgramThenItIsCompiledForWhoAsksForItsBinaryOnly) {
  // PoCL compiles kernels when they run, or when it is asked for binaries, and leaves what that gives in its
  // cache.
  std::string folder = std::filesystem::temp_directory_path() / "cliqued-test-XXXXXX";
  ASSERT_NE(nullptr, ::mkdtemp(folder.data()));
  const auto compiled = [&folder] {
    const std::filesystem::recursive_directory_iterator files(folder);
    return std::any_of(begin(files), end(files),
                       [](const auto& file) { return file.path().extension() == ".so"; });
  };
  ::setenv("POCL_CACHE_DIR", folder.c_str(), 1);
  {
    const Node node;
    ::unsetenv("POCL_CACHE_DIR");
    Client client(node);
    ASSERT_EQ(client.set_up(kCommandKernels).status, 0);
    EXPECT_FALSE(compiled());
    client.send(GetProgramBinary{kRequest, kProgram, 0});
    EXPECT_FALSE(client.next<ProgramBinary>().binary.empty());
  }
  const bool shows = compiled();
  std::filesystem::remove_all(folder);
  if (!shows) GTEST_SKIP() << "the driver does not leave there what it compiles";
}

TEST_F(Commands, GivenBinaryThenItsProgramRuns) {
  constexpr RequestId kBinary = 50, kCreation = 51, kBuild = 52, kOtherCreation = 53;
  constexpr ObjectId kFromBinary = 8, kFromRubbish = 9;
  client_.set_up(kCommandKernels);
  client_.send(GetProgramBinary{kBinary, kProgram, 0});
  const auto binary = client_.next<ProgramBinary>();
  ASSERT_EQ(binary.status, 0);
  ASSERT_FALSE(binary.binary.empty());
  client_.send(CreateProgram{kCreation, kFromBinary, kContext, ProgramKind::Binary, {0}, {binary.binary}},
               BuildProgram{kBuild, kFromBinary, {0}, ""});
  auto built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.request, kCreation);
  EXPECT_EQ(built.status, 0);
  EXPECT_EQ(built.devices.at(0).binary_status, 0);
  built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.status, 0);
  EXPECT_EQ(built.kernels.size(), 3U);
  // And one that is none.
  client_.send(
      CreateProgram{kOtherCreation, kFromRubbish, kContext, ProgramKind::Binary, {0}, {code("rubbish")}});
  built = client_.next<ProgramBuilt>();
  EXPECT_NE(built.status, 0);
}

TEST_F(Commands, GivenCompiledPartsThenTheyLink) {
  constexpr CommandId kLaunch = 100, kRead = 101;
  constexpr ObjectId kUser = 10, kFunction = 11, kHeader = 12, kLinked = 13;
  client_.set_up();
  client_.send(
      CreateProgram{kRequest,
                    kUser,
                    kContext,
                    ProgramKind::Source,
                    {},
                    {code("#include \"f.h\"\nkernel void k(global int* o) { *o = f(3); }")}},
      CreateProgram{
          kRequest, kFunction, kContext, ProgramKind::Source, {}, {code("int f(int x) { return x + 1; }")}},
      CreateProgram{kRequest, kHeader, kContext, ProgramKind::Source, {}, {code("int f(int x);")}},
      CompileProgram{kRequest, kUser, {0}, "", {kHeader}, {"f.h"}},
      CompileProgram{kRequest, kFunction, {0}, "", {}, {}},
      LinkProgram{kRequest, kLinked, kContext, {0}, "", {kUser, kFunction}});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, 0);
  EXPECT_EQ(client_.next<ProgramBuilt>().status, 0);
  const auto linked = client_.next<ProgramBuilt>();
  EXPECT_EQ(linked.status, 0) << linked.devices.at(0).log;
  EXPECT_EQ(linked.kernels.size(), 1U);
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4}, CreateKernel{kKernel, kLinked, "k"},
               RunKernel{command(kLaunch), kKernel, {object_arg(0, kBuffer)}, {}, {1}, {}},
               ReadBuffer{command(kRead), 0, kBuffer, 0, 4});
  EXPECT_EQ(client_.ended(kLaunch).status, 0);
  EXPECT_EQ(static_cast<int>(client_.data(kRead).at(0)), 4);
}

TEST_F(Commands, GivenSubDevicesThenTheyAreDescribedAndUsed) {
  constexpr CommandId kMarker = 100;
  client_.send(CreateSubDevices{kRequest, 0, {0x1086, 1, 0}, kFirstSubDevice});
  const auto created = client_.next<SubDevicesCreated>();
  if (created.status != 0) GTEST_SKIP() << "the device cannot be partitioned: " << created.status;
  ASSERT_FALSE(created.devices.empty());
  EXPECT_GT(created.devices[0].properties.size(), 50U);
  client_.send(CreateContext{kContext, {kFirstSubDevice}},
               CreateQueue{kInOrder, kContext, kFirstSubDevice, 0}, Marker{command(kMarker)});
  EXPECT_EQ(client_.ended(kMarker).status, 0);
}

TEST_F(Commands, GivenWorkGroupQueryThenItIsAnswered) {
  client_.set_up(kCommandKernels);
  constexpr std::uint32_t kWorkGroupSize = 0x11B0;
  client_.send(CreateKernel{kKernel, kProgram, "add"},
               QueryWorkGroup{kRequest, kKernel, 0, kWorkGroupSize, {}, 8});
  const auto answer = client_.next<WorkGroupAnswer>();
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.value.size(), 8U);
}

}  // namespace
}  // namespace clique::test
