// Reserving space for the records that calls of printf are compiled to.
#include "abi.h"

__global struct clique_printf_buffer* __clique_printf_buffer(void);

/// Begins a record. Returns the place for its arguments, or null if the buffer is full.
__global ulong* __clique_printf_reserve(uint format, uint size) {
  __global struct clique_printf_buffer* buffer = __clique_printf_buffer();
  // When the buffer is full, adding further sizes could overflow the counter.
  if (*(volatile __global uint*)&buffer->used > buffer->capacity) return 0;
  const uint begin = __scoped_atomic_fetch_add(&buffer->used, size, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
  __global uchar* at = (__global uchar*)(buffer + 1) + begin;
  if (begin > buffer->capacity || size > buffer->capacity - begin) {
    // Size 0 marks the rest of the buffer as unused.
    if (begin <= buffer->capacity && buffer->capacity - begin >= sizeof(struct clique_printf_record))
      ((__global struct clique_printf_record*)at)->size = 0;
    return 0;
  }
  __global struct clique_printf_record* record = (__global struct clique_printf_record*)at;
  record->size = size;
  record->format = format;
  return (__global ulong*)(record + 1);
}
