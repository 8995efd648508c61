#include "session.hpp"

namespace clique::test {
namespace {

class CudaPrograms : public testing::Test {
 protected:
  ProgramBuilt create(const Bytes& bytes) {
    client_.send(CreateProgram{kRequest, kOwnProgram, kContext, ProgramKind::Binary, {0}, {bytes}});
    return client_.next<ProgramBuilt>();
  }
  FakeNode node_;
  FakeGpuClient client_{node_};
};

TEST_F(CudaPrograms, GivenBinaryThenItsKernelsAreDescribed) {
  EXPECT_EQ(client_.created.status, CL_SUCCESS);
  ASSERT_EQ(client_.built.status, CL_SUCCESS) << client_.built.devices.at(0).log;
  ASSERT_EQ(client_.built.kernels.size(), 3U);
  EXPECT_EQ(client_.built.kernels[0].name, "increment");
  EXPECT_EQ(client_.built.kernels[1].args.at(0).size, 4U);
  EXPECT_EQ(client_.built.devices.at(0).binary_type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
}

TEST_F(CudaPrograms, GivenBinaryThenItComesBack) {
  client_.send(GetProgramBinary{kRequest, kProgram, 0});
  const auto answer = client_.next<protocol::ProgramBinary>();
  EXPECT_EQ(answer.status, CL_SUCCESS);
  EXPECT_EQ(answer.binary, daemon::compiler::serialize(fake_program()));
}

TEST_F(CudaPrograms, GivenDamagedBinaryThenItIsRefused) {
  Bytes bytes = daemon::compiler::serialize(fake_program());
  bytes[bytes.size() / 2] ^= 1U;
  EXPECT_EQ(create(bytes).status, CL_INVALID_BINARY);
}

TEST_F(CudaPrograms, GivenOthersBytesThenTheyAreRefused) {
  EXPECT_EQ(create(code("\x7F"
                        "ELF something"))
                .devices.at(0)
                .binary_status,
            CL_INVALID_BINARY);
}

TEST_F(CudaPrograms, GivenBinaryForALaterGpuThenItIsRefused) {
  auto program = fake_program();
  program.architecture = "sm_120";
  EXPECT_EQ(create(daemon::compiler::serialize(program)).status, CL_INVALID_BINARY);
}

TEST_F(CudaPrograms, GivenArgumentsBeyondTheBlockThenItIsRefused) {
  auto program = fake_program();
  program.kernels[0].args[0].offset = 4;
  EXPECT_EQ(create(daemon::compiler::serialize(program)).status, CL_INVALID_BINARY);
}

TEST_F(CudaPrograms, GivenCodeThatTheDriverRefusesThenTheBuildFailsWithALog) {
  auto program = fake_program();
  program.code = code("nonsense");
  EXPECT_EQ(create(daemon::compiler::serialize(program)).status, CL_SUCCESS);
  client_.send(BuildProgram{kRequest, kOwnProgram, {0}, ""});
  const auto built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(built.devices.at(0).build_status, CL_BUILD_ERROR);
  EXPECT_FALSE(built.devices.at(0).log.empty());
}

TEST_F(CudaPrograms, GivenACompilerThatDiesThenTheBuildFails) {
  client_.send(
      CreateProgram{kRequest, kOwnProgram, kContext, ProgramKind::Source, {}, {code("kernel void f() {}")}},
      BuildProgram{kRequest, kOwnProgram, {0}, ""});
  const auto built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_FALSE(built.devices.at(0).log.empty());
}

TEST_F(CudaPrograms, GivenQueriesOfAKernelThenTheyAreAnswered) {
  const auto ask = [this](cl_uint name, std::vector<std::size_t> input, std::size_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
    client_.send(
        QueryWorkGroup{kRequest, kIncrement, 0, name, Bytes(bytes, bytes + input.size() * 8), count * 8});
    const auto answer = client_.next<WorkGroupAnswer>();
    EXPECT_EQ(answer.status, CL_SUCCESS);
    std::vector<std::size_t> numbers(answer.value.size() / 8);
    std::memcpy(numbers.data(), answer.value.data(), numbers.size() * 8);
    return numbers;
  };
  using Numbers = std::vector<std::size_t>;
  EXPECT_EQ(ask(CL_KERNEL_WORK_GROUP_SIZE, {}, 1), Numbers{1024});
  EXPECT_EQ(ask(CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {64, 2}, 1), Numbers{32});
  EXPECT_EQ(ask(CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, {33, 2}, 1), Numbers{3});
  EXPECT_EQ(ask(CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, {3}, 2), (Numbers{96, 1}));
  EXPECT_EQ(ask(CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, {33}, 1), Numbers{0});
  EXPECT_EQ(ask(CL_KERNEL_MAX_NUM_SUB_GROUPS, {}, 1), Numbers{32});
  EXPECT_EQ(ask(QueryWorkGroup::kSuggestedLocalSize, {0, 0, 1920, 1080}, 2), (Numbers{32, 8}));
}

std::string extensions_of(const FakeNode& node) {
  const FakeGpuClient client(node);
  for (const auto& property : client.attached.devices.at(0).properties)
    if (property.name == CL_DEVICE_EXTENSIONS) return {property.value.begin(), property.value.end()};
  return {};
}

TEST_F(CudaPrograms, GivenTensorCoresWithoutTheInstructionsThenNoMatrices) {
  EXPECT_NE(extensions_of(node_).find("cl_clique_cooperative_matrix"), std::string::npos);
  ::setenv("FAKE_CUDA_CAPABILITY", "75", 1);
  const FakeNode older;
  const std::string extensions = extensions_of(older);
  ::unsetenv("FAKE_CUDA_CAPABILITY");
  EXPECT_NE(extensions.find("cl_khr_fp16"), std::string::npos) << extensions;
  EXPECT_EQ(extensions.find("cl_clique_cooperative_matrix"), std::string::npos) << extensions;
}

}  // namespace
}  // namespace clique::test
