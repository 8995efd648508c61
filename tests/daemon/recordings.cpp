// Commands that are defined once and run many times.
#include <algorithm>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

constexpr const char* kRecordedKernels =
    "kernel void add(global int* data, int amount) { data[get_global_id(0)] += amount; }";

constexpr ObjectId kRecording = 7;

template <typename... M>
Bytes recorded(const M&... commands) {
  Batch batch;
  (batch.add(commands), ...);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  return {bytes, bytes + batch.size()};
}

class Recordings : public testing::Test {
 protected:
  static constexpr CommandId kFill = 100;
  static constexpr std::size_t kCount = 100;
  static constexpr std::size_t kSize = kCount * sizeof(int);

  /// A session with a kernel, and a buffer of zeros.
  void prepare(Client& client) {
    client.set_up(kRecordedKernels);
    client.send(CreateBuffer{kBuffer, kContext, kReadWrite, kSize}, CreateKernel{kKernel, kProgram, "add"},
                FillBuffer{command(kFill, 0), kBuffer, Bytes(4), 0, kSize});
  }
  static RunKernel adding(int amount) {
    return {{}, kKernel, {object_arg(0, kBuffer), value_arg(1, amount)}, {}, {kCount}, {}};
  }
  static bool all_are(const std::vector<std::byte>& data, int expected) {
    const auto* values = reinterpret_cast<const int*>(data.data());
    return data.size() == kSize && std::all_of(values, values + kCount, [&](int x) { return x == expected; });
  }

  Node node_;
};

TEST_F(Recordings, GivenRunsThenEachIsOneCommand) {
  constexpr CommandId kRun = 203, kRead = 204;
  Client client(node_);
  prepare(client);
  client.send(DefineRecording{kRecording, recorded(adding(1), adding(10), adding(100))});
  for (const CommandId run : {200, 201, 202})
    client.send(RunRecording{
        command(run, Command::kReport, run == 200 ? std::vector<CommandId>{} : std::vector{run - 1}),
        kRecording});
  client.send(RunRecording{command(kRun, 0), kRecording}, ReadBuffer{command(kRead), 0, kBuffer, 0, kSize});
  for (const CommandId run : {200, 201, 202}) EXPECT_EQ(client.ended(run).status, 0);
  EXPECT_TRUE(all_are(client.data(kRead), 444));
  EXPECT_EQ(client.ended(kRead).status, 0);
  const auto& rest = client.reports.messages();
  EXPECT_TRUE(std::none_of(rest.begin(), rest.end(), [](const auto& message) {
    return std::holds_alternative<EventState>(message);
  })) << "there are ends that nobody asked for";
  client.send(Release{{kRecording}, {}});
  EXPECT_EQ(client.finish().status, 0);
}

TEST_F(Recordings, GivenUpdateThenLaterRunsHaveTheNewLaunch) {
  constexpr CommandId kFirstRun = 200, kSecondRun = 201, kThirdRun = 202, kRead = 203;
  Client client(node_);
  prepare(client);
  client.send(DefineRecording{kRecording, recorded(adding(1), adding(10))},
              RunRecording{command(kFirstRun), kRecording},
              UpdateRecording{kRecording, {1}, recorded(adding(100))},
              RunRecording{command(kSecondRun), kRecording},
              UpdateRecording{kRecording, {0, 1}, recorded(adding(1000), adding(10000))},
              RunRecording{command(kThirdRun), kRecording}, ReadBuffer{command(kRead), 0, kBuffer, 0, kSize});
  for (const CommandId run : {kFirstRun, kSecondRun, kThirdRun, kRead})
    EXPECT_EQ(client.ended(run).status, 0);
  EXPECT_TRUE(all_are(client.data(kRead), 11 + 101 + 11000));
}

