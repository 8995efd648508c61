// What a node's administrator gives sessions: `--sessions` and `--session-memory`. The latter also over the
// fake GPU.
#include <CL/cl.h>

#include <cstring>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

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
    return {id, 1, CL_MEM_READ_WRITE, CL_RGBA, CL_UNSIGNED_INT8, CL_MEM_OBJECT_IMAGE2D, {side, side, 1}, 0,
            0,  0};
  }
  std::int32_t use_image(ObjectId object) {
    const CommandId id = ++last_command_;
    client_.send(FillImage{command(id), object, Bytes(16), {}, {1, 1, 1}});
    return client_.ended(id).status;
  }

  Node node_{{"--session-memory", "64M"}};
  Client client_{node_};
  CommandId last_command_ = 100;
};

TEST_F(SessionMemory, GivenBuffersBeyondTheLimitThenWhatUsesThemFailsAndTheReasonIsTold) {
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB},
               CreateBuffer{kOther, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(kBuffer), 0);
  EXPECT_EQ(use(kOther), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  const auto failed = client_.next<Failed>([](const Failed& failure) { return failure.object == kOther; });
  EXPECT_EQ(failed.status, CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_NE(failed.what.find("session-memory"), std::string::npos) << failed.what;
  // Smaller ones still fit, up to the last byte.
  client_.send(CreateBuffer{kThird, kContext, kReadWrite, 24 * kMiB},
               CreateBuffer{8, kContext, kReadWrite, 1});
  EXPECT_EQ(use(kThird), 0);
  EXPECT_EQ(use(8), CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

TEST_F(SessionMemory, GivenABufferReleasedThenItsMemoryCountsNoMore) {
  for (ObjectId id = 10; id < 20; ++id) {
    client_.send(CreateBuffer{id, kContext, kReadWrite, 40 * kMiB});
    EXPECT_EQ(use(id), 0);
    client_.send(Release{{id}, {}});
  }
}

TEST_F(SessionMemory, GivenASubBufferThenItIsMemoryOfItsBuffer) {
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB},
               CreateSubBuffer{kOther, kBuffer, kReadWrite, 0, 40 * kMiB});
  EXPECT_EQ(use(kOther), 0);
  // Which lives as long as it does.
  client_.send(Release{{kBuffer}, {}}, CreateBuffer{kThird, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(kThird), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  client_.send(Release{{kOther}, {}}, CreateBuffer{8, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(8), 0);
}

TEST_F(SessionMemory, GivenImagesThenTheyCount) {
  client_.send(image(5, 3072));  // 36 MiB
  EXPECT_EQ(use_image(5), 0);
  client_.send(image(6, 3072));
  EXPECT_EQ(use_image(6), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  client_.send(Release{{5, 6}, {}}, image(7, 3072));
  EXPECT_EQ(use_image(7), 0);
}

TEST_F(SessionMemory, GivenAnotherSessionThenItHasMemoryOfItsOwn) {
  client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB});
  EXPECT_EQ(use(kBuffer), 0);
  Client other(node_, "the other");
  other.set_up();
  other.send(CreateBuffer{kBuffer, kContext, kReadWrite, 40 * kMiB},
             FillBuffer{command(100), kBuffer, Bytes(4), 0, 4});
  EXPECT_EQ(other.ended(100).status, 0);
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
