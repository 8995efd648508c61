// Steps that map objects and unmap them.
#include <cstring>

#include "cluster/model/program.hpp"
#include "cluster/model/texts.hpp"

namespace clique::test::model {

namespace {

std::string flags_text(cl_map_flags flags) {
  if (flags == CL_MAP_READ) return "READ";
  if (flags == CL_MAP_WRITE) return "WRITE";
  return flags == CL_MAP_WRITE_INVALIDATE_REGION ? "INVALIDATE" : "READ|WRITE";
}

}  // namespace

void Program::unmap_conflicting(const std::vector<Access>& accesses) {
  for (std::size_t i = mappings_.size(); i-- > 0;) {
    if (i >= mappings_.size()) continue;
    const Access mapped = mappings_[i].access();
    const Use use{mappings_[i].command, mapped.begin, mapped.end, mapped.writes()};
    if (std::any_of(accesses.begin(), accesses.end(), [&](const Access& access) {
          return access.store == mapped.store && conflict(use, access);
        }))
      unmap(i);
  }
}

void Program::map() {
  if (objects_.empty()) return;
  const auto object = objects_[random_.below(objects_.size())];
  const cl_map_flags choices[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_READ | CL_MAP_WRITE,
                                  CL_MAP_WRITE_INVALIDATE_REGION};
  Mapping mapping{};
  mapping.object = object;
  mapping.flags = choices[random_.below(4)];
  const bool blocking = random_.percent(40);
  const cl_bool block = blocking ? CL_TRUE : CL_FALSE;
  const auto mode = mapping.flags == CL_MAP_READ ? Access::Read : Access::Change;
  const std::string how = std::string(" ") + flags_text(mapping.flags);
  if (object->is_image) {
    const Triple region = any_region(object->extent);
    Triple origin{};
    for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(object->extent[i] - region[i] + 1);
    mapping.stored = object->box(origin, region);
    mapping.host = {{}, mapping.stored.region, 0, 0};
    mapping.command =
        enqueue(any_queue(),
                "map " + object->name + " at " + triple_text(origin) + " region " + triple_text(region) + how,
                {object->all(mode)}, {true, blocking},
                [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                  cl_int err = CL_SUCCESS;
                  mapping.pointer = static_cast<std::byte*>(
                      clEnqueueMapImage(on, object->mem, block, mapping.flags, origin.data(), region.data(),
                                        &mapping.host.row, &mapping.host.slice, count, list, event, &err));
                  return err;
                });
    if (mapping.host.slice == 0) mapping.host.slice = mapping.host.row * region[1];
  } else {
    const auto [offset, size] = any_range(object->size);
    mapping.stored = {{object->begin + offset, 0, 0}, {size, 1, 1}, size, size};
    mapping.host = {{}, {size, 1, 1}, size, size};
    mapping.command =
        enqueue(any_queue(), "map " + object->name + range_text(offset, offset + size) + how,
                {object->part(offset, size, mode)}, {true, blocking},
                [&, offset = offset, size = size](cl_command_queue on, cl_uint count, const cl_event* list,
                                                  cl_event* event) {
                  cl_int err = CL_SUCCESS;
                  mapping.pointer = static_cast<std::byte*>(clEnqueueMapBuffer(
                      on, object->mem, block, mapping.flags, offset, size, count, list, event, &err));
                  return err;
                });
    if (object->host != nullptr && mapping.pointer != nullptr && mapping.pointer != object->host + offset)
      throw Wrong("the mapped region is not in the memory of CL_MEM_USE_HOST_PTR");
  }
  commands_[mapping.command].pinned = true;
  if (mapping.pointer != nullptr) mappings_.push_back(mapping);
}

void Program::unmap(std::size_t index) {
  const Mapping mapping = mappings_[index];
  mappings_.erase(mappings_.begin() + static_cast<std::ptrdiff_t>(index));
  if (!done_[mapping.command]) wait_for(mapping.command);
  Contents& cells = mapping.object->store->cells;
  const bool invalidates = mapping.flags == CL_MAP_WRITE_INVALIDATE_REGION;
  const bool writes = mapping.flags != CL_MAP_READ;
  const bool there = !commands_[mapping.command].failed;
  const std::size_t begin = mapping.stored.begin();
  const std::size_t end = mapping.stored.end();
  if (there && !invalidates && !doubtful(*mapping.object->store, begin, end)) {
    std::vector<std::size_t> rows;
    mapping.stored.rows([&](std::size_t at, std::size_t) { rows.push_back(at); });
    std::size_t next = 0;
    mapping.host.rows([&](std::size_t at, std::size_t) {
      check(mapping.pointer + at, cells, rows[next++], mapping.host.region[0],
            "mapped " + mapping.object->name);
    });
  }
  std::string text = "unmap " + mapping.object->name;
  if (writes) {
    // If the map has failed, the region may have any content.
    if (invalidates || !there)
      mapping.stored.rows([&](std::size_t at, std::size_t) {
        std::fill_n(cells.begin() + static_cast<std::ptrdiff_t>(at), mapping.stored.region[0], kUnknown);
      });
    std::size_t rows_left = mapping.host.region[1] * mapping.host.region[2];
    if (random_.percent(30)) rows_left = random_.below(rows_left + 1);
    const std::size_t width =
        random_.percent(60) ? mapping.host.region[0] : random_.below(mapping.host.region[0] + 1);
    const std::uint8_t first = random_.byte();
    std::vector<std::size_t> rows;
    mapping.stored.rows([&](std::size_t at, std::size_t) { rows.push_back(at); });
    std::size_t next = 0;
    text += " after writing " + std::to_string(width) + " bytes of " + std::to_string(rows_left) + " rows";
    mapping.host.rows([&](std::size_t at, std::size_t in_box) {
      const std::size_t stored = rows[next];
      if (next++ >= rows_left) return;
      for (std::size_t i = 0; i < width; ++i) {
        const auto value = static_cast<std::uint8_t>(first + (in_box + i) * 7 + ((in_box + i) >> 8U));
        if (!there) continue;
        mapping.pointer[at + i] = std::byte{value};
        cells[stored + i] = value;
      }
    });
  }
  // What the host has not written has the content at the time of the map.
  const auto mode = writes ? Access::Change : Access::Read;
  const Access access = mapping.object->is_image ? mapping.object->all(mode)
                                                 : Access{mapping.object->store.get(), begin, end, mode};
  enqueue(any_queue(), text, {access}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueUnmapMemObject(on, mapping.object->mem, mapping.pointer, count, list, event);
          });
}

}  // namespace clique::test::model
