// Programs in SPIR-V, compiled by a real clique-compiler with a real translator.
#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <thread>

#include "daemon/compiler/contract/spirv.hpp"
#include "fixture.hpp"
#include "spirv/modules.hpp"

namespace clique::daemon::compiler {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using test::spirv_module;

Request il_request(const std::string& module, const std::string& options = "",
                   Request::Kind kind = Request::Kind::Build) {
  Request request = build_request("", options);
  request.kind = kind;
  request.il = spirv_module(module);
  return request;
}

Result build_il(const std::string& module, const std::string& options = "") {
  return shared_compiler().run(il_request(module, options), kLimit);
}

ProgramBinary built_il(const std::string& module, const std::string& options = "") {
  const Result result = build_il(module, options);
  if (result.status != CL_SUCCESS) throw std::runtime_error("the program does not build:\n" + result.log);
  EXPECT_EQ(result.log, "");
  return parse_program_binary(result.binary);
}

protocol::Bytes compiled(const Request& request) {
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_EQ(parse_program_binary(result.binary).type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  return result.binary;
}

Result link_binaries(std::vector<protocol::Bytes> inputs) {
  Request request = build_request("");
  request.kind = Request::Kind::Link;
  request.inputs = std::move(inputs);
  return shared_compiler().run(request, kLimit);
}

TEST(Spirv, GivenPointersThenTheArgumentsAreDescribed) {
  const ProgramBinary binary = built_il("memory");
  EXPECT_EQ(binary.type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(binary.kernels.size(), 4U);
  const Kernel& sums = kernel_named(binary, "sums");
  EXPECT_EQ(sums.attributes, "");
  EXPECT_EQ(sums.required_group, (std::array<std::uint32_t, 3>{64, 1, 1}));
  EXPECT_FALSE(sums.uniform_groups);
  EXPECT_EQ(sums.static_local_size, 4U);
  ASSERT_EQ(sums.args.size(), 4U);
  const auto expect = [](const Arg& arg, ArgKind kind, std::uint32_t address, const char* name) {
    EXPECT_EQ(arg.kind, kind) << name;
    EXPECT_EQ(arg.description.address, address) << name;
    EXPECT_EQ(arg.description.name, name);
  };
  expect(sums.args[0], ArgKind::Global, CL_KERNEL_ARG_ADDRESS_GLOBAL, "numbers");
  expect(sums.args[1], ArgKind::Constant, CL_KERNEL_ARG_ADDRESS_CONSTANT, "factors");
  expect(sums.args[2], ArgKind::Local, CL_KERNEL_ARG_ADDRESS_LOCAL, "scratch");
  expect(sums.args[3], ArgKind::Global, CL_KERNEL_ARG_ADDRESS_GLOBAL, "results");
}

TEST(Spirv, GivenValuesThenTheyHaveTheirPlaces) {
  const ProgramBinary binary = built_il("memory");
  const Kernel& values = kernel_named(binary, "values");
  ASSERT_EQ(values.args.size(), 5U);
  const std::array<std::uint32_t, 5> sizes{48, 16, 8, 1, 8};
  const std::array<std::uint32_t, 5> offsets{0, 48, 64, 72, 80};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(values.args[i].kind, i == 4 ? ArgKind::Global : ArgKind::Value) << i;
    EXPECT_EQ(values.args[i].size, sizes[i]) << i;
    EXPECT_EQ(values.args[i].offset, offsets[i]) << i;
  }
}

TEST(Spirv, GivenImagesAndSamplersThenTheyAreThat) {
  const ProgramBinary binary = built_il("images");
  const Kernel& mirror = kernel_named(binary, "mirror");
  ASSERT_EQ(mirror.args.size(), 3U);
  EXPECT_EQ(mirror.args[0].kind, ArgKind::Image);
  EXPECT_EQ(mirror.args[0].description.access, std::uint32_t{CL_KERNEL_ARG_ACCESS_READ_ONLY});
  EXPECT_EQ(mirror.args[1].kind, ArgKind::Image);
  EXPECT_EQ(mirror.args[1].description.access, std::uint32_t{CL_KERNEL_ARG_ACCESS_WRITE_ONLY});
  EXPECT_EQ(mirror.args[2].kind, ArgKind::Sampler);
}

TEST(Spirv, GivenPrintfThenItsFormatsAreKept) {
  const ProgramBinary binary = built_il("printing");
  EXPECT_EQ(binary.formats, std::vector<std::string>{"%d is %s, %v2d, %.2f%c\n"});
  EXPECT_EQ(binary.strings, std::vector<std::string>{"a number"});
}

TEST(Spirv, GivenAtomicsOfLocalMemoryThenTheyStayThere) {
  const std::string ptx = ptx_of(built_il("memory"));
  EXPECT_TRUE(contains(ptx, "atom.shared.add.u32"));
  EXPECT_TRUE(contains(ptx, "atom.global.add.u32"));
  EXPECT_TRUE(contains(ptx, "bar.sync"));
}

TEST(Spirv, GivenSpecializationConstantsThenTheirDefaultsAreUsed) {
  EXPECT_TRUE(contains(ptx_of(built_il("increment")), ", 1;"));
}

TEST(Spirv, GivenContractionIsOffThenNothingIsContracted) {
  EXPECT_TRUE(contains(ptx_of(built_il("contraction", "-cl-mad-enable")), "mul.rn.f32"));
  Request request = il_request("contraction");
  // Removes OpExecutionMode from the module.
  const std::array<std::uint8_t, 4> instruction{16, 0, 3, 0};
  const auto found =
      std::search(request.il.begin(), request.il.end(), instruction.begin(), instruction.end());
  ASSERT_NE(found, request.il.end());
  request.il.erase(found, found + 12);
  const Result result = shared_compiler().run(request, kLimit);
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_TRUE(contains(ptx_of(parse_program_binary(result.binary)), "fma.rn.f32"));
}

TEST(Spirv, GivenOptionsThenTheyAreThoseOfOpenClC) {
  EXPECT_TRUE(contains(ptx_of(built_il("mathematics", "-cl-denorms-are-zero")), ".ftz"));
  EXPECT_TRUE(kernel_named(built_il("memory", "-cl-uniform-work-group-size"), "counts").uniform_groups);
  EXPECT_EQ(build_il("memory", "-D N=1 -cl-std=CL2.0 -w").status, CL_SUCCESS);
  EXPECT_EQ(build_il("memory", "-unknown").status, CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(build_il("memory", "-x cuda").status, CL_INVALID_BUILD_OPTIONS);
}

TEST(Spirv, GivenDivisionThenItIsAsExactAsOpenClAsks) {
  const std::string ptx = ptx_of(built_il("division"));
  EXPECT_TRUE(contains(ptx, "div.full.f32"));
  EXPECT_FALSE(contains(ptx, "div.rn.f32"));
  const std::string rounded = ptx_of(built_il("division", "-cl-fp32-correctly-rounded-divide-sqrt"));
  EXPECT_TRUE(contains(rounded, "div.rn.f32"));
  EXPECT_FALSE(contains(rounded, "div.full.f32"));
}

/// The PTX of one kernel of a program.
std::string kernel_code(const std::string& ptx, const std::string& name) {
  const std::size_t begin = ptx.find(".entry " + name + "(");
  if (begin == std::string::npos) throw std::runtime_error("no kernel " + name + " in:\n" + ptx);
  return ptx.substr(begin, ptx.find("\n}", begin) - begin);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(Spirv, GivenCooperativeMatricesThenTheyReachTheTensorCores) {
  for (const char* architecture : {"sm_80", "sm_90"}) {
    Request request = il_request("cooperative_matrices");
    request.architecture = architecture;
    const Result result = shared_compiler().run(request, kLimit);
    ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
    EXPECT_EQ(result.log, "");
    const std::string ptx = ptx_of(parse_program_binary(result.binary));
    EXPECT_FALSE(contains(ptx, "call"));
    EXPECT_FALSE(contains(ptx, "local_depot"));
    const std::string halves = kernel_code(ptx, "halves");
    EXPECT_EQ(occurrences(halves, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), 2U) << halves;
    // Both factors are in the order of their units.
    EXPECT_EQ(occurrences(halves, "ld.global.u32"), 8U) << halves;
    EXPECT_EQ(occurrences(halves, "st.global.v2.f32"), 4U) << halves;
    const std::string bytes = kernel_code(ptx, "bytes");
    EXPECT_EQ(occurrences(bytes, "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"), 2U) << bytes;
    EXPECT_TRUE(contains(bytes, "ld.shared.u8"));
    const std::string bfloats = kernel_code(ptx, "bfloats");
    EXPECT_EQ(occurrences(bfloats, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"), 2U) << bfloats;
    const std::string tiles = kernel_code(ptx, "tiles");
    EXPECT_EQ(occurrences(tiles, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"), 2U) << tiles;
    EXPECT_EQ(occurrences(tiles, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 1U) << tiles;
    EXPECT_EQ(occurrences(tiles, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"), 1U) << tiles;
  }
}

TEST(Spirv, GivenCooperativeMatricesWhenNotOptimisedThenTheyBuild) {
  const std::string ptx = ptx_of(built_il("cooperative_matrices", "-cl-opt-disable"));
  EXPECT_TRUE(contains(ptx, "mma.sync.aligned.m16n8k16"));
}

TEST(Spirv, GivenCooperativeMatricesInAPartThenTheyAreLinked) {
  const Result result =
      link_binaries({compiled(il_request("cooperative_matrices", "", Request::Kind::Compile))});
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  EXPECT_TRUE(contains(ptx_of(parse_program_binary(result.binary)), "mma.sync.aligned.m16n8k16"));
}

TEST(Spirv, GivenADeviceWithoutMatricesThenTheBuildFailsAndSaysWhatItNeeds) {
  Request request = il_request("cooperative_matrices");
  std::erase(request.extensions, "cl_clique_cooperative_matrix");
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "error: SPV_KHR_cooperative_matrix: this device does not have it"));
}

TEST(Spirv, GivenOtherMatricesThenTheBuildFailsAndNamesThem) {
  Request request = il_request("cooperative_matrices");
  // OpSpecConstant: half of the number of rows.
  const std::array<std::uint8_t, 4> instruction{50, 0, 4, 0};
  const auto found =
      std::search(request.il.begin(), request.il.end(), instruction.begin(), instruction.end());
  ASSERT_NE(found, request.il.end());
  ASSERT_EQ(found[12], 8);
  found[12] = 4;
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "is a matrix of 8 × 16 components (16-bit floats), use MatrixAKHR"));
}

TEST(Spirv, GivenPartsOfBothLanguagesWhenLinkedThenTheyAreOne) {
  const auto caller = compiled(il_request("caller", "", Request::Kind::Compile));
  const auto called = compiled(il_request("called", "", Request::Kind::Compile));
  Request source = build_request("int triple(int n) { return 3 * n; }");
  source.kind = Request::Kind::Compile;
  for (const auto& other : {called, compiled(source)}) {
    const Result result = link_binaries({caller, other});
    ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
    EXPECT_EQ(result.log, "");
    EXPECT_TRUE(contains(ptx_of(parse_program_binary(result.binary)), ".entry use("));
  }
  source.source = "int triple(int); kernel void k(global float *x) { *x = triple(*x) + sin(*x); }";
  EXPECT_EQ(link_binaries({compiled(source), called}).status, CL_SUCCESS);
}

TEST(Spirv, GivenBuiltinsInAPartThenTheyAreLinked) {
  const Result result = link_binaries({compiled(il_request("mathematics", "", Request::Kind::Compile))});
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
}

TEST(Spirv, GivenAnImportOfNothingThenTheLogNamesIt) {
  const Result result = build_il("caller");
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "undefined function 'triple'"));
}

TEST(Spirv, GivenWhatTheTranslatorRefusesThenTheBuildFailsWithItsMessages) {
  Request request = il_request("increment");
  request.il[5] = 1;
  request.il[6] = 9;
  Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "version"));
  EXPECT_TRUE(contains(result.log, "refused the module"));
  request.kind = Request::Kind::Compile;
  EXPECT_EQ(shared_compiler().run(request, kLimit).status, CL_COMPILE_PROGRAM_FAILURE);
  request = il_request("increment");
  request.il.resize(request.il.size() / 8 * 4);
  result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_FALSE(contains(result.log, "Stack dump"));
}

TEST(Spirv, GivenAddressesOf32BitsThenTheBuildFails) {
  Request request = il_request("increment");
  // OpMemoryModel Physical64 OpenCL
  const std::array<std::uint8_t, 8> instruction{14, 0, 3, 0, 2, 0, 0, 0};
  const auto found =
      std::search(request.il.begin(), request.il.end(), instruction.begin(), instruction.end());
  ASSERT_NE(found, request.il.end());
  found[4] = 1;
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "addresses of 64 bits"));
}

TEST(Spirv, GivenNoTranslatorThenTheLogSaysSo) {
  const Setting none("CLIQUE_SPIRV_TRANSLATOR", "");
  CompilerProcess compiler(find_compiler(), Cache(""));
  const Result result = compiler.run(il_request("increment"), kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "llvm-spirv"));
}

