// Enqueueing commands in an order that makes their results certain, and waiting for them.
#include <algorithm>
#include <sstream>
#include <thread>

#include "cluster/model/program.hpp"

namespace clique::test::model {

bool Program::conflict(const Use& use, const Access& access) {
  return use.begin < access.end && access.begin < use.end && (use.writes || access.writes());
}

Program::Commands Program::with_before(std::size_t command) const {
  Commands all = commands_[command].before;
  all.set(command);
  return all;
}

void Program::need(std::size_t command, Commands& before, std::vector<std::size_t>& waits) const {
  waits.push_back(command);
  before |= with_before(command);
}

std::string Program::name_of(std::size_t queue) const {
  return "q" + std::to_string(queue) + "@" + std::to_string(queues_[queue].device) +
         (queues_[queue].in_order ? "" : "*");
}

void Program::check_status(cl_int status, const std::string& what) {
  if (status != CL_SUCCESS) throw Wrong(what + " returned " + std::to_string(status));
}

bool Program::takes_list(const Wanted& wanted) {
  return wanted.kind == Kind::Plain || wanted.with_list;
}

Program::Order Program::order_of(std::size_t queue, const std::vector<Access>& accesses,
                                 const Wanted& wanted) {
  Order order{done_ | queues_[queue].fence};
  if (wanted.kind != Kind::Plain && !wanted.with_list) order.before |= queues_[queue].all;
  for (const Access& access : accesses)
    for (std::size_t i = access.store->uses.size(); i-- > 0;) {
      const Use use = access.store->uses[i];
      if (order.before[use.command] || !conflict(use, access)) continue;
      const std::size_t other = commands_[use.command].queue;
      const std::size_t how = random_.below(100);
      if (how < 6) {
        wait_for(use.command);
        order.before |= done_;
      } else if (how < 10 && queues_[other].queue) {
        finish(other);
        order.before |= done_;
      } else if (how < 25 && other == queue && queues_[queue].queue) {
        enqueue(queue, "barrier", {}, {false, false, Kind::Barrier, false},
                [](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                  return clEnqueueBarrierWithWaitList(on, count, list, event);
                });
        order.before |= queues_[queue].fence;
      } else {
        need(with_event(use.command), order.before, order.waits);
      }
    }
  if (takes_list(wanted) && !commands_.empty() && random_.percent(20)) {
    const std::size_t other = random_.below(commands_.size());
    if (commands_[other].event) need(other, order.before, order.waits);
  }
  return order;
}

std::size_t Program::closed_gate() {
  std::vector<std::size_t> closed;
  for (std::size_t gate = 0; gate < gates_.size(); ++gate)
    if (!gates_[gate].open) closed.push_back(gate);
  if (!closed.empty() && !random_.percent(50)) return closed[random_.below(closed.size())];
  cl_int err = CL_SUCCESS;
  gates_.push_back({Event(clCreateUserEvent(context_, &err)), false});
  check_status(err, "clCreateUserEvent");
  return gates_.size() - 1;
}

Program::CommandRecord Program::record_of(std::size_t queue, const Commands& before,
                                          std::vector<std::size_t> gates,
                                          const std::vector<Access>& accesses) const {
  CommandRecord record{{}, queue, before, {}, std::move(gates), {}};
  record.nodes.set(queues_[queue].device);
  for (std::size_t earlier = 0; earlier < commands_.size(); ++earlier)
    if (before[earlier]) record.nodes |= commands_[earlier].nodes;
  for (const Access& access : accesses) {
    record.nodes |= access.store->nodes;
    if (access.mode == Access::Overwrite) continue;
    for (const Use& use : access.store->uses)
      if (use.writes && use.begin < access.end && access.begin < use.end)
        record.data |= commands_[use.command].data | Commands().set(use.command);
  }
  return record;
}

cl_int Program::call_and_open(const CommandRecord& record, bool meanwhile,
                              const std::function<cl_int()>& call) {
  std::vector<std::size_t> closed;
  const auto add = [&](const std::vector<std::size_t>& more) {
    for (const std::size_t gate : more)
      if (!gates_[gate].open && std::find(closed.begin(), closed.end(), gate) == closed.end())
        closed.push_back(gate);
  };
  add(record.gates);
  for (std::size_t earlier = 0; earlier < commands_.size(); ++earlier)
    if (record.before[earlier]) add(commands_[earlier].gates);
  for (const std::size_t gate : closed) gates_[gate].open = true;
  const auto open_all = [&] {
    for (const std::size_t gate : closed) clSetUserEventStatus(gates_[gate].event, CL_COMPLETE);
  };
  if (!closed.empty()) say(std::string("  opens gates ") + (meanwhile ? "meanwhile" : "before"));
  if (!meanwhile) open_all();
  const std::jthread opener = meanwhile && !closed.empty() ? std::jthread(open_all) : std::jthread();
  return call();
}

void Program::note_uses(std::size_t command, const std::vector<Access>& accesses) {
  for (const Access& access : accesses) {
    access.store->nodes |= commands_[command].nodes;
    // A command that was not enqueued does not order the ones before it.
    if (access.mode == Access::Overwrite && !commands_[command].failed)
      std::erase_if(access.store->uses,
                    [&](const Use& use) { return access.begin <= use.begin && use.end <= access.end; });
    access.store->uses.push_back({command, access.begin, access.end, access.writes()});
  }
}

std::size_t Program::enqueue(std::size_t queue, const std::string& text, const std::vector<Access>& accesses,
                             Wanted wanted, const Call& call) {
  unmap_conflicting(accesses);
  if (commands_.size() + 64 > kMaxCommands) throw std::length_error("too many steps");
  Order order = order_of(queue, accesses, wanted);
  std::vector<std::size_t> gates;
  if (takes_list(wanted) && random_.percent(8)) gates.push_back(closed_gate());
  std::ostringstream line;
  const std::size_t number = commands_.size();
  line << "c" << number << " " << name_of(queue) << " " << text;
  std::vector<cl_event> list;
  for (const std::size_t wait : order.waits) {
    if (!commands_[wait].event) continue;
    list.push_back(commands_[wait].event);
    line << " <c" << wait;
  }
  for (const std::size_t gate : gates) {
    list.push_back(gates_[gate].event);
    line << " <u" << gate;
  }
  // A marker or barrier with an empty list waits for everything before it.
  if (wanted.kind != Kind::Plain && list.empty()) order.before |= queues_[queue].all;
  const bool wants_event = wanted.event || loss_ || random_.percent(60);
  if (wants_event) line << " event";
  if (wanted.blocking) line << " blocking";

  CommandRecord record = record_of(queue, order.before, std::move(gates), accesses);
  say(line.str());
  const auto make_call = [&] {
    return call(queues_[queue].queue, static_cast<cl_uint>(list.size()), list.empty() ? nullptr : list.data(),
                wants_event ? record.event.out() : nullptr);
  };
  const bool meanwhile = random_.percent(50);
  const cl_int status = wanted.blocking ? call_and_open(record, meanwhile, make_call) : make_call();
  if (status != CL_SUCCESS) {
    if (!lost_ || !record.nodes[loss_->node]) check_status(status, line.str());
    record.failed = true;
    record.before.reset();
    record.data.reset();
    say("  fails: " + std::to_string(status));
  }
  commands_.push_back(std::move(record));
  QueueRecord& on = queues_[queue];
  on.all |= with_before(number);
  if (on.in_order || wanted.kind == Kind::Barrier) on.fence |= with_before(number);
  note_uses(number, accesses);
  if (wanted.blocking) host_done(with_before(number));
  return number;
}

std::size_t Program::marker(std::size_t queue) {
  return enqueue(queue, "marker", {}, {true, false, Kind::Marker, false},
                 [](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                   return clEnqueueMarkerWithWaitList(on, count, list, event);
                 });
}

std::size_t Program::with_event(std::size_t command) {
  if (commands_[command].event) return command;
  const std::size_t queue = commands_[command].queue;
  if (queues_[queue].tail != kNone) return queues_[queue].tail;
  if (commands_[command].failed) return command;
  return marker(queue);
}

void Program::host_done(const Commands& commands) {
  for (std::size_t i = 0; i < commands_.size(); ++i) {
    CommandRecord& command = commands_[i];
    if (!commands[i] || done_[i]) continue;
    done_.set(i);
    if (!command.event) continue;
    cl_int status = CL_QUEUED;
    check_status(
        clGetEventInfo(command.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
        "clGetEventInfo");
    if (status > CL_COMPLETE && lost_) {
      clWaitForEvents(1, command.event.ptr());
      clGetEventInfo(command.event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
    }
    if (status > CL_COMPLETE)
      throw Wrong("c" + std::to_string(i) + " has the status " + std::to_string(status) +
                  ", although something that comes after it has ended");
    if (status == CL_COMPLETE) continue;
    if (!lost_ || !command.nodes[loss_->node])
      throw Wrong("c" + std::to_string(i) + " failed with " + std::to_string(status));
    say("  c" + std::to_string(i) + " has failed: " + std::to_string(status));
    command.failed = true;
  }
}

void Program::open(std::size_t gate) {
  say("opens u" + std::to_string(gate));
  gates_[gate].open = true;
  clSetUserEventStatus(gates_[gate].event, CL_COMPLETE);
}

void Program::open_gates_of(const Commands& commands) {
  for (std::size_t i = 0; i < commands_.size(); ++i)
    if (commands[i])
      for (const std::size_t gate : commands_[i].gates)
        if (!gates_[gate].open) open(gate);
}

void Program::wait_for(std::size_t command) {
  const std::size_t stands = with_event(command);
  const Commands all = with_before(stands);
  open_gates_of(all);
  say("waits for c" + std::to_string(stands));
  if (commands_[stands].event) {
    const cl_int status = clWaitForEvents(1, commands_[stands].event.ptr());
    if (!lost_) check_status(status, "clWaitForEvents");
  }
  host_done(all);
}

void Program::finish(std::size_t queue) {
  open_gates_of(queues_[queue].all);
  say("finishes " + name_of(queue));
  const cl_int status = clFinish(queues_[queue].queue);
  Nodes nodes;
  for (std::size_t i = 0; i < commands_.size(); ++i)
    if (queues_[queue].all[i]) nodes |= commands_[i].nodes;
  nodes.set(queues_[queue].device);
  if (!lost_ || !nodes[loss_->node]) check_status(status, "clFinish");
  host_done(queues_[queue].all);
}

void Program::host_access(const Access& access) {
  for (std::size_t i = access.store->uses.size(); i-- > 0;) {
    const Use use = access.store->uses[i];
    if (done_[use.command] || !conflict(use, access)) continue;
    const std::size_t queue = commands_[use.command].queue;
    if (random_.percent(30) && queues_[queue].queue) {
      finish(queue);
    } else {
      wait_for(use.command);
    }
  }
  if (access.writes())
    std::erase_if(access.store->uses,
                  [&](const Use& use) { return access.begin <= use.begin && use.end <= access.end; });
}

bool Program::doubtful(const Store& store, std::size_t begin, std::size_t end) const {
  for (const Use& use : store.uses) {
    if (!use.writes || use.begin >= end || begin >= use.end) continue;
    const Commands all = commands_[use.command].data | Commands().set(use.command);
    for (std::size_t i = 0; i < commands_.size(); ++i)
      if (all[i] && commands_[i].failed) return true;
  }
  return false;
}

void Program::check(const std::byte* actual, const Contents& expected, std::size_t begin, std::size_t size,
                    const std::string& what) {
  std::size_t differences = 0;
  std::ostringstream text;
  for (std::size_t i = 0; i < size; ++i) {
    const Cell want = expected[begin + i];
    const auto got = std::to_integer<Cell>(actual[i]);
    if (want == kUnknown || want == got) continue;
    if (++differences <= 8) text << "\n  byte " << begin + i << ": " << got << " instead of " << want;
  }
  if (differences != 0)
    throw Wrong(what + ": " + std::to_string(differences) + " of " + std::to_string(size) + " bytes differ" +
                text.str());
}

}  // namespace clique::test::model
