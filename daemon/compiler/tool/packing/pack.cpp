#include "daemon/compiler/tool/packing/pack.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>

namespace clique::daemon::compiler {

struct Pack::Text {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

struct Pack::Entry {
  Text name;
  std::uint32_t conditional = 0;
  std::uint32_t first_need = 0;
  std::uint32_t needs = 0;
  Text bitcode;
};

struct Pack::Header {
  std::array<char, 8> magic{};
  std::uint32_t entries = 0;
  std::uint32_t needs = 0;
};

namespace {

constexpr std::array<char, 8> kMagic{'C', 'L', 'Q', 'P', 'A', 'C', 'K', '1'};

template <typename T>
void append(protocol::Bytes& bytes, const T& value) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

}  // namespace

// The file has the header, the entries ordered by name and rank, the needs, and then all names and bitcode.
protocol::Bytes make_pack(std::vector<PackMember> members) {
  std::sort(members.begin(), members.end(), [](const PackMember& a, const PackMember& b) {
    return std::tie(a.name, a.rank) < std::tie(b.name, b.rank);
  });
  std::size_t needs = 0;
  for (const PackMember& member : members) needs += member.needs.size();
  const std::size_t contents_begin =
      sizeof(Pack::Header) + members.size() * sizeof(Pack::Entry) + needs * sizeof(Pack::Text);

  protocol::Bytes contents;
  const auto put = [&](const auto& bytes) {
    // LLVM reads bitcode in words.
    contents.resize((contents.size() + 3) / 4 * 4);
    const Pack::Text place{static_cast<std::uint32_t>(contents_begin + contents.size()),
                           static_cast<std::uint32_t>(bytes.size())};
    contents.insert(contents.end(), bytes.begin(), bytes.end());
    return place;
  };
  std::vector<Pack::Entry> entries;
  std::vector<Pack::Text> need_names;
  for (const PackMember& member : members) {
    entries.push_back({put(member.name), member.conditional ? 1U : 0U,
                       static_cast<std::uint32_t>(need_names.size()),
                       static_cast<std::uint32_t>(member.needs.size()), put(member.bitcode)});
    for (const std::string& need : member.needs) need_names.push_back(put(need));
  }

  protocol::Bytes file;
  append(file, Pack::Header{kMagic, static_cast<std::uint32_t>(entries.size()),
                            static_cast<std::uint32_t>(need_names.size())});
  for (const auto& entry : entries) append(file, entry);
  for (const auto& name : need_names) append(file, name);
  file.insert(file.end(), contents.begin(), contents.end());
  return file;
}

Pack::Pack(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
  Header header;
  if (bytes.size() < sizeof header)
    throw std::runtime_error("the file is not a device library of this version of clique-compiler");
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t index = header.entries * sizeof(Entry) + header.needs * sizeof(Text);
  if (header.magic != kMagic || bytes.size() - sizeof header < index)
    throw std::runtime_error("the file is not a device library of this version of clique-compiler");
  const std::uint8_t* const begin = bytes.data() + sizeof header;
  entries_ = {reinterpret_cast<const Entry*>(begin), header.entries};
  needs_ = {reinterpret_cast<const Text*>(begin + entries_.size_bytes()), header.needs};
}

std::string_view Pack::text(const Text& text) const {
  const auto part = bytes_.subspan(text.offset, text.size);
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

Pack::Member Pack::member(const Entry& entry) const {
  return {text(entry.name), entry.conditional != 0, bytes_.subspan(entry.bitcode.offset, entry.bitcode.size),
          entry.first_need, entry.needs};
}

std::vector<Pack::Member> Pack::find(std::string_view name) const {
  const auto before = [this](const Entry& entry, std::string_view wanted) {
    return text(entry.name) < wanted;
  };
  std::vector<Member> found;
  for (auto entry = std::lower_bound(entries_.begin(), entries_.end(), name, before);
       entry != entries_.end() && text(entry->name) == name; ++entry)
    found.push_back(member(*entry));
  return found;
}

std::string_view Pack::need(std::uint32_t index) const {
  return text(needs_[index]);
}

std::size_t Pack::size() const {
  return entries_.size();
}

}  // namespace clique::daemon::compiler
