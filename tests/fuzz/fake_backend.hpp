// A backend without a device: it accepts every message that is decoded, and checks what the worker promises
// to backends.
#pragma once

#include <map>
#include <utility>

#include "daemon/worker/backend.hpp"
#include "daemon/worker/transfers/segments.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz {

/// Ignores every message of the list.
template <typename Base, typename List>
class Ignores;
template <typename Base>
class Ignores<Base, protocol::MessageList<>> : public Base {
 public:
  using Base::handle;
};
template <typename Base, typename M, typename... Rest>
class Ignores<Base, protocol::MessageList<M, Rest...>>
    : public Ignores<Base, protocol::MessageList<Rest...>> {
 public:
  using Ignores<Base, protocol::MessageList<Rest...>>::handle;
  void handle(M&& /*message*/) override {}
};

/// Where the parts of a transfer go.
class FakeSink : public daemon::TransferSink {
 public:
  explicit FakeSink(std::uint64_t size) : size_(size) {}
  void write(std::uint64_t offset, protocol::Payload data) override { place(offset, data.bytes.size()); }
  void fetch(protocol::WindowData&& part) override { place(part.offset, part.size); }
  void come_short(std::uint64_t size) override {
    require(size <= size_, "a transfer does not miss more than it has");
  }
  void fail(std::int32_t status) override { require(status < 0, "failures have a negative status"); }
  bool divisible() const override { return true; }

 private:
  void place(std::uint64_t offset, std::uint64_t size) const {
    require(offset <= size_ && size <= size_ - offset, "parts lie within their transfer");
  }
  const std::uint64_t size_;
};

class FakeBackend : public Ignores<daemon::Backend, daemon::DeviceMessages> {
 public:
  using Ignores::handle;

  /// To be called before messages that name segments are handled.
  void use(const daemon::Segments& segments) { segments_ = &segments; }

  void handle(protocol::ReadToSegment&& message) override {
    touch(message.segment, message.at, message.size);
  }
  void handle(protocol::WriteFromSegment&& message) override {
    touch(message.segment, message.at, message.size);
  }

  const protocol::Attached& description() const override { return description_; }
  std::int64_t clock() const override { return 1; }
  std::unique_ptr<daemon::TransferSink> expect(protocol::Expect&& message) override {
    return std::make_unique<FakeSink>(message.size);
  }
  void set_remote(protocol::CommandId command, std::int32_t status) override {
    require(status <= 0, "a final status is 0 or negative");
    for (auto [first, last] = waiting_.equal_range(command); first != last; first = waiting_.erase(first))
      first->second(status);
  }
  void count_commands() override {}
  std::uint64_t queued_commands() override { return 0; }
  void when_ended(protocol::CommandId command, std::function<void(std::int32_t)> action) override {
    waiting_.emplace(command, std::move(action));
  }
  void share(std::span<std::byte> /*memory*/) override {}
  void share_in_place(std::span<std::byte> /*memory*/) override {}
  void unshare(std::span<std::byte> /*memory*/) override {}
  std::shared_ptr<std::byte> memory_for_part(std::size_t size) override {
    return {new std::byte[size], std::default_delete<std::byte[]>()};
  }
  void flush() override {}

 private:
  void touch(protocol::ObjectId segment, std::uint64_t at, std::uint64_t size) const {
    const auto bytes = segments_->find(segment, at, size);
    for (std::uint64_t i = 0; i < size; ++i) bytes.get()[i] ^= std::byte{1};
  }

  protocol::Attached description_;
  const daemon::Segments* segments_ = nullptr;
  std::multimap<protocol::CommandId, std::function<void(std::int32_t)>> waiting_;
};

}  // namespace clique::fuzz
