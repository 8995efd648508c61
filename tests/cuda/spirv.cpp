// Programs in SPIR-V on their way from the client to the GPU, through the node's translator.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "session.hpp"
#include "spirv/modules.hpp"

namespace clique::test {
namespace {

std::string property(const FakeGpuClient& client, cl_uint name) {
  for (const Property& one : client.attached.devices.at(0).properties)
    if (one.name == name) return {one.value.begin(), one.value.end()};
  ADD_FAILURE() << "no property " << name;
  return {};
}

class CudaSpirv : public testing::Test {
 protected:
  static ProgramBuilt create(FakeGpuClient& client, ObjectId id, const Bytes& il) {
    client.send(CreateProgram{kRequest, id, kContext, ProgramKind::Il, {}, {il}});
    return client.next<ProgramBuilt>();
  }
  ProgramBuilt build(const std::string& module, const std::string& options = "") {
    EXPECT_EQ(create(client_, kOwnProgram, spirv_module(module)).status, CL_SUCCESS);
    client_.send(BuildProgram{kRequest, kOwnProgram, {0}, options});
    return client_.next<ProgramBuilt>();
  }
  ProgramBuilt compile(ObjectId id, const std::string& module) {
    EXPECT_EQ(create(client_, id, spirv_module(module)).status, CL_SUCCESS);
    client_.send(CompileProgram{kRequest, id, {0}, "", {}, {}});
    return client_.next<ProgramBuilt>();
  }
  FakeNode node_;
  FakeGpuClient client_{node_};
};

TEST_F(CudaSpirv, GivenTranslatorThenTheDeviceTakesSpirv) {
  EXPECT_NE(property(client_, CL_DEVICE_EXTENSIONS).find("cl_khr_il_program"), std::string::npos);
  EXPECT_STREQ(property(client_, CL_DEVICE_IL_VERSION).c_str(), "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2");
  const std::string versions = property(client_, CL_DEVICE_ILS_WITH_VERSION);
  ASSERT_EQ(versions.size(), 3 * sizeof(cl_name_version));
  cl_name_version last{};
  std::memcpy(&last, versions.data() + 2 * sizeof last, sizeof last);
  EXPECT_STREQ(last.name, "SPIR-V");
  EXPECT_EQ(last.version, cl_version{CL_MAKE_VERSION(1, 2, 0)});
}

TEST_F(CudaSpirv, GivenModuleThenItsKernelIsDescribedAndRuns) {
  constexpr CommandId kLaunch = 100;
  constexpr ObjectId kNumbers = 20;
  const ProgramBuilt built = build("increment");
  ASSERT_EQ(built.status, CL_SUCCESS) << built.devices.at(0).log;
  EXPECT_EQ(built.devices.at(0).binary_type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  ASSERT_EQ(built.kernels.size(), 1U);
  EXPECT_EQ(built.kernels[0].name, "increment");
  ASSERT_EQ(built.kernels[0].args.size(), 1U);
  EXPECT_EQ(built.kernels[0].args[0].address, std::uint32_t{CL_KERNEL_ARG_ADDRESS_GLOBAL});
  client_.make_zeros(kNumbers, 4);
  client_.send(CreateKernel{kOwnKernel, kOwnProgram, "increment"},
               RunKernel{command(kLaunch), kOwnKernel, {object_arg(0, kNumbers)}, {}, {1}, {1}});
  EXPECT_EQ(client_.ended(kLaunch).status, CL_SUCCESS);
  EXPECT_EQ(client_.first(kNumbers), 1);
}

TEST_F(CudaSpirv, GivenModuleThenItCanBeBuiltAgain) {
  ASSERT_EQ(build("increment").status, CL_SUCCESS);
  client_.send(BuildProgram{kRequest, kOwnProgram, {0}, "-cl-fast-relaxed-math"});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_SUCCESS);
}

TEST_F(CudaSpirv, GivenParametersOfAllSizesThenTheyAreThoseOfTheCode) {
  constexpr ObjectId kWithImages = 51;
  EXPECT_EQ(build("memory").status, CL_SUCCESS);
  EXPECT_EQ(create(client_, kWithImages, spirv_module("images")).status, CL_SUCCESS);
  client_.send(BuildProgram{kRequest, kWithImages, {0}, ""});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_SUCCESS);
}

TEST_F(CudaSpirv, GivenBinaryOfItThenItIsAProgram) {
  constexpr ObjectId kFromBinary = 52;
  ASSERT_EQ(build("increment").status, CL_SUCCESS);
  client_.send(GetProgramBinary{kRequest, kOwnProgram, 0});
  const auto answer = client_.next<protocol::ProgramBinary>();
  ASSERT_FALSE(answer.binary.empty());
  client_.send(CreateProgram{kRequest, kFromBinary, kContext, ProgramKind::Binary, {0}, {answer.binary}});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_SUCCESS);
  client_.send(BuildProgram{kRequest, kFromBinary, {0}, ""});
  EXPECT_EQ(client_.next<ProgramBuilt>().kernels.size(), 1U);
}

