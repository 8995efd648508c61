// Translating the names of built-in functions from those that the SPIR-V translator writes to those in the
// device library.
#include "daemon/compiler/tool/spirv/builtin_names.hpp"

#include <gtest/gtest.h>

namespace clique::daemon::compiler {
namespace {

struct Names {
  const char* spir;
  const char* nvptx;
};

class BuiltinNames : public testing::TestWithParam<Names> {};

TEST_P(BuiltinNames, GivenSpirsThenItIsNvptxs) {
  EXPECT_EQ(nvptx_builtin_name(GetParam().spir), GetParam().nvptx);
}

// The names are those that Clang gives to the functions for either target.
INSTANTIATE_TEST_SUITE_P(
    , BuiltinNames,
    testing::Values(
        Names{"_Z3sinf", "_Z3sinf"}, Names{"_Z3sinDv3_Dh", "_Z3sinDv3_Dh"},
        Names{"_Z5clampDv4_fS_S_", "_Z5clampDv4_fS_S_"}, Names{"_Z6vload4mPU3AS1Kf", "_Z6vload4mPU3AS1Kf"},
        Names{"_Z6vload4mPU3AS2Kf", "_Z6vload4mPU3AS1Kf"}, Names{"_Z6vload4mPU3AS3Kf", "_Z6vload4mPU3AS3Kf"},
        Names{"_Z5fractfPU3AS4f", "_Z5fractfPf"}, Names{"_Z5fractDv4_fPU3AS4S_", "_Z5fractDv4_fPS_"},
        Names{"_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i",
              "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i"},
        Names{"_Z17wait_group_eventsiPU3AS49ocl_event", "_Z17wait_group_eventsiP9ocl_event"},
        Names{"_Z25atomic_fetch_add_explicitPU3AS4VU7_Atomicii12memory_order12memory_scope",
              "_Z25atomic_fetch_add_explicitPVU7_Atomicii12memory_order12memory_scope"},
        Names{"_Z39atomic_compare_exchange_strong_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_12memory_"
              "scope",
              "_Z39atomic_compare_exchange_strong_explicitPVU7_AtomiciPii12memory_orderS4_12memory_scope"},
        // Only Clang numbers the target of a private pointer.
        Names{"_Z3fooPf5eventS0_", "_Z3fooPf5eventS1_"}));

TEST(BuiltinName, GivenOtherFormsThenTheyStay) {
  for (const char* name : {"", "printf", "_Z", "_Z9sinf", "_ZN3foo3barEv", "_Z3fooPU3AS", "_Z3fooS_",
                           "_Z3fooDv4", "_Z3foo99x", "_Z3fooPU2ASx", "_Z3fooi.part"})
    EXPECT_EQ(nvptx_builtin_name(name), name);
}

TEST(BuiltinName, GivenSpacesThatOpenClLacksThenTheyAreRefused) {
  EXPECT_EQ(nvptx_space(2), nvptx_space(1));
  EXPECT_EQ(nvptx_space(4), nvptx_space(0));
  EXPECT_THROW(nvptx_space(5), std::runtime_error);
}

}  // namespace
}  // namespace clique::daemon::compiler
