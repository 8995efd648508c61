// Texels as bits: encoding and decoding them, and accessing images in linear memory.
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_MEMORY_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_IMAGE_MEMORY_H

#include "image_format.h"

// ---- Encoding and decoding. The bits of the channels are consecutive in the words of a uint4, the first
// channel in
// the lowest bits.

static uint4 pack_shorts(ushort4 v) { return (uint4)(as_uint(v.lo), as_uint(v.hi), 0, 0); }

static uint4 write_texel_f(descriptor d, float4 value) {
  value = channels(d->channel_order, value);
  switch (d->channel_type) {
    case CLK_UNORM_INT8:
      return (uint4)(as_uint(convert_uchar4_sat_rte(value * 255.0f)), 0, 0, 0);
    case CLK_SNORM_INT8:
      return (uint4)(as_uint(convert_char4_sat_rte(value * 127.0f)), 0, 0, 0);
    case CLK_UNORM_INT16:
      return pack_shorts(convert_ushort4_sat_rte(value * 65535.0f));
    case CLK_SNORM_INT16:
      return pack_shorts(as_ushort4(convert_short4_sat_rte(value * 32767.0f)));
    case CLK_HALF_FLOAT:
      return pack_shorts(as_ushort4(convert_half4_rte(value)));
    default:
      return as_uint4(value);
  }
}
static uint4 write_texel_i(descriptor d, int4 value) {
  value = channels(d->channel_order, value);
  switch (d->channel_type) {
    case CLK_SIGNED_INT8:
      return (uint4)(as_uint(convert_char4_sat(value)), 0, 0, 0);
    case CLK_SIGNED_INT16:
      return pack_shorts(as_ushort4(convert_short4_sat(value)));
    default:
      return as_uint4(value);
  }
}
static uint4 write_texel_ui(descriptor d, uint4 value) {
  value = channels(d->channel_order, value);
  switch (d->channel_type) {
    case CLK_UNSIGNED_INT8:
      return (uint4)(as_uint(convert_uchar4_sat(value)), 0, 0, 0);
    case CLK_UNSIGNED_INT16:
      return pack_shorts(convert_ushort4_sat(value));
    default:
      return value;
  }
}

static float4 read_channels_f(uint channel_type, uint4 bits) {
  switch (channel_type) {
    case CLK_UNORM_INT8:
      return convert_float4(as_uchar4(bits.x)) * (1 / 255.0f);
    case CLK_SNORM_INT8:
      return max(convert_float4(as_char4(bits.x)) * (1 / 127.0f), -1.0f);
    case CLK_UNORM_INT16:
      return convert_float4(as_ushort4(bits.xy)) * (1 / 65535.0f);
    case CLK_SNORM_INT16:
      return max(convert_float4(as_short4(bits.xy)) * (1 / 32767.0f), -1.0f);
    case CLK_HALF_FLOAT:
      return convert_float4(as_half4(bits.xy));
    default:
      return as_float4(bits);
  }
}
static float4 read_texel_f(descriptor d, uint4 bits) {
  return colour(d->channel_order, read_channels_f(d->channel_type, bits));
}
static int4 read_texel_i(descriptor d, uint4 bits) {
  int4 channels;
  switch (d->channel_type) {
    case CLK_SIGNED_INT8:
      channels = convert_int4(as_char4(bits.x));
      break;
    case CLK_SIGNED_INT16:
      channels = convert_int4(as_short4(bits.xy));
      break;
    default:
      channels = as_int4(bits);
      break;
  }
  return colour(d->channel_order, channels);
}
static uint4 read_texel_ui(descriptor d, uint4 bits) {
  uint4 channels;
  switch (d->channel_type) {
    case CLK_UNSIGNED_INT8:
      channels = convert_uint4(as_uchar4(bits.x));
      break;
    case CLK_UNSIGNED_INT16:
      channels = convert_uint4(as_ushort4(bits.xy));
      break;
    default:
      channels = bits;
      break;
  }
  return colour(d->channel_order, channels);
}

// ---- Linear memory. Outside the image, reads give 0 and writes have no effect.

static ulong address_in_memory(descriptor d, int x, int y) {
  if ((uint)x >= d->width || (uint)y >= d->height) return 0;
  return d->memory + (ulong)(uint)y * d->row_pitch + (ulong)(uint)x * d->element_size;
}

static uint4 load_memory(descriptor d, int x, int y) {
  ulong address = address_in_memory(d, x, y);
  if (address == 0) return (uint4)0;
  switch (d->element_size) {
    case 1:
      return (uint4)(*(const __global uchar*)address, 0, 0, 0);
    case 2:
      return (uint4)(*(const __global ushort*)address, 0, 0, 0);
    case 4:
      return (uint4)(*(const __global uint*)address, 0, 0, 0);
    case 8:
      return (uint4)(*(const __global uint2*)address, 0, 0);
    default:
      return *(const __global uint4*)address;
  }
}

static void store_memory(descriptor d, int x, int y, uint4 bits) {
  ulong address = address_in_memory(d, x, y);
  if (address == 0) return;
  switch (d->element_size) {
    case 1:
      *(__global uchar*)address = (uchar)bits.x;
      break;
    case 2:
      *(__global ushort*)address = (ushort)bits.x;
      break;
    case 4:
      *(__global uint*)address = bits.x;
      break;
    case 8:
      *(__global uint2*)address = bits.xy;
      break;
    default:
      *(__global uint4*)address = bits;
      break;
  }
}

#endif
