// Files of one node, and files of the same path on every node: with_nodes gives each node a small disk of its
// own in one folder (--hide), which the nodes offer, and all of them offer one more folder for reading.
#include <cstdlib>
#include <filesystem>

#include "../api/files.hpp"

namespace clique::test {

namespace fs = std::filesystem;

class Files : public FileTest {
 protected:
  void SetUp() override {
    const char* const hidden = std::getenv("CLIQUE_TEST_HIDDEN");
    if (hidden == nullptr || *hidden == '\0') GTEST_SKIP() << "with_nodes hides no folder";
    disk = hidden;
    shared = disk.parent_path() / "shared-files";
    fs::create_directories(shared);
    FileTest::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    ASSERT_EQ(3U, devices().size());
    for (cl_device_id one : devices()) queues.push_back(make_queue(0, one));
  }

  std::string on_node(int node, const std::string& path) const {
    return "node" + std::to_string(node) + ":" + path;
  }
  cl_int write_from(cl_command_queue on, const std::string& path, const std::vector<char>& bytes) {
    const File file = open(path, CL_FILE_WRITE_CLIQUE | CL_FILE_CREATE_CLIQUE);
    const Mem mem = buffer(bytes.size(), bytes.data());
    return write_file(on, file.get(), CL_TRUE, 0, mem, 0, bytes.size(), 0, nullptr, nullptr);
  }
  /// The file's first bytes, as the device of the queue gets them; empty if the read fails with `status`.
  std::vector<char> read_to(cl_command_queue on, const std::string& path, size_t size,
                            cl_int status = CL_SUCCESS) {
    const File file = open(path);
    const Mem mem = buffer<char>(size);
    EXPECT_EQ(status, read_file(on, file.get(), CL_TRUE, 0, mem, 0, size, 0, nullptr, nullptr)) << path;
    std::vector<char> data(status == CL_SUCCESS ? size : 0);
    if (!data.empty()) {
      EXPECT_CL(clEnqueueReadBuffer(on, mem, CL_TRUE, 0, size, data.data(), 0, nullptr, nullptr));
    }
    return data;
  }

