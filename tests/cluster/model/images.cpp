// Steps that transfer, copy, fill and compute with images.
#include <cstring>

#include "cluster/model/calls.hpp"
#include "cluster/model/program.hpp"
#include "cluster/model/texts.hpp"

namespace clique::test::model {

void Program::launch_image() {
  const auto in = any_image();
  const auto out = any_image();
  if (!in || in == out || in->extent[2] != 1 || out->extent[2] != 1 || in->unit != out->unit ||
      in->channels != out->channels)
    return;
  // 3D images with one slice are not 2D images.
  for (const auto& image : {in, out}) {
    cl_mem_object_type type = 0;
    require_call(clGetMemObjectInfo(image->mem, CL_MEM_TYPE, sizeof type, &type, nullptr),
                 "clGetMemObjectInfo");
    if (type != CL_MEM_OBJECT_IMAGE2D) return;
  }
  const cl_uint salt = random_.word();
  const std::size_t bytes = out->unit / out->channels;
  const cl_uint mask = bytes == 1 ? 0xFFU : 0xFFFFFFFFU;
  const cl_kernel kernel = kernels_.advance_image;
  enqueue(any_queue(), "advance " + in->name + " to " + out->name,
          {in->all(Access::Read), out->all(Access::Overwrite)}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            const cl_mem from = in->mem;
            const cl_mem to = out->mem;
            require_call(clSetKernelArg(kernel, 0, sizeof from, &from), "clSetKernelArg");
            require_call(clSetKernelArg(kernel, 1, sizeof to, &to), "clSetKernelArg");
            require_call(clSetKernelArg(kernel, 2, sizeof salt, &salt), "clSetKernelArg");
            require_call(clSetKernelArg(kernel, 3, sizeof mask, &mask), "clSetKernelArg");
            const LocalSize local(salt, out->extent[0]);
            return clEnqueueNDRangeKernel(on, kernel, 2, nullptr, out->extent.data(), local.get(), count,
                                          list, event);
          });
  for (std::size_t y = 0; y < out->extent[1]; ++y)
    for (std::size_t x = 0; x < out->extent[0]; ++x) {
      const std::size_t position = y * out->extent[0] + x;
      const std::size_t texel = ((y % in->extent[1]) * in->extent[0] + x % in->extent[0]) * in->unit;
      // A texel is read as a whole, but its channels do not affect each other.
      for (std::size_t c = 0; c < out->channels; ++c) {
        Number number = number_at(in->store->cells, texel + c * bytes, bytes);
        number.value = advanced(number.value, position, salt + static_cast<cl_uint>(c)) & mask;
        put_number(out->store->cells, position * out->unit + c * bytes, number, bytes);
      }
    }
}

void Program::image_to_host(bool reads) {
  const auto image = any_image();
  if (!image) return;
  const Triple region = any_region(image->extent);
  Triple origin{};
  for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(image->extent[i] - region[i] + 1);
  const Box stored = image->box(origin, region);
  const std::size_t row = stored.region[0] + (random_.percent(30) ? random_.below(4) * image->unit : 0);
  const std::size_t slice = row * (region[1] + (image->extent[2] > 1 && random_.percent(30) ? 1 : 0));
  Box host{{}, stored.region, row, slice};
  const auto [area, at] = any_area(host.size(), reads);
  const bool blocking = random_.percent(30);
  std::byte* data = area->bytes.data() + at;
  const bool all = region == image->extent;
  enqueue(any_queue(),
          std::string(reads ? "read " : "write ") + image->name + " at " + triple_text(origin) + " region " +
              triple_text(region) + (reads ? " to " : " from ") + area->store.name + "+" +
              std::to_string(at) + " pitches " + std::to_string(row) + "," + std::to_string(slice),
          {image->all(reads ? Access::Read
                      : all ? Access::Overwrite
                            : Access::Change),
           {&area->store, at, at + host.size(), reads ? Access::Change : Access::Read}},
          {false, blocking}, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            const cl_bool block = blocking ? CL_TRUE : CL_FALSE;
            const std::size_t slices = image->extent[2] > 1 ? slice : 0;
            return reads ? clEnqueueReadImage(on, image->mem, block, origin.data(), region.data(), row,
                                              slices, data, count, list, event)
                         : clEnqueueWriteImage(on, image->mem, block, origin.data(), region.data(), row,
                                               slices, data, count, list, event);
          });
  if (reads) {
    copy_rows(image->store->cells, stored, area->store.cells, moved(host, at));
    if (blocking && !doubtful(area->store, at, at + host.size()))
      check(data, area->store.cells, at, host.size(), "read of an image");
  } else {
    copy_rows(area->store.cells, moved(host, at), image->store->cells, stored);
  }
}

