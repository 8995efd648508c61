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
  const ProgramBuilt built = client_.set_up(kCommandKernels);
  ASSERT_EQ(built.status, 0) << built.devices.at(0).log;
  std::vector<int> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::size_t bytes = numbers.size() * sizeof(int);
  client_.send(
      CreateBuffer{kBuffer, kContext, kReadWrite, bytes}, CreateKernel{kKernel, kProgram, "add"},
      WriteBuffer{command(100, 0), kBuffer, 0, payload(numbers.data(), bytes)},
      RunKernel{command(101), kKernel, {object_arg(0, kBuffer), value_arg(1, 7)}, {}, {numbers.size()}, {}},
      RunKernel{command(102, 0), kKernel, {value_arg(1, 1)}, {10}, {1}, {1}},
      ReadBuffer{command(103), 0, kBuffer, 0, bytes});
  EXPECT_EQ(client_.ended(101).status, 0);
  const auto result = client_.data(103);
  EXPECT_EQ(client_.ended(103).status, 0);
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
  ASSERT_EQ(client_.set_up(kCommandKernels).status, 0);
  constexpr auto kFlags = static_cast<std::uint8_t>(Command::kReport | Command::kUnhurried);
  client_.send(Marker{command(100, kFlags)});
  EXPECT_EQ(client_.ended(100).status, 0);
  // A failure is reported at once: there may be nothing else to report.
  client_.send(AwaitRemote{200, kContext}, Marker{command(101, kFlags, {200})}, SetRemote{200, -5});
  EXPECT_LT(client_.ended(101).status, 0);
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
  client_.set_up(kCommandKernels);
  client_.send(CreateKernel{kKernel, kProgram, "shout"},
               RunKernel{command(100), kKernel, {value_arg(0, 42)}, {}, {1}, {}});
  const auto print = client_.next<Print>();
  EXPECT_EQ(std::string(print.text.begin(), print.text.end()), "number 42\n");
  EXPECT_EQ(client_.ended(100).status, 0);
}

TEST_F(Commands, GivenPartsThenTheyAreOneCommand) {
  client_.set_up();
  for (const ObjectId queue : {2, 3}) {
    const std::size_t part = kPartSize;
    std::vector<char> bytes(3 * part);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 + queue);
    const ObjectId id = 10 + queue;
    const CommandId write = 100 * queue;
    const CommandId read = write + 1;
    client_.send(CreateBuffer{id, kContext, kReadWrite, bytes.size()});
    for (int i = 0; i < 3; ++i) {
      const std::uint8_t more = i < 2 ? Command::kMore : 0;
      client_.send(WriteBuffer{command(write, Command::kReport | more, {}, queue), id, i * part,
                               payload(bytes.data() + i * part, part)});
    }
    for (std::uint32_t i = 0; i < 3; ++i) {
      const std::uint8_t more = i < 2 ? Command::kMore : 0;
      client_.send(ReadBuffer{command(read, Command::kReport | more, {write}, queue), i, id, i * part, part});
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
  client_.set_up(kCommandKernels);
  constexpr std::uint64_t kProfiling = 2;
  client_.send(CreateQueue{7, kContext, 0, kProfiling}, CreateBuffer{kBuffer, kContext, kReadWrite, 4096},
               CreateKernel{kKernel, kProgram, "add"});
  client_.send(SyncClock{1});
  const auto before = client_.next<ClockSynced>().clock;
  client_.send(RunKernel{command(100, Command::kReport, {}, 7),
                         kKernel,
                         {object_arg(0, kBuffer), value_arg(1, 7)},
                         {},
                         {64},
                         {}});
  const auto times = client_.ended(100).times;
  client_.send(SyncClock{2});
  const auto after = client_.next<ClockSynced>().clock;
  EXPECT_LE(static_cast<std::uint64_t>(before), times[0]);
  EXPECT_LE(times[0], times[1]);
  EXPECT_LE(times[1], times[2]);
  EXPECT_LE(times[2], times[3]);
  EXPECT_LE(times[3], static_cast<std::uint64_t>(after));
}

TEST_F(Commands, GivenFailureThenWhatDependsOnItFailsAndTheSessionGoesOn) {
  client_.set_up(kCommandKernels);
  constexpr std::int32_t kBadArg = -52;  // CL_INVALID_KERNEL_ARGS
  client_.send(
      CreateBuffer{kBuffer, kContext, kReadWrite, 4096}, CreateKernel{kKernel, kProgram, "add"},
      CreateKernel{kOtherKernel, kProgram, "absent"}, RunKernel{command(100), kKernel, {}, {}, {64}, {}},
      Marker{command(101, Command::kReport, {100})}, RunKernel{command(102), kOtherKernel, {}, {}, {64}, {}},
      RunKernel{command(103, 0), kOtherKernel, {}, {}, {64}, {}}, Marker{command(104)});
  EXPECT_EQ(client_.ended(100).status, kBadArg);
  EXPECT_EQ(client_.ended(101).status, -14);
  EXPECT_EQ(client_.ended(102).status, -46);  // CL_INVALID_KERNEL_NAME
  EXPECT_EQ(client_.ended(104).status, 0);
  // A command without an event shows up at the finish, once.
  EXPECT_EQ(client_.finish().status, -46);
  EXPECT_EQ(client_.finish().status, 0);
}

TEST_F(Commands, GivenRemoteEventWhenItFailsThenDependantsFailWhateverTheyAre) {
  client_.set_up(kCommandKernels);
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4096}, CreateKernel{kKernel, kProgram, "add"},
               AwaitRemote{50, kContext}, AwaitRemote{51, kContext},
               RunKernel{command(100, Command::kReport, {50}),
                         kKernel,
                         {object_arg(0, kBuffer), value_arg(1, 7)},
                         {},
                         {64},
                         {}},
               Marker{command(101)},  // behind it in the queue
               Marker{command(102, Command::kReport, {100}, kOutOfOrder)},
               Marker{command(103, Command::kReport, {51}, kOutOfOrder)});
  EXPECT_FALSE(client_.reports.comes<EventState>(std::chrono::milliseconds(100)));
  client_.send(SetRemote{50, -1234}, SetRemote{51, 0});
  EXPECT_LT(client_.ended(100).status, 0);
  client_.ended(101);
  EXPECT_LT(client_.ended(102).status, 0);
  EXPECT_EQ(client_.ended(103).status, 0);
  // What comes later and waits for a failed one fails, too.
  client_.send(Marker{command(104, Command::kReport, {50})},
               Marker{command(105, Command::kReport, {102}, kOutOfOrder)});
  EXPECT_EQ(client_.ended(104).status, -14);
  EXPECT_EQ(client_.ended(105).status, -14);
  // The status may come before somebody waits.
  client_.send(SetRemote{60, 0}, AwaitRemote{60, kContext},
               Marker{command(106, Command::kReport, {60}, kOutOfOrder)});
  EXPECT_EQ(client_.ended(106).status, 0);
  EXPECT_EQ(client_.finish(kInOrder).status, 0);
  EXPECT_EQ(client_.finish(kOutOfOrder).status, 0);
}

