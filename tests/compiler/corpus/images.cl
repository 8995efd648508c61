// options: -cl-std=CL1.2
// options: -cl-std=CL3.0
constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
__kernel void images(read_only image2d_t source, write_only image2d_t target, sampler_t given,
                     read_only image3d_t volume, read_only image1d_buffer_t line, write_only image2d_array_t layers) {
  const sampler_t own = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  const int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (any(at >= get_image_dim(target))) return;
  float4 colour = read_imagef(source, own, at) + read_imagef(source, given, convert_float2(at)) +
                  read_imagef(source, linear, (float2)(0.5f)) + read_imagef(volume, linear, (float4)(0.5f)) +
                  read_imagef(line, at.x) + read_imagef(source, at);
  write_imagef(target, at, colour * (float)get_image_width(source));
  write_imagei(layers, (int4)(at, 0, 0), convert_int4(colour));
}
