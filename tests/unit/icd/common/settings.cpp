#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "icd/common/settings.hpp"

namespace clique::icd {
namespace {

std::string failure(const std::string& toml) {
  try {
    parse_nodes_file(toml, "nodes.toml");
  } catch (const SettingError& error) {
    return error.what();
  }
  return "no failure";
}

std::string list_failure(const std::string& list) {
  try {
    parse_node_list(list);
  } catch (const SettingError& error) {
    return error.what();
  }
  return "no failure";
}

TEST(NodeList, TakesNamesPortsAndBracketedAddresses) {
  const auto nodes = parse_node_list("a, b:7890,[::1]:7891 ,,10.0.0.1:1,fe80::1,");
  const std::vector<NodeAddress> expected{
      {"a", 7890}, {"b", 7890}, {"::1", 7891}, {"10.0.0.1", 1}, {"fe80::1", 7890}};
  EXPECT_EQ(nodes, expected);
  EXPECT_EQ(nodes[2].text(), "[::1]:7891");
  EXPECT_EQ(nodes[0].text(), "a:7890");
}

TEST(NodeList, RefusesSpacesAndControlCharacters) {
  for (const char* const node : {"[\r1]", "[\x1b]:1", "a\nb", "a b", "[a\x7f]"})
    EXPECT_NE(list_failure(node).find("is not a host"), std::string::npos) << node;
}

TEST(NodeList, TakesAddressesOfVsock) {
  const auto nodes = parse_node_list("vsock:2,vsock:1:7891, vsock:4294967294:1");
  const std::vector<NodeAddress> expected{{"vsock:2", 7890}, {"vsock:1", 7891}, {"vsock:4294967294", 1}};
  EXPECT_EQ(nodes, expected);
  EXPECT_EQ(nodes[0].text(), "vsock:2:7890");
  EXPECT_EQ(nodes[1].text(), "vsock:1:7891");
  // A host may have this name.
  const NodeAddress host = parse_node("vsock");
  EXPECT_EQ(host.text(), "[vsock]:7890");
  EXPECT_EQ(parse_node(host.text()), host);
  for (const char* const node : {"vsock:", "vsock:host", "vsock:-1", "vsock:4294967295", "vsock::7890"})
    EXPECT_NE(list_failure(node).find("write vsock:CID or vsock:CID:PORT"), std::string::npos) << node;
  EXPECT_NE(list_failure("vsock:2:0").find("'0' is not a port"), std::string::npos);
  EXPECT_NE(list_failure("vsock:2:1:3").find("is not a port"), std::string::npos);
}

TEST(NodeList, TakesHostLists) {
  const auto nodes = parse_node_list("node[01-02,7], gpu[9-10]:1,r[1-2]n[08,3]x,[::1]");
  const std::vector<NodeAddress> expected{
      {"node01", 7890}, {"node02", 7890}, {"node7", 7890},  {"gpu9", 1},     {"gpu10", 1},
      {"r1n08x", 7890}, {"r1n3x", 7890},  {"r2n08x", 7890}, {"r2n3x", 7890}, {"::1", 7890}};
  EXPECT_EQ(nodes, expected);
  EXPECT_EQ(parse_node_list("n[0098-1001]").at(2).host, "n0100");
  EXPECT_EQ(parse_node_list("n[1-1024]").size(), 1024U);
}

TEST(NodeList, ExplainsWhatIsWrongWithHostLists) {
  const std::string remedy = "; write for example node[01-04,7]";
  EXPECT_EQ(list_failure("a,node[01-x]"),
            "node 'node[01-x]': '01-x' at character 6 is neither a number nor a range of numbers" + remedy);
  EXPECT_EQ(list_failure("n[1,]"),
            "node 'n[1,]': '' at character 5 is neither a number nor a range of numbers" + remedy);
  EXPECT_EQ(list_failure("n[1,7-3]"),
            "node 'n[1,7-3]': '7-3' at character 5 is a range that ends before it begins" + remedy);
  EXPECT_EQ(list_failure("n[1,2"), "node 'n[1,2': the bracket at character 2 is not closed" + remedy);
  EXPECT_NE(list_failure("n1]").find("is not a host"), std::string::npos);
  for (const char* const list : {"n[1-1025]", "n[0-4294967295]", "n[1-1000,1-1000]", "r[1-100]n[1-100]"})
    EXPECT_EQ(list_failure(list),
              "node '" + std::string(list) + "' stands for more than 1024 nodes; write fewer");
}

TEST(NodeList, LosesNodesThatItHasAlready) {
  auto nodes = parse_node_list("b,a,b:7891,n[1-2],b:7890,n2");
  const std::vector<NodeAddress> repeated{{"b", 7890}, {"n2", 7890}};
  EXPECT_EQ(remove_repeated(nodes), repeated);
  const std::vector<NodeAddress> left{{"b", 7890}, {"a", 7890}, {"b", 7891}, {"n1", 7890}, {"n2", 7890}};
  EXPECT_EQ(nodes, left);
}

TEST(NodeList, IsEmptyForBlanks) {
  EXPECT_TRUE(parse_node_list("").empty());
  EXPECT_TRUE(parse_node_list(" , ").empty());
}

TEST(NodeList, ExplainsWhatIsWrong) {
  EXPECT_EQ(list_failure("b:x"),
            "node 'b:x': 'x' is not a port; write a number from 1 to 65535 after the colon");
  EXPECT_EQ(list_failure("b:65536"),
            "node 'b:65536': '65536' is not a port; write a number from 1 to 65535 after the colon");
  EXPECT_EQ(list_failure(":7890"), "node ':7890' has no host; write host or host:port");
  EXPECT_EQ(list_failure("[::1"), "node '[::1': the bracket is not closed; write [address]:port");
  EXPECT_EQ(list_failure("[::1]7"), "node '[::1]7': '7' after the address; write [address]:port");
  EXPECT_NE(list_failure("a b").find("is not a host"), std::string::npos);
  EXPECT_NE(list_failure("tcp://a").find("is not a host"), std::string::npos);
}

TEST(NodesToml, TakesListsAndTables) {
  const NodeSettings settings = parse_nodes_file(R"(
nodes = ["a", "b:1"]
connect_timeout_ms = 250
[[node]]
host = "c"
[[node]]
host = "::1"
port = 2
)",
                                                 "nodes.toml");
  const std::vector<NodeAddress> expected{{"a", 7890}, {"b", 1}, {"c", 7890}, {"::1", 2}};
  EXPECT_EQ(settings.nodes, expected);
  EXPECT_EQ(settings.connect_timeout, std::chrono::milliseconds(250));
}

TEST(NodesToml, TakesGroupsOfDevices) {
  EXPECT_EQ(parse_nodes_file("combine = \"a,b;c,d\"", "nodes.toml").combine, "a,b;c,d");
  EXPECT_EQ(parse_nodes_file("nodes = [\"a\"]", "nodes.toml").combine, "");
}

TEST(NodesToml, TakesHostLists) {
  const NodeSettings settings =
      parse_nodes_file("nodes = [\"a[1-2]:1\"]\n[[node]]\nhost = \"b[3,04]\"\nport = 2", "nodes.toml");
  const std::vector<NodeAddress> expected{{"a1", 1}, {"a2", 1}, {"b3", 2}, {"b04", 2}};
  EXPECT_EQ(settings.nodes, expected);
}

TEST(NodesToml, TakesTheTransport) {
  EXPECT_EQ(parse_nodes_file("nodes = [\"a\"]", "nodes.toml").transport, Transport::Auto);
  EXPECT_EQ(parse_nodes_file("transport = \"ucx\"", "nodes.toml").transport, Transport::Ucx);
  EXPECT_EQ(parse_nodes_file("transport = \"zeromq\"", "nodes.toml").transport, Transport::ZeroMq);
  EXPECT_EQ(failure("transport = \"rdma\"").rfind("nodes.toml:1:13: transport is 'rdma'; write auto, ucx", 0),
            0U);
}

TEST(NodesToml, NamesThePlaceOfAnError) {
  EXPECT_EQ(failure("nodes = [\"n[x]\"]").rfind("nodes.toml:1:10: node 'n[x]': 'x' at character 3", 0), 0U);
  EXPECT_EQ(failure("[[node]]\nhost = \"n[x]\"").rfind("nodes.toml:2:8: node 'n[x]': 'x'", 0), 0U);
  EXPECT_EQ(failure("\nnods = []"), "nodes.toml:2:1: unknown key 'nods'; did you mean nodes?");
  EXPECT_EQ(failure("\ncolour = 1"),
            "nodes.toml:2:1: unknown key 'colour'; known are nodes, [[node]], order, exclusive, combine, "
            "device-names, vendor, local-memory, connect-timeout-ms, build-timeout-s, remember-unreachable, "
            "insecure, "
            "encryption, auth, transport and compression");
  EXPECT_EQ(failure("conect_timeout_ms = 1"),
            "nodes.toml:1:1: unknown key 'conect_timeout_ms'; did you mean connect-timeout-ms?");
  EXPECT_EQ(failure("nodes = [\"a\", 7]"),
            "nodes.toml:1:15: a node is 7; write a string, such as \"b:7890\"");
  EXPECT_EQ(failure("nodes = [[]]"), "nodes.toml:1:10: a node is a list; write a string, such as \"b:7890\"");
  EXPECT_EQ(failure("nodes = \"a\"").rfind("nodes.toml:1:9: nodes is 'a'; write a list of strings", 0), 0U);
  EXPECT_EQ(failure("nodes = [\"a:0\"]").rfind("nodes.toml:1:10: node 'a:0': '0' is not a port", 0), 0U);
  EXPECT_EQ(failure("[[node]]\nport = 1").rfind("nodes.toml:1:1: a [[node]] has no host; write host", 0), 0U);
  EXPECT_EQ(failure("[[node]]\nhost = \"a\"\npart = 1"),
            "nodes.toml:3:1: unknown key 'part' of a [[node]]; did you mean port?");
  EXPECT_EQ(failure("[[node]]\nhost = \"a\"\ncolour = 1"),
            "nodes.toml:3:1: unknown key 'colour' of a [[node]]; known are host and port");
  EXPECT_EQ(failure("[node]\nhost = \"a\"").rfind("nodes.toml:1:1: node is a table; write [[node]]", 0), 0U);
  EXPECT_EQ(
      failure("node = [1.5]"),
      "nodes.toml:1:9: node has a number with a fraction; write [[node]], then host = \"...\" below it");
  EXPECT_EQ(failure("[[node]]\nhost = 2026-01-01"),
            "nodes.toml:2:8: host is a date or a time; write a name or an address as a string");
  EXPECT_EQ(failure("[[node]]\nhost = \"a\"\nport = 65536"),
            "nodes.toml:3:8: port is 65536; write a number from 1 to 65535");
  EXPECT_EQ(failure("connect-timeout-ms = 0").rfind("nodes.toml:1:22: connect-timeout-ms is 0", 0), 0U);
  EXPECT_EQ(failure("build-timeout-s = -1").rfind("nodes.toml:1:19: build-timeout-s is -1; write seconds", 0),
            0U);
  EXPECT_EQ(failure("build-timeout-s = \"long\"").rfind("nodes.toml:1:19: build-timeout-s is 'long'", 0), 0U);
  EXPECT_EQ(
      failure("device-names = \"both\"").rfind("nodes.toml:1:16: device-names is 'both'; write plain", 0),
      0U);
  EXPECT_EQ(failure("nodes = [").rfind("nodes.toml:1:", 0), 0U);
}

TEST(NodesToml, TakesKeysWithUnderscoresAndHyphensButNotBoth) {
  for (const char* const key : {"connect-timeout-ms", "connect_timeout_ms"})
    EXPECT_EQ(parse_nodes_file(std::string(key) + " = 250", "nodes.toml").connect_timeout.count(), 250)
        << key;
  EXPECT_EQ(
      failure("connect-timeout-ms = 1\nconnect_timeout_ms = 1"),
      "nodes.toml:2:1: connect-timeout-ms is given twice, with a hyphen and with an underscore; remove one "
      "of them");
}

class Sources : public testing::Test {
 protected:
  Sources() {
    char pattern[] = "/tmp/clique-config-XXXXXX";
    folder = ::mkdtemp(pattern);
  }
  ~Sources() override { std::filesystem::remove_all(folder); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder / path).parent_path());
    std::ofstream(folder / path) << text;
  }
  NodeSettings read() const {
    return NodeSettings::read(
        [this](Variable variable) -> std::optional<std::string> {
          const auto found = environment.find(variable.name());
          return found == environment.end() ? std::nullopt : std::optional(found->second);
        },
        folder / "etc/nodes.toml");
  }
  std::string first() const {
    const auto settings = read();
    return settings.nodes.empty() ? "embedded" : settings.nodes.front().host;
  }
  std::filesystem::path folder;
  std::map<std::string, std::string> environment;
};

