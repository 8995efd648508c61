// The number of steps until a point of the plane leaves the Mandelbrot set, at most `most`. Points of the set take the
// longest, so that the rows in the middle of the picture take much longer than those at its edges.
kernel void mandelbrot(global int* restrict steps, int width, int height, int most) {
  const int column = get_global_id(0), row = get_global_id(1);
  const float x = -2.2f + 3.2f * column / width, y = -1.6f + 3.2f * row / height;
  float real = 0.0f, imaginary = 0.0f;
  int step = 0;
  while (step < most && real * real + imaginary * imaginary <= 4.0f) {
    const float next = real * real - imaginary * imaginary + x;
    imaginary = 2.0f * real * imaginary + y;
    real = next;
    ++step;
  }
  steps[row * width + column] = step;
}
