// What clique-compiler tells of the kernels of a program: tests/division compares it with what kernels do.
#include <algorithm>

#include "daemon/compiler/contract/message_io.hpp"
#include "fixture.hpp"

namespace clique::daemon::compiler {

namespace {

Result analyse(const std::string& source, const std::string& options = "") {
  Request request = build_request(source, options);
  request.kind = Request::Kind::Analyse;
  return shared_compiler().run(request, kLimit);
}

protocol::Footprint footprint_of(const std::string& body, const std::string& more = "") {
  const Result result =
      analyse("__kernel void k(__global int* a, __global int* b, int n" + more + ") {\n" + body + "\n}\n",
              "-cl-std=CL3.0");
  EXPECT_EQ(result.status, 0) << result.log;
  if (result.status != 0) return {};
  return decode<Analysis>(result.binary).footprints.at(0);
}

TEST(Footprints, GivenPlainKernelThenAccessesHaveLines) {
  const auto footprint = footprint_of("int i = get_global_id(0);\nif (i < n)\na[i] = b[i];");
  EXPECT_EQ(footprint.obstacle, "");
  EXPECT_EQ(footprint.whole_dimensions, 0);
  EXPECT_FALSE(footprint.uses_groups);
  ASSERT_EQ(footprint.accesses.size(), 2U);
  EXPECT_FALSE(footprint.accesses[0].writes);
  EXPECT_EQ(footprint.accesses[0].argument, 1U);
  EXPECT_TRUE(footprint.accesses[1].writes);
  EXPECT_EQ(footprint.accesses[1].argument, 0U);
  EXPECT_EQ(footprint.accesses[1].size, 4U);
  EXPECT_EQ(footprint.accesses[1].line, 4U);
  EXPECT_EQ(footprint.accesses[1].conditions.size(), 1U);
}

TEST(Footprints, GivenWhatDependsOnOrderThenItIsAnObstacle) {
  const std::pair<const char*, const char*> kernels[] = {
      {"b[0] = atomic_add(a, 1);", "an atomic operation on global memory"},
      {"if (atom_inc(a) == n) b[0] = 1;", "an atomic operation on global memory"},
      {"atomic_xchg(a + b[get_global_id(0)], 1);", "an atomic operation on global memory"},
      {"atomic_cmpxchg(a, 1, 2);", "an atomic operation on global memory"},
      {"atomic_fetch_add((volatile __global atomic_float*)a, 1.0f);", "an atomic operation on global memory"},
      {"b[0] = __sync_fetch_and_add(a, 1);", "an atomic operation on global memory"},
      {"printf(\"%d\", n);", "printf"},
      {"__global int* p[2]; p[0] = a; p[1] = b; *p[n] = 1;", "a pointer that is loaded from memory"},
      {"*(__global int*)(ulong)n = 1;", "a pointer whose origin is not analysed"},
      {"void other(__global int*); other(a);", "a call of other with global memory"},
  };
  for (const auto& [body, obstacle] : kernels) {
    const auto footprint = footprint_of(body, ", __local int* l");
    EXPECT_EQ(footprint.obstacle, obstacle) << body;
    EXPECT_EQ(footprint.line, 2U) << body;
  }
}

TEST(Footprints, GivenPixelsThenTheirCoordinatesAreNumbers) {
  using Op = protocol::FootprintOp;
  const auto footprint = footprint_of(
      "const sampler_t s = CLK_FILTER_NEAREST; int x = get_global_id(0), y = get_global_id(1);\n"
      "float4 f = read_imagef(in, s, (int2)(x, y) + (int2)(1, -1)) + read_imagef(in, (int2)(x, n));\n"
      "write_imagef(out, (int2)(y, x).yx, f); write_imageh(volume, (int4)((int2)(x, y), n, 0), (half4)(0));\n"
      "write_imageui(row, x, (uint4)(n)); write_imagei(layers, (int2)(x, 3), (int4)(n));",
      ", __read_only image2d_t in, __write_only image2d_t out, __write_only image3d_t volume,"
      "__write_only image1d_t row, __read_write image1d_array_t layers");
  ASSERT_EQ(footprint.obstacle, "");
  const auto text = [&](std::uint32_t index) {
    const auto& number = footprint.numbers[index];
    const auto& from = number.op == Op::Truncate ? footprint.numbers[number.a] : number;
    EXPECT_EQ(number.bits, 32);
    return from.op == Op::GlobalId   ? "xyz" + std::to_string(from.a)
           : from.op == Op::Argument ? "argument" + std::to_string(from.a)
           : from.op == Op::Constant ? std::to_string(from.value)
           : from.op == Op::Add      ? std::string("sum")
                                     : std::string("other");
  };
  std::vector<std::string> found;
  for (const auto& access : footprint.accesses) {
    std::string one = std::to_string(access.argument) + (access.writes ? " writes" : " reads");
    for (const std::uint32_t coordinate : access.coordinates) one += ' ' + text(coordinate);
    found.push_back(one);
  }
  EXPECT_EQ(found,
            (std::vector<std::string>{"3 reads sum sum", "3 reads xyz0 argument2", "4 writes xyz0 xyz1",
                                      "5 writes xyz0 xyz1 argument2", "6 writes xyz0", "7 writes xyz0 3"}));
}

TEST(Footprints, GivenCoordinatesThatAreNoIntegersThenAnyPixelIsRead) {
  const auto footprint = footprint_of(
      "const sampler_t s = CLK_FILTER_LINEAR; a[get_global_id(0)] = read_imagef(in, s, (float2)(n)).x +\n"
      "read_imagef(in, s, (int2)(b[n], n)).x;",
      ", __read_only image2d_t in");
  ASSERT_EQ(footprint.obstacle, "");
  ASSERT_EQ(footprint.accesses.size(), 4U);
  const auto& sampled = footprint.accesses[0].coordinates;
  ASSERT_EQ(sampled.size(), 1U);
  EXPECT_EQ(footprint.numbers[sampled[0]].op, protocol::FootprintOp::Unknown);
  const auto& from_data = footprint.accesses[2].coordinates;
  ASSERT_EQ(from_data.size(), 2U);
  EXPECT_EQ(footprint.numbers[from_data[0]].op, protocol::FootprintOp::Unknown);
  EXPECT_EQ(footprint.numbers[from_data[0]].a, protocol::kFromData);
}

TEST(Footprints, GivenLocalAndPrivateMemoryThenItIsNoObstacle) {
  const auto footprint = footprint_of(
      "__local int sum; int own[4]; own[n & 3] = 1; atomic_add(&sum, own[0]);\n"
      "barrier(CLK_LOCAL_MEM_FENCE); float whole; b[0] = (int)fract(1.5f, &whole);\n"
      "a[get_global_id(0)] = sum;");
  EXPECT_EQ(footprint.obstacle, "");
  EXPECT_TRUE(footprint.uses_groups);
  EXPECT_EQ(footprint.accesses.size(), 2U);
}

TEST(Footprints, GivenVectorFunctionsThenTheirElementsCount) {
  const auto footprint = footprint_of(
      "vstore3(vload4(n, b).xyz, n, a); vstore_half((float)n, n, (__global half*)a);\n"
      "vstorea_half3((float3)(n), n, (__global half*)a);");
  EXPECT_EQ(footprint.obstacle, "");
  std::vector<std::uint64_t> sizes;
  for (const auto& access : footprint.accesses) sizes.push_back(access.size);
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{16, 12, 2, 6}));
}

TEST(Footprints, GivenCopiesByWorkGroupsThenTheirElementsAreThoseOfALoop) {
  const auto footprint = footprint_of(
      "event_t e = async_work_group_copy(l, b + get_group_id(0) * n, n, 0);\n"
      "e = async_work_group_copy((__global int3*)a, (__local int3*)l, 7, e);\n"
      "e = async_work_group_strided_copy((__global half*)a, (__local half*)l, 2, n, e);\n"
      "e = async_work_group_strided_copy((__local double8*)l, (__global double8*)b, b[0], 3, e);\n"
      "wait_group_events(1, &e);",
      ", __local int* l");
  EXPECT_EQ(footprint.obstacle, "");
  EXPECT_TRUE(footprint.uses_groups);
  std::vector<std::int64_t> sizes;
  for (const auto& access : footprint.accesses)
    sizes.push_back(static_cast<std::int64_t>(access.size) * (access.writes ? 1 : -1));
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{-4, 16, 2, -4, -64}));
  ASSERT_EQ(footprint.loops.size(), 4U);
  for (const auto& loop : footprint.loops) {
    EXPECT_TRUE(loop.bounded && loop.next && !loop.is_signed);
    EXPECT_EQ(loop.comparison, protocol::Comparison::LessUnsigned);
    EXPECT_EQ(footprint.numbers[loop.start].value, 0);
    EXPECT_EQ(footprint.numbers[loop.step].value, 1);
  }
  EXPECT_EQ(footprint.numbers[footprint.loops[1].bound].value, 7);
}

TEST(Footprints, GivenPlaceThatIsOneOfSeveralThenEachIsAnAccess) {
  using protocol::Comparison;
  using Op = protocol::FootprintOp;
  const auto footprint = footprint_of(
      "int i = get_global_id(0); a[n != 0 ? i : 3] = 1; a[i] = b[i == n ? 0 : i < 5 ? i + 1 : i + 2];");
  EXPECT_EQ(footprint.obstacle, "");
  std::vector<std::pair<bool, std::vector<Comparison>>> found;
  for (const auto& access : footprint.accesses) {
    auto& [writes, comparisons] = found.emplace_back(access.writes, std::vector<Comparison>{});
    for (const auto condition : access.conditions)
      comparisons.push_back(footprint.conditions[condition].comparison);
    std::sort(comparisons.begin(), comparisons.end());
  }
  using Found = std::vector<std::pair<bool, std::vector<Comparison>>>;
  EXPECT_EQ(found, (Found{{true, {Comparison::Different}},
                          {true, {Comparison::Equal}},
                          {false, {Comparison::Equal}},
                          {false, {Comparison::Different, Comparison::LessSigned}},
                          {false, {Comparison::Different, Comparison::LessEqualSigned}},
                          {true, {}}}));
  // Not more than eight, of which some are still one of several.
  const auto many =
      footprint_of("a[(n > 1 ? 1 : 2) + (n > 3 ? 4 : 8) + (n > 5 ? 16 : 32) + (n > 7 ? 64 : 128)] = 1;");
  EXPECT_EQ(many.accesses.size(), 8U);
  EXPECT_EQ(std::count_if(many.numbers.begin(), many.numbers.end(),
                          [](const auto& number) { return number.op == Op::Either; }),
            4);
}

TEST(Footprints, GivenChoiceInALoopThenItsIterationDecides) {
  // Each element is written by the work-item whose id it has, or not at all.
  const auto footprint = footprint_of(
      "int i = get_global_id(0); for (int j = 0; j < n; ++j) { int at; if (j < 3) at = i; else at = i + j; "
      "a[at] = j; }");
  EXPECT_EQ(footprint.obstacle, "");
  ASSERT_EQ(footprint.accesses.size(), 2U);
  // Of the loop and of the choice.
  for (const auto& access : footprint.accesses) EXPECT_EQ(access.conditions.size(), 2U);
}

TEST(Footprints, GivenPointerToOneOfSeveralBuffersThenItAccessesAll) {
  const auto footprint = footprint_of("__global int* p = n > 0 ? a : b + 1; p[get_global_id(0)] = 1;");
  EXPECT_EQ(footprint.obstacle, "");
  ASSERT_EQ(footprint.accesses.size(), 2U);
  EXPECT_TRUE(footprint.accesses[0].writes);
  EXPECT_TRUE(footprint.accesses[1].writes);
  EXPECT_NE(footprint.accesses[0].argument, footprint.accesses[1].argument);
}

