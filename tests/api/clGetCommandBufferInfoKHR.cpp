// clGetCommandBufferInfoKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clGetCommandBufferInfoKHR {

class clGetCommandBufferInfoKHR : public CommandBufferTest {};

TEST_F(clGetCommandBufferInfoKHR, GivenCommandBufferThenItIsAsItWasMade) {
  const CommandBuffer made = record_on(queue, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  EXPECT_EQ(1U, info<cl_uint>(call.get_info, made.get(), CL_COMMAND_BUFFER_NUM_QUEUES_KHR));
  EXPECT_EQ(std::vector<cl_command_queue>{queue.get()},
            info<std::vector<cl_command_queue>>(call.get_info, made.get(), CL_COMMAND_BUFFER_QUEUES_KHR));
  EXPECT_EQ(context.get(), info<cl_context>(call.get_info, made.get(), icd::kCommandBufferContext));
  EXPECT_EQ((std::vector<cl_command_buffer_properties_khr>{CL_COMMAND_BUFFER_FLAGS_KHR,
                                                           CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0}),
            info<std::vector<cl_command_buffer_properties_khr>>(call.get_info, made.get(),
                                                                CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR));
}

TEST_F(clGetCommandBufferInfoKHR, GivenSeveralQueuesThenTheyAreInTheirOrder) {
  const Queue other = make_queue(0, devices().back());
  const CommandBuffer made = record_on_all({queue.get(), other.get()});
  EXPECT_EQ(2U, info<cl_uint>(call.get_info, made.get(), CL_COMMAND_BUFFER_NUM_QUEUES_KHR));
  EXPECT_EQ((std::vector<cl_command_queue>{queue.get(), other.get()}),
            info<std::vector<cl_command_queue>>(call.get_info, made.get(), CL_COMMAND_BUFFER_QUEUES_KHR));
}

TEST_F(clGetCommandBufferInfoKHR, GivenNoPropertiesThenThereAreNone) {
  const CommandBuffer made(call.create(1, queue.ptr(), nullptr, nullptr));
  size_t size = 1;
  EXPECT_CL(call.get_info(made, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

TEST_F(clGetCommandBufferInfoKHR, GivenEachNameThenClausesOfEveryInfoHold) {
  const CommandBuffer made = record_on(queue);
  for (const cl_command_buffer_info_khr name :
       {cl_command_buffer_info_khr{CL_COMMAND_BUFFER_QUEUES_KHR},
        cl_command_buffer_info_khr{CL_COMMAND_BUFFER_NUM_QUEUES_KHR},
        cl_command_buffer_info_khr{CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR},
        cl_command_buffer_info_khr{CL_COMMAND_BUFFER_STATE_KHR},
        cl_command_buffer_info_khr{CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR}, icd::kCommandBufferContext})
    expect_info_rules(call.get_info, made.get(), name);
}

TEST_F(clGetCommandBufferInfoKHR, GivenNoCommandBufferThenInvalidCommandBuffer) {
  cl_uint value = 0;
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR,
            call.get_info(nullptr, CL_COMMAND_BUFFER_STATE_KHR, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetCommandBufferInfoKHR
