#include "fixture.hpp"

#include <cstdlib>

namespace clique::test {

cl_platform_id platform() {
  static const cl_platform_id found = [] {
    const char* wanted = std::getenv("CLIQUE_TEST_PLATFORM");
    const std::string name = wanted != nullptr ? wanted : "Clique";
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> all(count);
    if (count > 0) clGetPlatformIDs(count, all.data(), nullptr);
    for (cl_platform_id candidate : all) {
      if (info<std::string>(clGetPlatformInfo, candidate, CL_PLATFORM_NAME).find(name) != std::string::npos)
        return candidate;
    }
    ADD_FAILURE() << "no platform named '" << name << "' among " << count;
    return cl_platform_id{};
  }();
  return found;
}

const std::vector<cl_device_id>& devices() {
  static const std::vector<cl_device_id> found = [] {
    cl_uint count = 0;
    EXPECT_CL(clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
    std::vector<cl_device_id> all(count);
    if (count > 0) {
      EXPECT_CL(clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, count, all.data(), nullptr));
    }
    return all;
  }();
  return found;
}

void ApiTest::SetUp() {
  ASSERT_NE(nullptr, platform());
  ASSERT_FALSE(devices().empty());
  device = devices().front();
  cl_int err = CL_SUCCESS;
  context = Context(clCreateContext(nullptr, static_cast<cl_uint>(devices().size()), devices().data(),
                                    nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  queue = make_queue(CL_QUEUE_PROFILING_ENABLE);
}

Program ApiTest::build(const char* source, const char* options) {
  cl_int err = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  err = clBuildProgram(program, 0, nullptr, options, nullptr, nullptr);
  if (err != CL_SUCCESS) {
    size_t size = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    ADD_FAILURE() << "clBuildProgram: " << err << "\n" << log;
  }
  return program;
}

Kernel ApiTest::kernel(cl_program program, const char* name) {
  cl_int err = CL_SUCCESS;
  Kernel result(clCreateKernel(program, name, &err));
  EXPECT_EQ(CL_SUCCESS, err) << name;
  return result;
}

Queue ApiTest::make_queue(cl_command_queue_properties properties, cl_device_id on) {
  const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
  cl_int err = CL_SUCCESS;
  Queue result(clCreateCommandQueueWithProperties(context, on != nullptr ? on : device, list, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  return result;
}

Event ApiTest::user_event() {
  cl_int err = CL_SUCCESS;
  Event result(clCreateUserEvent(context, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  return result;
}

}  // namespace clique::test
