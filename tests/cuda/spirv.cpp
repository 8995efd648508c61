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
    client.send(CreateProgram{7, id, kContext, ProgramKind::Il, {}, {il}});
    return client.next<ProgramBuilt>();
  }
  ProgramBuilt build(const std::string& module, const std::string& options = "") {
    EXPECT_EQ(create(client_, 50, spirv_module(module)).status, CL_SUCCESS);
    client_.send(BuildProgram{8, 50, {0}, options});
    return client_.next<ProgramBuilt>();
  }
  ProgramBuilt compile(ObjectId id, const std::string& module) {
    EXPECT_EQ(create(client_, id, spirv_module(module)).status, CL_SUCCESS);
    client_.send(CompileProgram{8, id, {0}, "", {}, {}});
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
  const ProgramBuilt built = build("increment");
  ASSERT_EQ(built.status, CL_SUCCESS) << built.devices.at(0).log;
  EXPECT_EQ(built.devices.at(0).binary_type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  ASSERT_EQ(built.kernels.size(), 1U);
  EXPECT_EQ(built.kernels[0].name, "increment");
  ASSERT_EQ(built.kernels[0].args.size(), 1U);
  EXPECT_EQ(built.kernels[0].args[0].address, std::uint32_t{CL_KERNEL_ARG_ADDRESS_GLOBAL});
  client_.make_zeros(20, 4);
  client_.send(CreateKernel{60, 50, "increment"},
               RunKernel{command(100), 60, {object_arg(0, 20)}, {}, {1}, {1}});
  EXPECT_EQ(client_.ended(100).status, CL_SUCCESS);
  EXPECT_EQ(client_.first(20), 1);
}

TEST_F(CudaSpirv, GivenModuleThenItCanBeBuiltAgain) {
  ASSERT_EQ(build("increment").status, CL_SUCCESS);
  client_.send(BuildProgram{9, 50, {0}, "-cl-fast-relaxed-math"});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_SUCCESS);
}

TEST_F(CudaSpirv, GivenParametersOfAllSizesThenTheyAreThoseOfTheCode) {
  EXPECT_EQ(build("memory").status, CL_SUCCESS);
  EXPECT_EQ(create(client_, 51, spirv_module("images")).status, CL_SUCCESS);
  client_.send(BuildProgram{9, 51, {0}, ""});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_SUCCESS);
}

TEST_F(CudaSpirv, GivenBinaryOfItThenItIsAProgram) {
  ASSERT_EQ(build("increment").status, CL_SUCCESS);
  client_.send(GetProgramBinary{5, 50, 0});
  const auto answer = client_.next<protocol::ProgramBinary>();
  ASSERT_FALSE(answer.binary.empty());
  client_.send(CreateProgram{7, 52, kContext, ProgramKind::Binary, {0}, {answer.binary}});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_SUCCESS);
  client_.send(BuildProgram{8, 52, {0}, ""});
  EXPECT_EQ(client_.next<ProgramBuilt>().kernels.size(), 1U);
}

TEST_F(CudaSpirv, GivenPartsThenTheyAreCompiledAndLinked) {
  const ProgramBuilt caller = compile(50, "caller");
  ASSERT_EQ(caller.status, CL_SUCCESS) << caller.devices.at(0).log;
  EXPECT_EQ(caller.devices.at(0).binary_type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  ASSERT_EQ(compile(51, "called").status, CL_SUCCESS);
  client_.send(LinkProgram{9, 52, 1, {0}, "", {50, 51}});
  const auto linked = client_.next<ProgramBuilt>();
  ASSERT_EQ(linked.status, CL_SUCCESS) << linked.devices.at(0).log;
  ASSERT_EQ(linked.kernels.size(), 1U);
  EXPECT_EQ(linked.kernels[0].name, "use");
}

TEST_F(CudaSpirv, GivenWhatIsNoModuleThenInvalidValue) {
  EXPECT_EQ(create(client_, 50, code("kernel void k() {}")).status, CL_INVALID_VALUE);
  Bytes cut = spirv_module("increment");
  // Inside of the last OpStore; each instruction behind it has one word.
  cut.resize(cut.size() - 3 * sizeof(std::uint32_t));
  EXPECT_EQ(create(client_, 51, cut).status, CL_INVALID_VALUE);
  client_.send(BuildProgram{8, 51, {0}, ""});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_INVALID_VALUE);
}

TEST_F(CudaSpirv, GivenModuleThatIsRefusedThenTheBuildFailsWithALog) {
  Bytes later = spirv_module("increment");
  later[5] = 99;
  EXPECT_EQ(create(client_, 50, later).status, CL_SUCCESS);
  client_.send(BuildProgram{8, 50, {0}, ""});
  const auto built = client_.next<ProgramBuilt>();
  EXPECT_EQ(built.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_EQ(built.devices.at(0).build_status, CL_BUILD_ERROR);
  EXPECT_NE(built.devices.at(0).log.find("refused"), std::string::npos) << built.devices.at(0).log;
}

TEST_F(CudaSpirv, GivenNoTranslatorThenTheDeviceTakesNone) {
  ::setenv("CLIQUE_SPIRV_TRANSLATOR", "", 1);
  const FakeNode node;
  FakeGpuClient client(node);
  ::unsetenv("CLIQUE_SPIRV_TRANSLATOR");
  EXPECT_EQ(property(client, CL_DEVICE_EXTENSIONS).find("cl_khr_il_program"), std::string::npos);
  EXPECT_STREQ(property(client, CL_DEVICE_IL_VERSION).c_str(), "");
  EXPECT_EQ(property(client, CL_DEVICE_ILS_WITH_VERSION), "");
  EXPECT_EQ(create(client, 50, spirv_module("increment")).status, CL_INVALID_OPERATION);
}

}  // namespace
}  // namespace clique::test
