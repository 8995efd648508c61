// Vectors as arguments of kernels and of functions: OpenCL C 3.0, sections 6.3.2 and 6.11.
#include "gpu.hpp"

namespace clique::test {
namespace {

class VectorArguments : public GpuTest {
 protected:
  /// A kernel and a function that receive the vector by value and return it, the function with its elements
  /// rotated.
  void check(const std::string& type, size_t element, size_t count) {
    const size_t size = element * (count == 3 ? 4 : count);
    std::vector<unsigned char> value(size);
    for (size_t i = 0; i < size; ++i) value[i] = static_cast<unsigned char>(17 * i + 3);
    std::string turned;
    for (size_t i = count; i-- > 0;) turned += "0123456789abcdef"[i];
    const std::string source =
        type + " __attribute__((noinline)) turned(" + type + " value) { return value.s" + turned + "; }\n" +
        "kernel void k(char before, " + type + " value, global " + type + "* out, char after) {\n" +
        "  out[0] = value; out[1] = turned(value); ((global char*)(out + 2))[0] = before + after; }";
    const Program program = build(source.c_str());
    const Kernel k = kernel(program, "k");
    const Mem out = buffer<unsigned char>(3 * size);
    const cl_char before = 5;
    const cl_char after = 6;
    EXPECT_CL(clSetKernelArg(k, 0, 1, &before));
    EXPECT_CL(clSetKernelArg(k, 1, size, value.data()));
    EXPECT_CL(clSetKernelArg(k, 2, sizeof(cl_mem), out.ptr()));
    EXPECT_CL(clSetKernelArg(k, 3, 1, &after));
    EXPECT_CL(launch(k, 1));
    std::vector<unsigned char> result(3 * size);
    EXPECT_CL(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, result.size(), result.data(), 0, nullptr, nullptr));
    for (size_t i = 0; i < count; ++i)
      for (size_t byte = 0; byte < element; ++byte) {
        EXPECT_EQ(value[i * element + byte], result[i * element + byte]) << type << " " << i;
        EXPECT_EQ(value[(count - 1 - i) * element + byte], result[size + i * element + byte])
            << type << " " << i;
      }
    EXPECT_EQ(11, result[2 * size]) << type;
  }
};

TEST_F(VectorArguments, GivenVectorsOfAllSizesThenTheirElementsArrive) {
  for (const auto& [type, element] : std::vector<std::pair<std::string, size_t>>{
           {"char", 1}, {"uchar", 1}, {"short", 2}, {"ushort", 2}, {"int", 4}, {"float", 4}, {"long", 8}})
    for (const size_t count : {2, 3, 4, 8, 16}) check(type + std::to_string(count), element, count);
}

}  // namespace
}  // namespace clique::test