TEST_F(Commands, GivenSomebodyLooksThenRunningIsReported) {
  client_.set_up(R"(kernel void spin(global volatile int* flag) {
    for (int i = 0; i < 200000000 && flag[1] == 0; ++i) flag[0] = i; })");
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4096},
               FillBuffer{command(99, 0), kBuffer, Bytes(4), 0, 4096},
               CreateKernel{kKernel, kProgram, "spin"},
               RunKernel{command(100), kKernel, {object_arg(0, kBuffer)}, {}, {1}, {}}, WatchEvent{100});
  const auto running = client_.next<EventState>();
  EXPECT_GT(running.status, 0);
  EXPECT_EQ(client_.ended(100).status, 0);
}

TEST_F(Commands, GivenImageThenItsPixelsTravel) {
  client_.set_up();
  constexpr std::uint32_t kRgba = 0x10B5;
  constexpr std::uint32_t kUint8 = 0x10DA;
  constexpr std::uint32_t kImage2d = 0x10F1;
  std::vector<std::uint8_t> pixels(16 * 8 * 4);
  std::iota(pixels.begin(), pixels.end(), std::uint8_t{0});
  client_.send(CreateImage{kImage, kContext, kReadWrite, kRgba, kUint8, kImage2d, {16, 8, 1}, 0, 0, 0},
               WriteImage{command(100), kImage, {0, 0, 0}, {16, 8, 1}, payload(pixels.data(), pixels.size())},
               ReadImage{command(101), 0, kImage, {0, 2, 0}, {16, 3, 1}, 16 * 3 * 4});
  EXPECT_EQ(client_.ended(100).status, 0);
  const auto data = client_.data(101);
  ASSERT_EQ(data.size(), 16U * 3 * 4);
  EXPECT_EQ(std::memcmp(data.data(), pixels.data() + 16 * 2 * 4, data.size()), 0);
}

