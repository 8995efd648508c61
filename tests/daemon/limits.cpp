// What a node's administrator gives sessions: `--sessions` and `--session-memory`. The latter also over the
// fake GPU.
#include <CL/cl.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <list>

#include "harness.hpp"
#include "ids.hpp"
#include "protocol/limits.hpp"
#include "protocol/transport/placed_memory.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::test {
namespace {

TEST(Limits, GivenAsManySessionsAsThereMayBeThenOthersAreRefusedUntilOneEnds) {
  const Node node({"--name", "alpha", "--sessions", "2"});
  Client first(node, "the first");
  std::optional<Client> second(std::in_place, node, "the second");
  try {
    hello(node.endpoint(), "the third");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("node alpha has 2 sessions, which is its limit"),
              std::string::npos)
        << error.what();
  }
  EXPECT_EQ(first.set_up().status, 0);
  EXPECT_EQ(first.finish().status, 0);
  // A client that arrives when a session ends takes its place, even if that session's process still exists.
  second->send(Goodbye{});
  second.reset();
  Client fourth(node, "the fourth");
  EXPECT_EQ(first.finish().status, 0);
}

/// The limit of file descriptors of a process.
rlimit descriptors_of(pid_t pid) {
  rlimit limit{};
  EXPECT_EQ(::prlimit(pid, RLIMIT_NOFILE, nullptr, &limit), 0);
  return limit;
}

TEST(Limits, GivenALowSoftLimitThenAllProcessesHaveAsManyDescriptorsAsTheHardOneAllows) {
  const rlimit before = descriptors_of(0);
  rlimit low = before;
  low.rlim_cur = 256;
  ASSERT_GT(low.rlim_max, low.rlim_cur);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const Node node;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const Client client(node, "user");
  const rlim_t most = std::min<rlim_t>(before.rlim_max, 1U << 20U);
  EXPECT_EQ(descriptors_of(node.pid()).rlim_cur, most);
  EXPECT_EQ(descriptors_of(node.worker_of("user")).rlim_cur, most);
}