TEST(Spirv, GivenATranslatorThatDiesThenTheCompilerLivesOn) {
  const Setting no_walls("CLIQUE_CONFINEMENT", "off");  // They would keep the script from starting programs.
  const Script script("echo why >&2; kill -ABRT $$");
  const Setting setting("CLIQUE_SPIRV_TRANSLATOR", script.path());
  CompilerProcess compiler(find_compiler(), Cache(""));
  const Result result = compiler.run(il_request("increment"), kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "why\n"));
  EXPECT_TRUE(contains(result.log, "Aborted"));
  EXPECT_EQ(compiler.run(build_request("kernel void k() {}"), kLimit).status, CL_SUCCESS);
}

TEST(Spirv, GivenATranslatorThatDoesNotEndThenItEndsWithTheTime) {
  const std::string pid_file = testing::TempDir() + "clique-translator-" + std::to_string(::getpid());
  const Setting no_walls("CLIQUE_CONFINEMENT", "off");
  const Script script("echo $$ > " + pid_file + "; exec sleep 1000");
  const Setting setting("CLIQUE_SPIRV_TRANSLATOR", script.path());
  CompilerProcess compiler(find_compiler(), Cache(""));
  ASSERT_EQ(compiler.run(build_request("kernel void k() {}"), kLimit).status, CL_SUCCESS);
  const Result result = compiler.run(il_request("increment"), seconds(3));
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "more than 3 seconds"));
  pid_t pid = 0;
  std::ifstream(pid_file) >> pid;
  fs::remove(pid_file);
  ASSERT_GT(pid, 0);
  const auto runs = [pid] {
    std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    return (status >> number >> name >> state) && state != "Z";
  };
  for (int attempt = 0; attempt < 6000 && runs(); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(runs());
}

