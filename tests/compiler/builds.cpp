// The effect of build options and language versions on the code.
#include <CL/cl.h>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

/// The value of a constant integer expression, read from the PTX.
long value_of(const std::string& expression, const std::string& options = "") {
  const std::string ptx =
      ptx_of(built("__kernel void k(__global long* x) { *x = " + expression + "; }", options));
  const std::size_t store = ptx.find("st.global.u64");
  const std::size_t source = ptx.rfind("mov.u64", store);
  if (source == std::string::npos) throw std::runtime_error("no constant is stored in this PTX:\n" + ptx);
  return std::stol(ptx.substr(ptx.find(',', source) + 1));
}

TEST(Builds, GivenLanguageVersionsWhenBuiltThenMacrosSayThem) {
  EXPECT_EQ(value_of("__OPENCL_C_VERSION__"), 120);
  EXPECT_EQ(value_of("__OPENCL_C_VERSION__", "-cl-std=CL1.0"), 100);
  EXPECT_EQ(value_of("__OPENCL_C_VERSION__", "-cl-std=CL1.1"), 110);
  EXPECT_EQ(value_of("__OPENCL_C_VERSION__", "-cl-std=CL2.0"), 200);
  EXPECT_EQ(value_of("__OPENCL_C_VERSION__", "-cl-std=CL3.0"), 300);
  EXPECT_EQ(value_of("__OPENCL_VERSION__"), 300);
  EXPECT_EQ(value_of("__ENDIAN_LITTLE__ + __IMAGE_SUPPORT__"), 2);
  EXPECT_EQ(value_of("sizeof(size_t) + sizeof(void*)"), 16);
}

TEST(Builds, GivenOptionsWhenBuiltThenMacrosSayThem) {
  EXPECT_EQ(value_of("X + Y", "-DX=3 -D Y=4"), 7);
  EXPECT_EQ(value_of("__FAST_RELAXED_MATH__", "-cl-fast-relaxed-math"), 1);
  EXPECT_NE(build("#ifdef __FAST_RELAXED_MATH__\n#error\n#endif\n").status, CL_BUILD_PROGRAM_FAILURE);
}

TEST(Builds, GivenExtensionsWhenBuiltThenExactlyTheirMacrosAreDefined) {
  Request request = build_request(
      "#if !defined(cl_khr_fp64) || !defined(cl_khr_subgroup_shuffle) || defined(cl_khr_fp16) || "
      "defined(cl_khr_int64_base_atomics) || defined(cl_intel_subgroups)\n#error wrong\n#endif\n");
  request.extensions = {"cl_khr_fp64", "cl_khr_subgroup_shuffle"};
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
}

TEST(Builds, GivenOpenClC3WhenBuiltThenFeaturesAreThoseOfTheDevice) {
  const char* const source = R"(
    #if !defined(__opencl_c_images) || !defined(__opencl_c_int64) || !defined(__opencl_c_generic_address_space) || \
        !defined(__opencl_c_atomic_order_seq_cst) || !defined(__opencl_c_atomic_scope_device) || \
        !defined(__opencl_c_work_group_collective_functions)
    #error missing
    #endif
    #if defined(__opencl_c_pipes) || defined(__opencl_c_device_enqueue) || defined(__opencl_c_subgroups) || \
        defined(__opencl_c_fp64)
    #error too much
    #endif
  )";
  Request request = build_request(source, "-cl-std=CL3.0");
  request.extensions = {};
  const Result result = shared_compiler().run(request, kLimit);
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
}

TEST(Builds, GivenDivisionWhenBuiltThenItsAccuracyIsTheOptions) {
  const std::string source = "__kernel void k(__global float* x) { x[0] = x[1] / x[2] + sqrt(x[3]); }";
  EXPECT_TRUE(contains(ptx_of(built(source)), "div.full.f32"));
  EXPECT_TRUE(contains(ptx_of(built(source)), "sqrt.approx.f32"));
  const std::string exact = ptx_of(built(source, "-cl-fp32-correctly-rounded-divide-sqrt"));
  EXPECT_TRUE(contains(exact, "div.rn.f32"));
  EXPECT_TRUE(contains(exact, "sqrt.rn.f32"));
  const std::string flushed = ptx_of(built(source, "-cl-denorms-are-zero"));
  EXPECT_TRUE(contains(flushed, "div.full.ftz.f32"));
  EXPECT_TRUE(contains(flushed, "sqrt.approx.ftz.f32"));
  EXPECT_TRUE(contains(flushed, "add.rn.ftz.f32"));
}

TEST(Builds, GivenProductAndSumWhenBuiltThenContractionIsTheOptions) {
  const std::string apart = "__kernel void k(__global float* x) { float p = x[0] * x[1]; x[2] = p + x[3]; }";
  const std::string together = "__kernel void k(__global float* x) { x[2] = x[0] * x[1] + x[3]; }";
  EXPECT_FALSE(contains(ptx_of(built(apart)), "fma.rn"));
  EXPECT_TRUE(contains(ptx_of(built(apart, "-cl-mad-enable")), "fma.rn"));
  EXPECT_TRUE(contains(ptx_of(built(together)), "fma.rn"));
  EXPECT_FALSE(contains(ptx_of(built("#pragma OPENCL FP_CONTRACT OFF\n" + together)), "fma.rn"));
  EXPECT_FALSE(
      contains(ptx_of(built("#pragma OPENCL FP_CONTRACT OFF\n" + together, "-cl-mad-enable")), "fma.rn"));
}

TEST(Builds, GivenReadOnlyPointersWhenBuiltThenTheyUseTheReadOnlyCache) {
  const auto loads = [](const std::string& type) {
    return ptx_of(
        built("__kernel void k(" + type + " in, __global float* restrict out) { out[0] = in[1]; }"));
  };
  EXPECT_TRUE(contains(loads("__global const float* restrict"), "ld.global.nc.f32"));
  EXPECT_TRUE(contains(loads("__constant float*"), "ld.global.nc.f32"));
  EXPECT_FALSE(contains(loads("__global float*"), "ld.global.nc"));
}

TEST(Builds, GivenRegisterLimitWhenBuiltThenPtxSaysIt) {
  EXPECT_TRUE(contains(ptx_of(built("__kernel void k() {}", "-cl-nv-maxrregcount=40")), ".maxnreg 40"));
}

TEST(Builds, GivenArchitecturesWhenBuiltThenPtxIsForOneThatRunsThere) {
  const auto target = [](const char* architecture) {
    return built("__kernel void k() {}", "", architecture).architecture;
  };
  EXPECT_EQ(target("sm_75"), "sm_75");
  EXPECT_EQ(target("sm_88"), "sm_87");
  EXPECT_EQ(target("sm_90"), "sm_90");
  EXPECT_EQ(target("sm_100"), "sm_90");
  EXPECT_EQ(target("sm_121"), "sm_90");
  Request request = build_request("__kernel void k() {}");
  for (const char* unknown : {"sm_35", "", "gfx90a", "sm_90a", "sm_"}) {
    request.architecture = unknown;
    EXPECT_EQ(shared_compiler().run(request, kLimit).status, CL_BUILD_PROGRAM_FAILURE) << unknown;
  }
}

TEST(Builds, GivenInlineFunctionsWhenBuiltThenTheyAreDefined) {
  EXPECT_EQ(build("inline int f(int a) { return a + 1; }\n"
                  "__kernel void k(__global int* x) { *x = f(*x); }")
                .status,
            CL_SUCCESS);
}

TEST(Builds, GivenOptimisationOffWhenBuiltThenItBuilds) {
  const ProgramBinary binary = built(
      "float f(float x) { return sin(x); } "
      "__kernel void k(__global float* x) { for (int i = 0; i < 8; ++i) x[get_global_id(0)] += f(x[i]); }",
      "-cl-opt-disable");
  EXPECT_EQ(binary.kernels.at(0).hidden.size(), 1U);
}

TEST(Builds, GivenTheSameRequestTwiceWhenBuiltThenTheCodeIsTheSame) {
  const std::string source =
      "__constant float t[4] = {1, 2, 3, 4}; __kernel void k(__global float* x) { x[0] = sin(t[(int)x[1]]); "
      "}";
  EXPECT_EQ(ptx_of(built(source)), ptx_of(built(source)));
}

}  // namespace
}  // namespace clique::daemon::compiler
