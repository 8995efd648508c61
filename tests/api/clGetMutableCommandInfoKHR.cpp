// clGetMutableCommandInfoKHR: cl_khr_command_buffer_mutable_dispatch 0.9.5.
#include "command_buffers.hpp"

namespace clique::test::suite_clGetMutableCommandInfoKHR {

class clGetMutableCommandInfoKHR : public CommandBufferTest {
 protected:
  void SetUp() override {
    CommandBufferTest::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    program = build("kernel void store(global uint* to) { to[get_global_id(0)] = 1; }");
    store = kernel(program, "store");
    target = buffer<cl_uint>(64);
    set_args(store, target);
  }
  cl_mutable_command_khr record(cl_command_buffer_khr buffer,
                                const icd::CommandProperties* properties = nullptr) {
    cl_mutable_command_khr command = nullptr;
    const size_t offset[] = {1, 2};
    const size_t global[] = {8, 4};
    EXPECT_CL(call.nd_range(buffer, nullptr, properties, store, 2, offset, global, nullptr, 0, nullptr,
                            nullptr, &command));
    return command;
  }
  Program program;
  Kernel store;
  Mem target;
};

TEST_F(clGetMutableCommandInfoKHR, GivenLaunchThenItIsAsItWasRecorded) {
  const CommandBuffer made = record_on(queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
  const icd::CommandProperties properties[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                               CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, 0};
  const cl_mutable_command_khr command = record(made, properties);
  const auto get = call.get_command_info;
  EXPECT_EQ(queue.get(), info<cl_command_queue>(get, command, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR));
  EXPECT_EQ(made.get(), info<cl_command_buffer_khr>(get, command, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR));
  EXPECT_EQ(cl_command_type{CL_COMMAND_NDRANGE_KERNEL},
            info<cl_command_type>(get, command, CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR));
  EXPECT_EQ((std::vector<icd::CommandProperties>{properties[0], properties[1], 0}),
            info<std::vector<icd::CommandProperties>>(get, command, icd::kCommandPropertiesArray));
  EXPECT_EQ(store.get(), info<cl_kernel>(get, command, CL_MUTABLE_DISPATCH_KERNEL_KHR));
  EXPECT_EQ(2U, info<cl_uint>(get, command, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR));
  using Sizes = std::vector<size_t>;
  EXPECT_EQ((Sizes{1, 2}), info<Sizes>(get, command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR));
  EXPECT_EQ((Sizes{8, 4}), info<Sizes>(get, command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR));
  EXPECT_EQ((Sizes{0, 0}), info<Sizes>(get, command, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR));

  ASSERT_CL(call.finalize(made));
  const size_t global[] = {4, 2};
  icd::api::DispatchConfig config{};
  config.command = command;
  config.global_work_size = global;
  const icd::UpdateType type = icd::kDispatchConfigType;
  const void* one = &config;
  ASSERT_CL(call.update(made, 1, &type, &one));
  EXPECT_EQ((Sizes{4, 2}), info<Sizes>(get, command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR));
  EXPECT_EQ((Sizes{1, 2}), info<Sizes>(get, command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR));
}

TEST_F(clGetMutableCommandInfoKHR, GivenNoPropertiesThenThereAreNone) {
  const CommandBuffer made = record_on(queue);
  size_t size = 1;
  EXPECT_CL(call.get_command_info(record(made), icd::kCommandPropertiesArray, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clGetMutableCommandInfoKHR, GivenEachNameThenClausesOfEveryInfoHold) {
  const CommandBuffer made = record_on(queue);
  const icd::CommandProperties none[] = {0};
  const cl_mutable_command_khr command = record(made, none);
  for (const cl_mutable_command_info_khr name :
       {CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR,
        CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, CL_MUTABLE_DISPATCH_KERNEL_KHR,
        CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR,
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR})
    expect_info_rules(call.get_command_info, command, name);
}

TEST_F(clGetMutableCommandInfoKHR, GivenCommandBufferThatIsGoneThenInvalidMutableCommand) {
  cl_mutable_command_khr command = nullptr;
  {
    const CommandBuffer made = record_on(queue);
    command = record(made);
  }
  cl_uint dimensions = 0;
  for (const cl_mutable_command_khr bad : {command, cl_mutable_command_khr{}})
    EXPECT_EQ(CL_INVALID_MUTABLE_COMMAND_KHR, call.get_command_info(bad, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR,
                                                                    sizeof dimensions, &dimensions, nullptr));
}

}  // namespace clique::test::suite_clGetMutableCommandInfoKHR
