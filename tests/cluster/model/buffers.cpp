// Steps that transfer, copy, fill and compute with buffers.
#include <cstring>

#include "cluster/model/calls.hpp"
#include "cluster/model/program.hpp"
#include "cluster/model/texts.hpp"

namespace clique::test::model {

void Program::write_buffer() {
  const auto object = any_buffer();
  if (!object) return;
  const auto [offset, size] = any_range(object->size);
  const auto [area, from] = any_area(size, false);
  const bool blocking = random_.percent(30);
  const std::byte* data = area->bytes.data() + from;
  enqueue(any_queue(),
          "write " + object->name + range_text(offset, offset + size) + " from " + area->store.name + "+" +
              std::to_string(from),
          {object->part(offset, size, Access::Overwrite), {&area->store, from, from + size, Access::Read}},
          {false, blocking},
          [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                            cl_event* event) {
            return clEnqueueWriteBuffer(on, object->mem, blocking ? CL_TRUE : CL_FALSE, offset, size, data,
                                        count, list, event);
          });
  std::copy_n(area->store.cells.begin() + static_cast<std::ptrdiff_t>(from), size,
              object->store->cells.begin() + static_cast<std::ptrdiff_t>(object->begin + offset));
  if (blocking && random_.percent(50)) {
    // The application may use the memory again.
    say("overwrites " + area->store.name + range_text(from, from + size));
    host_access({&area->store, from, from + size, Access::Overwrite});
    std::fill_n(area->bytes.begin() + static_cast<std::ptrdiff_t>(from), size, std::byte{0xEE});
    std::fill_n(area->store.cells.begin() + static_cast<std::ptrdiff_t>(from), size, Cell{0xEE});
  }
}

void Program::read_buffer() {
  const auto object = any_buffer();
  if (!object) return;
  const auto [offset, size] = any_range(object->size);
  const auto [area, to] = any_area(size, true);
  const bool blocking = random_.percent(30);
  std::byte* data = area->bytes.data() + to;
  enqueue(any_queue(),
          "read " + object->name + range_text(offset, offset + size) + " to " + area->store.name + "+" +
              std::to_string(to),
          {object->part(offset, size, Access::Read), {&area->store, to, to + size, Access::Overwrite}},
          {false, blocking},
          [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                            cl_event* event) {
            return clEnqueueReadBuffer(on, object->mem, blocking ? CL_TRUE : CL_FALSE, offset, size, data,
                                       count, list, event);
          });
  std::copy_n(object->store->cells.begin() + static_cast<std::ptrdiff_t>(object->begin + offset), size,
              area->store.cells.begin() + static_cast<std::ptrdiff_t>(to));
  if (blocking && !doubtful(area->store, to, to + size)) check(data, area->store.cells, to, size, "read");
}

void Program::rect_to_host(bool reads) {
  const auto object = any_buffer();
  if (!object) return;
  const Triple region = box_region(object->size);
  const Box box = any_box(region, object->size);
  const std::size_t dense = region[0] * region[1] * region[2];
  const auto [area, at] = any_area(dense + random_.below(dense + 1), reads);
  const Box host = any_box(region, area->bytes.size() - at);
  const bool blocking = random_.percent(30);
  std::byte* data = area->bytes.data() + at;
  const Access stored = object->part(box.begin(), box.size(), reads ? Access::Read : Access::Change);
  const Access on_host{&area->store, at + host.begin(), at + host.end(),
                       reads ? Access::Change : Access::Read};
  enqueue(any_queue(),
          std::string(reads ? "read " : "write ") + object->name + " box " + triple_text(region) + " " +
              box_text(box) + (reads ? " to " : " from ") + area->store.name + "+" + std::to_string(at) +
              " " + box_text(host),
          {stored, on_host}, {false, blocking},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            const cl_bool block = blocking ? CL_TRUE : CL_FALSE;
            return reads ? clEnqueueReadBufferRect(on, object->mem, block, box.origin.data(),
                                                   host.origin.data(), region.data(), box.row, box.slice,
                                                   host.row, host.slice, data, count, list, event)
                         : clEnqueueWriteBufferRect(on, object->mem, block, box.origin.data(),
                                                    host.origin.data(), region.data(), box.row, box.slice,
                                                    host.row, host.slice, data, count, list, event);
          });
  if (reads) {
    copy_rows(object->store->cells, moved(box, object->begin), area->store.cells, moved(host, at));
    if (blocking && !doubtful(area->store, at + host.begin(), at + host.end()))
      check(data + host.begin(), area->store.cells, at + host.begin(), host.size(), "read of a box");
  } else {
    copy_rows(area->store.cells, moved(host, at), object->store->cells, moved(box, object->begin));
  }
}

