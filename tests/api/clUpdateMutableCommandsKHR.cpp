// clUpdateMutableCommandsKHR: cl_khr_command_buffer_mutable_dispatch 0.9.5.
#include "command_buffers.hpp"
#include "svm.hpp"

namespace clique::test::suite_clUpdateMutableCommandsKHR {

using icd::api::DispatchConfig;

class clUpdateMutableCommandsKHR : public CommandBufferTest {
 protected:
  static constexpr size_t kCount = 64;
  void SetUp() override {
    CommandBufferTest::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    program = build(R"(
      kernel void store(global uint* to, uint value) {
        to[get_global_id(0)] = value + 1000 * get_local_size(0);
      }
      kernel void add(global uint* to, uint value) { to[get_global_id(0)] += value; }
      kernel void double_all(global uint* to) { to[get_global_id(0)] *= 2; }
    )");
    store = kernel(program, "store");
    add = kernel(program, "add");
  }

  CommandBuffer record_mutable(cl_command_buffer_flags_khr more = 0) {
    return record_on(queue, CL_COMMAND_BUFFER_MUTABLE_KHR | more);
  }
  cl_mutable_command_khr launch_on(cl_command_buffer_khr buffer, cl_kernel of, size_t local = 0,
                                   const icd::CommandProperties* properties = nullptr) {
    cl_mutable_command_khr command = nullptr;
    const size_t global = kCount;
    EXPECT_CL(call.nd_range(buffer, nullptr, properties, of, 1, nullptr, &global,
                            local == 0 ? nullptr : &local, 0, nullptr, nullptr, &command));
    EXPECT_NE(nullptr, command);
    return command;
  }
  cl_int update(cl_command_buffer_khr buffer, const std::vector<DispatchConfig>& configs) {
    std::vector<icd::UpdateType> types;
    std::vector<const void*> pointers;
    for (const DispatchConfig& config : configs) {
      types.push_back(icd::kDispatchConfigType);
      pointers.push_back(&config);
    }
    return call.update(buffer, static_cast<cl_uint>(configs.size()), types.data(), pointers.data());
  }
  static DispatchConfig config_for(cl_mutable_command_khr command) {
    DispatchConfig config{};
    config.command = command;
    return config;
  }
  /// Sets one argument.
  cl_int set(cl_command_buffer_khr buffer, cl_mutable_command_khr command, cl_uint index, size_t size,
             const void* value) {
    const cl_mutable_dispatch_arg_khr arg{index, size, value};
    DispatchConfig config = config_for(command);
    config.num_args = 1;
    config.arg_list = &arg;
    return update(buffer, {config});
  }
  cl_int set_value(cl_command_buffer_khr buffer, cl_mutable_command_khr command, cl_uint value) {
    return set(buffer, command, 1, sizeof value, &value);
  }
  void enqueue(cl_command_buffer_khr buffer) {
    ASSERT_CL(call.enqueue(0, nullptr, buffer, 0, nullptr, nullptr));
  }

  Program program;
  Kernel store;
  Kernel add;
};

TEST_F(clUpdateMutableCommandsKHR, GivenArgumentsThenLaterRunsHaveThem) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem first = buffer<cl_uint>(kCount, zeros.data());
  const Mem second = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_mutable();
  set_args(add, first, cl_uint{1});
  const cl_mutable_command_khr command = launch_on(made, add);
  // A second command, so that there is an order to keep.
  const Kernel twice = kernel(program, "double_all");
  set_args(twice, first);
  launch_on(made, twice);
  ASSERT_CL(call.finalize(made));
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 2), read<cl_uint>(first, kCount));
  ASSERT_CL(set_value(made, command, 10));
  // What the application does to its kernel does not matter.
  set_args(add, second, cl_uint{77});
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 24), read<cl_uint>(first, kCount));
  ASSERT_CL(set(made, command, 0, sizeof(cl_mem), second.ptr()));
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 48), read<cl_uint>(first, kCount));
  EXPECT_EQ(std::vector<cl_uint>(kCount, 10), read<cl_uint>(second, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenUpdateBeforeTheFirstRunThenItCounts) {
  const Mem target = buffer<cl_uint>(kCount);
  const CommandBuffer made = record_mutable();
  set_args(store, target, cl_uint{1});
  const cl_mutable_command_khr command = launch_on(made, store, 4);
  ASSERT_CL(call.finalize(made));
  ASSERT_CL(set_value(made, command, 2));
  ASSERT_CL(set_value(made, command, 3));
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 4003), read<cl_uint>(target, kCount));
}

