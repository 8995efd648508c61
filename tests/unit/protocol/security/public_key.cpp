#include "protocol/security/public_key.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

namespace clique::protocol {
namespace {

PublicKey key_from(std::uint8_t first, std::uint8_t step) {
  PublicKey::Bytes bytes{};
  for (std::uint8_t& byte : bytes) {
    byte = first;
    first = static_cast<std::uint8_t>(first + step);
  }
  return PublicKey(bytes);
}

TEST(PublicKey, TextAndFingerprintAreThoseOfOtherTools) {
  // printf '\0\1…\37' | base64, and | sha256sum | xxd -r -p | base64
  const PublicKey key = key_from(0, 1);
  EXPECT_EQ(key.text(), "ed25519:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  EXPECT_EQ(key.fingerprint(), "SHA256:Yw3NKWbEM2aRElRIu7JbT/QSpJxzLbLIq8G4WBvXEN0");
}

/// The public keys of the first two tests of RFC 8032, section 7.1.
constexpr PublicKey::Bytes kRfc8032Keys[] = {
    {0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
     0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a},
    {0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc,
     0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c}};

TEST(PublicKey, TheProtocolsPageHasTheKeysOfRfc8032AndTheirFingerprints) {
  std::ifstream page(CLIQUE_SOURCE_DIR "/protocol/security.md");
  std::vector<std::string> examples;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("ed25519:")) examples.push_back(line);
  std::vector<std::string> expected;
  for (const PublicKey::Bytes& bytes : kRfc8032Keys) {
    const PublicKey key(bytes);
    expected.push_back(key.text() + " " + key.fingerprint());
    EXPECT_EQ(PublicKey::parse(key.text()), key);
  }
  EXPECT_EQ(examples, expected);
}

TEST(PublicKey, ReadsWhatItWrites) {
  for (const PublicKey& key : {key_from(0, 0), key_from(255, 0), key_from(7, 13)})
    EXPECT_EQ(PublicKey::parse(key.text()), key);
}

TEST(PublicKey, HasOneSpelling) {
  const std::string text = key_from(7, 13).text();
  ASSERT_EQ(text.size(), 52U);
  std::string other_bits = text;
  ++other_bits[text.size() - 2];  // the last character before '=' has two bits that mean nothing
  std::string space = text;
  space[20] = ' ';
  std::string zero = text;
  zero[20] = '\0';
  EXPECT_THROW(PublicKey::parse(zero), SecurityError);
  for (const std::string& wrong :
       {std::string(), std::string("ed25519:"), text.substr(8), text.substr(0, text.size() - 1),
        text.substr(0, text.size() - 1) + "A", text + "=", text + "\n", " " + text,
        "ED25519:" + text.substr(8), "ed25519 " + text.substr(8), other_bits, space,
        std::string(1U << 20U, 'A')}) {
    try {
      PublicKey::parse(wrong);
      ADD_FAILURE() << "accepts '" << wrong.substr(0, 100) << "'";
    } catch (const SecurityError& error) {
      EXPECT_NE(std::string(error.what()).find("is not a public key"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace clique::protocol