// To check the type of an object, the undefined-behaviour sanitizer of Clang opens a pipe, and ends the
// process if it cannot. The preset tsan runs this test.
#ifndef CLIQUE_SANITIZE_ADDRESS
TEST(Limits, GivenNoDescriptorIsLeftThenClientsAreToldAndServedLater) {
  const Node node({"--name", "alpha"});
  Client running(node, "running");
  ASSERT_EQ(running.set_up().status, 0);
  // A connection is for one question, and none can be made while there are no descriptors.
  std::list<Caller> callers;
  for (int i = 0; i < 5; ++i) callers.emplace_back(node.endpoint());
  const auto ask = [&](const std::string& name) {
    // Stays connected, so that its session stays.
    callers.splice(callers.end(), callers, callers.begin());
    callers.back().ask(name);
  };
  // Those that it has stay open, more than this; and poll() accepts no more than the limit.
  const rlimit enough = descriptors_of(node.pid());
  const rlimit none{12, enough.rlim_max};
  ASSERT_TRUE(eventually([&] { return node.workers().size() == 2; }));
  ask("first");
  ASSERT_TRUE(eventually([&] { return node.workers().size() == 3; }));
  ASSERT_EQ(::prlimit(node.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  std::string reason;
  // The set that had started before is still given away.
  for (int i = 0; i < 3 && reason.empty(); ++i) {
    try {
      ask("another");
    } catch (const std::runtime_error& refusal) {
      reason = refusal.what();
    }
  }
  EXPECT_NE(reason.find("node alpha cannot start a process for a session: "), std::string::npos) << reason;
  EXPECT_NE(reason.find("Too many open files"), std::string::npos) << reason;
  EXPECT_TRUE(node.logged(reason));
  EXPECT_EQ(running.finish().status, 0);
  ASSERT_EQ(::prlimit(node.pid(), RLIMIT_NOFILE, &enough, nullptr), 0);
  ASSERT_TRUE(eventually([&] {
    try {
      hello(node.endpoint(), "a later one");
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }));
}
#endif

class SessionMemory : public testing::Test {
 protected:
  SessionMemory() { client_.set_up(); }

  /// The end of a command that uses the object.
  std::int32_t use(ObjectId object) {
    const CommandId id = ++last_command_;
    client_.send(FillBuffer{command(id), object, Bytes(4), 0, 4});
    return client_.ended(id).status;
  }
  CreateImage image(ObjectId id, std::uint64_t side) const {
    return {
        id, kContext, CL_MEM_READ_WRITE, CL_RGBA, CL_UNSIGNED_INT8, CL_MEM_OBJECT_IMAGE2D, {side, side, 1}, 0,
        0,  0};
  }
  std::int32_t use_image(ObjectId object) {
    const CommandId id = ++last_command_;
    client_.send(FillImage{command(id), object, Bytes(16), {}, {1, 1, 1}});
    return client_.ended(id).status;
  }

  /// Expects that the session ends when more waits in its worker than may, and others do not notice.
  /// @param add adds 8 MiB, by a command with this id
  void expect_end_by(const std::function<void(CommandId)>& add) {
    Client other(node_, "the other");
    ASSERT_EQ(other.set_up().status, 0);
    // Most of what may wait does.
    for (CommandId id = 1000; id < 1014; ++id) add(id);
    EXPECT_FALSE(client_.reports.comes<SessionEnded>(std::chrono::milliseconds(500)));
    for (CommandId id = 1014; id < 1020; ++id) add(id);
    const std::string reason = client_.next<SessionEnded>().reason;
    EXPECT_NE(reason.find("of which the limit is 134217728 bytes (session-memory of cliqued)"),
              std::string::npos)
        << reason;
    EXPECT_EQ(other.finish().status, 0);
  }

  Node node_{{"--session-memory", "64M"}};
  Client client_{node_};
  CommandId last_command_ = 100;
};

TEST_F(SessionMemory, GivenBuffersBeyondTheLimitThenWhatUsesThemFailsAndTheReasonIsTold) {
  constexpr ObjectId kOneByte = 8;
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB},
               CreateBuffer{kOther, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(kBuffer), 0);
  EXPECT_EQ(use(kOther), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  const auto failed = client_.next<Failed>([](const Failed& failure) { return failure.object == kOther; });
  EXPECT_EQ(failed.status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_NE(failed.what.find("session-memory"), std::string::npos) << failed.what;
  // Smaller ones still fit, up to the last byte.
  client_.send(CreateBuffer{kThird, kContext, kReadWrite, 24 * kMiB},
               CreateBuffer{kOneByte, kContext, kReadWrite, 1});
  EXPECT_EQ(use(kThird), 0);
  EXPECT_EQ(use(kOneByte), CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

TEST_F(SessionMemory, GivenABufferReleasedThenItsMemoryCountsNoMore) {
  for (ObjectId id = 10; id < 20; ++id) {
    client_.send(CreateBuffer{id, kContext, kReadWrite, 40 * kMiB});
    EXPECT_EQ(use(id), 0);
    client_.send(Release{{id}, {}});
  }
}

TEST_F(SessionMemory, GivenBuffersThatAreTheClientsMemoryThenTheyCount) {
  constexpr ObjectId kOtherSegment = 904;
  const auto give = [&](ObjectId id) {
    const auto segment = SharedSegment::create(40 * kMiB);
    return give_segment(client_.address.shared, client_.address.client.secret, id, *segment,
                        PlacedMemory::windows().front().begin + id * PlacedMemory::kGranule,
                        std::chrono::seconds(10));
  };
  EXPECT_EQ(give(kSegment), "");
  EXPECT_NE(give(kOtherSegment).find("session-memory"), std::string::npos);
  client_.send(FreeSegment{kSegment});
  std::string refusal;
  EXPECT_TRUE(eventually([&] { return (refusal = give(kOtherSegment)).empty(); })) << refusal;
}

TEST_F(SessionMemory, GivenASubBufferThenItIsMemoryOfItsBuffer) {
  constexpr ObjectId kFourth = 8;
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB},
               CreateSubBuffer{kOther, kBuffer, kReadWrite, 0, 40 * kMiB});
  EXPECT_EQ(use(kOther), 0);
  // Which lives as long as it does.
  client_.send(Release{{kBuffer}, {}}, CreateBuffer{kThird, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(kThird), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  client_.send(Release{{kOther}, {}}, CreateBuffer{kFourth, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(kFourth), 0);
}

TEST_F(SessionMemory, GivenImagesThenTheyCount) {
  client_.send(image(kImage, 3072));  // 36 MiB
  EXPECT_EQ(use_image(kImage), 0);
  client_.send(image(kOther, 3072));
  EXPECT_EQ(use_image(kOther), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  client_.send(Release{{kImage, kOther}, {}}, image(kThird, 3072));
  EXPECT_EQ(use_image(kThird), 0);
}

TEST_F(SessionMemory, GivenAnotherSessionThenItHasMemoryOfItsOwn) {
  constexpr CommandId kFill = 100;
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(kBuffer), 0);
  Client other(node_, "the other");
  other.set_up();
  other.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB},
             FillBuffer{command(kFill), kBuffer, Bytes(4), 0, 4});
  EXPECT_EQ(other.ended(kFill).status, 0);
}

/// What ends a session that has too much waiting in its worker.
struct Hoard {
  const char* name;
  /// Adds 8 MiB.
  std::function<void(Client&, CommandId)> add;
};

class SessionMemoryOfWorkers : public SessionMemory, public testing::WithParamInterface<Hoard> {};

TEST_P(SessionMemoryOfWorkers, GivenMoreThanTheLimitWaitsThenTheSessionEndsWithTheReason) {
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 8 * kMiB}, AwaitRemote{kRemote, kContext});
  ASSERT_EQ(use(kBuffer), 0);
  expect_end_by([this](CommandId id) { GetParam().add(client_, id); });
}

const std::vector<std::byte>& eight_mib() {
  static const std::vector<std::byte> bytes(8 * kMiB);
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(
    SessionMemory, SessionMemoryOfWorkers,
    testing::Values(Hoard{"WritesBehindAnEvent",
                          [](Client& client, CommandId id) {
                            client.send(WriteBuffer{command(id, Command::kReport, {kRemote}), kBuffer, 0,
                                                    payload(eight_mib().data(), eight_mib().size())});
                          }},
                    // The test acknowledges no reports, so that the worker keeps them for another connection.
                    Hoard{"RepliesThatAreNotReceived",
                          [](Client& client, CommandId id) {
                            client.send(ReadBuffer{command(id), 0, kBuffer, 0, 8 * kMiB});
                          }},
                    Hoard{"Recordings",
                          [](Client& client, CommandId id) {
                            constexpr ObjectId kAnyKernel = 1;
                            RunKernel launch{{}, kAnyKernel, {}, {}, {1}, {}};
                            launch.args.push_back({0, KernelArg::Value, 0, Bytes(1 * kMiB)});
                            Batch commands;
                            for (int i = 0; i < 8; ++i) commands.add(launch);
                            const auto* const bytes =
                                reinterpret_cast<const std::uint8_t*>(commands.records().data());
                            client.send(DefineRecording{id, {bytes, bytes + commands.size()}});
                          }},
                    Hoard{"Sources",
                          [](Client& client, CommandId id) {
                            client.send(CreateProgram{
                                id, id, kContext, ProgramKind::Source, {}, {Bytes(8 * kMiB, ' ')}});
                          }}),
    [](const auto& info) { return info.param.name; });

TEST_F(SessionMemory, GivenDataOfAnotherWorkerThatIsNotExpectedThenItCounts) {
  constexpr CommandId kFill = 100;
  constexpr PeerId kPeer = 1;
  Client source(node_, "the source");
  source.set_up();
  source.send(ConnectPeer{kPeer, client_.peers_endpoint(), client_.address.peer, ""},
              CreateBuffer{kBuffer, kContext, kReadWrite, 8 * kMiB},
              FillBuffer{command(kFill), kBuffer, Bytes(4), 0, 8 * kMiB});
  EXPECT_EQ(source.ended(kFill).status, 0);
  expect_end_by([&](CommandId id) {
    source.send(Push{command(id, Command::kReport, {}, kOutOfOrder), kBuffer, 0, 8 * kMiB, kPeer, id});
    // Of the last ones not all arrive.
    if (id < 1014) {
      EXPECT_EQ(source.ended(id).status, 0);
    }
  });
}

TEST_F(SessionMemory, GivenDataInMemoryOfOtherWorkersThatIsNotExpectedThenItCounts) {
  constexpr CommandId kFill = 100;
  constexpr PeerId kPeer = 1;
  // Less than the memory that two workers share, so that all of it goes there.
  constexpr CommandId kAddsOfEach = 3;
  // What a push has on the way through memory.
  constexpr std::uint64_t kMostOfOne = 6 * kMiB;
  std::vector<std::unique_ptr<Client>> sources;
  expect_end_by([&](CommandId id) {
    if ((id - 1000) % kAddsOfEach == 0) {
      Client& source = *sources.emplace_back(std::make_unique<Client>(node_, "a source"));
      source.set_up();
      source.send(ConnectPeer{kPeer, client_.peers_endpoint(), client_.address.peer, client_.address.shared},
                  CreateBuffer{kBuffer, kContext, kReadWrite, 8 * kMiB},
                  FillBuffer{command(kFill), kBuffer, Bytes(4), 0, 8 * kMiB});
      EXPECT_EQ(source.ended(kFill).status, 0);
    }
    const CommandId other = id + 1000;
    sources.back()->send(
        Push{command(id, 0, {}, kOutOfOrder), kBuffer, 0, kMostOfOne, kPeer, id},
        Push{command(other, 0, {}, kOutOfOrder), kBuffer, 0, 8 * kMiB - kMostOfOne, kPeer, other});
  });
}

TEST_F(SessionMemory, GivenDataThatDoesNotWaitThenItCountsNoMore) {
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 8 * kMiB});
  for (CommandId id = 1000; id < 1020; ++id) {
    client_.send(WriteBuffer{command(id), kBuffer, 0, payload(eight_mib().data(), eight_mib().size())});
    EXPECT_EQ(client_.ended(id).status, 0);
  }
  for (ObjectId id = 1000; id < 1020; ++id)
    client_.send(CreateProgram{kRequest, id, kContext, ProgramKind::Source, {}, {Bytes(8 * kMiB, ' ')}},
                 Release{{id}, {}});
  EXPECT_EQ(client_.finish().status, 0);
}

TEST_F(SessionMemory, GivenTheLimitThenDevicesHaveNoMoreMemory) {
  for (const DeviceDescription& device : client_.attached.devices) {
    unsigned found = 0;
    for (const Property& property : device.properties) {
      if (property.name != CL_DEVICE_GLOBAL_MEM_SIZE && property.name != CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        continue;
      cl_ulong size = 0;
      ASSERT_EQ(property.value.size(), sizeof size);
      std::memcpy(&size, property.value.data(), sizeof size);
      EXPECT_EQ(size, 64 * kMiB);
      ++found;
    }
    EXPECT_EQ(found, 2U);
  }
}

}  // namespace
}  // namespace clique::test
