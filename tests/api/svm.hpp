// What the tests of shared virtual memory share. They cover a platform without it: what such a platform
// must answer. Where a device reports it they are skipped.
#pragma once

#include "checks.hpp"

namespace clique::test {

class WithoutSvmTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    for (const cl_device_id each : devices()) {
      if (info<cl_device_svm_capabilities>(clGetDeviceInfo, each, CL_DEVICE_SVM_CAPABILITIES) != 0)
        GTEST_SKIP() << "a device supports shared virtual memory";
    }
  }
  std::vector<unsigned char> memory = std::vector<unsigned char>(64, 0xA5);
};

}  // namespace clique::test