// Each run has the arguments that were set when it was enqueued, also if it starts later.
TEST_F(clUpdateMutableCommandsKHR, GivenRunsThatArePendingThenTheyStayAsTheyWere) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_mutable(CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
  set_args(add, target, cl_uint{1});
  const cl_mutable_command_khr command = launch_on(made, add);
  launch_on(made, add);
  ASSERT_CL(call.finalize(made));
  enqueue(made);
  Gate gate(context);
  ASSERT_CL(call.enqueue(0, nullptr, made, 1, gate.ptr(), nullptr));
  for (const cl_uint value : {100U, 10000U, 1000000U}) {
    ASSERT_CL(set_value(made, command, value));
    enqueue(made);
  }
  gate.open();
  EXPECT_EQ(std::vector<cl_uint>(kCount, 2 + 2 + 101 + 10001 + 1000001), read<cl_uint>(target, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenContentOnOtherDevicesThenItIsBroughtForTheNewArgument) {
  const CommandBuffer made = record_mutable();
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem first = buffer<cl_uint>(kCount, zeros.data());
  set_args(add, first, cl_uint{1});
  const cl_mutable_command_khr command = launch_on(made, add);
  ASSERT_CL(call.finalize(made));
  enqueue(made);
  for (cl_device_id there : devices()) {
    const Mem next = buffer<cl_uint>(kCount);
    const Queue writer = make_queue(0, there);
    const cl_uint pattern = 40;
    Event written;
    ASSERT_CL(clEnqueueFillBuffer(writer, next, &pattern, 4, 0, 4 * kCount, 0, nullptr, written.out()));
    ASSERT_CL(clFlush(writer));
    ASSERT_CL(set(made, command, 0, sizeof(cl_mem), next.ptr()));
    Event ran;
    ASSERT_CL(call.enqueue(0, nullptr, made, 1, written.ptr(), ran.out()));
    std::vector<cl_uint> result(kCount);
    ASSERT_CL(
        clEnqueueReadBuffer(writer, next, CL_TRUE, 0, 4 * kCount, result.data(), 1, ran.ptr(), nullptr));
    EXPECT_EQ(std::vector<cl_uint>(kCount, 41), result);
  }
  EXPECT_EQ(std::vector<cl_uint>(kCount, 1), read<cl_uint>(first, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenSizesAndOffsetThenTheRangeIsTheirs) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_mutable();
  set_args(store, target, cl_uint{1});
  const cl_mutable_command_khr command = launch_on(made, store, 4);
  ASSERT_CL(call.finalize(made));
  const size_t offset = 8;
  const size_t global = 16;
  const size_t local = 8;
  DispatchConfig config = config_for(command);
  config.work_dim = 1;
  config.global_work_offset = &offset;
  config.global_work_size = &global;
  config.local_work_size = &local;
  ASSERT_CL(update(made, {config}));
  enqueue(made);
  std::vector<cl_uint> expected = zeros;
  std::fill_n(expected.begin() + 8, 16, 8001);
  EXPECT_EQ(expected, read<cl_uint>(target, kCount));
  // What is not given stays.
  const size_t next = 24;
  config = config_for(command);
  config.global_work_size = &next;
  ASSERT_CL(update(made, {config}));
  enqueue(made);
  std::fill_n(expected.begin() + 8, 24, 8001);
  EXPECT_EQ(expected, read<cl_uint>(target, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenEmptyRangeThenNothingRunsUntilItGrows) {
  if (info<std::string>(clGetDeviceInfo, device, CL_DEVICE_VERSION) < "OpenCL 2.1")
    GTEST_SKIP() << "the device has no empty ranges";
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_mutable();
  set_args(add, target, cl_uint{1});
  const cl_mutable_command_khr command = launch_on(made, add);
  launch_on(made, add);
  ASSERT_CL(call.finalize(made));
  for (const size_t global : {size_t{0}, kCount}) {
    DispatchConfig config = config_for(command);
    config.global_work_size = &global;
    ASSERT_CL(update(made, {config}));
    enqueue(made);
  }
  EXPECT_EQ(std::vector<cl_uint>(kCount, 3), read<cl_uint>(target, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenSeveralConfigurationsThenAllCountInTheirOrder) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_mutable();
  set_args(add, target, cl_uint{1});
  const cl_mutable_command_khr one = launch_on(made, add);
  const cl_mutable_command_khr other = launch_on(made, add);
  ASSERT_CL(call.finalize(made));
  const cl_uint values[] = {5, 70, 6};
  const cl_mutable_dispatch_arg_khr args[] = {
      {1, sizeof(cl_uint), &values[0]}, {1, sizeof(cl_uint), &values[1]}, {1, sizeof(cl_uint), &values[2]}};
  std::vector<DispatchConfig> configs{config_for(one), config_for(other), config_for(one)};
  for (size_t i = 0; i < 3; ++i) {
    configs[i].num_args = 1;
    configs[i].arg_list = &args[i];
  }
  ASSERT_CL(update(made, configs));
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 76), read<cl_uint>(target, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenOneWrongConfigurationThenNoneCounts) {
  const std::vector<cl_uint> zeros(kCount, 0);
  const Mem target = buffer<cl_uint>(kCount, zeros.data());
  const CommandBuffer made = record_mutable();
  set_args(add, target, cl_uint{1});
  const cl_mutable_command_khr one = launch_on(made, add);
  const cl_mutable_command_khr other = launch_on(made, add);
  ASSERT_CL(call.finalize(made));
  const cl_uint value = 50;
  const cl_mutable_dispatch_arg_khr right{1, sizeof value, &value};
  const cl_mutable_dispatch_arg_khr wrong{2, sizeof value, &value};
  std::vector<DispatchConfig> configs{config_for(one), config_for(other)};
  configs[0].num_args = configs[1].num_args = 1;
  configs[0].arg_list = &right;
  configs[1].arg_list = &wrong;
  EXPECT_EQ(CL_INVALID_ARG_INDEX, update(made, configs));
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 2), read<cl_uint>(target, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenMissingArgumentThenTheCommandBufferBecomesExecutable) {
  const Mem target = buffer<cl_uint>(kCount);
  const icd::CommandProperties later[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                          CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0};
  const CommandBuffer made = record_mutable();
  const cl_mutable_command_khr command = launch_on(made, store, 2, later);
  ASSERT_CL(call.finalize(made));
  ASSERT_CL(set_value(made, command, 5));
  EXPECT_EQ(icd::kStateFinalized, state_of(made));
  ASSERT_CL(set(made, command, 0, sizeof(cl_mem), target.ptr()));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state_of(made));
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 2005), read<cl_uint>(target, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenSharedVirtualMemoryThenItIsUsed) {
  if (!has_svm(device)) GTEST_SKIP() << "the device has no shared virtual memory";
  auto* memory =
      static_cast<cl_uint*>(::clSVMAlloc(context, CL_MEM_READ_WRITE, 2 * kCount * sizeof(cl_uint), 0));
  ASSERT_NE(nullptr, memory);
  {
    const CommandBuffer made = record_mutable();
    ASSERT_CL(clSetKernelArgSVMPointer(store, 0, memory));
    const cl_uint value = 1;
    ASSERT_CL(clSetKernelArg(store, 1, sizeof value, &value));
    const cl_mutable_command_khr command = launch_on(made, store, 1);
    ASSERT_CL(call.finalize(made));
    enqueue(made);
    const cl_mutable_dispatch_arg_khr arg{0, 0, memory + kCount};
    const void* const pointers[] = {memory};
    const cl_mutable_dispatch_exec_info_khr reached{CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers};
    DispatchConfig config = config_for(command);
    config.num_svm_args = 1;
    config.arg_svm_list = &arg;
    config.num_exec_infos = 1;
    config.exec_info_list = &reached;
    ASSERT_CL(update(made, {config}));
    ASSERT_CL(set_value(made, command, 2));
    enqueue(made);
    int outside = 0;
    const cl_mutable_dispatch_arg_khr wrong{0, 0, &outside};
    config = config_for(command);
    config.num_svm_args = 1;
    config.arg_svm_list = &wrong;
    EXPECT_EQ(CL_INVALID_ARG_VALUE, update(made, {config}));
    const cl_mutable_dispatch_exec_info_khr unknown{0x7FFF, sizeof pointers, pointers};
    config = config_for(command);
    config.num_exec_infos = 1;
    config.exec_info_list = &unknown;
    EXPECT_EQ(CL_INVALID_VALUE, update(made, {config}));
  }
  std::vector<cl_uint> result(2 * kCount);
  EXPECT_CL(::clEnqueueSVMMemcpy(queue, CL_TRUE, result.data(), memory, result.size() * sizeof(cl_uint), 0,
                                 nullptr, nullptr));
  std::vector<cl_uint> expected(kCount, 1001);
  expected.insert(expected.end(), kCount, 1002);
  EXPECT_EQ(expected, result);
  ::clSVMFree(context, memory);
}

TEST_F(clUpdateMutableCommandsKHR, GivenArgumentThatIsReplacedThenItsMemoryMayGo) {
  Mem first = buffer<cl_uint>(kCount);
  const Mem second = buffer<cl_uint>(kCount);
  const CommandBuffer made = record_mutable();
  set_args(store, first, cl_uint{1});
  const cl_mutable_command_khr command = launch_on(made, store, 1);
  ASSERT_CL(call.finalize(made));
  enqueue(made);
  ASSERT_CL(set(made, command, 0, sizeof(cl_mem), second.ptr()));
  set_args(store, second, cl_uint{1});
  first.reset();
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 1001), read<cl_uint>(second, kCount));
}

TEST_F(clUpdateMutableCommandsKHR, GivenFieldsThatMayNotChangeThenInvalidOperation) {
  const Mem target = buffer<cl_uint>(kCount);
  set_args(store, target, cl_uint{1});
  const size_t size = kCount;
  const cl_uint value = 1;
  const cl_mutable_dispatch_arg_khr arg{1, sizeof value, &value};
  const cl_mutable_dispatch_exec_info_khr reached{CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, nullptr};
  const std::pair<cl_mutable_dispatch_fields_khr, std::function<void(DispatchConfig&)>> changes[] = {
      {CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
       [&](DispatchConfig& config) { config.global_work_offset = &size; }},
      {CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, [&](DispatchConfig& config) { config.global_work_size = &size; }},
      {CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR, [&](DispatchConfig& config) { config.local_work_size = &size; }},
      {CL_MUTABLE_DISPATCH_ARGUMENTS_KHR,
       [&](DispatchConfig& config) {
         config.num_args = 1;
         config.arg_list = &arg;
       }},
      {CL_MUTABLE_DISPATCH_ARGUMENTS_KHR,
       [&](DispatchConfig& config) {
         config.num_svm_args = 1;
         config.arg_svm_list = &arg;
       }},
      {CL_MUTABLE_DISPATCH_EXEC_INFO_KHR,
       [&](DispatchConfig& config) {
         config.num_exec_infos = 1;
         config.exec_info_list = &reached;
       }},
  };
  for (const auto& [field, change] : changes) {
    const icd::CommandProperties others[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 0x1FU & ~field, 0};
    const CommandBuffer made = record_mutable();
    DispatchConfig config = config_for(launch_on(made, store, 1, others));
    ASSERT_CL(call.finalize(made));
    change(config);
    EXPECT_EQ(CL_INVALID_OPERATION, update(made, {config})) << field;
  }
}

TEST_F(clUpdateMutableCommandsKHR, GivenWrongConfigurationThenItsError) {
  const Mem target = buffer<cl_uint>(kCount);
  set_args(store, target, cl_uint{1});
  const CommandBuffer made = record_mutable();
  const CommandBuffer other = record_mutable();
  const cl_mutable_command_khr command = launch_on(made, store, 4);
  const cl_mutable_command_khr elsewhere = launch_on(other, store, 4);
  EXPECT_EQ(CL_INVALID_OPERATION, set_value(made, command, 1)) << "before it is finalised";
  ASSERT_CL(call.finalize(made));

  const cl_uint value = 1;
  const cl_mutable_dispatch_arg_khr arg{1, sizeof value, &value};
  const cl_mutable_dispatch_exec_info_khr reached{CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, nullptr};
  const size_t sizes[] = {62, 0, 1000000, 3};
  const std::pair<cl_int, std::function<void(DispatchConfig&)>> wrong[] = {
      {CL_INVALID_MUTABLE_COMMAND_KHR, [](DispatchConfig& config) { config.command = nullptr; }},
      {CL_INVALID_MUTABLE_COMMAND_KHR, [&](DispatchConfig& config) { config.command = elsewhere; }},
      {CL_INVALID_MUTABLE_COMMAND_KHR,
       [](DispatchConfig& config) { config.command = foreign_handle<cl_mutable_command_khr>(); }},
      {CL_INVALID_OPERATION, [](DispatchConfig& config) { config.work_dim = 2; }},
      {CL_INVALID_VALUE, [](DispatchConfig& config) { config.num_args = 1; }},
      {CL_INVALID_VALUE, [&](DispatchConfig& config) { config.arg_list = &arg; }},
      {CL_INVALID_VALUE, [](DispatchConfig& config) { config.num_svm_args = 1; }},
      {CL_INVALID_VALUE, [&](DispatchConfig& config) { config.arg_svm_list = &arg; }},
      {CL_INVALID_VALUE, [](DispatchConfig& config) { config.num_exec_infos = 1; }},
      {CL_INVALID_VALUE, [&](DispatchConfig& config) { config.exec_info_list = &reached; }},
      {CL_INVALID_WORK_GROUP_SIZE, [&](DispatchConfig& config) { config.local_work_size = &sizes[1]; }},
      {CL_INVALID_WORK_GROUP_SIZE, [&](DispatchConfig& config) { config.local_work_size = &sizes[2]; }},
  };
  for (const auto& [status, change] : wrong) {
    DispatchConfig config = config_for(command);
    change(config);
    EXPECT_EQ(status, update(made, {config})) << &change - &wrong[0].second;
  }
  // The work-groups would no longer have one size, which the kernel may forbid besides.
  for (const size_t* global : {&sizes[0]}) {
    DispatchConfig config = config_for(command);
    config.global_work_size = global;
    const cl_int status = update(made, {config});
    EXPECT_TRUE(status == CL_INVALID_OPERATION || status == CL_INVALID_WORK_GROUP_SIZE) << status;
  }
  EXPECT_EQ(CL_INVALID_ARG_SIZE, set(made, command, 1, 3, &value));
  const auto foreign = foreign_handle<cl_mem>();
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, set(made, command, 0, sizeof foreign, &foreign));
}

TEST_F(clUpdateMutableCommandsKHR, GivenWrongListsThenInvalidValue) {
  const Mem target = buffer<cl_uint>(kCount);
  set_args(store, target, cl_uint{1});
  const CommandBuffer made = record_mutable();
  const DispatchConfig config = config_for(launch_on(made, store, 4));
  ASSERT_CL(call.finalize(made));
  const icd::UpdateType type = icd::kDispatchConfigType;
  const icd::UpdateType unknown = 17;
  const void* one = &config;
  const void* none = nullptr;
  EXPECT_CL(call.update(made, 0, nullptr, nullptr));
  EXPECT_CL(call.update(made, 1, &type, &one));
  EXPECT_EQ(CL_INVALID_VALUE, call.update(made, 1, nullptr, &one));
  EXPECT_EQ(CL_INVALID_VALUE, call.update(made, 1, &type, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, call.update(made, 0, &type, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, call.update(made, 0, nullptr, &one));
  EXPECT_EQ(CL_INVALID_VALUE, call.update(made, 1, &unknown, &one));
  EXPECT_EQ(CL_INVALID_VALUE, call.update(made, 1, &type, &none));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.update(nullptr, 1, &type, &one));
}

TEST_F(clUpdateMutableCommandsKHR, GivenCommandBufferThatIsNotMutableThenInvalidOperation) {
  const Mem target = buffer<cl_uint>(kCount);
  set_args(store, target, cl_uint{1});
  const CommandBuffer made = record_on(queue);
  const cl_mutable_command_khr command = launch_on(made, store, 4);
  ASSERT_CL(call.finalize(made));
  EXPECT_EQ(CL_INVALID_OPERATION, set_value(made, command, 2));
}

TEST_F(clUpdateMutableCommandsKHR, GivenOlderFormThenItIsRead) {
  const Mem target = buffer<cl_uint>(kCount);
  set_args(store, target, cl_uint{1});
  const CommandBuffer made = record_mutable();
  const cl_mutable_command_khr command = launch_on(made, store, 4);
  ASSERT_CL(call.finalize(made));
  const cl_uint value = 9;
  const cl_mutable_dispatch_arg_khr arg{1, sizeof value, &value};
  icd::api::OlderDispatchConfig one{icd::api::OlderDispatchConfig::kType, nullptr, config_for(command)};
  one.config.num_args = 1;
  one.config.arg_list = &arg;
  icd::api::OlderBaseConfig base{icd::api::OlderBaseConfig::kType, nullptr, 1, &one};
  ASSERT_CL(call.update_in_older_form(made, &base));
  enqueue(made);
  EXPECT_EQ(std::vector<cl_uint>(kCount, 4009), read<cl_uint>(target, kCount));
  base.num_mutable_dispatch = 0;
  EXPECT_EQ(CL_INVALID_VALUE, call.update_in_older_form(made, &base));
  base = {1, nullptr, 1, &one};
  EXPECT_EQ(CL_INVALID_VALUE, call.update_in_older_form(made, &base));
  base = {icd::api::OlderBaseConfig::kType, &one, 1, &one};
  EXPECT_EQ(CL_INVALID_VALUE, call.update_in_older_form(made, &base));
  base = {icd::api::OlderBaseConfig::kType, nullptr, 1, &one};
  one.type = 0;
  EXPECT_EQ(CL_INVALID_VALUE, call.update_in_older_form(made, &base));
}

}  // namespace clique::test::suite_clUpdateMutableCommandsKHR
