// The sources of the list of nodes, and the messages for users if something is wrong with it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nodes.hpp"

namespace clique::test {

namespace fs = std::filesystem;

class Configuration : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "clique-test.XXXXXX").string();
    ASSERT_NE(nullptr, ::mkdtemp(name.data()));
    folder = name;
    fs::create_directory(folder / "clique");
    ::unsetenv("CLIQUE_NODES");
    ::setenv("XDG_CONFIG_HOME", folder.c_str(), 1);
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path file() const { return folder / "clique/nodes.toml"; }
  void write(const std::string& text) const { std::ofstream(file()) << text; }
  /// Opens the platform and queries all of its devices, as clinfo does. @returns what was printed to standard
  /// error
  static std::string messages_when_opened() {
    return stderr_of([] {
      ASSERT_NE(nullptr, platform());
      count = 0;
      status = clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    });
  }
  static void expect_works() {
    cl_int err = CL_SUCCESS;
    ASSERT_EQ(1U, count);
    const Context context(clCreateContext(nullptr, 1, devices().data(), nullptr, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    const Queue queue(clCreateCommandQueueWithProperties(context, devices()[0], nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    EXPECT_CL(clFinish(queue));
  }

  inline static cl_uint count = 0;
  inline static cl_int status = CL_SUCCESS;
  fs::path folder;
};

TEST_F(Configuration, FileNamesTheNode) {
  const Node node("alpha");
  write("# where the devices are\nnodes = [\"" + node.address() + "\"]\n");
  EXPECT_EQ("", messages_when_opened());
  expect_works();
  const auto version = info<std::string>(clGetDeviceInfo, devices()[0], CL_DRIVER_VERSION);
  EXPECT_NE(std::string::npos, version.find("node alpha")) << version;
}

TEST_F(Configuration, FileWithTables) {
  const Node node("alpha");
  write("[[node]]\nhost = \"127.0.0.1\"\nport = " + std::to_string(node.port()) + "\n");
  EXPECT_EQ("", messages_when_opened());
  expect_works();
}

TEST_F(Configuration, EnvironmentGoesBeforeTheFile) {
  const Node node("alpha");
  write("nodes = [\"127.0.0.1:1\"]\n");
  use_nodes({node.address()});
  EXPECT_EQ("", messages_when_opened());
  expect_works();
}

TEST_F(Configuration, WrongPortInFile) {
  write("# two nodes\nnodes = [\"a\",\n  \"b:99999\"]\n");
  const std::string text = messages_when_opened();
  EXPECT_NE(std::string::npos, text.find(file().string() + ":3:")) << text;
  EXPECT_NE(std::string::npos, text.find("99999")) << text;
  EXPECT_NE(std::string::npos, text.find("write a number from 1 to 65535")) << text;
  EXPECT_EQ(CL_DEVICE_NOT_FOUND, status);
}

TEST_F(Configuration, UnknownKeyInFile) {
  write("nodes = []\nnoodles = 3\n");
  const std::string text = messages_when_opened();
  EXPECT_NE(std::string::npos, text.find(file().string() + ":2:")) << text;
  EXPECT_NE(std::string::npos, text.find("unknown key 'noodles'; did you mean nodes?")) << text;
}

TEST_F(Configuration, FileThatIsNoToml) {
  write("nodes = [\"a\"\n\nport 3\n");
  const std::string text = messages_when_opened();
  EXPECT_NE(std::string::npos, text.find(file().string() + ":3:")) << text;
}

TEST_F(Configuration, OffMeansNoPlatform) {
  write("nodes = [\"127.0.0.1:1\"]\n");
  use_nodes({"off"});
  cl_uint platforms = 99;
  EXPECT_EQ("", stderr_of([&] { clGetPlatformIDs(0, nullptr, &platforms); }));
  // CTest installs no other platform.
  EXPECT_EQ(0U, platforms);
}

TEST_F(Configuration, UnknownVariable) {
  use_nodes({"off:1"});
  ::setenv("CLIQUE_DEVICE", "0", 1);
  const std::string text = messages_when_opened();
  EXPECT_NE(std::string::npos, text.find("clique: the environment variable CLIQUE_DEVICE is")) << text;
  EXPECT_NE(std::string::npos, text.find("did you mean CLIQUE_DEVICES?\n")) << text;
}

TEST_F(Configuration, WrongEnvironment) {
  use_nodes({"a:b:c:d]", "e"});
  const std::string text = messages_when_opened();
  EXPECT_NE(std::string::npos, text.find("CLIQUE_NODES: node 'a:b:c:d]'")) << text;
  EXPECT_NE(std::string::npos, text.find("write ")) << text;
  EXPECT_EQ(CL_DEVICE_NOT_FOUND, status);
}

TEST_F(Configuration, UnreachableNodeIsReportedOnce) {
  const Node node("alpha");
  int closed = 0;
  {
    // Nothing listens on its port after this block.
    Node gone("beta");
    closed = gone.port();
  }
  use_nodes({"127.0.0.1:" + std::to_string(closed), node.address()});
  std::string text = messages_when_opened();
  text += stderr_of([] {
    expect_works();
    clGetDeviceIDs(platform(), CL_DEVICE_TYPE_GPU, 0, nullptr, nullptr);
  });
  const std::string line =
      "node '127.0.0.1:" + std::to_string(closed) + "' cannot be reached: connection refused";
  EXPECT_EQ(1, std::count(text.begin(), text.end(), '\n')) << text;
  EXPECT_NE(std::string::npos, text.find(line)) << text;
  EXPECT_NE(std::string::npos, text.find("Is cliqued running there?")) << text;
}

TEST_F(Configuration, UnknownHostIsReportedOnce) {
  const Node node("alpha");
  use_nodes({node.address(), "no-such-host.invalid"});
  const std::string text = messages_when_opened();
  expect_works();
  EXPECT_EQ(1, std::count(text.begin(), text.end(), '\n')) << text;
  EXPECT_NE(std::string::npos, text.find("node 'no-such-host.invalid:7890' cannot be reached: its name "))
      << text;
}

TEST_F(Configuration, WithoutNodesThisHostIsUsed) {
  if (fs::exists("/etc/clique/nodes.toml")) GTEST_SKIP() << "this host is configured";
  EXPECT_EQ("", messages_when_opened());
  ASSERT_GE(count, 1U);
  count = 1;
  expect_works();
}

TEST_F(Configuration, MissingDaemonIsReported) {
  use_nodes({});
  ::setenv("CLIQUE_DAEMON", "/nonexistent/cliqued", 1);
  const std::string text = messages_when_opened();
  EXPECT_NE(std::string::npos, text.find("CLIQUE_DAEMON is '/nonexistent/cliqued'")) << text;
  EXPECT_EQ(CL_DEVICE_NOT_FOUND, status);
}

}  // namespace clique::test
