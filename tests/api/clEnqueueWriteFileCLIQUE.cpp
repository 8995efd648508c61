// clEnqueueWriteFileCLIQUE: cl_clique_file.
#include <fcntl.h>

#include "files.hpp"

namespace clique::test::suite_clEnqueueWriteFileCLIQUE {

class clEnqueueWriteFileCLIQUE : public FileTest {};

TEST_F(clEnqueueWriteFileCLIQUE, GivenBufferOfEachDeviceThenItIsInTheFile) {
  const std::vector<char> bytes = some_bytes((5U << 20U) + 3);
  for (cl_device_id one : devices()) {
    const std::string path = folder / "file";
    const File file = open(path, CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE);
    const Queue on = make_queue(0, one);
    const Mem mem = buffer(bytes.size(), bytes.data());
    ASSERT_CL(write_file(on, file.get(), CL_TRUE, 0, mem, 0, bytes.size(), 0, nullptr, nullptr));
    EXPECT_EQ(bytes, content_of(path));
    std::filesystem::remove(path);
  }
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenOffsetsThenOnlyThatPartOfTheFile) {
  std::vector<char> expected = some_bytes(1000);
  const std::string path = make("file", expected);
  const File file = open(path, CL_FILE_WRITE_CLIQUE);
  const std::vector<char> bytes(500, 'x');
  const Mem mem = buffer(bytes.size(), bytes.data());
  ASSERT_CL(write_file(queue, file.get(), CL_TRUE, 10, mem, 100, 0, 0, nullptr, nullptr));
  EXPECT_EQ(expected, content_of(path));
  ASSERT_CL(write_file(queue, file.get(), CL_TRUE, 10, mem, 100, 300, 0, nullptr, nullptr));
  std::fill_n(expected.begin() + 10, 300, 'x');
  EXPECT_EQ(expected, content_of(path));
  // Beyond the end there is a hole.
  ASSERT_CL(write_file(queue, file.get(), CL_TRUE, 2000, mem, 0, 1, 0, nullptr, nullptr));
  expected.resize(2000, '\0');
  expected.push_back('x');
  EXPECT_EQ(expected, content_of(path));
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenReadAfterWriteThenTheNewContent) {
  const std::vector<char> bytes = some_bytes(3U << 20U);
  const File file = open(folder / "file", CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE);
  const Mem from = buffer(bytes.size(), bytes.data());
  const Mem to = buffer<char>(bytes.size());
  ASSERT_CL(write_file(queue, file.get(), CL_FALSE, 0, from, 0, bytes.size(), 0, nullptr, nullptr));
  ASSERT_CL(read_file(queue, file.get(), CL_FALSE, 0, to, 0, bytes.size(), 0, nullptr, nullptr));
  EXPECT_EQ(bytes, read<char>(to, bytes.size()));
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenWaitListThenItWaits) {
  const File file = open(make("file", std::vector<char>(16, 'o')), CL_FILE_WRITE_CLIQUE);
  const std::vector<char> bytes(16, 'n');
  const Mem mem = buffer(bytes.size(), bytes.data());
  for (const cl_command_queue_properties order : {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}) {
    make("file", std::vector<char>(16, 'o'));
    const Queue on = make_queue(order);
    Gate gate(context);
    Event event;
    ASSERT_CL(write_file(on, file.get(), CL_FALSE, 0, mem, 0, 16, 1, gate.ptr(), event.out()));
    ASSERT_CL(clFlush(on));
    EXPECT_GT(status_of(event), CL_COMPLETE);
    EXPECT_EQ(std::vector<char>(16, 'o'), content_of(folder / "file"));
    gate.open();
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    EXPECT_EQ(bytes, content_of(folder / "file"));
  }
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenEventThenItsTypeAndTimes) {
  const Queue on = make_queue(CL_QUEUE_PROFILING_ENABLE);
  const File file = open(folder / "file", CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE);
  const Mem mem = buffer<char>(3U << 20U, some_bytes(3U << 20U).data());
  Event event;
  ASSERT_CL(write_file(on, file.get(), CL_FALSE, 0, mem, 0, 3U << 20U, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_WRITE_FILE_CLIQUE},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  const auto time = [&](cl_profiling_info name) {
    return info<cl_ulong>(clGetEventProfilingInfo, event.get(), name);
  };
  EXPECT_GT(time(CL_PROFILING_COMMAND_QUEUED), 0U);
  EXPECT_LE(time(CL_PROFILING_COMMAND_QUEUED), time(CL_PROFILING_COMMAND_START));
  EXPECT_LT(time(CL_PROFILING_COMMAND_START), time(CL_PROFILING_COMMAND_END));
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenUnusableFilesThenDocumentedErrors) {
  EXPECT_EQ(CL_FILE_NOT_FOUND_CLIQUE, try_write(folder / "missing"));
  EXPECT_EQ(CL_FILE_NOT_FOUND_CLIQUE,
            try_write(folder / "no" / "folder", CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE));
  EXPECT_EQ(CL_FILE_NOT_REGULAR_CLIQUE, try_write(folder));
  if (has_private_workers()) {
    EXPECT_EQ(CL_FILE_NOT_REGULAR_CLIQUE, try_write("/dev/null"));
  }
  // A link to nowhere is not followed to create a file there.
  std::filesystem::create_symlink("elsewhere", folder / "link");
  EXPECT_EQ(CL_FILE_NOT_FOUND_CLIQUE,
            try_write(folder / "link", CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE));
  EXPECT_FALSE(std::filesystem::exists(folder / "elsewhere"));
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenNoPermissionThenAccessDenied) {
  CLIQUE_NEEDS_PERMISSIONS();
  const std::string path = make("file", some_bytes(16));
  ASSERT_EQ(0, ::chmod(path.c_str(), 0400));
  EXPECT_EQ(CL_FILE_ACCESS_DENIED_CLIQUE, try_write(path));
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenMoreThanTheFileSystemTakesThenNoSpace) {
  const std::string path = make("file", {});
  const auto most = static_cast<cl_ulong>(std::numeric_limits<off_t>::max());
  const int own = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const ssize_t written = ::pwrite(own, "x", 1, static_cast<off_t>(most - 16));
  ::close(own);
  if (written > 0) GTEST_SKIP() << "this file system has no limit for files";
  const File file = open(path, CL_FILE_WRITE_CLIQUE);
  const Mem mem = buffer<char>(16, some_bytes(16).data());
  EXPECT_EQ(CL_FILE_NO_SPACE_CLIQUE,
            write_file(queue, file.get(), CL_TRUE, most - 16, mem, 0, 16, 0, nullptr, nullptr));
  EXPECT_CL(write_file(queue, file.get(), CL_TRUE, 0, mem, 0, 16, 0, nullptr, nullptr));
  EXPECT_EQ(some_bytes(16), content_of(path));
}

TEST_F(clEnqueueWriteFileCLIQUE, GivenFileForReadingThenInvalidOperation) {
  EXPECT_EQ(CL_INVALID_OPERATION, try_write(make("file", some_bytes(16)), CL_FILE_READ_CLIQUE));
}

}  // namespace clique::test::suite_clEnqueueWriteFileCLIQUE
