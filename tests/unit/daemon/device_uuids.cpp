// The UUIDs of devices whose drivers report none, or not enough.
#include "daemon/backend/opencl/device_uuids.hpp"

#include <gtest/gtest.h>

#include <set>

namespace clique::daemon::opencl {
namespace {

ReportedIdentity reports(cl_uchar uuid, bool nvidia_gpu = false) {
  ReportedIdentity identity;
  identity.uuid.emplace();
  identity.uuid->fill(uuid);
  identity.nvidia_gpu = nvidia_gpu;
  return identity;
}

const ReportedIdentity kNothing;

TEST(DeviceUuids, AreThoseOfNvidiasGpus) {
  const std::vector devices{reports(1, true), reports(2, true)};
  const auto uuids = device_uuids("alpha", "NVIDIA CUDA", devices);
  EXPECT_EQ(uuids, device_uuids("beta", "another driver", devices));
  EXPECT_EQ(uuids, (std::vector<Uuid>{*devices[0].uuid, *devices[1].uuid}));
}

TEST(DeviceUuids, OfOtherDevicesDifferBetweenDevicesDriversAndNodes) {
  std::set<Uuid> seen;
  for (const char* node : {"alpha", "beta"})
    for (const char* driver : {"A", "B"})
      for (const Uuid& uuid :
           device_uuids(node, driver, std::vector{kNothing, reports(1), kNothing, reports(1), reports(2)}))
        EXPECT_TRUE(seen.insert(uuid).second);
  EXPECT_EQ(seen.size(), 2U * 2U * 5U);
}

TEST(DeviceUuids, NeverChange) {
  // The bytes matter: programs store them.
  const Uuid expected{0x41, 0xd7, 0x63, 0xb3, 0xea, 0xa6, 0x84, 0xc4,
                      0xbc, 0x73, 0x93, 0xc6, 0x1d, 0x12, 0xe3, 0x82};
  EXPECT_EQ(device_uuids("alpha", "Portable Computing Language", std::vector{kNothing}),
            std::vector<Uuid>{expected});
}

TEST(DeviceUuids, DoNotDependOnTheOtherDevicesIfTheDriverTellsDevicesApart) {
  const auto both = device_uuids("alpha", "A", std::vector{reports(1), reports(2)});
  EXPECT_EQ(both[1], device_uuids("alpha", "A", std::vector{reports(2)})[0]);
}

TEST(DeviceUuids, DoNotDependOnWhereNamesAreDivided) {
  const std::vector devices{kNothing};
  EXPECT_NE(device_uuids("ab", "c", devices), device_uuids("a", "bc", devices));
}

TEST(DeviceUuids, HaveVersion8) {
  const Uuid uuid = device_uuids("alpha", "A", std::vector{kNothing})[0];
  EXPECT_EQ(uuid[6] >> 4U, 8);
  EXPECT_EQ(uuid[8] >> 6U, 2);
}

TEST(SetUuid, ReplacesTheUuidAndAnswersTheOtherQueries) {
  protocol::DeviceDescription device;
  device.properties.push_back({CL_DEVICE_UUID_KHR, protocol::Bytes(16, 1)});
  device.properties.push_back({CL_DRIVER_UUID_KHR, protocol::Bytes(16, 2)});
  Uuid uuid{};
  uuid.fill(3);
  set_uuid(device, uuid);
  std::map<std::uint32_t, protocol::Bytes> properties;
  for (const protocol::Property& property : device.properties)
    EXPECT_TRUE(properties.emplace(property.name, property.value).second);
  EXPECT_EQ(properties[CL_DEVICE_UUID_KHR], protocol::Bytes(16, 3));
  EXPECT_EQ(properties[CL_DRIVER_UUID_KHR], protocol::Bytes(16, 2));
  EXPECT_EQ(properties[CL_DEVICE_LUID_VALID_KHR], protocol::Bytes(4, 0));
  EXPECT_EQ(properties[CL_DEVICE_LUID_KHR], protocol::Bytes(8, 0));
  EXPECT_EQ(properties[CL_DEVICE_NODE_MASK_KHR], protocol::Bytes(4, 0));
}

}  // namespace
}  // namespace clique::daemon::opencl
