// options: -cl-std=CL1.2
// options: -cl-std=CL3.0
__constant char greeting[] = "hello %d\n";

void show(float4 v, __constant char* name) { printf("%s: %4.2v4hlf\n", name, v); }

__kernel void print(__global float4* x, int n, char3 c, double d) {
  const int i = get_global_id(0);
  printf(greeting, i);
  printf("no arguments\n");
  printf("%d %u %x %o %c %%\n", n, n, n, n, 'c');
  printf("%hhd %hd %ld %lu\n", (char)n, (short)n, (long)n, (ulong)n);
  printf("%f %e %g %a\n", d, d, x[i].x, d);
  printf("%v3hhd %v2lu %v8hx\n", c, (ulong2)(n), (ushort8)(n));
  printf("%p %s %s\n", x, "literal", n > 0 ? "positive" : "not positive");
  if (printf("") != 0) x[i] = 0;
  show(x[i], "value");
}
