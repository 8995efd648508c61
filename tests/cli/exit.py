#!/usr/bin/env python3
"""What a program that uses OpenSSL itself says, and leaves on the node, when it ends without closing anything."""

import os
import subprocess
import sys

import nodes

# As in a program that uses OpenSSL before Clique does, OpenSSL cleans itself up before the destructors of libraries
# run. An exit handler of the program runs in between, until its standard input ends.
PROGRAM = '''
import ctypes
libc = ctypes.CDLL(None)
assert libc.__cxa_atexit(libc.getchar, None, None) == 0
LOAD_CRYPTO_STRINGS = ctypes.c_uint64(2)
assert ctypes.CDLL('libcrypto.so.3').OPENSSL_init_crypto(LOAD_CRYPTO_STRINGS, None) == 1
cl = ctypes.CDLL('libOpenCL.so.1')
platform, device, status = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
assert cl.clGetPlatformIDs(1, ctypes.byref(platform), None) == 0
assert cl.clGetDeviceIDs(platform, ctypes.c_uint64(0xffffffff), 1, ctypes.byref(device), None) == 0
for function in (cl.clCreateContext, cl.clCreateCommandQueue, cl.clCreateBuffer):
    function.restype = ctypes.c_void_p
context = ctypes.c_void_p(cl.clCreateContext(None, 1, ctypes.byref(device), None, None, ctypes.byref(status)))
queue = ctypes.c_void_p(cl.clCreateCommandQueue(context, device, ctypes.c_uint64(0), ctypes.byref(status)))
# So much that it travels beside the commands.
size = ctypes.c_size_t(16 << 20)
buffer = ctypes.c_void_p(cl.clCreateBuffer(context, ctypes.c_uint64(1), size, None, ctypes.byref(status)))
data = ctypes.create_string_buffer(size.value)
assert cl.clEnqueueWriteBuffer(queue, buffer, 1, ctypes.c_size_t(0), size, data, 0, None, None) == 0
assert cl.clEnqueueReadBuffer(queue, buffer, 1, ctypes.c_size_t(0), size, data, 0, None, None) == 0
print('it has a session')
'''


class Exit(nodes.TestCase):
    def test_nothing_is_said_and_the_session_ends_at_once(self):
        node = self.node('--encryption', 'all', '--resume-timeout', '600')
        program = subprocess.Popen(
            [sys.executable, '-c', PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(os.environ, CLIQUE_NODES=node.address, CLIQUE_SHARED_MEMORY='0'), text=True,
            preexec_fn=nodes.die_with_parent)
        # The worker would wait for a client that it takes for lost.
        self.assertTrue(node.says('session 1 ended'), node.log())
        said, _ = program.communicate(timeout=60)
        self.assertEqual((program.returncode, said), (0, 'it has a session\n'))


if __name__ == '__main__':
    nodes.main()