void Program::copy_image() {
  const auto from = any_image();
  const auto to = any_image();
  if (!from || from == to || from->unit != to->unit || from->channels != to->channels) return;
  Triple least{};
  for (std::size_t i = 0; i < 3; ++i) least[i] = std::min(from->extent[i], to->extent[i]);
  const Triple region = any_region(least);
  Triple source{};
  Triple destination{};
  for (std::size_t i = 0; i < 3; ++i) {
    source[i] = random_.below(from->extent[i] - region[i] + 1);
    destination[i] = random_.below(to->extent[i] - region[i] + 1);
  }
  enqueue(any_queue(),
          "copy " + from->name + " at " + triple_text(source) + " region " + triple_text(region) + " to " +
              to->name + " at " + triple_text(destination),
          {from->all(Access::Read), to->all(region == to->extent ? Access::Overwrite : Access::Change)}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueCopyImage(on, from->mem, to->mem, source.data(), destination.data(),
                                      region.data(), count, list, event);
          });
  copy_rows(from->store->cells, from->box(source, region), to->store->cells, to->box(destination, region));
}

void Program::fill_image() {
  const auto image = any_image();
  if (!image) return;
  const Triple region = any_region(image->extent);
  Triple origin{};
  for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(image->extent[i] - region[i] + 1);
  const std::size_t bytes = image->unit / image->channels;
  std::array<cl_uint, 4> color{};
  for (cl_uint& channel : color) channel = bytes == 1 ? random_.byte() : random_.word();
  enqueue(any_queue(),
          "fill " + image->name + " at " + triple_text(origin) + " region " + triple_text(region),
          {image->all(region == image->extent ? Access::Overwrite : Access::Change)}, {},
          [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
            return clEnqueueFillImage(on, image->mem, color.data(), origin.data(), region.data(), count, list,
                                      event);
          });
  image->box(origin, region).rows([&](std::size_t at, std::size_t) {
    for (std::size_t x = 0; x < region[0]; ++x)
      for (std::size_t c = 0; c < image->channels; ++c)
        put_number(image->store->cells, at + x * image->unit + c * bytes, {color[c], true}, bytes);
  });
}

void Program::image_and_buffer() {
  const auto image = any_image();
  const auto buffer = any_buffer();
  // PoCL 3.1 crashes with sub-buffers here.
  if (!image || !buffer || buffer->is_sub) return;
  const Triple region = any_region(image->extent);
  Triple origin{};
  for (std::size_t i = 0; i < 3; ++i) origin[i] = random_.below(image->extent[i] - region[i] + 1);
  const Box stored = image->box(origin, region);
  const std::size_t size = stored.region[0] * region[1] * region[2];
  if (size > buffer->size) return;
  const std::size_t offset = random_.below(buffer->size - size + 1);
  const Box linear{
      {buffer->begin + offset, 0, 0}, stored.region, stored.region[0], stored.region[0] * region[1]};
  const std::string where = image->name + " at " + triple_text(origin) + " region " + triple_text(region);
  const std::string there = buffer->name + "+" + std::to_string(offset);
  if (random_.percent(50)) {
    enqueue(any_queue(), "copy " + where + " to " + there,
            {image->all(Access::Read), buffer->part(offset, size, Access::Overwrite)}, {},
            [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
              return clEnqueueCopyImageToBuffer(on, image->mem, buffer->mem, origin.data(), region.data(),
                                                offset, count, list, event);
            });
    copy_rows(image->store->cells, stored, buffer->store->cells, linear);
  } else {
    enqueue(any_queue(), "copy " + there + " to " + where,
            {buffer->part(offset, size, Access::Read),
             image->all(region == image->extent ? Access::Overwrite : Access::Change)},
            {}, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
              return clEnqueueCopyBufferToImage(on, buffer->mem, image->mem, offset, origin.data(),
                                                region.data(), count, list, event);
            });
    copy_rows(buffer->store->cells, linear, image->store->cells, stored);
  }
}

}  // namespace clique::test::model
