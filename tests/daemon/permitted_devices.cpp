// A client that may use some of a driver's devices only (devices= in authorized-clients).
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

/// A node with two devices of one driver, whose list authorizes this process for some.
class PermittedDevices : public testing::Test {
 protected:
  void SetUp() override { ::setenv("POCL_DEVICES", "pthread basic", 1); }
  void TearDown() override {
    ::unsetenv("POCL_DEVICES");
    std::filesystem::remove(list_);
  }

  std::vector<std::string> arguments(const std::string& devices) const {
    std::ofstream(list_) << identity().public_key().text() << " alice devices=" << devices << "\n";
    return {"--authorized-clients", list_};
  }
  static std::string name_of(const DeviceDescription& device) {
    constexpr std::uint32_t kName = 0x102b;  // CL_DEVICE_NAME
    for (const Property& property : device.properties)
      if (property.name == kName) return {property.value.begin(), property.value.end() - 1};
    return "";
  }

 private:
  const std::string list_ =
      std::filesystem::temp_directory_path() / ("clique-authorized-" + std::to_string(::getpid()));
};

TEST_F(PermittedDevices, GivenOneOfTwoThenNothingShowsTheOther) {
  std::string second;
  {
    const Node both(arguments("cpu"));
    second = name_of(Client(both).attached.devices.at(1));
  }
  const Node node(arguments("1"));
  Caller caller(node.endpoint());
  caller.send(Hello{kVersion, Wish::Devices, "a test"});
  const auto offer = caller.next<Offer>();
  ASSERT_EQ(offer.drivers.size(), 1U);
  ASSERT_EQ(offer.drivers[0].devices.size(), 1U);
  EXPECT_EQ(name_of(offer.drivers[0].devices[0]), second);
  Client client(node);
  ASSERT_EQ(client.attached.devices.size(), 1U);
  EXPECT_EQ(name_of(client.attached.devices[0]), name_of(offer.drivers[0].devices[0]));
  client.set_up();
  EXPECT_EQ(client.finish().status, 0);
}

TEST_F(PermittedDevices, GivenIdOfAnotherThenTheSessionEnds) {
  const Node node(arguments("0"));
  for (const DeviceId id : {1U, 2U}) {
    Client client(node);
    ASSERT_EQ(client.attached.devices.size(), 1U);
    client.send(CreateContext{kContext, {0, id}});
    EXPECT_NE(client.next<SessionEnded>().reason.find("device " + std::to_string(id) + " does not exist"),
              std::string::npos);
  }
}

TEST_F(PermittedDevices, GivenAllOfThemThenAllAreThere) {
  const Node node(arguments("cpu"));
  EXPECT_EQ(Client(node).attached.devices.size(), 2U);
}

}  // namespace
}  // namespace clique::test