TEST_F(Sources, GoFromTheEnvironmentToTheSystemsFile) {
  EXPECT_EQ(first(), "embedded");
  write("etc/nodes.toml", "nodes = [\"system\"]");
  EXPECT_EQ(first(), "system");
  environment["HOME"] = folder / "home";
  EXPECT_EQ(first(), "system");
  write("home/.config/clique/nodes.toml", "nodes = [\"home\"]");
  EXPECT_EQ(first(), "home");
  environment["XDG_CONFIG_HOME"] = folder / "xdg";
  EXPECT_EQ(first(), "system");
  write("xdg/clique/nodes.toml", "nodes = [\"xdg\"]");
  EXPECT_EQ(first(), "xdg");
  environment["CLIQUE_NODES"] = "environment";
  EXPECT_EQ(first(), "environment");
  environment["CLIQUE_NODES"] = "";
  EXPECT_EQ(first(), "embedded");
}

TEST_F(Sources, MayBeAHostFile) {
  const auto hosts = [this](const std::string& text) {
    write("hosts", text);
    environment["CLIQUE_HOSTFILE"] = folder / "hosts";
    std::string list;
    for (const NodeAddress& node : read().nodes) list += (list.empty() ? "" : " ") + node.text();
    return list;
  };
  write("etc/nodes.toml", "nodes = [\"system\"]");
  EXPECT_EQ(hosts("# a cluster\nalpha\n\n  beta:1234  # with a port\n\t[::1]:7\ngamma[1-2]\n"),
            "alpha:7890 beta:1234 [::1]:7 gamma1:7890 gamma2:7890");
  EXPECT_EQ(hosts("alpha slots=4\nbeta max_slots=8 slots=2\nalpha max-slots=1"), "alpha:7890 beta:7890");
  environment["CLIQUE_NODES"] = "delta";
  EXPECT_EQ(hosts("alpha"), "delta:7890");
  environment.erase("CLIQUE_NODES");
  environment["CLIQUE_HOSTFILE"] = "";
  EXPECT_EQ(first(), "system");
}