TEST_F(CudaSpirv, GivenPartsThenTheyAreCompiledAndLinked) {
  constexpr ObjectId kCaller = 50, kCalled = 51, kLinked = 52;
  const ProgramBuilt caller = compile(kCaller, "caller");
  ASSERT_EQ(caller.status, CL_SUCCESS) << caller.devices.at(0).log;
  EXPECT_EQ(caller.devices.at(0).binary_type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  ASSERT_EQ(compile(kCalled, "called").status, CL_SUCCESS);
  client_.send(LinkProgram{kRequest, kLinked, kContext, {0}, "", {kCaller, kCalled}});
  const auto linked = client_.next<ProgramBuilt>();
  ASSERT_EQ(linked.status, CL_SUCCESS) << linked.devices.at(0).log;
  ASSERT_EQ(linked.kernels.size(), 1U);
  EXPECT_EQ(linked.kernels[0].name, "use");
}

TEST_F(CudaSpirv, GivenWhatIsNoModuleThenInvalidValue) {
  constexpr ObjectId kCut = 51;
  EXPECT_EQ(create(client_, kOwnProgram, code("kernel void k() {}")).status, CL_INVALID_VALUE);
  Bytes cut = spirv_module("increment");
  // Inside of the last OpStore; each instruction behind it has one word.
  cut.resize(cut.size() - 3 * sizeof(std::uint32_t));
  EXPECT_EQ(create(client_, kCut, cut).status, CL_INVALID_VALUE);
  client_.send(BuildProgram{kRequest, kCut, {0}, ""});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_INVALID_VALUE);
}

TEST_F(CudaSpirv, GivenModuleThatIsRefusedThenTheBuildFailsWithALog) {
  Bytes later = spirv_module("increment");
  later[5] = 99;
  EXPECT_EQ(create(client_, kOwnProgram, later).status, CL_SUCCESS);
  client_.send(BuildProgram{kRequest, kOwnProgram, {0}, ""});
  const auto built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(built.devices.at(0).build_status, CL_BUILD_ERROR);
  EXPECT_NE(built.devices.at(0).log.find("refused"), std::string::npos) << built.devices.at(0).log;
}

TEST_F(CudaSpirv, GivenCooperativeMatricesThenTheyBuildOnDevicesThatHaveThem) {
  const ProgramBuilt built = build("cooperative_matrices");
  EXPECT_EQ(built.status, CL_SUCCESS) << built.devices.at(0).log;
  ::setenv("FAKE_CUDA_CAPABILITY", "75", 1);
  const FakeNode older;
  FakeGpuClient client(older);
  ::unsetenv("FAKE_CUDA_CAPABILITY");
  EXPECT_EQ(create(client, kOwnProgram, spirv_module("cooperative_matrices")).status, CL_SUCCESS);
  client.send(BuildProgram{kRequest, kOwnProgram, {0}, ""});
  const auto failed = client.next<ProgramBuilt>();
  EXPECT_EQ(failed.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(failed.devices.at(0).log.find("compute capability 8.0"), std::string::npos)
      << failed.devices.at(0).log;
}

TEST_F(CudaSpirv, GivenNoTranslatorThenTheDeviceTakesNone) {
  ::setenv("CLIQUE_SPIRV_TRANSLATOR", "", 1);
  const FakeNode node;
  FakeGpuClient client(node);
  ::unsetenv("CLIQUE_SPIRV_TRANSLATOR");
  EXPECT_EQ(property(client, CL_DEVICE_EXTENSIONS).find("cl_khr_il_program"), std::string::npos);
  EXPECT_STREQ(property(client, CL_DEVICE_IL_VERSION).c_str(), "");
  EXPECT_EQ(property(client, CL_DEVICE_ILS_WITH_VERSION), "");
  EXPECT_EQ(create(client, kOwnProgram, spirv_module("increment")).status, CL_INVALID_OPERATION);
}

}  // namespace
}  // namespace clique::test
