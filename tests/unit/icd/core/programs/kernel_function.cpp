#include <gtest/gtest.h>

#include "icd/core/programs/kernel_function.hpp"

namespace clique::icd {
namespace {

protocol::ArgDescription arg(const char* type, std::uint32_t address, std::uint64_t qualifier = 0,
                             std::uint32_t access = CL_KERNEL_ARG_ACCESS_NONE) {
  return {address, access, type, qualifier, "name", 0};
}

protocol::KernelDescription kernel(std::vector<protocol::ArgDescription> args) {
  const auto count = static_cast<std::uint32_t>(args.size());
  return {"k", "attributes", count, std::move(args), {}};
}

constexpr BuildTraits kFromSource{true, true, true};

TEST(TypeSize, OfScalarsAndVectors) {
  EXPECT_EQ(1U, size_of_type("uchar"));
  EXPECT_EQ(4U, size_of_type("unsigned int"));
  EXPECT_EQ(8U, size_of_type("double"));
  EXPECT_EQ(8U, size_of_type("float2"));
  EXPECT_EQ(16U, size_of_type("int3")) << "three elements have the place of four";
  EXPECT_EQ(2U * 16U, size_of_type("half16"));
}

TEST(TypeSize, OfOtherNamesIsNotKnown) {
  for (const char* name :
       {"", "record", "float5", "float44", "4", "int4x", "struct float4", "longer", "size_t"})
    EXPECT_EQ(0U, size_of_type(name)) << name;
}

TEST(Parameter, PointersAreKnownByTheirAddressSpace) {
  EXPECT_EQ(Parameter::Pointer, parameter_of(arg("renamed", CL_KERNEL_ARG_ADDRESS_GLOBAL)).kind);
  EXPECT_EQ(Parameter::Pointer, parameter_of(arg("int*", CL_KERNEL_ARG_ADDRESS_CONSTANT)).kind);
  EXPECT_EQ(Parameter::Local, parameter_of(arg("int*", CL_KERNEL_ARG_ADDRESS_LOCAL)).kind);
  EXPECT_EQ(Parameter::Value, parameter_of(arg("int", CL_KERNEL_ARG_ADDRESS_PRIVATE)).kind);
}

TEST(Parameter, EightBytesOfNoAddressSpaceMayBeAnything) {
  protocol::ArgDescription description = arg("", 0);
  description.size = 8;
  EXPECT_EQ(Parameter::Any, parameter_of(description).kind);
  EXPECT_EQ(8U, parameter_of(description).size);
  description.size = 4;
  EXPECT_EQ(Parameter::Value, parameter_of(description).kind);
  EXPECT_EQ(4U, parameter_of(description).size);
}

TEST(Parameter, OnlyConstAndConstantPointersAreReadOnly) {
  EXPECT_FALSE(parameter_of(arg("int*", CL_KERNEL_ARG_ADDRESS_GLOBAL)).read_only);
  EXPECT_FALSE(
      parameter_of(arg("int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_RESTRICT)).read_only);
  EXPECT_TRUE(parameter_of(arg("int*", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_CONST)).read_only);
  EXPECT_TRUE(parameter_of(arg("int*", CL_KERNEL_ARG_ADDRESS_CONSTANT)).read_only);
}

TEST(Parameter, ImagesAreKnownByNameOrAccess) {
  const auto image =
      parameter_of(arg("image2d_array_t", CL_KERNEL_ARG_ADDRESS_GLOBAL, 0, CL_KERNEL_ARG_ACCESS_WRITE_ONLY));
  EXPECT_EQ(Parameter::Image, image.kind);
  EXPECT_EQ(cl_mem_object_type{CL_MEM_OBJECT_IMAGE2D_ARRAY}, image.image_type);
  EXPECT_FALSE(image.read_only);
  const auto renamed =
      parameter_of(arg("picture", CL_KERNEL_ARG_ADDRESS_GLOBAL, 0, CL_KERNEL_ARG_ACCESS_READ_ONLY));
  EXPECT_EQ(Parameter::Image, renamed.kind);
  EXPECT_EQ(cl_mem_object_type{0}, renamed.image_type);
  EXPECT_TRUE(renamed.read_only);
  EXPECT_EQ(Parameter::Pipe, parameter_of(arg("int", CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_TYPE_PIPE,
                                              CL_KERNEL_ARG_ACCESS_READ_ONLY))
                                 .kind);
}

TEST(Parameter, SizeThatTheNodeToldCounts) {
  auto record = arg("record", CL_KERNEL_ARG_ADDRESS_PRIVATE);
  EXPECT_EQ(0U, parameter_of(record).size);
  record.size = 48;
  EXPECT_EQ(48U, parameter_of(record).size);
}

TEST(KernelFunction, WithoutArgumentInformationParametersAreUnknown) {
  protocol::KernelDescription description = kernel({});
  description.arg_count = 3;
  const KernelFunction function = function_of(description, kFromSource);
  ASSERT_EQ(3U, function.parameters.size());
  EXPECT_EQ(Parameter::Unknown, function.parameters[1].kind);
  EXPECT_TRUE(function.descriptions.empty());
}

TEST(KernelFunction, ArgumentsAreToldOnlyWhereTheBuildAskedForThem) {
  const auto description = kernel({arg("int", CL_KERNEL_ARG_ADDRESS_PRIVATE)});
  EXPECT_EQ(1U, function_of(description, kFromSource).descriptions.size());
  const KernelFunction silent = function_of(description, {true, false, true});
  EXPECT_TRUE(silent.descriptions.empty());
  EXPECT_EQ(Parameter::Value, silent.parameters[0].kind);
}

TEST(KernelFunction, AttributesAreOfSourceOnly) {
  EXPECT_EQ("attributes", function_of(kernel({}), kFromSource).attributes);
  EXPECT_EQ("", function_of(kernel({}), {}).attributes);
}

TEST(KernelFunction, DefinitionsDifferInCountOrKindOfParameters) {
  const auto value = arg("int", CL_KERNEL_ARG_ADDRESS_PRIVATE);
  const auto pointer = arg("int*", CL_KERNEL_ARG_ADDRESS_GLOBAL);
  const auto one = function_of(kernel({value}), kFromSource);
  EXPECT_TRUE(same_definition(one, function_of(kernel({value}), kFromSource)));
  EXPECT_FALSE(same_definition(one, function_of(kernel({pointer}), kFromSource)));
  EXPECT_FALSE(same_definition(one, function_of(kernel({value, value}), kFromSource)));
  auto silent = kernel({});
  silent.arg_count = 1;
  EXPECT_TRUE(same_definition(one, function_of(silent, kFromSource)));
}

}  // namespace
}  // namespace clique::icd
