// clEnqueueReadFileCLIQUE: cl_clique_file.
#include <cerrno>

#include "files.hpp"

namespace clique::test::suite_clEnqueueReadFileCLIQUE {

class clEnqueueReadFileCLIQUE : public FileTest {};

TEST_F(clEnqueueReadFileCLIQUE, GivenFileThenEachDeviceGetsItsContent) {
  const std::vector<char> bytes = some_bytes((3U << 20U) + 17);
  const File file = open(make("file", bytes));
  for (cl_device_id one : devices()) {
    const Queue on = make_queue(0, one);
    const Mem mem = buffer<char>(bytes.size());
    ASSERT_CL(read_file(on, file.get(), CL_TRUE, 0, mem, 0, bytes.size(), 0, nullptr, nullptr));
    EXPECT_EQ(bytes, read<char>(mem, bytes.size()));
  }
}

TEST_F(clEnqueueReadFileCLIQUE, GivenOffsetsThenOnlyThatPartOfTheBuffer) {
  const std::vector<char> bytes = some_bytes(5000);
  const File file = open(make("file", bytes));
  const std::vector<char> before(4000, 'x');
  const Mem mem = buffer(before.size(), before.data());
  for (const size_t size : {0U, 1U, 1000U}) {
    ASSERT_CL(read_file(queue, file.get(), CL_TRUE, 123, mem, 7, size, 0, nullptr, nullptr));
    std::vector<char> expected = before;
    std::copy_n(bytes.begin() + 123, size, expected.begin() + 7);
    EXPECT_EQ(expected, read<char>(mem, expected.size())) << size;
  }
}

TEST_F(clEnqueueReadFileCLIQUE, GivenSubBufferThenThatPartOfItsParent) {
  const std::vector<char> bytes = some_bytes(100);
  const File file = open(make("file", bytes));
  const Mem parent = buffer<char>(8192);
  const cl_buffer_region region{4096, 1024};
  cl_int err = CL_SUCCESS;
  const Mem part(clCreateSubBuffer(parent, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(read_file(queue, file.get(), CL_TRUE, 0, part, 5, 100, 0, nullptr, nullptr));
  const std::vector<char> all = read<char>(parent, 8192);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), all.begin() + 4096 + 5));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenCommandsBeforeAndAfterThenInOrder) {
  const size_t size = 4U << 20U;
  const File file = open(make("file", std::vector<char>(size, 'f')));
  const Mem mem = buffer<char>(size);
  const Mem copy = buffer<char>(size);
  const char fill = 'x';
  for (const cl_command_queue_properties order : {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}) {
    const Queue on = make_queue(order);
    Event filled, read_done, copied;
    ASSERT_CL(clEnqueueFillBuffer(on, mem, &fill, 1, 0, size, 0, nullptr, filled.out()));
    ASSERT_CL(read_file(on, file.get(), CL_FALSE, 0, mem, 0, size / 2, 1, filled.ptr(), read_done.out()));
    ASSERT_CL(clEnqueueCopyBuffer(on, mem, copy, 0, 0, size, 1, read_done.ptr(), copied.out()));
    ASSERT_CL(clWaitForEvents(1, copied.ptr()));
    std::vector<char> expected(size, 'x');
    std::fill_n(expected.begin(), size / 2, 'f');
    EXPECT_EQ(expected, read<char>(copy, size));
  }
}

