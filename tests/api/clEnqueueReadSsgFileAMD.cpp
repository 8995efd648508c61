// clEnqueueReadSsgFileAMD: cl_amd_liquid_flash.
#include "ssg_files.hpp"

namespace clique::test::suite_clEnqueueReadSsgFileAMD {

class clEnqueueReadSsgFileAMD : public SsgFileTest {};

TEST_F(clEnqueueReadSsgFileAMD, GivenFileThenItsContentIsInTheBuffer) {
  const std::vector<char> bytes = some_bytes(70'000);
  const SsgFile file = open_ssg(make("file", bytes));
  const Mem mem = buffer<char>(bytes.size());
  Event event;
  ASSERT_CL(read_ssg(queue, mem, CL_FALSE, 0, bytes.size(), file.get(), 0, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_READ_SSG_FILE_AMD},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(bytes, read<char>(mem, bytes.size()));
  ASSERT_CL(read_ssg(queue, mem, CL_TRUE, 5, 100, file.get(), 1000, 0, nullptr, nullptr));
  const std::vector<char> result = read<char>(mem, 200);
  EXPECT_TRUE(std::equal(result.begin() + 5, result.begin() + 105, bytes.begin() + 1000));
  EXPECT_EQ(bytes[105], result[105]);
}

TEST_F(clEnqueueReadSsgFileAMD, GivenInvalidArgumentsThenErrors) {
  const SsgFile file = open_ssg(make("file", some_bytes(16)));
  const Mem mem = buffer<char>(16);
  EXPECT_EQ(CL_INVALID_FILE_OBJECT_AMD,
            read_ssg(queue, mem, CL_TRUE, 0, 16, nullptr, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, read_ssg(queue, mem, CL_TRUE, 1, 16, file.get(), 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            read_ssg(queue, nullptr, CL_TRUE, 0, 16, file.get(), 0, 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_clEnqueueReadSsgFileAMD
