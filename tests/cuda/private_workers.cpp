// GPUs of a program without nodes.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "protocol/properties.hpp"
#include "session.hpp"

namespace clique::test {
namespace {

/// The fake driver has three GPUs while this exists.
class CudaPrivateWorkers : public testing::Test {
 protected:
  CudaPrivateWorkers() { ::setenv("FAKE_CUDA_GPUS", "3", 1); }
  ~CudaPrivateWorkers() override { ::unsetenv("FAKE_CUDA_GPUS"); }
};

TEST_F(CudaPrivateWorkers, OpenNoGpuBeforeItIsUsed) {
  const PrivateWorkers workers;
  ASSERT_EQ(workers.drivers().size(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(workers.drivers()[i].id, i);
    EXPECT_EQ(workers.drivers()[i].name, "CUDA");
    EXPECT_EQ(property_text(workers.drivers()[i].devices.at(0).properties, CL_DEVICE_NAME),
              "Fake GPU " + std::to_string(i));
  }
  // It has loaded the driver, and will serve the GPU that is wanted first.
  EXPECT_EQ(workers.processes().size(), 1U);
  const WorkersStarted last = workers.start({2});
  ASSERT_EQ(last.workers.size(), 1U);
  EXPECT_EQ(last.workers[0].driver, 2U);
  EXPECT_EQ(workers.processes().size(), 1U);
  FakeGpuClient client(last.workers[0]);
  EXPECT_EQ(property_text(client.attached.devices.at(0).properties, CL_DEVICE_NAME), "Fake GPU 2");
  client.make_zeros(kBuffer);
  EXPECT_EQ(client.first(kBuffer), 0);
  EXPECT_EQ(workers.start({0, 1}).workers.size(), 2U);
  EXPECT_EQ(workers.processes().size(), 3U);
}

TEST_F(CudaPrivateWorkers, AreDescribedAsTheWorkersDescribeThem) {
  const PrivateWorkers workers;
  const FakeGpuClient client(workers.first());
  ASSERT_EQ(client.attached.devices.size(), 1U);
  EXPECT_EQ(workers.drivers()[0].devices.at(0).properties.size(),
            client.attached.devices[0].properties.size());
  EXPECT_EQ(workers.drivers()[0].devices[0].image_formats.size(),
            client.attached.devices[0].image_formats.size());
  for (const Property& property : client.attached.devices[0].properties) {
    const Bytes* const value = find_property(workers.drivers()[0].devices.at(0).properties, property.name);
    ASSERT_NE(value, nullptr) << property.name;
    EXPECT_EQ(*value, property.value) << property.name;
  }
}

TEST_F(CudaPrivateWorkers, OfAGpuThatCannotBeOpenedAreRefusedUntilItCan) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("clique-taken-gpu-" + std::to_string(::getpid()));
  std::ofstream(file).put('1');
  ::setenv("FAKE_CUDA_TAKEN_WHILE", file.c_str(), 1);
  const PrivateWorkers workers;
  ::unsetenv("FAKE_CUDA_TAKEN_WHILE");
  EXPECT_EQ(workers.drivers().size(), 3U);
  const WorkersStarted refused = workers.start({1});
  EXPECT_TRUE(refused.workers.empty());
  ASSERT_EQ(refused.withheld.size(), 1U);
  EXPECT_EQ(refused.withheld[0].driver, 1U);
  EXPECT_NE(refused.withheld[0].reason.find("cuDevicePrimaryCtxRetain"), std::string::npos)
      << refused.withheld[0].reason;
  std::filesystem::remove(file);
  EXPECT_EQ(workers.start({1}).workers.size(), 1U);
}

}  // namespace
}  // namespace clique::test