TEST_F(clEnqueueReadFileCLIQUE, GivenManyReadsThenAllComplete) {
  const size_t part = 300'000;
  const size_t count = 40;
  const std::vector<char> bytes = some_bytes(part * count);
  const File file = open(make("file", bytes));
  const Mem mem = buffer<char>(bytes.size());
  const Queue on = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  for (size_t i = 0; i < count; ++i)
    ASSERT_CL(read_file(on, file.get(), CL_FALSE, i * part, mem, i * part, part, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(on));
  EXPECT_EQ(bytes, read<char>(mem, bytes.size()));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenEventThenItsTypeAndTimes) {
  const size_t size = 3U << 20U;
  const File file = open(make("file", some_bytes(size)));
  const Mem mem = buffer<char>(size);
  const Queue on = make_queue(CL_QUEUE_PROFILING_ENABLE);
  Event event;
  ASSERT_CL(read_file(on, file.get(), CL_FALSE, 0, mem, 0, size, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_READ_FILE_CLIQUE},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  const auto time = [&](cl_profiling_info name) {
    return info<cl_ulong>(clGetEventProfilingInfo, event.get(), name);
  };
  EXPECT_GT(time(CL_PROFILING_COMMAND_QUEUED), 0U);
  EXPECT_LE(time(CL_PROFILING_COMMAND_QUEUED), time(CL_PROFILING_COMMAND_SUBMIT));
  EXPECT_LE(time(CL_PROFILING_COMMAND_SUBMIT), time(CL_PROFILING_COMMAND_START));
  EXPECT_LT(time(CL_PROFILING_COMMAND_START), time(CL_PROFILING_COMMAND_END));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenUnusableFilesThenDocumentedErrors) {
  EXPECT_EQ(CL_FILE_NOT_FOUND_CLIQUE, try_read(folder / "missing"));
  EXPECT_EQ(CL_FILE_NOT_FOUND_CLIQUE, try_read(make("file", some_bytes(16)) + "/below"));
  EXPECT_EQ(CL_FILE_NOT_REGULAR_CLIQUE, try_read(folder));
  if (has_private_workers()) {
    EXPECT_EQ(CL_FILE_NOT_REGULAR_CLIQUE, try_read("/dev/zero"));
  }
  // Nobody writes into the FIFO, so that to open or to read it would wait. A guest can make none in the
  // folder that QEMU shares with it.
  if (::mkfifo((folder / "fifo").c_str(), 0600) == 0) {
    EXPECT_EQ(CL_FILE_NOT_REGULAR_CLIQUE, try_read(folder / "fifo"));
  } else {
    EXPECT_EQ(ENXIO, errno);
  }
  // The session is none the worse.
  EXPECT_EQ(CL_SUCCESS, try_read(folder / "file"));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenNoPermissionThenAccessDenied) {
  CLIQUE_NEEDS_PERMISSIONS();
  const std::string path = make("file", some_bytes(16));
  ASSERT_EQ(0, ::chmod(path.c_str(), 0));
  EXPECT_EQ(CL_FILE_ACCESS_DENIED_CLIQUE, try_read(path));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenTooFewBytesThenFileEnd) {
  const std::string path = make("file", some_bytes(3U << 20U));
  EXPECT_EQ(CL_FILE_END_CLIQUE, try_read(path, (3U << 20U) + 1));
  EXPECT_EQ(CL_FILE_END_CLIQUE, try_read(make("empty", {}), 1));
  const Mem mem = buffer<char>(100);
  const File file = open(path);
  EXPECT_EQ(CL_FILE_END_CLIQUE,
            read_file(queue, file.get(), CL_TRUE, std::numeric_limits<cl_long>::max() - 100, mem, 0, 100, 0,
                      nullptr, nullptr));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenFileThatShrinksMeanwhileThenFileEnd) {
  const std::string path = make("file", some_bytes(1U << 20U));
  const File file = open(path);
  const Mem mem = buffer<char>(1U << 20U);
  ASSERT_CL(read_file(queue, file.get(), CL_TRUE, 0, mem, 0, 1U << 20U, 0, nullptr, nullptr));
  std::filesystem::resize_file(path, 100);
  EXPECT_EQ(CL_FILE_END_CLIQUE,
            read_file(queue, file.get(), CL_TRUE, 0, mem, 0, 1U << 20U, 0, nullptr, nullptr));
  EXPECT_CL(read_file(queue, file.get(), CL_TRUE, 0, mem, 0, 100, 0, nullptr, nullptr));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenFailureThenEventAndCallbackSayWhy) {
  Calls<std::string> messages;
  cl_int err = CL_SUCCESS;
  const Context own(clCreateContext(
      nullptr, 1, &device,
      [](const char* what, const void*, size_t, void* calls) {
        static_cast<Calls<std::string>*>(calls)->add(what);
      },
      &messages, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Queue on(clCreateCommandQueueWithProperties(own, device, nullptr, &err));
  const Mem mem(clCreateBuffer(own, CL_MEM_READ_WRITE, 16, nullptr, &err));
  const std::string path = folder / "missing";
  const File file = open(path, CL_FILE_READ_CLIQUE, own);
  Event event, after;
  ASSERT_CL(read_file(on, file.get(), CL_FALSE, 0, mem, 0, 16, 0, nullptr, event.out()));
  ASSERT_CL(clEnqueueMarkerWithWaitList(on, 1, event.ptr(), after.out()));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(CL_FILE_NOT_FOUND_CLIQUE, status_of(event));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, after.ptr()));
  EXPECT_LT(status_of(after), 0);
  const std::vector<std::string> said = messages.wait_for(1);
  ASSERT_FALSE(said.empty());
  EXPECT_NE(std::string::npos, said.front().find("node "));
  EXPECT_NE(std::string::npos, said.front().find(path));
  EXPECT_NE(std::string::npos, said.front().find("No such file"));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenFailedWaitListThenItFailsAndReadsNothing) {
  const File file = open(make("file", some_bytes(16)));
  const std::vector<char> before(16, 'x');
  const Mem mem = buffer(before.size(), before.data());
  Event event;
  {
    Gate gate(context);
    ASSERT_CL(read_file(queue, file.get(), CL_FALSE, 0, mem, 0, 16, 1, gate.ptr(), event.out()));
    ASSERT_CL(clFlush(queue));
    gate.fail();
  }
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_LT(status_of(event), 0);
  EXPECT_EQ(before, read<char>(mem, before.size()));
}

TEST_F(clEnqueueReadFileCLIQUE, GivenInvalidArgumentsThenErrors) {
  const File file = open(make("file", some_bytes(16)));
  const File write_only = open(folder / "file", CL_FILE_WRITE_CLIQUE);
  const Mem mem = buffer<char>(16);
  const auto status = [&](cl_file_clique from, cl_ulong at, cl_mem to, size_t offset, size_t size) {
    return read_file(queue, from, CL_FALSE, at, to, offset, size, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_FILE_CLIQUE, status(nullptr, 0, mem, 0, 16));
  EXPECT_EQ(CL_INVALID_OPERATION, status(write_only.get(), 0, mem, 0, 16));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, status(file.get(), 0, nullptr, 0, 16));
  EXPECT_EQ(CL_INVALID_VALUE, status(file.get(), 0, mem, 1, 16));
  EXPECT_EQ(CL_INVALID_VALUE, status(file.get(), std::numeric_limits<cl_long>::max(), mem, 0, 16));
  const OtherContext other;
  const File of_other = open(folder / "file", CL_FILE_READ_CLIQUE, other.context);
  EXPECT_EQ(CL_INVALID_CONTEXT, status(of_other.get(), 0, mem, 0, 16));
  EXPECT_EQ(CL_INVALID_CONTEXT, status(file.get(), 0, other.buffer, 0, 16));
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            read_file(nullptr, file.get(), CL_FALSE, 0, mem, 0, 16, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
            read_file(queue, file.get(), CL_FALSE, 0, mem, 0, 16, 1, nullptr, nullptr));
}

}  // namespace clique::test::suite_clEnqueueReadFileCLIQUE