TEST(Footprints, GivenPointerThatChangesIrregularlyThenItIsAnywhereInItsBuffers) {
  const auto footprint = footprint_of(
      "__global int* p = n > 0 ? a : b;\n"
      "for (int i = 0; i < n; ++i) { for (int j = 0; j < n; ++j) { p[2] = 1; p += n; } p += i; }");
  EXPECT_EQ(footprint.obstacle, "");
  ASSERT_EQ(footprint.accesses.size(), 2U);
  EXPECT_NE(footprint.accesses[0].argument, footprint.accesses[1].argument);
}

TEST(Footprints, GivenVolatileOrAtomicAccessToPlaceThatIdsDecideThenItIsLikeOthers) {
  const auto footprint = footprint_of(
      "int i = get_global_id(0); *(volatile __global int*)(a + i) = 1;\n"
      "int old = atomic_add(b + i, 1); old += atom_inc((volatile __global long*)a + i); b[i] = old;\n"
      "atomic_store((volatile __global atomic_int*)(b + i * 2), 1);");
  EXPECT_EQ(footprint.obstacle, "");
  std::vector<std::uint64_t> sizes;
  for (const auto& access : footprint.accesses) sizes.push_back(access.size * (access.writes ? 1 : 100));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4, 400, 4, 800, 8, 400, 4}));
}

TEST(Footprints, GivenVolatileVariablesThenTheirValuesAreKnown) {
  const auto unknowns = [](const std::string& body) {
    const auto footprint = footprint_of(body);
    EXPECT_EQ(footprint.obstacle, "") << body;
    return std::count_if(footprint.numbers.begin(), footprint.numbers.end(),
                         [](const auto& number) { return number.op == protocol::FootprintOp::Unknown; });
  };
  EXPECT_EQ(unknowns("volatile int i = get_local_id(0) + 8 * get_local_id(1); a[i % 8] = n;"), 0);
  EXPECT_EQ(unknowns("volatile int i = get_global_id(0); if (n > 3) i = n; a[i] = n;"), 0);
  EXPECT_GE(unknowns("volatile int i = get_global_id(0); volatile int* p = &i; a[*p] = n;"), 1)
      << "its address is kept";
  EXPECT_GE(unknowns("volatile int i[4] = {0}; i[n & 3] = 5; a[i[b[0] & 3]] = n;"), 1) << "stays in memory";
}

TEST(Footprints, GivenAtomicOperationsWhoseResultsAreUnusedThenTheirKindIsKnown) {
  using protocol::AtomicChange;
  const auto footprint = footprint_of(
      "__global int* p = a + b[get_global_id(0)]; volatile __global atomic_int* q = (volatile __global "
      "atomic_int*)p;\n"
      "volatile __global ulong* w = (volatile __global ulong*)p; int old = atomic_inc(p); "
      "atomic_sub((__global uint*)p, n);\n"
      "atomic_fetch_sub(q, n); __sync_fetch_and_add(p, n); atom_add(w, n); atom_min(w, n); atomic_max(p, "
      "n);\n"
      "atomic_fetch_min_explicit(q, n, memory_order_relaxed, memory_scope_device); atomic_and(p, n);\n"
      "atomic_fetch_or((volatile __global atomic_ulong*)w, n); atomic_xor(p, n);\n"
      "atomic_fetch_max_explicit((atomic_uint*)q, n, memory_order_acq_rel); old = 0;");
  EXPECT_EQ(footprint.obstacle, "");
  std::vector<std::pair<AtomicChange, std::uint64_t>> found;
  for (const auto& access : footprint.accesses) {
    if (access.change == AtomicChange::None) continue;
    EXPECT_TRUE(access.writes);
    EXPECT_EQ(access.argument, 0U);
    found.emplace_back(access.change, access.size);
  }
  using Found = std::vector<std::pair<AtomicChange, std::uint64_t>>;
  EXPECT_EQ(found, (Found{{AtomicChange::Add, 4},
                          {AtomicChange::Add, 8},
                          {AtomicChange::LeastUnsigned, 8},
                          {AtomicChange::GreatestSigned, 4},
                          {AtomicChange::LeastSigned, 4},
                          {AtomicChange::And, 4},
                          {AtomicChange::Or, 8},
                          {AtomicChange::ExclusiveOr, 4},
                          {AtomicChange::GreatestUnsigned, 4}}));
}

