#include "icd/trace/trace.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "icd/common/say.hpp"
#include "icd/common/settings.hpp"
#include "icd/trace/names.hpp"
#include "icd/trace/recorder.hpp"

namespace clique::icd::trace {

namespace detail {
std::atomic<Recorder*> recorder{nullptr};
}

namespace {

constexpr std::chrono::milliseconds kFlushPeriod{200};
/// The longest command line that the trace shows, in bytes.
constexpr std::size_t kLongestCommandLine = 4096;

/// This thread's part. Its trivial destructor lets exit handlers record, too.
struct ThisThread {
  Stream* stream = nullptr;
  Call* call = nullptr;
  std::int64_t last = 0;  ///< the latest time on its track
};
thread_local constinit ThisThread this_thread;

/// Times on the track of one thread differ, so that Perfetto sees which slice contains which.
std::int64_t next_time() {
  return this_thread.last = std::max(now(), this_thread.last + 1);
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text(kLongestCommandLine, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  std::vector<std::string> arguments;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    arguments.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return arguments;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(now());
  return number;
}

pthread_key_t end_of_thread;

void flush_forever(Recorder* recorder) {
  for (;;) {
    std::this_thread::sleep_for(kFlushPeriod);
    recorder->flush();
  }
}

/// Signals of the application must not reach a thread of the library.
void start_flushing(Recorder* recorder) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(flush_forever, recorder).detach();
  } catch (const std::system_error&) {
    // Without the thread, buffers are appended when they are large, and at the end.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool begin() {
  const auto path = trace_file();
  if (!path || is_worker() || is_off()) return false;
  const int descriptor = ::open(path->c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    say("CLIQUE_TRACE: " + *path + " cannot be opened for writing: " + std::strerror(errno) +
        ". The program goes on without a trace");
    return false;
  }
  constexpr std::uint64_t kScopes = ~((std::uint64_t{1} << 40U) - 1);
  auto* const made = new Recorder(descriptor, *path, random_number() & kScopes,
                                  {0, static_cast<int>(::getpid()), command_line()});
  pthread_atfork(nullptr, nullptr, [] { detail::recorder = nullptr; });
  start_flushing(made);
  detail::recorder = made;
  return true;
}

/// Runs at the end of the process, after the application's own exit handlers.
[[gnu::destructor]] void end_trace() {
  if (Recorder* const recorder = detail::recorder) recorder->end();
}

}  // namespace

bool start() {
  static const bool begun = begin();
  return begun;
}

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

Recorder::Recorder(int descriptor, std::string path, std::uint64_t scope, Process process)
    : file_(descriptor, std::move(path)),
      scope_(scope),
      // Other processes that append to the file begin elsewhere.
      sequences_(static_cast<std::uint32_t>(scope >> 40U) << 8U),
      process_{next_track(), process.pid, std::move(process.arguments)},
      others_(file_, ++sequences_) {
  pthread_key_create(&end_of_thread, retire);
  others_.describe(process_);
}

Stream& Recorder::this_thread() {
  ThisThread& here = trace::this_thread;
  if (here.stream != nullptr) return *here.stream;
  std::array<char, 32> name{};
  pthread_getname_np(pthread_self(), name.data(), name.size());
  auto made = std::make_unique<Stream>(file_, ++sequences_);
  made->describe_thread(process_, next_track(), ::gettid(), name.data());
  // The description of the process comes first in the file.
  others_.flush();
  const std::lock_guard lock(streams_mutex_);
  if (ended_) made->write_through();
  here.stream = streams_.emplace_back(std::move(made)).get();
  pthread_setspecific(end_of_thread, here.stream);
  return *here.stream;
}

void Recorder::retire(void* stream) {
  trace::this_thread.stream = nullptr;
  Recorder* const recorder = detail::recorder;
  if (recorder == nullptr) return;
  const std::lock_guard lock(recorder->streams_mutex_);
  const auto found =
      std::find_if(recorder->streams_.begin(), recorder->streams_.end(),
                   [stream](const std::unique_ptr<Stream>& each) { return each.get() == stream; });
  if (found == recorder->streams_.end()) return;
  (*found)->flush();
  recorder->streams_.erase(found);
}

std::string_view Recorder::kept(std::string_view text) {
  const std::lock_guard lock(tracks_mutex_);
  return *kept_.emplace(text).first;
}

void Recorder::add(Track& track, const SliceView& slice, std::int64_t begin, std::int64_t end) {
  const std::lock_guard lock(tracks_mutex_);
  end = std::max(begin, end);
  auto& lanes = track.lanes_;
  auto lane = std::find_if(lanes.begin(), lanes.end(),
                           [begin](const Track::Lane& each) { return each.end <= begin; });
  if (lane == lanes.end()) {
    lane = lanes.insert(lanes.end(), {next_track(), 0});
    others_.describe_track(lane->id, track.parent_, track.name_);
  }
  lane->end = end;
  others_.add(slice, {begin, end}, lane->id, scope_);
}

std::uint64_t Recorder::group_track(const std::string& group) {
  const auto found = groups_.find(group);
  if (found != groups_.end()) return found->second;
  const std::uint64_t track = next_track();
  groups_.emplace(group, track);
  others_.describe_track(track, process_.track, group);
  return track;
}

std::shared_ptr<Track> Recorder::make_track(const std::string& group, std::string name) {
  const std::lock_guard lock(tracks_mutex_);
  return std::make_shared<Track>(group_track(group), std::move(name));
}

std::shared_ptr<Track> Recorder::shared_track(const std::string& group, const std::string& name) {
  const std::lock_guard lock(tracks_mutex_);
  auto& track = shared_[{group, name}];
  if (!track) track = std::make_shared<Track>(group_track(group), name);
  return track;
}

void Recorder::flush() noexcept {
  others_.flush();
  const std::lock_guard lock(streams_mutex_);
  for (const auto& stream : streams_) stream->flush();
}

void Recorder::end() noexcept {
  others_.write_through();
  const std::lock_guard lock(streams_mutex_);
  ended_ = true;
  for (const auto& stream : streams_) stream->write_through();
}

std::shared_ptr<Track> make_track(const std::string& group, std::string name) {
  Recorder* const recorder = detail::recorder;
  return recorder != nullptr ? recorder->make_track(group, std::move(name)) : nullptr;
}

std::shared_ptr<Track> shared_track(const std::string& group, const std::string& name) {
  Recorder* const recorder = detail::recorder;
  return recorder != nullptr ? recorder->shared_track(group, name) : nullptr;
}

std::string_view kept(std::string_view text) {
  Recorder* const recorder = detail::recorder;
  return recorder != nullptr ? recorder->kept(text) : std::string_view();
}

void record(const Slice& slice, std::int64_t begin, std::int64_t end) noexcept {
  record(slice.track.get(), {slice.category, slice.name, slice.flows, slice.facts}, begin, end);
}

void record(Track* track, const SliceView& slice, std::int64_t begin, std::int64_t end) noexcept {
  Recorder* const recorder = detail::recorder;
  if (recorder == nullptr || track == nullptr) return;
  try {
    recorder->add(*track, slice, begin, end);
  } catch (...) {  // no memory: the slice is missing
  }
}

Call::Call(const char* name) noexcept : name_(name), recorder_(detail::recorder) {
  if (recorder_ == nullptr) return;
  outer_ = std::exchange(this_thread.call, this);
  if (outer_ != nullptr) say(kWithin, outer_->name_);
  begin_ = next_time();
}

Call::~Call() {
  if (recorder_ == nullptr) return;
  this_thread.call = outer_;
  if (detail::recorder != recorder_) return;  // a forked child
  try {
    recorder_->add({kApi, name_, {flows_.data(), flow_count_}, facts_, true}, {begin_, next_time()});
  } catch (...) {  // no memory: the slice is missing
  }
}

Call* Call::current() noexcept {
  return this_thread.call;
}

void Call::say(std::string_view name, const char* value) noexcept {
  if (recorder_ == nullptr || value == nullptr) return;
  try {
    facts_.push_back({name, std::string(value)});
  } catch (...) {  // no memory: the fact is missing
  }
}

void Call::say(std::string_view name, std::uint64_t value) noexcept {
  if (recorder_ == nullptr) return;
  try {
    facts_.push_back({name, value});
  } catch (...) {  // no memory: the fact is missing
  }
}

void Call::connect(Flow flow) noexcept {
  if (flow_count_ < flows_.size()) flows_[flow_count_++] = flow;
}

Wait::Wait(FunctionRef<std::string()> what) noexcept {
  Call* const call = on() ? this_thread.call : nullptr;
  if (call == nullptr || call->waits_) return;
  try {
    what_ = what();
  } catch (...) {
    return;
  }
  call_ = call;
  call_->waits_ = true;
  begin_ = next_time();
}

Wait::~Wait() {
  if (call_ == nullptr) return;
  call_->waits_ = false;
  if (detail::recorder != call_->recorder_) return;
  try {
    call_->recorder_->add({kWait, what_}, {begin_, next_time()});
  } catch (...) {  // no memory: the slice is missing
  }
}

}  // namespace clique::icd::trace
