#include "protocol/security/identity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

namespace clique::protocol {
namespace {

namespace fs = std::filesystem;

class IdentityFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "clique-identity-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  static mode_t permissions(const fs::path& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path written(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name) << text;
    ::chmod((folder / name).c_str(), 0600);
    return folder / name;
  }
  /// A file with a key of another kind.
  fs::path written(const std::string& name, EVP_PKEY* key, const char* password = nullptr) const {
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> owner(key, EVP_PKEY_free);
    const fs::path path = written(name, "");
    std::FILE* const file = std::fopen(path.c_str(), "w");
    EXPECT_EQ(PEM_write_PKCS8PrivateKey(file, key, password != nullptr ? EVP_aes_256_cbc() : nullptr,
                                        password, password != nullptr ? 4 : 0, nullptr, nullptr),
              1);
    std::fclose(file);
    return path;
  }
  /// Why the file cannot be read; empty if it can.
  static std::string refusal(const fs::path& path) {
    try {
      Identity::read(path);
      return {};
    } catch (const SecurityError& error) {
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
      return error.what();
    }
  }

  fs::path folder;
};

#define EXPECT_PART(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(IdentityFile, HasTheSameKeyWhenItIsReadAgain) {
  const Identity made = Identity::generate();
  made.write(folder / "key");
  EXPECT_EQ(Identity::read(folder / "key").public_key(), made.public_key());
  EXPECT_NE(Identity::generate().public_key(), made.public_key());
}

TEST_F(IdentityFile, IsForItsUserAlone) {
  const mode_t before = ::umask(0);
  Identity::generate().write(folder / "a/b/key");
  ::umask(before);
  EXPECT_EQ(permissions(folder / "a/b/key"), 0600U);
}

TEST_F(IdentityFile, ReplacesNothing) {
  const fs::path path = written("key", "mine");
  EXPECT_THROW(Identity::generate().write(path), SecurityError);
  EXPECT_EQ(text_of(path), "mine");
  fs::create_symlink(folder / "target", folder / "link");
  EXPECT_THROW(Identity::generate().write(folder / "link"), SecurityError);
  EXPECT_FALSE(fs::exists(folder / "target"));
  EXPECT_THROW(Identity::generate().write(folder), SecurityError);
}

TEST_F(IdentityFile, IsRefusedIfOthersMayUseIt) {
  Identity::generate().write(folder / "key");
  for (const mode_t mode : {0640U, 0620U, 0610U, 0604U, 0602U, 0601U, 0777U}) {
    ::chmod((folder / "key").c_str(), mode);
    EXPECT_PART(refusal(folder / "key"), "can be read or changed by other users");
  }
  ::chmod((folder / "key").c_str(), 0400);
  EXPECT_EQ(refusal(folder / "key"), "");
}

TEST_F(IdentityFile, IsRefusedIfItIsSomethingElse) {
  EXPECT_PART(refusal(folder / "missing"), "cannot be read");
  EXPECT_PART(refusal(folder), "is not a regular file");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_PART(refusal(folder / "pipe"), "is not a regular file");
  EXPECT_PART(refusal("/dev/null"), "is not a regular file");
  EXPECT_PART(refusal(written("empty", "")), "does not contain a private key");
  EXPECT_PART(refusal(written("text", "ed25519:AAAA\n")), "does not contain a private key");
  Identity::generate().write(folder / "key");
  const std::string whole = text_of(folder / "key");
  EXPECT_PART(refusal(written("cut", whole.substr(0, whole.size() / 2))), "does not contain a private key");
  EXPECT_PART(refusal(written("ec", EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"))),
              "contains a key of another kind");
  EXPECT_PART(refusal(written("rsa", EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}))),
              "contains a key of another kind");
  EXPECT_PART(refusal(written("x25519", EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"))),
              "contains a key of another kind");
  // Must not ask for the password at a terminal.
  EXPECT_PART(refusal(written("locked", EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), "word")),
              "does not contain a private key");
}

}  // namespace
}  // namespace clique::protocol