// Buffers.

void Program::copy_buffer() {
  const auto from = any_buffer();
  const auto to = any_buffer();
  if (!from || !to) return;
  const auto [offset, most] = any_range(from->size);
  const std::size_t size = std::min(most, to->size);
  const std::size_t target = random_.below(to->size - size + 1);
  const Access source = from->part(offset, size, Access::Read);
  const Access destination = to->part(target, size, Access::Overwrite);
  if (source.store == destination.store && source.begin < destination.end && destination.begin < source.end)
    return;
  enqueue(any_queue(),
          "copy " + from->name + range_text(offset, offset + size) + " to " + to->name + "+" +
              std::to_string(target),
          {source, destination}, {},
          [&, offset = offset](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueCopyBuffer(on, from->mem, to->mem, offset, target, size, count, list, event);
          });
  const Contents copied = cut(from->store->cells, source.begin, size);
  std::copy(copied.begin(), copied.end(),
            to->store->cells.begin() + static_cast<std::ptrdiff_t>(destination.begin));
}

Contents Program::cut(const Contents& from, std::size_t begin, std::size_t size) {
  return {from.begin() + static_cast<std::ptrdiff_t>(begin),
          from.begin() + static_cast<std::ptrdiff_t>(begin + size)};
}

void Program::copy_rect() {
  const auto from = any_buffer();
  const auto to = any_buffer();
  if (!from || !to || from->store == to->store) return;
  // PoCL 3.1 crashes when it copies boxes from or to sub-buffers.
  if (from->is_sub || to->is_sub) return;
  const Triple region = box_region(std::min(from->size, to->size));
  const Box source = any_box(region, from->size);
  const Box destination = any_box(region, to->size);
  enqueue(any_queue(),
          "copy " + from->name + " box " + triple_text(region) + " " + box_text(source) + " to " + to->name +
              " " + box_text(destination),
          {from->part(source.begin(), source.size(), Access::Read),
           to->part(destination.begin(), destination.size(), Access::Change)},
          {}, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueCopyBufferRect(on, from->mem, to->mem, source.origin.data(),
                                           destination.origin.data(), region.data(), source.row, source.slice,
                                           destination.row, destination.slice, count, list, event);
          });
  copy_rows(from->store->cells, moved(source, from->begin), to->store->cells, moved(destination, to->begin));
}

void Program::fill_buffer() {
  const auto object = any_buffer();
  if (!object) return;
  std::size_t unit = std::size_t{1} << random_.below(8);
  while (unit > object->size) unit /= 2;
  const auto [offset, size] = any_range(object->size, unit);
  std::array<std::uint8_t, 128> pattern{};
  for (std::uint8_t& byte : pattern) byte = random_.byte();
  enqueue(
      any_queue(),
      "fill " + object->name + range_text(offset, offset + size) + " with " + std::to_string(unit) + " bytes",
      {object->part(offset, size, Access::Overwrite)}, {},
      [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                        cl_event* event) {
        return clEnqueueFillBuffer(on, object->mem, pattern.data(), unit, offset, size, count, list, event);
      });
  for (std::size_t i = 0; i < size; ++i) object->store->cells[object->begin + offset + i] = pattern[i % unit];
}

