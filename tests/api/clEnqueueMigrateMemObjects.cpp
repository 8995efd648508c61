// clEnqueueMigrateMemObjects: OpenCL 3.0, section 5.5.5.
#include <numeric>

#include "checks.hpp"

namespace clique::test::suite_clEnqueueMigrateMemObjects {

class clEnqueueMigrateMemObjects : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    data.resize(1024);
    std::iota(data.begin(), data.end(), 0);
    mem = buffer(data.size(), data.data());
  }
  cl_int migrate(const std::vector<cl_mem>& list, cl_mem_migration_flags flags) {
    return ::clEnqueueMigrateMemObjects(queue, static_cast<cl_uint>(list.size()), list.data(), flags, 0,
                                        nullptr, nullptr);
  }
  std::vector<cl_int> data;
  Mem mem;
};

TEST_F(clEnqueueMigrateMemObjects, GivenTourOverAllDevicesThenDataIsUnchanged) {
  for (int round = 0; round < 2; ++round) {
    for (const cl_device_id each : devices()) {
      queue = make_queue(0, each);
      EXPECT_CL(migrate({mem}, 0));
      EXPECT_EQ(data, read<cl_int>(mem, data.size()));
    }
  }
}

TEST_F(clEnqueueMigrateMemObjects, GivenHostFlagThenDataIsUnchanged) {
  EXPECT_CL(migrate({mem}, CL_MIGRATE_MEM_OBJECT_HOST));
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
}

TEST_F(clEnqueueMigrateMemObjects, GivenContentUndefinedThenTheObjectCanBeWrittenAnew) {
  for (const cl_mem_migration_flags flags :
       {cl_mem_migration_flags{CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED},
        cl_mem_migration_flags{CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED | CL_MIGRATE_MEM_OBJECT_HOST}}) {
    EXPECT_CL(migrate({mem}, flags));
    ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, data.size() * sizeof(cl_int), data.data(), 0,
                                   nullptr, nullptr));
    EXPECT_EQ(data, read<cl_int>(mem, data.size()));
  }
}

TEST_F(clEnqueueMigrateMemObjects, GivenSeveralObjectsThenAllKeepTheirData) {
  const Mem second = buffer(data.size() / 2, data.data());
  const cl_buffer_region region = {0, 512};
  cl_int err = CL_SUCCESS;
  const Mem sub(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  queue = make_queue(0, devices().back());
  EXPECT_CL(migrate({second, sub}, 0));
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
  EXPECT_EQ(std::vector<cl_int>(data.begin(), data.begin() + data.size() / 2),
            read<cl_int>(second, data.size() / 2));
}

TEST_F(clEnqueueMigrateMemObjects, GivenNoObjectsThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueMigrateMemObjects(queue, 0, mem.ptr(), 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueMigrateMemObjects(queue, 1, nullptr, 0, 0, nullptr, nullptr));
}

TEST_F(clEnqueueMigrateMemObjects, GivenUnknownFlagThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, migrate({mem}, cl_mem_migration_flags{1} << 20));
  EXPECT_EQ(CL_INVALID_VALUE, migrate({mem}, CL_MIGRATE_MEM_OBJECT_HOST | cl_mem_migration_flags{1} << 40));
}

TEST_F(clEnqueueMigrateMemObjects, GivenObjectThatIsNoMemObjectThenInvalidMemObject) {
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, migrate({mem, nullptr}, 0));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, migrate({mem, foreign_handle<cl_mem>()}, 0));
}

TEST_F(clEnqueueMigrateMemObjects, GivenObjectOfAnotherContextThenInvalidContext) {
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, migrate({mem, other.buffer}, 0));
}

TEST_F(clEnqueueMigrateMemObjects, GivenCallThenRulesOfEveryEnqueueHold) {
  expect_enqueue_rules(context, device, CL_COMMAND_MIGRATE_MEM_OBJECTS,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return ::clEnqueueMigrateMemObjects(on, 1, mem.ptr(), 0, count, list, event);
                       });
}

}  // namespace clique::test::suite_clEnqueueMigrateMemObjects
