#include "icd/remote/transfers/uploads.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/streams/stream_set.hpp"

namespace clique::icd {

void Uploads::set_window(std::size_t bytes, unsigned streams) {
  std::unique_lock lock(mutex_);
  window_ = bytes;
  streams_ = streams;
  send(lock);
}

void Uploads::add(protocol::CommandId transfer, protocol::Payload content) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  // Beside other uploads, which keep the streams busy, fewer parts cost less.
  const std::size_t part =
      uploads_.empty() ? protocol::part_size(content.bytes.size(), streams_) : protocol::kPartSize;
  uploads_.push_back({transfer, std::move(content), part});
  send(lock);
}

bool Uploads::taken(const protocol::Taken& taken) {
  std::function<void()> cancelled;
  bool more = false;
  {
    std::unique_lock lock(mutex_);
    const auto upload = find(taken.transfer);
    if (upload == uploads_.end()) return false;
    if (taken.bytes > upload->under_way)
      throw protocol::DecodeError(std::to_string(taken.bytes) + " bytes of transfer " +
                                  std::to_string(taken.transfer) + " were taken, of which " +
                                  std::to_string(upload->under_way) + " are under way");
    set_under_way(*upload, upload->under_way - taken.bytes);
    if (upload->under_way == 0 && upload->all_sent()) {
      cancelled = std::move(upload->cancelled);
      uploads_.erase(upload);
    }
    more = sendable() != nullptr;
  }
  if (cancelled) cancelled();
  return more;
}

void Uploads::go_on() {
  std::unique_lock lock(mutex_);
  send(lock);
}

void Uploads::cancel(protocol::CommandId transfer, std::function<void()> then) {
  {
    const std::lock_guard lock(mutex_);
    const auto upload = find(transfer);
    if (upload != uploads_.end() && upload->under_way > 0) {
      upload->cancelled = std::move(then);
      return;
    }
    if (upload != uploads_.end()) uploads_.erase(upload);
  }
  then();
}

std::vector<std::function<void()>> Uploads::close() {
  std::list<Upload> dropped;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(uploads_);
  }
  std::vector<std::function<void()>> cancelled;
  for (Upload& upload : dropped)
    if (upload.cancelled) cancelled.push_back(std::move(upload.cancelled));
  return cancelled;
}

void Uploads::send(std::unique_lock<std::mutex>& lock) {
  if (std::exchange(sending_, true)) return;
  while (Upload* const upload = sendable()) {
    const std::size_t size = std::min(upload->part, upload->content.bytes.size() - upload->sent);
    protocol::PeerData part{upload->transfer,
                            upload->sent,
                            0,
                            {upload->content.bytes.subspan(upload->sent, size), upload->content.owner}};
    upload->sent += size;
    set_under_way(*upload, upload->under_way + size);
    lock.unlock();
    way_.send(std::move(part));
    lock.lock();
  }
  sending_ = false;
}

Uploads::Upload* Uploads::sendable() {
  for (Upload& upload : uploads_) {
    if (upload.all_sent()) continue;
    if (upload.under_way == 0 || beyond_ + std::min(upload.under_way, protocol::kPartSize) < window_)
      return &upload;
  }
  return nullptr;
}

void Uploads::set_under_way(Upload& upload, std::size_t bytes) {
  beyond_ -= upload.beyond();
  upload.under_way = bytes;
  beyond_ += upload.beyond();
}

std::list<Uploads::Upload>::iterator Uploads::find(protocol::CommandId transfer) {
  return std::find_if(uploads_.begin(), uploads_.end(),
                      [&](const Upload& upload) { return upload.transfer == transfer; });
}

}  // namespace clique::icd