TEST(Spirv, GivenNoBitcodeThenTheBuildFails) {
  const Setting no_walls("CLIQUE_CONFINEMENT", "off");
  const Script script("echo nonsense");
  const Setting setting("CLIQUE_SPIRV_TRANSLATOR", script.path());
  CompilerProcess compiler(find_compiler(), Cache(""));
  EXPECT_EQ(compiler.run(il_request("increment"), kLimit).status, CL_BUILD_PROGRAM_FAILURE);
}

TEST(Spirv, GivenAnotherTranslatorThenNothingOfTheOldOneIsReused) {
  const std::string folder = testing::TempDir() + "clique-spirv-cache-" + std::to_string(::getpid());
  const std::string calls = folder + "-calls";
  const std::string translator = find_spirv_translator()->path;
  const Setting no_walls("CLIQUE_CONFINEMENT", "off");
  const auto build_with = [&](const std::string& text, const std::string& module) {
    const Script script("echo >> " + calls + "; exec " + translator + " \"$@\"" + text);
    const Setting setting("CLIQUE_SPIRV_TRANSLATOR", script.path());
    // The cache key contains the modification time, which does not change for an installed file.
    fs::last_write_time(script.path(), fs::file_time_type{} + seconds(1));
    CompilerProcess compiler(find_compiler(), Cache(folder));
    EXPECT_EQ(compiler.run(il_request(module), kLimit).status, CL_SUCCESS);
    return fs::file_size(calls);
  };
  EXPECT_EQ(build_with("", "increment"), 1U);
  EXPECT_EQ(build_with("", "increment"), 1U);
  EXPECT_EQ(build_with("", "images"), 2U);
  EXPECT_EQ(build_with(" # another", "increment"), 3U);
  fs::remove_all(folder);
  fs::remove(calls);
}

}  // namespace
}  // namespace clique::daemon::compiler
