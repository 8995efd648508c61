#!/usr/bin/env python3
"""Draws a Julia set with all devices of an OpenCL platform, in the terminal and as a PNG file.

This is ordinary OpenCL: the image is one buffer, each device computes some bands of it, and the first device's queue
reads all of it. The program does not know on which nodes the devices are.
"""

import argparse
import itertools
import json
import os
import pathlib
import struct
import sys
import time
import zlib

import numpy
import pyopencl as cl

WIDTH, HEIGHT, BANDS = 1536, 960, 20
PLACE = (-0.8, 0.156)
NODE_COLOURS = ((255, 170, 60), (80, 190, 255), (150, 230, 110), (230, 120, 220))

KERNEL = """
float3 colour(float x, float y, float2 c) {
  float2 z = (float2)(x, y);
  int i = 0;
  for (; i < 700 && dot(z, z) < 256.0f; ++i)
    z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
  if (i == 700) return (float3)(0.0f);
  float smooth = i + 1.0f - log2(0.5f * log2(dot(z, z)));
  float t = 0.33f * log2(smooth);
  return 0.5f + 0.5f * cos(6.2831853f * (t + (float3)(0.55f, 0.63f, 0.74f)));
}

// Computes one band. Each pixel is the mean of 3 x 3 samples.
kernel void julia(global uchar4* band, int first_row, int width, int height, float2 c) {
  int column = get_global_id(0), row = get_global_id(1);
  float scale = 2.1f / height;
  float3 sum = 0.0f;
  for (int sy = 0; sy < 3; ++sy)
    for (int sx = 0; sx < 3; ++sx) {
      float x = (column + (sx + 0.5f) / 3 - 0.5f * width) * scale;
      float y = (row + first_row + (sy + 0.5f) / 3 - 0.5f * height) * scale;
      sum += colour(x, y, c);
    }
  band[row * width + column] = (uchar4)(convert_uchar3_sat(sum * (255.0f / 9)), 255);
}
"""


def find_platform(name):
    for platform in cl.get_platforms():
        if name.lower() in platform.name.lower():
            return platform
    sys.exit(f"picture.py: no OpenCL platform's name contains '{name}'; set OCL_ICD_VENDORS to Clique's clique.icd")


def node_of(device):
    """The name of the device's node, which Clique adds to the driver's version: '… (Clique 0.1.0, node alpha)'."""
    return device.driver_version.partition(', node ')[2].rstrip(')') or 'this host'


def compute(devices):
    """Computes the image. Returns it, what each device did, and the total time in seconds."""
    context = cl.Context(devices)
    program = cl.Program(context, KERNEL).build('-cl-fast-relaxed-math')
    properties = cl.command_queue_properties.PROFILING_ENABLE
    queues = [cl.CommandQueue(context, device, properties) for device in devices]
    image = cl.Buffer(context, cl.mem_flags.READ_WRITE, WIDTH * HEIGHT * 4)
    rows = HEIGHT // BANDS
    place = numpy.array(PLACE, numpy.float32)

    start = time.perf_counter()
    events = []
    for band in range(BANDS):
        queue = queues[band % len(queues)]
        part = image.get_sub_region(band * rows * WIDTH * 4, rows * WIDTH * 4)
        kernel = cl.Kernel(program, 'julia')
        kernel.set_args(part, numpy.int32(band * rows), numpy.int32(WIDTH), numpy.int32(HEIGHT), place)
        events.append(cl.enqueue_nd_range_kernel(queue, kernel, (WIDTH, rows), None))
    for queue in queues:
        queue.flush()
    pixels = numpy.empty((HEIGHT, WIDTH, 4), numpy.uint8)
    cl.enqueue_copy(queues[0], pixels, image, wait_for=events)
    seconds = time.perf_counter() - start

    work = []
    for index, device in enumerate(devices):
        own = events[index::len(devices)]
        work.append({
            'node': node_of(device), 'device': device.name.strip(), 'bands': len(own), 'of': BANDS,
            'pixels': len(own) * rows * WIDTH,
            'seconds': sum(event.profile.end - event.profile.start for event in own) * 1e-9})
    return pixels, work, seconds