// Each command but the first has to wait, or else the result is another one.
TEST_F(Recordings, GivenQueueWithoutOrderThenCommandsComeAfterThoseThatTheyWaitFor) {
  constexpr CommandId kRead = 300;
  constexpr ObjectId kUnordered = 8;
  Client client(node_);
  client.set_up(
      "kernel void next(global int* data, int amount) { size_t i = get_global_id(0);"
      "  for (int n = 0; n < 1000; ++n) data[i] = data[i] % 1000003 * 3 + amount; }");
  constexpr std::uint64_t kOutOfOrderMode = 1;
  client.send(CreateBuffer{kBuffer, kContext, kReadWrite, kSize}, CreateKernel{kKernel, kProgram, "next"},
              CreateQueue{kUnordered, kContext, 0, kOutOfOrderMode},
              FillBuffer{command(kFill), kBuffer, Bytes(4), 0, kSize});
  const auto after = [](RunKernel launch, std::vector<CommandId> waits) {
    launch.command.waits = std::move(waits);
    return launch;
  };
  client.send(
      DefineRecording{kRecording, recorded(adding(1), after(adding(2), {0}), after(adding(3), {0, 1}))});
  for (const CommandId run : {200, 201, 202})
    client.send(
        RunRecording{command(run, Command::kReport, {run == 200 ? kFill : run - 1}, kUnordered), kRecording});
  client.send(ReadBuffer{command(kRead, Command::kReport, {202}), 0, kBuffer, 0, kSize});
  int expected = 0;
  for (int run = 0; run < 3; ++run)
    for (const int amount : {1, 2, 3})
      for (int n = 0; n < 1000; ++n) expected = expected % 1000003 * 3 + amount;
  for (const CommandId run : {200, 201, 202}) EXPECT_EQ(client.ended(run).status, 0);
  EXPECT_TRUE(all_are(client.data(kRead), expected));
}

TEST_F(Recordings, GivenProfilingThenTimesAreThoseOfAllCommands) {
  constexpr CommandId kRun = 200;
  constexpr ObjectId kProfiled = 8;
  Client client(node_);
  prepare(client);
  constexpr std::uint64_t kProfiling = 2;
  client.send(CreateQueue{kProfiled, kContext, 0, kProfiling},
              DefineRecording{kRecording, recorded(adding(1), adding(1))},
              RunRecording{command(kRun, Command::kReport, {}, kProfiled), kRecording});
  const auto times = client.ended(kRun).times;
  EXPECT_GT(times[0], 0U);
  EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
}

TEST_F(Recordings, GivenCommandThatTheDriverRefusesThenTheRunFailsAndTheSessionGoesOn) {
  constexpr CommandId kRun = 200, kFirstMarker = 201, kSecondMarker = 202;
  constexpr ObjectId kAbsent = 9;
  Client client(node_);
  prepare(client);
  client.send(CreateKernel{kAbsent, kProgram, "absent"});
  RunKernel absent = adding(1);
  absent.kernel = kAbsent;
  client.send(DefineRecording{kRecording, recorded(absent, adding(1))},
              RunRecording{command(kRun), kRecording},
              Marker{command(kFirstMarker, Command::kReport, {kRun})}, Marker{command(kSecondMarker)});
  EXPECT_EQ(client.ended(kRun).status, -46);  // CL_INVALID_KERNEL_NAME
  EXPECT_EQ(client.ended(kFirstMarker).status, -14);
  EXPECT_EQ(client.ended(kSecondMarker).status, 0);
}

