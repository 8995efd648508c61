// clEnqueueWriteSsgFileAMD: cl_amd_liquid_flash.
#include "ssg_files.hpp"

namespace clique::test::suite_clEnqueueWriteSsgFileAMD {

class clEnqueueWriteSsgFileAMD : public SsgFileTest {};

TEST_F(clEnqueueWriteSsgFileAMD, GivenBufferThenItsContentIsInTheFile) {
  const std::vector<char> bytes = some_bytes(70'000);
  const std::string path = make("file", std::vector<char>(10, 'x'));
  const SsgFile file = open_ssg(path, CL_FILE_READ_WRITE_AMD);
  const Mem mem = buffer(bytes.size(), bytes.data());
  Event event;
  ASSERT_CL(write_ssg(queue, mem, CL_FALSE, 0, bytes.size(), file.get(), 2, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_WRITE_SSG_FILE_AMD},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  std::vector<char> expected(2, 'x');
  expected.insert(expected.end(), bytes.begin(), bytes.end());
  EXPECT_EQ(expected, content_of(path));
}

TEST_F(clEnqueueWriteSsgFileAMD, GivenFileForReadingThenInvalidOperation) {
  const SsgFile file = open_ssg(make("file", some_bytes(16)));
  const Mem mem = buffer<char>(16);
  EXPECT_EQ(CL_INVALID_OPERATION, write_ssg(queue, mem, CL_TRUE, 0, 16, file.get(), 0, 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_clEnqueueWriteSsgFileAMD