def write_png(path, pixels):
    def chunk(kind, data):
        return (struct.pack('>I', len(data)) + kind + data
                + struct.pack('>I', zlib.crc32(kind + data)))
    rows = numpy.zeros((HEIGHT, 1 + 3 * WIDTH), numpy.uint8)  # Each row begins with the number of its filter: 0, none.
    rows[:, 1:] = pixels[:, :, :3].reshape(HEIGHT, -1)
    path.write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', WIDTH, HEIGHT, 8, 2, 0, 0, 0))
                     + chunk(b'IDAT', zlib.compress(rows.tobytes(), 6)) + chunk(b'IEND', b''))


def shrunk(pixels, width, height):
    """The image scaled down to width x height; each pixel is the mean of those that it replaces."""
    columns = numpy.linspace(0, WIDTH, width + 1).astype(int)[:-1]
    lines = numpy.linspace(0, HEIGHT, height + 1).astype(int)[:-1]
    total = numpy.add.reduceat(numpy.add.reduceat(pixels[:, :, :3].astype(numpy.float64), lines, 0), columns, 1)
    count = numpy.outer(numpy.diff(numpy.append(lines, HEIGHT)), numpy.diff(numpy.append(columns, WIDTH)))
    return (total / count[:, :, None]).astype(int)


def show(pixels, devices):
    """Prints the picture with two pixels per character. The colours at the left show which device computed the rows."""
    size = os.get_terminal_size(sys.stdout.fileno())
    width = max(20, min(size.columns - 4, 2 * (size.lines - 6) * WIDTH // HEIGHT, 120))
    height = width * HEIGHT // WIDTH // 2 * 2
    small = shrunk(pixels, width, height)
    lines = []
    for line in range(0, height, 2):
        band = (line + 1) * BANDS // height
        mark = NODE_COLOURS[band % devices % len(NODE_COLOURS)]
        text = '\x1b[38;2;{};{};{}m\u2590\x1b[0m '.format(*mark)
        for above, below in zip(small[line], small[line + 1]):
            text += '\x1b[38;2;{};{};{};48;2;{};{};{}m\u2580'.format(*above, *below)
        lines.append(text + '\x1b[0m')
    print('\n'.join(lines))


def terminal():
    """Whether standard output is a terminal with colours and block characters."""
    return (sys.stdout.isatty() and os.environ.get('TERM', 'dumb') != 'dumb' and not os.environ.get('NO_COLOR')
            and (sys.stdout.encoding or '').lower().replace('-', '') == 'utf8')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--platform', default='Clique', help='part of the OpenCL platform\'s name; default: Clique')
    parser.add_argument('--png', type=pathlib.Path, metavar='FILE', help='write the picture to this file')
    parser.add_argument('--json', type=pathlib.Path, metavar='FILE', help='write what each device did to this file')
    options = parser.parse_args()

    devices = find_platform(options.platform).get_devices()
    if not devices:
        sys.exit(f"picture.py: the platform '{options.platform}' has no devices")
    pixels, work, seconds = compute(devices)
    if terminal():
        show(pixels, len(devices))
        colours = itertools.cycle(NODE_COLOURS)
        legend = ', '.join('\x1b[38;2;{};{};{}m\u2590\x1b[0m {}'.format(*colour, one['node'])
                           for colour, one in zip(colours, work))
        print(f'  computed by {legend}')
    nodes = ' and '.join(dict.fromkeys(one['node'] for one in work))
    print(f'{WIDTH} x {HEIGHT} pixels in {BANDS} bands, alternately on {nodes}: '
          f'{seconds:.2f} s until the image was read')
    if options.png:
        write_png(options.png, pixels)
        print(f'written to {options.png}')
    if options.json:
        options.json.write_text(json.dumps({'seconds': seconds, 'work': work}), encoding='utf-8')


if __name__ == '__main__':
    main()
