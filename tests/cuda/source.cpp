// Programs in CUDA C++ on their way from the client to the GPU, with an NVRTC that returns its input as PTX.
#include <algorithm>

#include "session.hpp"

namespace clique::test {
namespace {

constexpr const char* kSource = R"(
  .version 8.4
  .target sm_90
  .extern .shared .align 16 .b8 tile[];
  .visible .entry increment(.param .u64 numbers) { ret; }
  .visible .entry add(.param .u64 numbers, .param .u32 amount) { ret; }
  .visible .entry dynamic(.param .u64 size) { mov.u64 %rd1, tile; ret; }
  .visible .entry _Z5scalePfy(.param .u64 numbers, .param .u64 count) { ret; }
)";

class CudaSource : public testing::Test {
 protected:
  static constexpr ObjectId kNumbers = 20;  ///< a buffer

  ProgramBuilt build(const std::string& source, const std::string& options) {
    client_.send(CreateProgram{kRequest, kOwnProgram, kContext, ProgramKind::Source, {}, {code(source)}},
                 BuildProgram{kRequest, kOwnProgram, {0}, options});
    return client_.next<ProgramBuilt>();
  }
  FakeNode node_;
  FakeGpuClient client_{node_};
};

TEST_F(CudaSource, GivenNvrtcThenTheExtensionIsListed) {
  const auto& properties = client_.attached.devices.at(0).properties;
  const auto extensions = std::find_if(properties.begin(), properties.end(), [](const auto& property) {
    return property.name == CL_DEVICE_EXTENSIONS;
  });
  ASSERT_NE(extensions, properties.end());
  const std::string names(extensions->value.begin(), extensions->value.end());
  EXPECT_NE(names.find("cl_clique_cuda_source"), std::string::npos) << names;
}

TEST_F(CudaSource, GivenProgramThenItsKernelsAreDescribed) {
  const ProgramBuilt built = build(kSource, "-x cuda");
  ASSERT_EQ(built.status, CL_SUCCESS) << built.devices.at(0).log;
  ASSERT_EQ(built.kernels.size(), 4U);
  EXPECT_EQ(built.kernels[1].name, "add");
  EXPECT_EQ(built.kernels[1].entry, "");
  EXPECT_EQ(built.kernels[1].args.at(0).address, 0U);
  EXPECT_EQ(built.kernels[1].args.at(0).size, 8U);
  EXPECT_EQ(built.kernels[1].args.at(1).address, std::uint32_t{CL_KERNEL_ARG_ADDRESS_PRIVATE});
  EXPECT_EQ(built.kernels[1].args.at(1).size, 4U);
  ASSERT_EQ(built.kernels[2].arg_count, 2U);
  EXPECT_EQ(built.kernels[2].args.at(1).address, std::uint32_t{CL_KERNEL_ARG_ADDRESS_LOCAL});
  EXPECT_EQ(built.kernels[3].name, "scale");
  EXPECT_EQ(built.kernels[3].entry, "_Z5scalePfy");
}

TEST_F(CudaSource, GivenBufferAndValuesThenTheKernelGetsThem) {
  constexpr CommandId kLaunch = 100;
  ASSERT_EQ(build(kSource, "-x cuda").status, CL_SUCCESS);
  client_.make_zeros(kNumbers, 4);
  client_.send(
      CreateKernel{kOwnKernel, kOwnProgram, "add"},
      RunKernel{command(kLaunch), kOwnKernel, {object_arg(0, kNumbers), value_arg(1, 5)}, {}, {4}, {2}});
  EXPECT_EQ(client_.ended(kLaunch).status, CL_SUCCESS);
  EXPECT_EQ(client_.first(kNumbers), 5);
}

TEST_F(CudaSource, GivenEightBytesThenTheyMayBeAValueOrNothing) {
  constexpr CommandId kValue = 100, kNothing = 101, kFourBytes = 102;
  ASSERT_EQ(build(kSource, "-x cuda").status, CL_SUCCESS);
  client_.make_zeros(kNumbers);
  const KernelArg null{0, KernelArg::NullObject, 0, {}};
  client_.send(CreateKernel{kOwnKernel, kOwnProgram, "scale"},
               RunKernel{command(kValue),
                         kOwnKernel,
                         {object_arg(0, kNumbers), value_arg(1, std::uint64_t{1})},
                         {},
                         {1},
                         {1}},
               RunKernel{command(kNothing), kOwnKernel, {null}, {}, {1}, {1}},
               RunKernel{command(kFourBytes), kOwnKernel, {value_arg(1, 1)}, {}, {1}, {1}});
  EXPECT_EQ(client_.ended(kValue).status, CL_SUCCESS);
  EXPECT_EQ(client_.ended(kNothing).status, CL_SUCCESS);
  EXPECT_EQ(client_.ended(kFourBytes).status, CL_INVALID_ARG_SIZE);
}

TEST_F(CudaSource, GivenDynamicMemoryThenTheLaunchHasIt) {
  constexpr CommandId kFitting = 100, kTooLarge = 101;
  ASSERT_EQ(build(kSource, "-x cuda").status, CL_SUCCESS);
  client_.make_zeros(kNumbers);
  const KernelArg memory{1, KernelArg::Local, 4096, {}};
  const KernelArg too_much{1, KernelArg::Local, 1 << 20, {}};
  client_.send(CreateKernel{kOwnKernel, kOwnProgram, "dynamic"},
               RunKernel{command(kFitting), kOwnKernel, {object_arg(0, kNumbers), memory}, {}, {32}, {32}});
  EXPECT_EQ(client_.ended(kFitting).status, CL_SUCCESS);
  EXPECT_EQ(client_.first(kNumbers), 4096);
  client_.send(RunKernel{command(kTooLarge), kOwnKernel, {too_much}, {}, {32}, {32}});
  EXPECT_EQ(client_.ended(kTooLarge).status, CL_OUT_OF_RESOURCES);
}

TEST_F(CudaSource, GivenWhatItsKernelsCannotKnowThenTheLaunchFails) {
  constexpr CommandId kWithOffset = 100, kUnevenGroups = 101, kTooManyGroups = 102;
  ASSERT_EQ(build(kSource, "-x cuda").status, CL_SUCCESS);
  client_.make_zeros(kNumbers, 4);
  client_.send(CreateKernel{kOwnKernel, kOwnProgram, "increment"},
               RunKernel{command(kWithOffset), kOwnKernel, {object_arg(0, kNumbers)}, {1}, {2}, {2}},
               RunKernel{command(kUnevenGroups), kOwnKernel, {}, {}, {3}, {2}},
               RunKernel{command(kTooManyGroups), kOwnKernel, {}, {}, {1, 65536, 1}, {1, 1, 1}});
  EXPECT_EQ(client_.ended(kWithOffset).status, CL_INVALID_GLOBAL_OFFSET);
  EXPECT_EQ(client_.ended(kUnevenGroups).status, CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(client_.ended(kTooManyGroups).status, CL_OUT_OF_RESOURCES);
}

TEST_F(CudaSource, GivenBinaryThenItRunsElsewhere) {
  constexpr CommandId kLaunch = 100;
  constexpr ObjectId kFromBinary = 51;
  ASSERT_EQ(build(kSource, "-x cuda").status, CL_SUCCESS);
  client_.send(GetProgramBinary{kRequest, kOwnProgram, 0});
  const Bytes binary = client_.next<protocol::ProgramBinary>().binary;
  client_.make_zeros(kNumbers);
  client_.send(CreateProgram{kRequest, kFromBinary, kContext, ProgramKind::Binary, {0}, {binary}},
               BuildProgram{kRequest, kFromBinary, {0}, ""},
               CreateKernel{kOwnKernel, kFromBinary, "increment"},
               RunKernel{command(kLaunch), kOwnKernel, {object_arg(0, kNumbers)}, {}, {1}, {1}});
  EXPECT_EQ(client_.ended(kLaunch).status, CL_SUCCESS);
  EXPECT_EQ(client_.first(kNumbers), 1);
}

TEST_F(CudaSource, GivenErrorsThenTheBuildFailsWithALog) {
  const ProgramBuilt built = build("fail", "-x cuda");
  EXPECT_EQ(built.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_NE(built.devices.at(0).log.find("program.cu(1): error"), std::string::npos);
}

}  // namespace
}  // namespace clique::test