TEST_F(Recordings, GivenWrongMessagesThenOnlyTheirSessionEnds) {
  constexpr CommandId kRun = 200;
  constexpr ObjectId kUnknown = 99;
  Client bystander(node_);
  bystander.set_up();
  struct Offence {
    const char* name;
    std::function<void(Client&)> commit;
    const char* reason;
  };
  const auto defining = [](Bytes commands) {
    return [commands = std::move(commands)](Client& client) {
      client.send(DefineRecording{kRecording, commands});
    };
  };
  const auto run = [](Client& client, std::uint8_t flags, ObjectId recording) {
    client.send(RunRecording{command(kRun, flags), recording});
  };
  const auto updating = [](std::vector<CommandId> numbers, Bytes commands) {
    return [update = UpdateRecording{kRecording, std::move(numbers), std::move(commands)}](Client& client) {
      const FillBuffer fill{{}, kBuffer, Bytes(4), 0, kSize};
      client.send(DefineRecording{kRecording, recorded(adding(1), fill)}, update);
    };
  };
  Bytes cut = recorded(adding(1), adding(2));
  cut.pop_back();
  RunKernel with_id = adding(1);
  with_id.command.id = 300;
  RunKernel with_queue = adding(1);
  with_queue.command.queue = kInOrder;
  RunKernel with_flags = adding(1);
  with_flags.command.flags = Command::kReport;
  RunKernel waiting = adding(1);
  waiting.command.waits = {1};
  const CopyBuffer outside{{}, kBuffer, kBuffer, 0, kSize, 1};
  const FillBuffer unknown{{}, kUnknown, Bytes(4), 0, 4};
  const Bytes nothing = recorded(FillBuffer{{}, kBuffer, Bytes(1), 0, 1});
  Bytes too_many;
  for (std::size_t i = 0; i <= DefineRecording::kMaxCommands; ++i)
    too_many.insert(too_many.end(), nothing.begin(), nothing.end());
  const std::vector<Offence> offences{
      {"no commands", defining({}), "no commands"},
      {"no msgpack", defining({0xc1}), "msgpack"},
      {"cut", defining(cut), "msgpack"},
      {"too many commands", defining(too_many), "has more than"},
      {"an id", defining(recorded(with_id)), "has an id, a queue or flags"},
      {"a queue", defining(recorded(with_queue)), "has an id, a queue or flags"},
      {"flags", defining(recorded(with_flags)), "has an id, a queue or flags"},
      {"a wait for itself", defining(recorded(adding(1), waiting)), "not before it"},
      {"a wait for part of nothing",
       [&](Client& client) {
         RunKernel alone = waiting;
         alone.command = command(kRun, Command::kReport | Command::kAfterParts, {0});
         client.send(alone);
       },
       "not before it"},
      {"a marker", defining(recorded(Marker{})), "74 is unknown"},
      {"a read", defining(recorded(ReadBuffer{})), "61 is unknown"},
      {"a write", defining(recorded(WriteBuffer{})), "62 is unknown"},
      {"a push", defining(recorded(Push{})), "76 is unknown"},
      {"a recording", defining(recorded(RunRecording{})), "78 is unknown"},
      {"defined twice",
       [](Client& client) {
         for (int i = 0; i < 2; ++i) client.send(DefineRecording{kRecording, recorded(adding(1))});
       },
       "exists"},
      {"unknown recording", [&](Client& client) { run(client, Command::kReport, kUnknown); },
       "does not exist"},
      {"released",
       [&](Client& client) {
         client.send(DefineRecording{kRecording, recorded(adding(1))}, Release{{kRecording}, {}});
         run(client, Command::kReport, kRecording);
       },
       "does not exist"},
      {"a part",
       [&](Client& client) {
         client.send(DefineRecording{kRecording, recorded(adding(1))});
         run(client, Command::kMore, kRecording);
       },
       "part"},
      {"a range outside",
       [&](Client& client) {
         client.send(DefineRecording{kRecording, recorded(outside)});
         run(client, Command::kReport, kRecording);
       },
       "beyond"},
      {"an update of nothing", [](Client& client) { client.send(UpdateRecording{kUnknown, {}, {}}); },
       "does not exist"},
      {"an update with too few commands", updating({0, 1}, recorded(adding(2))), "1 commands and 2 numbers"},
      {"an update with too many commands", updating({0}, recorded(adding(2), adding(3))), "more than its 1"},
      {"an update that is no msgpack", updating({0}, {0xc1}), "msgpack"},
      {"an update of a command that is not there", updating({2}, recorded(adding(2))), "command 2"},
      {"an update of a fill", updating({1}, recorded(adding(2))), "command 1, which is not a launch"},
      {"an update with a fill", updating({0}, recorded(FillBuffer{{}, kBuffer, Bytes(4), 0, 4})),
       "67 is unknown"},
      {"an update with waits", updating({0}, recorded(waiting)), "header of its own"},
      {"an update with a queue", updating({0}, recorded(with_queue)), "header of its own"},
      {"an unknown buffer",
       [&](Client& client) {
         client.send(DefineRecording{kRecording, recorded(unknown)});
         run(client, Command::kReport, kRecording);
       },
       "99"},
  };
  for (const Offence& offence : offences) {
    SCOPED_TRACE(offence.name);
    Client client(node_);
    prepare(client);
    offence.commit(client);
    const std::string reason = client.next<SessionEnded>().reason;
    EXPECT_NE(reason.find(offence.reason), std::string::npos) << reason;
  }
  EXPECT_EQ(bystander.finish().status, 0);
}

}  // namespace
}  // namespace clique::test
