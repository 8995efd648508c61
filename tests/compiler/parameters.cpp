// The offsets of arguments in the parameter block: the binary must agree with the declarations in PTX.
#include <algorithm>
#include <regex>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

struct Place {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

/// The parameters of an entry, laid out as the PTX ISA specifies: each at the next multiple of its alignment.
std::vector<Place> declared_places(const std::string& ptx, const std::string& kernel) {
  const std::size_t begin = ptx.find(".entry " + kernel + "(");
  const std::string list = ptx.substr(begin, ptx.find(')', begin + kernel.size() + 8) - begin);
  const std::regex parameter(
      R"(\.param (?:\.align (\d+) )?\.[bufs](\d+) (?:\.ptr[^,]*? )?\w+(?:\[(\d+)\])?)");
  std::vector<Place> places;
  std::uint32_t end = 0;
  for (auto match = std::sregex_iterator(list.begin(), list.end(), parameter);
       match != std::sregex_iterator(); ++match) {
    const auto number = [&](int group) {
      return (*match)[group].matched ? static_cast<std::uint32_t>(std::stoul((*match)[group])) : 0;
    };
    const std::uint32_t element = number(2) / 8;
    const std::uint32_t size = number(3) == 0 ? element : element * number(3);
    const std::uint32_t alignment = std::max({number(1), element, 1U});
    const std::uint32_t offset = (end + alignment - 1) / alignment * alignment;
    places.push_back({offset, size});
    end = offset + size;
  }
  return places;
}

void expect_places(const ProgramBinary& binary) {
  const std::string ptx = ptx_of(binary);
  for (const Kernel& kernel : binary.kernels) {
    const std::vector<Place> places = declared_places(ptx, kernel.name);
    ASSERT_EQ(places.size(), kernel.args.size() + kernel.hidden.size()) << kernel.name << "\n" << ptx;
    for (std::size_t i = 0; i < kernel.args.size(); ++i) {
      EXPECT_EQ(kernel.args[i].offset, places[i].offset) << kernel.name << " argument " << i << "\n" << ptx;
      EXPECT_EQ(kernel.args[i].size, places[i].size) << kernel.name << " argument " << i << "\n" << ptx;
    }
    for (std::size_t i = 0; i < kernel.hidden.size(); ++i)
      EXPECT_EQ(kernel.hidden[i].offset, places[kernel.args.size() + i].offset)
          << kernel.name << " hidden " << i << "\n"
          << ptx;
    const std::uint32_t end = places.empty() ? 0 : places.back().offset + places.back().size;
    EXPECT_EQ(kernel.params_size, end) << kernel.name;
  }
}

TEST(Parameters, GivenEveryTypeWhenBuiltThenOffsetsAreThoseOfPtx) {
  std::string source;
  for (const char* type :
       {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double"})
    for (const char* width : {"", "2", "3", "4", "8", "16"}) {
      const std::string name = std::string(type) + width;
      source += "__kernel void k_" + name + "(char a, " + name + " b, short c, " + name + " d, __global " +
                name + "* out, char e) { out[0] = b; out[1] = d; out[a + c + e] = b; }\n";
    }
  expect_places(built("#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" + source));
}

TEST(Parameters, GivenStructuresWhenBuiltThenOffsetsAreThoseOfPtx) {
  expect_places(built(R"(
    typedef struct { char a; } one;
    typedef struct { char a[3]; } three;
    typedef struct { int a; char b; } padded;
    typedef struct { char a; long b; } eight;
    typedef struct { char a; float4 b; } sixteen;
    typedef struct { char a; double8 b; } sixty_four;
    typedef struct __attribute__((packed)) { char a; int b; } packed;
    typedef struct __attribute__((aligned(32))) { int a; } aligned;
    typedef union { int a; double b; } either;
    typedef struct { padded a[5]; three b; } nested;
    __kernel void k(char c0, one a, char c1, three b, char c2, padded c, char c3, eight d, char c4, sixteen e,
                    char c5, sixty_four f, char c6, packed g, char c7, aligned h, char c8, either i, char c9,
                    nested j, __global int* out) {
      *out = a.a + b.a[1] + c.a + d.b + e.b.x + f.b.x + g.b + h.a + i.a + j.a[3].b + c0 + c1 + c2 + c3 + c4 + c5 +
             c6 + c7 + c8 + c9;
    })"));
}

TEST(Parameters, GivenPointersImagesAndSamplersWhenBuiltThenOffsetsAreThoseOfPtx) {
  const ProgramBinary binary = built(R"(
    __kernel void k(char a, __local float* l0, char b, __local int* l1, __global int* out, sampler_t s, char c,
                    read_only image2d_t i, __constant float* t, __local long16* l2, enum { A } e) {
      l0[0] = t[0]; l1[0] = 1; l2[0] = 2;
      barrier(CLK_LOCAL_MEM_FENCE);
      *out = l0[a] + l1[b] + l2[c].x + read_imagef(i, s, (float2)(0.5f)).x + e;
    })");
  expect_places(binary);
  const auto& args = binary.kernels.at(0).args;
  EXPECT_EQ(args.at(1).kind, ArgKind::Local);
  EXPECT_EQ(args.at(1).size, 4U);
  EXPECT_GE(args.at(1).alignment, 4U);
  EXPECT_EQ(args.at(9).alignment, 128U);
  EXPECT_EQ(args.at(5).kind, ArgKind::Sampler);
  EXPECT_EQ(args.at(5).size, 4U);
}

TEST(Parameters, GivenWorkItemFunctionsWhenBuiltThenOnlyWhatIsUsedIsHidden) {
  const auto hidden_of = [](const std::string& expression, const std::string& options) {
    const ProgramBinary binary =
        built("__kernel void k(char c, __global ulong* x) { *x = " + expression + "; }", options);
    expect_places(binary);
    std::vector<int> what;
    for (const HiddenArg& hidden : binary.kernels.at(0).hidden) what.push_back(hidden.what);
    return what;
  };
  using List = std::vector<int>;
  EXPECT_EQ(hidden_of("1", ""), List{});
  EXPECT_EQ(hidden_of("get_local_id(0) + get_local_size(1)", ""), List{});
  EXPECT_EQ(hidden_of("get_global_id(0)", ""), List{0});
  EXPECT_EQ(hidden_of("get_global_id(1) + get_global_id(2)", ""), (List{1, 2}));
  EXPECT_EQ(hidden_of("get_global_offset(1)", ""), List{4});
  EXPECT_EQ(hidden_of("get_group_id(0) + get_num_groups(0) + get_global_size(0)", ""), List{});
  EXPECT_EQ(hidden_of("get_group_id(2) + get_num_groups(2) + get_global_size(1)", ""), (List{7, 11, 14}));
  EXPECT_EQ(hidden_of("get_work_dim()", ""), List{18});
  EXPECT_EQ(hidden_of("get_group_id(0)", "-cl-std=CL3.0"), List{9});
  EXPECT_EQ(hidden_of("get_num_groups(1)", "-cl-std=CL3.0"), List{13});
  EXPECT_EQ(hidden_of("get_global_size(2)", "-cl-std=CL3.0"), List{8});
  EXPECT_EQ(hidden_of("get_enqueued_local_size(0)", "-cl-std=CL3.0"), List{15});
  EXPECT_EQ(hidden_of("get_num_groups(0)", "-cl-std=CL3.0 -cl-uniform-work-group-size"), List{});
}

TEST(Parameters, GivenWorkItemFunctionsInCalledFunctionsWhenBuiltThenTheKernelHasTheParameters) {
  const ProgramBinary binary = built(R"(
    __attribute__((noinline)) ulong deep(uint d) { return get_global_id(d); }
    __attribute__((noinline)) ulong middle(uint d) { return deep(d) + get_work_dim(); }
    __kernel void k(__global ulong* x, uint d) { *x = middle(d); })");
  expect_places(binary);
  EXPECT_EQ(binary.kernels.at(0).hidden.size(), 4U);
}

}  // namespace
}  // namespace clique::daemon::compiler