void Program::launch() {
  const auto out = any_buffer();
  if (!out || out->size < 4 || out->read_only) return;
  const auto words = static_cast<cl_uint>(out->size / 4);
  const cl_uint salt = random_.word();
  Contents& cells = out->store->cells;
  const auto set = [](cl_kernel kernel, cl_uint index, auto value) {
    require_call(clSetKernelArg(kernel, index, sizeof value, &value), "clSetKernelArg");
  };
  // A pointer stands for its whole allocation.
  const auto by_pointer = [&](const Object& object) { return object.is_svm && salt % 2 == 0; };
  const auto set_memory = [&](cl_kernel kernel, cl_uint index, const Object& object) {
    if (!by_pointer(object)) return set(kernel, index, object.mem.get());
    require_call(clSetKernelArgSVMPointer(kernel, index, object.host), "clSetKernelArgSVMPointer");
  };
  const auto used = [&](const Object& object, Access::Mode mode) {
    return by_pointer(object) ? Access{object.store.get(), 0, object.store->cells.size(), mode}
                              : object.all(mode);
  };
  const auto run = [&](cl_kernel kernel, const std::string& text, std::vector<Access> accesses,
                       std::size_t count, const std::function<void()>& arguments) {
    enqueue(any_queue(), text, accesses, {},
            [&](cl_command_queue on, cl_uint waits, const cl_event* list, cl_event* event) {
              arguments();
              const LocalSize local(salt, count);
              return clEnqueueNDRangeKernel(on, kernel, 1, nullptr, &count, local.get(), waits, list, event);
            });
  };
  const std::size_t kind = random_.below(3);
  if (kind == 0) {
    run(kernels_.advance, "advance " + out->name, {used(*out, Access::Change)}, words, [&] {
      set_memory(kernels_.advance, 0, *out);
      set(kernels_.advance, 1, salt);
    });
    for (cl_uint i = 0; i < words; ++i) {
      Number number = number_at(cells, out->begin + i * 4);
      number.value = advanced(number.value, i, salt);
      put_number(cells, out->begin + i * 4, number);
    }
  } else if (kind == 1) {
    const auto [first, count] = any_range(words);
    run(kernels_.advance_part, "advance " + out->name + range_text(first * 4, (first + count) * 4),
        {used(*out, Access::Change)}, count, [&, first = first] {
          set_memory(kernels_.advance_part, 0, *out);
          set(kernels_.advance_part, 1, static_cast<cl_uint>(first));
          set(kernels_.advance_part, 2, salt);
        });
    for (std::size_t i = 0; i < count; ++i) {
      Number number = number_at(cells, out->begin + (first + i) * 4);
      number.value = advanced(number.value, i, salt);
      put_number(cells, out->begin + (first + i) * 4, number);
    }
  } else {
    const auto a = any_buffer();
    const auto b = any_buffer();
    const auto fits = [&](const Object& in) {
      return in.size >= 4 && (in.store != out->store || in.begin + in.size <= out->begin ||
                              out->begin + out->size <= in.begin);
    };
    if (!fits(*a) || !fits(*b)) return;
    const auto na = static_cast<cl_uint>(a->size / 4);
    const auto nb = static_cast<cl_uint>(b->size / 4);
    run(kernels_.combine, "combine " + a->name + ", " + b->name + " to " + out->name,
        {used(*a, Access::Read), used(*b, Access::Read), used(*out, Access::Change)}, words, [&] {
          set_memory(kernels_.combine, 0, *a);
          set(kernels_.combine, 1, na);
          set_memory(kernels_.combine, 2, *b);
          set(kernels_.combine, 3, nb);
          set_memory(kernels_.combine, 4, *out);
          set(kernels_.combine, 5, salt);
        });
    const Contents& in_a = a->store->cells;
    const Contents& in_b = b->store->cells;
    for (cl_uint i = 0; i < words; ++i) {
      const Number left = number_at(in_a, a->begin + ((i * 3U + salt) % na) * std::size_t{4});
      const Number right = number_at(in_b, b->begin + ((i + salt) % nb) * std::size_t{4});
      put_number(cells, out->begin + i * std::size_t{4},
                 {advanced(left.value ^ right.value, i, salt), left.known && right.known});
    }
  }
}

}  // namespace clique::test::model