TEST(Footprints, GivenFunctionsWithTwoResultsThenTheSecondIsAWrite) {
  const auto footprint = footprint_of(
      "float x = n; __global float* f = (__global float*)b;\n"
      "x += fract(x, f) + frexp(x, a); x += modf((float3)(x), (__global float3*)f).x; a[9] = (int)x;");
  EXPECT_EQ(footprint.obstacle, "");
  std::vector<std::uint64_t> sizes;
  for (const auto& access : footprint.accesses) {
    EXPECT_TRUE(access.writes);
    sizes.push_back(access.size);
  }
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4, 4, 16, 4}));
}

TEST(Footprints, GivenWhatIsReadThenNumbersThatItDecidesAreFromData) {
  const auto from_data = [](const std::string& body) {
    const auto footprint = footprint_of(body);
    return std::any_of(footprint.numbers.begin(), footprint.numbers.end(), [](const auto& number) {
      return number.op == protocol::FootprintOp::Unknown && number.a == protocol::kFromData;
    });
  };
  EXPECT_TRUE(from_data("a[b[get_global_id(0)]] = 1;"));
  EXPECT_TRUE(from_data("a[(int)sqrt((float)b[0])] = 1;"));
  EXPECT_FALSE(from_data("a[(int)sqrt((float)n)] = b[n];"));
}

TEST(Footprints, GivenQueriesThenDimensionsStayWhole) {
  EXPECT_EQ(footprint_of("a[get_group_id(1)] = 1;").whole_dimensions, 0);
  EXPECT_EQ(footprint_of("a[get_group_id(1)] = 1;").group_id_dimensions, 2);
  EXPECT_EQ(footprint_of("a[get_group_id(n)] = 1;").group_id_dimensions, 7);
  EXPECT_EQ(footprint_of("a[0] = get_global_size(0) + get_num_groups(2);").whole_dimensions, 5);
  EXPECT_EQ(footprint_of("a[0] = get_global_offset(n);").whole_dimensions, 7);
  EXPECT_EQ(footprint_of("a[0] = get_global_linear_id();").whole_dimensions, 7);
  EXPECT_EQ(footprint_of("a[0] = get_local_size(0);").whole_dimensions, 0);
}

TEST(Footprints, GivenLoopsThenTheirBoundsAreKnown) {
  const auto bounded = [](const std::string& body) {
    const auto footprint = footprint_of(body);
    return footprint.loops.size() == 1 && footprint.loops[0].bounded;
  };
  EXPECT_TRUE(bounded("for (int i = 0; i < n; ++i) a[i] = 1;"));
  EXPECT_TRUE(bounded("for (int i = n; i-- > 0;) a[i] = 1;"));
  EXPECT_TRUE(bounded("for (int i = get_local_id(0); i < n / 2; i += get_local_size(0)) a[i] = 1;"));
  EXPECT_TRUE(bounded("int i = 0; do { a[i] = 1; } while (++i != n);"));
  EXPECT_FALSE(bounded("for (int i = 0; i < b[i]; ++i) a[i] = 1;"));
}

TEST(Footprints, GivenPredefinedMacrosThenTheCheckNamesThem) {
  const auto check = [](const std::string& source) {
    const Result result = analyse(source + "\n__kernel void k(__global int* a) { a[0] = 1; }");
    return result.status == 0 ? decode<Analysis>(result.binary).check : result.log;
  };
  EXPECT_EQ(check("#define OWN 1\n#if OWN\n#endif").find("#if"), std::string::npos);
  EXPECT_NE(check("#ifdef NOBODY\n#endif").find("!defined(NOBODY)"), std::string::npos);
  EXPECT_NE(check("#if NOBODY > 3\n#endif").find("!defined(NOBODY)"), std::string::npos);
  EXPECT_NE(check("#if __OPENCL_VERSION__ > 100\n#endif").find("(__OPENCL_VERSION__) == 300"),
            std::string::npos);
  EXPECT_NE(check("#if __has_builtin(x)\n#endif").find("predefined macro __has_builtin"), std::string::npos);
}

}  // namespace

}  // namespace clique::daemon::compiler