TEST_F(Commands, GivenRectanglesThenRowsTravelWithoutGaps) {
  client_.set_up();
  const std::vector<char> row(8, 'x');
  client_.send(
      CreateBuffer{kBuffer, kContext, kReadWrite, 64},
      FillBuffer{command(100, 0), kBuffer, Bytes{'.'}, 0, 64},
      WriteBufferRect{command(101, 0), kBuffer, {2, 1, 0}, {4, 2, 1}, 8, 0, payload(row.data(), 8)},
      CopyBufferRect{command(102, 0), kBuffer, kBuffer, {2, 1, 0}, {0, 6, 0}, {4, 2, 1}, {8, 0}, {8, 0}},
      ReadBuffer{command(103, 0), 0, kBuffer, 0, 64},
      ReadBufferRect{command(104, 0), 0, kBuffer, {1, 1, 0}, {6, 1, 1}, 8, 0});
  EXPECT_EQ(client_.finish().status, 0);
  const auto all = client_.data(103);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(all.data()), 64),
            "..........xxxx....xxxx..........................xxxx....xxxx....");
  const auto some = client_.data(104);
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
    client.send(GetProgramBinary{50, kProgram, 0});
    EXPECT_FALSE(client.next<ProgramBinary>().binary.empty());
  }
  const bool shows = compiled();
  std::filesystem::remove_all(folder);
  if (!shows) GTEST_SKIP() << "the driver does not leave there what it compiles";
}

TEST_F(Commands, GivenBinaryThenItsProgramRuns) {
  client_.set_up(kCommandKernels);
  client_.send(GetProgramBinary{50, kProgram, 0});
  const auto binary = client_.next<ProgramBinary>();
  ASSERT_EQ(binary.status, 0);
  ASSERT_FALSE(binary.binary.empty());
  client_.send(CreateProgram{51, 8, kContext, ProgramKind::Binary, {0}, {binary.binary}},
               BuildProgram{52, 8, {0}, ""});
  auto built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.request, 51U);
  EXPECT_EQ(built.status, 0);
  EXPECT_EQ(built.devices.at(0).binary_status, 0);
  built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.status, 0);
  EXPECT_EQ(built.kernels.size(), 3U);
  // And one that is none.
  client_.send(CreateProgram{53, 9, kContext, ProgramKind::Binary, {0}, {code("rubbish")}});
  built = client_.next<ProgramBuilt>();
  EXPECT_NE(built.status, 0);
}

TEST_F(Commands, GivenCompiledPartsThenTheyLink) {
  client_.set_up();
  client_.send(
      CreateProgram{1,
                    10,
                    kContext,
                    ProgramKind::Source,
                    {},
                    {code("#include \"f.h\"\nkernel void k(global int* o) { *o = f(3); }")}},
      CreateProgram{2, 11, kContext, ProgramKind::Source, {}, {code("int f(int x) { return x + 1; }")}},
      CreateProgram{3, 12, kContext, ProgramKind::Source, {}, {code("int f(int x);")}},
      CompileProgram{4, 10, {0}, "", {12}, {"f.h"}}, CompileProgram{5, 11, {0}, "", {}, {}},
      LinkProgram{6, 13, kContext, {0}, "", {10, 11}});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, 0);
  EXPECT_EQ(client_.next<ProgramBuilt>().status, 0);
  const auto linked = client_.next<ProgramBuilt>();
  EXPECT_EQ(linked.status, 0) << linked.devices.at(0).log;
  EXPECT_EQ(linked.kernels.size(), 1U);
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 4}, CreateKernel{kKernel, 13, "k"},
               RunKernel{command(100), kKernel, {object_arg(0, kBuffer)}, {}, {1}, {}},
               ReadBuffer{command(101), 0, kBuffer, 0, 4});
  EXPECT_EQ(client_.ended(100).status, 0);
  EXPECT_EQ(static_cast<int>(client_.data(101).at(0)), 4);
}

TEST_F(Commands, GivenSubDevicesThenTheyAreDescribedAndUsed) {
  client_.send(CreateSubDevices{1, 0, {0x1086, 1, 0}, kFirstSubDevice});
  const auto created = client_.next<SubDevicesCreated>();
  if (created.status != 0) GTEST_SKIP() << "the device cannot be partitioned: " << created.status;
  ASSERT_FALSE(created.devices.empty());
  EXPECT_GT(created.devices[0].properties.size(), 50U);
  client_.send(CreateContext{kContext, {kFirstSubDevice}},
               CreateQueue{kInOrder, kContext, kFirstSubDevice, 0}, Marker{command(100)});
  EXPECT_EQ(client_.ended(100).status, 0);
}

TEST_F(Commands, GivenWorkGroupQueryThenItIsAnswered) {
  client_.set_up(kCommandKernels);
  constexpr std::uint32_t kWorkGroupSize = 0x11B0;
  client_.send(CreateKernel{kKernel, kProgram, "add"}, QueryWorkGroup{1, kKernel, 0, kWorkGroupSize, {}, 8});
  const auto answer = client_.next<WorkGroupAnswer>();
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.value.size(), 8U);
}

}  // namespace
}  // namespace clique::test