  fs::path disk;
  fs::path shared;
  std::vector<Queue> queues;
};

TEST_F(Files, GivenFileOfANodeThenAllNodesReadAndWriteIt) {
  const std::string path = disk / "one";
  std::vector<char> bytes = some_bytes(300'000);
  for (const Queue& writer : queues) {
    std::reverse(bytes.begin(), bytes.end());
    ASSERT_CL(write_from(writer, on_node(2, path), bytes));
    for (const Queue& reader : queues) EXPECT_EQ(bytes, read_to(reader, on_node(2, path), bytes.size()));
  }
  EXPECT_EQ(300'000U, info<cl_ulong>(get_info, open(on_node(2, path)).get(), CL_FILE_SIZE_CLIQUE));
  EXPECT_EQ("node2", info<std::string>(get_info, open(on_node(2, path)).get(), CL_FILE_NODE_CLIQUE));
  // No other node has it, nor this host.
  read_to(queues[2], on_node(1, path), 1, CL_FILE_NOT_FOUND_CLIQUE);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Files, GivenPathWithoutNodeThenEachNodeOpensItsOwn) {
  const std::string path = disk / "own";
  for (size_t i = 0; i < queues.size(); ++i)
    ASSERT_CL(write_from(queues[i], path, std::vector<char>(100, static_cast<char>('a' + i))));
  for (size_t i = 0; i < queues.size(); ++i) {
    const std::vector<char> own(100, static_cast<char>('a' + i));
    EXPECT_EQ(own, read_to(queues[i], path, 100));
    EXPECT_EQ(own, read_to(queues[0], on_node(static_cast<int>(i) + 1, path), 100));
  }
}

TEST_F(Files, GivenContentReadOnOneNodeThenAnotherOneUsesIt) {
  const std::vector<char> bytes = some_bytes(5U << 20U);
  const fs::path path = shared / "large";
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const File file = open(on_node(3, path));
  const Mem mem = buffer<char>(bytes.size());
  const Mem copy = buffer<char>(bytes.size());
  Event done, copied;
  // The file is node 3's, node 1 reads it, and node 2 copies it.
  ASSERT_CL(read_file(queues[0], file.get(), CL_FALSE, 0, mem, 0, bytes.size(), 0, nullptr, done.out()));
  ASSERT_CL(clEnqueueCopyBuffer(queues[1], mem, copy, 0, 0, bytes.size(), 1, done.ptr(), copied.out()));
  ASSERT_CL(clWaitForEvents(1, copied.ptr()));
  EXPECT_EQ(bytes, read<char>(copy, bytes.size()));
  fs::remove(path);
}

TEST_F(Files, GivenEventOfAnotherNodeThenTheFileWaitsForIt) {
  const std::vector<char> bytes = some_bytes(1000);
  ASSERT_CL(write_from(queues[0], on_node(1, disk / "wait"), bytes));
  const File file = open(on_node(1, disk / "wait"), CL_FILE_READ_CLIQUE | CL_FILE_WRITE_CLIQUE);
  const Mem from = buffer(bytes.size(), std::vector<char>(bytes.size(), 'n').data());
  const Mem to = buffer<char>(bytes.size());
  for (const cl_command_queue_properties order : {0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE}) {
    const Queue second = make_queue(order, devices()[1]);
    const Queue third = make_queue(order, devices()[2]);
    Gate gate(context);
    Event written, read_done;
    ASSERT_CL(
        write_file(second, file.get(), CL_FALSE, 0, from, 0, bytes.size(), 1, gate.ptr(), written.out()));
    ASSERT_CL(
        read_file(third, file.get(), CL_FALSE, 0, to, 0, bytes.size(), 1, written.ptr(), read_done.out()));
    ASSERT_CL(clFlush(second));
    ASSERT_CL(clFlush(third));
    EXPECT_GT(status_of(read_done), CL_COMPLETE);
    gate.open();
    ASSERT_CL(clWaitForEvents(1, read_done.ptr()));
    EXPECT_EQ(CL_COMPLETE, status_of(written));
    EXPECT_EQ(std::vector<char>(bytes.size(), 'n'), read<char>(to, bytes.size()));
  }
}

TEST_F(Files, GivenFullDiskThenNoSpaceAndTheSessionGoesOn) {
  const std::string small = on_node(1, disk / "small");
  ASSERT_CL(write_from(queues[0], small, std::vector<char>(1000, 'x')));
  for (const Queue& on : queues) {
    EXPECT_EQ(CL_FILE_NO_SPACE_CLIQUE, write_from(on, on_node(1, disk / "full"), some_bytes(3U << 20U)));
    EXPECT_CL(clFinish(on));
  }
  // What is on the disk can still be read and overwritten.
  const std::vector<char> bytes = some_bytes(1000);
  ASSERT_CL(write_from(queues[1], small, bytes));
  EXPECT_EQ(bytes, read_to(queues[2], small, bytes.size()));
}

TEST_F(Files, GivenFailureElsewhereThenItsStatusIsTheEvents) {
  for (const Queue& on : queues) {
    read_to(on, on_node(2, disk / "missing"), 10, CL_FILE_NOT_FOUND_CLIQUE);
    read_to(on, on_node(2, disk), 10, CL_FILE_NOT_REGULAR_CLIQUE);
    ASSERT_CL(write_from(on, on_node(2, disk / "short"), some_bytes(100)));
    read_to(on, on_node(2, disk / "short"), 101, CL_FILE_END_CLIQUE);
    read_to(on, on_node(2, "/etc/passwd"), 10, CL_FILE_ACCESS_DENIED_CLIQUE);
    EXPECT_EQ(CL_FILE_ACCESS_DENIED_CLIQUE, write_from(on, on_node(2, shared / "new"), some_bytes(10)));
    EXPECT_CL(clFinish(on));
  }
}

TEST_F(Files, GivenNodeWithoutDeviceInTheContextThenInvalidValue) {
  cl_int err = CL_SUCCESS;
  const Context first(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(nullptr, create(first, CL_FILE_READ_CLIQUE, on_node(2, "/file").c_str(), &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
  EXPECT_EQ(nullptr, create(context, CL_FILE_READ_CLIQUE, "node2:file", &err));
  EXPECT_EQ(CL_INVALID_VALUE, err);
}

}  // namespace clique::test
