typedef struct {
  char tag;
  float3 position;
  struct { short a, b; } pair[3];
  union { int whole; uchar bytes[4]; } number;
} item;

typedef struct __attribute__((packed)) { uchar first; ulong second; ushort third; } tight;
typedef struct { int values[40]; } large;
typedef enum { RED, GREEN = 7, BLUE } colour;
typedef struct node { __global struct node* next; int value; } node;

item changed(item given, colour by) {
  given.number.bytes[by & 3] = given.tag;
  given.position += (float3)(by, GREEN, BLUE);
  return given;
}

__kernel void structures(__global item* items, tight small, large big, colour by, __global tight* out) {
  const size_t i = get_global_id(0);
  item copy = changed(items[i], by);
  copy.pair[1] = copy.pair[2];
  items[i] = copy;
  out[i] = small;
  out[i].second += big.values[i % 40] + sizeof(item) + sizeof(tight);
}

__kernel void list(__global node* first, __global int* sum) {
  *sum = 0;
  for (__global node* at = first; at != 0; at = at->next) *sum += at->value;
}

__kernel void initialised(__global int* x) {
  const item made = {.tag = 'x', .position = (float3)(1, 2, 3), .pair = {[1] = {4, 5}}};
  int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
  x[0] = made.pair[x[1] % 3].a + grid[x[2] & 1][x[3] % 3] + (int)made.position.y;
}