TEST_F(Sources, ThatAreWrongHostFilesAreNamed) {
  const auto problem = [this](const std::string& text) {
    write("hosts", text);
    environment["CLIQUE_HOSTFILE"] = folder / "hosts";
    try {
      read();
    } catch (const SettingError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_NE(problem("alpha\nbeta gamma\n").find("hosts:2: 'gamma' behind node 'beta' is not known"),
            std::string::npos);
  EXPECT_NE(problem("\n\nalpha:x").find("hosts:3: "), std::string::npos);
  EXPECT_NE(problem("# nothing\n").find("which has no node"), std::string::npos);
  environment["CLIQUE_HOSTFILE"] = folder / "none";
  EXPECT_THROW(read(), SettingError);
}

TEST_F(Sources, TimeoutOfBuildsOfTheEnvironmentGoesFirst) {
  EXPECT_EQ(read().build_timeout, std::chrono::minutes(10));
  write("etc/nodes.toml", "build-timeout-s = 10");
  EXPECT_EQ(read().build_timeout.count(), 10);
  environment["CLIQUE_BUILD_TIMEOUT_S"] = "0";
  EXPECT_EQ(read().build_timeout.count(), 0);
  for (const char* const wrong : {"soon", "-1", "604801"}) {
    environment["CLIQUE_BUILD_TIMEOUT_S"] = wrong;
    EXPECT_THROW(read(), SettingError) << wrong;
  }
}

TEST_F(Sources, TimeoutOfTheEnvironmentGoesFirst) {
  write("etc/nodes.toml", "connect_timeout_ms = 10");
  EXPECT_EQ(read().connect_timeout.count(), 10);
  environment["CLIQUE_CONNECT_TIMEOUT_MS"] = "20";
  EXPECT_EQ(read().connect_timeout.count(), 20);
  environment["CLIQUE_CONNECT_TIMEOUT_MS"] = "soon";
  EXPECT_THROW(read(), SettingError);
  environment["CLIQUE_CONNECT_TIMEOUT_MS"] = "-1";
  EXPECT_THROW(read(), SettingError);
}

TEST_F(Sources, OfThePlaceForUnreachableNodesAreTheUsersFolders) {
  EXPECT_EQ(read().unreachable_file, "");
  environment["HOME"] = "/home/a";
  EXPECT_EQ(read().unreachable_file, "/home/a/.cache/clique/unreachable-nodes");
  environment["XDG_CACHE_HOME"] = "/cache";
  EXPECT_EQ(read().unreachable_file, "/cache/clique/unreachable-nodes");
  environment["XDG_RUNTIME_DIR"] = "/run/user/1";
  EXPECT_EQ(read().unreachable_file, "/run/user/1/clique/unreachable-nodes");
  write("etc/nodes.toml", "remember-unreachable = false");
  EXPECT_EQ(read().unreachable_file, "");
  environment["CLIQUE_REMEMBER_UNREACHABLE"] = "1";
  EXPECT_NE(read().unreachable_file, "");
  environment["CLIQUE_REMEMBER_UNREACHABLE"] = "0";
  EXPECT_EQ(read().unreachable_file, "");
  environment["CLIQUE_REMEMBER_UNREACHABLE"] = "no";
  EXPECT_THROW(read(), SettingError);
}

TEST_F(Sources, NodesMayHaveToBeFound) {
  EXPECT_FALSE(read().discover);
  environment["CLIQUE_NODES"] = "auto";
  EXPECT_TRUE(read().discover);
  EXPECT_TRUE(read().nodes.empty());
  environment["CLIQUE_NODES"] = "auto:7890";
  EXPECT_FALSE(read().discover);
  EXPECT_EQ(read().nodes.size(), 1U);
  EXPECT_TRUE(parse_nodes_file("nodes = \"auto\"", "nodes.toml").discover);
  EXPECT_THROW(parse_nodes_file("nodes = \"alpha\"", "nodes.toml"), SettingError);
  EXPECT_EQ(nodes_file_values("nodes = \"auto\"", "nodes.toml").at(0).value, "auto");
}

TEST_F(Sources, OrdersDevicesAndKeepsThemFromOthers) {
  EXPECT_FALSE(read().idle_first);
  EXPECT_FALSE(read().exclusive);
  environment["CLIQUE_ORDER"] = "idle";
  environment["CLIQUE_EXCLUSIVE"] = "1";
  EXPECT_TRUE(read().idle_first);
  EXPECT_TRUE(read().exclusive);
  environment["CLIQUE_ORDER"] = "nodes";
  EXPECT_FALSE(read().idle_first);
  environment["CLIQUE_ORDER"] = "load";
  EXPECT_THROW(read(), SettingError);
  const NodeSettings file = parse_nodes_file("order = \"idle\"\nexclusive = true", "nodes.toml");
  EXPECT_TRUE(file.idle_first);
  EXPECT_TRUE(file.exclusive);
  EXPECT_THROW(parse_nodes_file("order = true", "nodes.toml"), SettingError);
}

TEST_F(Sources, OfDeviceNamesAreTheEnvironmentAndTheFile) {
  EXPECT_FALSE(read().device_names_with_node);
  write("etc/nodes.toml", "device_names = \"node\"");
  EXPECT_TRUE(read().device_names_with_node);
  environment["CLIQUE_DEVICE_NAMES"] = "plain";
  EXPECT_FALSE(read().device_names_with_node);
  environment["CLIQUE_DEVICE_NAMES"] = "short";
  EXPECT_THROW(read(), SettingError);
}

TEST_F(Sources, OfTheVendorAreTheEnvironmentAndTheFile) {
  EXPECT_FALSE(read().vendor.always);
  write("etc/nodes.toml", "vendor = \"native\"");
  EXPECT_TRUE(read().vendor.always);
  environment["CLIQUE_VENDOR"] = "clique";
  EXPECT_FALSE(read().vendor.always);
  environment["CLIQUE_VENDOR"] = "native:";
  EXPECT_THROW(read(), SettingError);
  EXPECT_THROW(parse_nodes_file("vendor = 1", "nodes.toml"), SettingError);
}

TEST_F(Sources, OfTheLocalMemoryAreTheEnvironmentAndTheFile) {
  write("etc/nodes.toml", "local-memory = \"quarter\"");
  EXPECT_EQ(LocalMemory::Quarter, read().local_memory);
  environment["CLIQUE_LOCAL_MEMORY"] = "whole";
  EXPECT_EQ(LocalMemory::Whole, read().local_memory);
  environment["CLIQUE_LOCAL_MEMORY"] = "56";
  EXPECT_THROW(read(), SettingError);
}

TEST_F(Sources, TheTimeToSpinIsANumberOfMicroseconds) {
  for (const char* const good : {"", "0", "50", "1000000"}) {
    environment["CLIQUE_SPIN_US"] = good;
    const auto expected =
        *good == '\0' ? std::nullopt : std::optional(std::chrono::microseconds(std::stol(good)));
    EXPECT_EQ(read().spin_time, expected) << good;
  }
  for (const char* const bad : {"-1", "1000001", "soon", "5us"}) {
    environment["CLIQUE_SPIN_US"] = bad;
    EXPECT_THROW(read(), SettingError) << bad;
  }
}

TEST_F(Sources, KeysAreInTheUsersFolderAndTheSystems) {
  EXPECT_EQ(read().security.identity, "");
  EXPECT_EQ(read().security.known_nodes, std::vector<std::string>{"/etc/clique/known-nodes"});
  environment["HOME"] = folder / "home";
  EXPECT_EQ(read().security.identity, "") << "the file does not exist";
  write("home/.config/clique/client.key", "");
  EXPECT_EQ(read().security.identity, folder / "home/.config/clique/client.key");
  const std::vector<std::string> known{folder / "home/.config/clique/known-nodes", "/etc/clique/known-nodes"};
  EXPECT_EQ(read().security.known_nodes, known);
  // A file that is named is used, whether it exists or not.
  environment["CLIQUE_IDENTITY"] = "/some/key";
  environment["CLIQUE_KNOWN_NODES"] = "/some/nodes";
  EXPECT_EQ(read().security.identity, "/some/key");
  EXPECT_EQ(read().security.known_nodes, std::vector<std::string>{"/some/nodes"});
}

TEST_F(Sources, SecurityOfTheEnvironmentGoesFirst) {
  EXPECT_FALSE(read().security.insecure);
  EXPECT_EQ(read().security.encryption, protocol::Encryption::None);
  EXPECT_EQ(read().security.munge, std::nullopt);
  write("etc/nodes.toml", "insecure = true\nencryption = \"all\"\nauth = \"munge:/some/socket\"");
  EXPECT_TRUE(read().security.insecure);
  EXPECT_EQ(read().security.encryption, protocol::Encryption::All);
  EXPECT_EQ(read().security.munge, "/some/socket");
  environment["CLIQUE_INSECURE"] = "0";
  environment["CLIQUE_ENCRYPTION"] = "none";
  environment["CLIQUE_AUTH"] = "keys";
  EXPECT_FALSE(read().security.insecure);
  EXPECT_EQ(read().security.encryption, protocol::Encryption::None);
  EXPECT_EQ(read().security.munge, std::nullopt);
  environment["CLIQUE_AUTH"] = "munge";
  EXPECT_EQ(read().security.munge, "");
  for (const char* const name : {"CLIQUE_INSECURE", "CLIQUE_ENCRYPTION", "CLIQUE_AUTH"}) {
    const std::string before = std::exchange(environment[name], "perhaps");
    EXPECT_THROW(read(), SettingError) << name;
    environment[name] = before;
  }
}

TEST(NodesToml, RefusesMalformedFiles) {
  for (const char* toml :
       {"a.", "[a.", "[a.#", "x={a.", "é=1", "a.é=1", "x=12:é", "x=1979-05-27T07:é", "x=[é"})
    EXPECT_THROW(parse_nodes_file(toml, "nodes.toml"), SettingError) << toml;
}

TEST(NodesToml, NamesWhatIsWrongWithSecurity) {
  EXPECT_EQ(failure("insecure = 1"), "nodes.toml:1:12: insecure is 1; write true or false");
  EXPECT_EQ(failure("encryption = true"),
            "nodes.toml:1:14: encryption is true; write \"all\", \"commands\" or \"none\"");
  EXPECT_NE(failure("encryption = \"some\"").find("encryption is 'some'"), std::string::npos);
  EXPECT_EQ(failure("auth = 1"), "nodes.toml:1:8: auth is 1; write \"keys\" or \"munge\"");
  EXPECT_NE(failure("auth = \"munge:\"").find("auth is 'munge:'"), std::string::npos);
}

TEST_F(Sources, SharedMemoryIsOnOrOff) {
  EXPECT_TRUE(read().shared_memory);
  environment["CLIQUE_SHARED_MEMORY"] = "0";
  EXPECT_FALSE(read().shared_memory);
  environment["CLIQUE_SHARED_MEMORY"] = "1";
  EXPECT_TRUE(read().shared_memory);
  environment["CLIQUE_SHARED_MEMORY"] = "no";
  EXPECT_THROW(read(), SettingError);
}

TEST_F(Sources, AnEmptyFileIsSaidToBeEmpty) {
  const std::string file = folder / "etc/nodes.toml";
  for (const char* const text : {"", " \n\n"}) {
    write("etc/nodes.toml", text);
    try {
      read();
      ADD_FAILURE() << "an empty file is read";
    } catch (const SettingError& error) {
      EXPECT_EQ(error.what(), file +
                                  " is empty and names no nodes; write nodes = [\"HOST\"], or remove the "
                                  "file to use this host");
    }
  }
  write("etc/nodes.toml", "# nodes = []");
  EXPECT_EQ(first(), "embedded");
}

TEST_F(Sources, AnUnreadableFileIsAnError) {
  std::filesystem::create_directories(folder / "etc/nodes.toml");
  EXPECT_THROW(read(), SettingError);
}

}  // namespace
}  // namespace clique::icd
