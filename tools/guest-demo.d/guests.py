"""A virtual machine without a GPU: builds a Debian image for QEMU, boots it, and runs commands in it.

The image is a file system of Debian's packages and nothing of Clique's. What a guest gets of Clique is in a folder
that it shares with the host (9p), through which commands and their output travel as well.
"""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
QEMU = 'qemu-system-x86_64'
TOOLS = (QEMU, 'debootstrap', 'mke2fs', 'dpkg-query', 'ldd')
# Clique opens ZeroMQ itself, so that its library is not among those that ldd lists.
PACKAGES = ('linux-image-amd64', 'initramfs-tools', 'kmod', 'iproute2', 'systemd-sysv', 'ocl-icd-libopencl1', 'clinfo',
            'clpeak', 'hashcat', 'libzmq5')
# Part of the name of the image: a change of what follows makes another one.
VERSION = 3
IMAGE_MIB = 3072
BOOT_SECONDS = {'kvm': 60, 'tcg': 300}
# The address of the host, as guests of QEMU's user network see it.
HOST = '10.0.2.2'
# In the guest, where the shared folder is.
SHARED = '/mnt'

# The first program in the guest, unless systemd is.
INIT = r'''#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mountpoint -q /proc || mount -t proc proc /proc
mountpoint -q /sys || mount -t sysfs sys /sys
mountpoint -q /dev || mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
mount -t tmpfs tmp /dev/shm
mount -t tmpfs tmp /tmp
mount -t tmpfs tmp /run
exec sh /usr/sbin/guest-agent
'''

SERVICE = r'''[Service]
Environment=HOME=/root
ExecStart=/usr/sbin/guest-agent
StandardOutput=tty
TTYPath=/dev/ttyS0
'''

# Makes the network and the shared folder usable, and has the host say the rest.
CONNECT = r'''#!/bin/sh
for module in 9pnet_virtio 9p virtio_net vsock_loopback vmw_vsock_virtio_transport; do modprobe $module; done
ip link set lo up
ip address add 10.0.2.15/24 dev eth0 && ip link set eth0 up && ip route add default via 10.0.2.2
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=none shared /mnt && exec sh /mnt/agent
echo 'the shared folder cannot be mounted'
'''

# Runs what the host puts into the folder jobs, one after the other.
AGENT = r'''
number=1
touch /mnt/booted
while :; do
  job=/mnt/jobs/$number
  if [ -e $job/ready ]; then
    (cd /root && exec timeout "$(cat $job/seconds)" sh $job/command) >$job/out 2>$job/err </dev/null
    echo $? >$job/status.new
    mv $job/status.new $job/status
    number=$((number + 1))
  else
    sleep 0.05
  fi
done
'''


class Unavailable(Exception):
    """This host lacks something that guests need."""


class Failed(Exception):
    """Something that should have worked did not."""


def run(command, **variables):
    """Runs a command with more variables of the environment. Returns its standard output."""
    ended = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           check=False, env={**os.environ, **variables})
    if ended.returncode != 0:
        last = '\n'.join((ended.stdout + ended.stderr).strip().splitlines()[-10:])
        raise Failed(f'{command[0]} ended with status {ended.returncode}:\n{last}')
    return ended.stdout


def accelerator():
    """'kvm' where this process may use it, otherwise 'tcg': QEMU then translates the guest's instructions.

    Some hosts that are themselves guests have /dev/kvm, but a processor without virtualisation. KVM then interprets
    most of the guest's kernel, which takes far longer than translating it.
    """
    flags = re.search(r'^flags\s*:(.*)$', pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8'), re.MULTILINE)
    virtual = flags and {'vmx', 'svm'} & set(flags[1].split())
    return 'kvm' if virtual and os.access('/dev/kvm', os.R_OK | os.W_OK) else 'tcg'


def vsock_cid():
    """A number for a guest that uses vsock, or None if this host has no vhost-vsock."""
    # Numbers below 3 are reserved. Guests of one host need different ones.
    return 3 + os.getpid() % 100000 if os.access('/dev/vhost-vsock', os.R_OK | os.W_OK) else None


def check_tools(image):
    """Throws Unavailable unless a guest can be made here."""
    if os.uname().machine != 'x86_64':
        raise Unavailable('the guest is a PC, and this host is not')
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        raise Unavailable(f'{", ".join(missing)} cannot be found; tools/setup guests installs what is missing')
    if os.geteuid() != 0 and not image.exists():
        raise Unavailable('debootstrap needs root to build the image')


def suite():
    """The release of Debian whose libraries the build uses; bookworm if this is no Debian."""
    known = {}
    with contextlib.suppress(OSError):
        text = pathlib.Path('/etc/os-release').read_text(encoding='utf-8')
        known = dict(line.split('=', 1) for line in text.splitlines() if '=' in line)
    is_debian = known.get('ID', '').strip('"') == 'debian'
    return known.get('VERSION_CODENAME', 'bookworm').strip('"') if is_debian else 'bookworm'


def libraries(*programs):
    """The files of all libraries that programs, or libraries, need."""
    found = set()
    for program in programs:
        for line in run(['ldd', program]).splitlines():
            if match := re.search(r'=> (/\S+)', line):
                found.add(os.path.realpath(match[1]))
    return found


def packages_of(files):
    """The Debian packages that files belong to. Files of the build belong to none."""
    # Before Debian 13, packages name files in /lib that are in /usr/lib.
    names = [name for file in files for name in (file, file.removeprefix('/usr')) if not file.startswith(str(ROOT))]
    ended = subprocess.run(['dpkg-query', '--search', *names], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           check=False)
    return sorted({line.split(':')[0] for line in ended.stdout.splitlines()})


class Image:
    """A disk with Debian, its kernel and its initramfs, below build/guest. The first use builds it."""

    def __init__(self, *programs):
        """programs: what is to run in guests besides Debian's own; their libraries are installed"""
        self.programs = programs
        self.folder = ROOT / 'build/guest' / f'{suite()}-{VERSION}'
        self.disk = self.folder / 'disk'
        self.kernel = self.folder / 'vmlinuz'
        self.initramfs = self.folder / 'initrd'

    def make(self):
        check_tools(self.disk)
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / 'lock', 'w', encoding='utf-8') as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self.disk.exists():
                with tempfile.TemporaryDirectory(dir=self.folder, prefix='root.') as root:
                    self.build(pathlib.Path(root))

    def build(self, root):
        packages = ','.join([*PACKAGES, *packages_of(libraries(*self.programs))])
        mirror = run([ROOT / 'tools/debian-mirror']).strip()
        run(['debootstrap', '--variant=minbase', f'--include={packages}', suite(), root, mirror])
        for folder in ('var/cache/apt/archives', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man',
                       'usr/share/locale'):
            shutil.rmtree(root / folder, ignore_errors=True)
        # PoCL, which hashcat's package depends on, is out of the loader's sight.
        vendors = root / 'etc/OpenCL/vendors'
        vendors.rename(root / 'etc/OpenCL/other-vendors')
        vendors.mkdir()
        for program, text in ('guest-init', INIT), ('guest-agent', CONNECT):
            file = root / 'usr/sbin' / program
            file.write_text(text, encoding='utf-8')
            file.chmod(0o755)
        units = root / 'etc/systemd/system'
        (units / 'guest.service').write_text(SERVICE, encoding='utf-8')
        (units / 'multi-user.target.wants/guest.service').symlink_to('../guest.service')
        shutil.copy(next((root / 'boot').glob('vmlinuz-*')), self.kernel)
        shutil.copy(next((root / 'boot').glob('initrd.img-*')), self.initramfs)
        unfinished = self.folder / 'disk.new'
        unfinished.unlink(missing_ok=True)
        run(['mke2fs', '-q', '-t', 'ext4', '-d', root, unfinished, f'{IMAGE_MIB}M'])
        unfinished.rename(self.disk)


class Guest:
    """A running virtual machine. Ends with the context manager, or with this program."""

    def __init__(self, image, memory_mib=1536, processors=2, guest_memory=None, cid=None, systemd=False,
                 same_folder=None):
        """
        systemd: whether systemd is the first program, and runs the guest's services
        same_folder: a folder of this host that has the same path in the guest once see_same_folder() was called
        guest_memory: a file that the guest sees as a device (ivshmem-plain)
        cid: the guest's number for vsock, if the host has vhost-vsock
        """
        self.image = image
        self.options = ['-m', f'{memory_mib}M', '-smp', str(processors)]
        if guest_memory:
            size = os.stat(guest_memory).st_size
            self.options += ['-object', f'memory-backend-file,id=guest,share=on,mem-path={guest_memory},size={size}',
                             '-device', 'ivshmem-plain,memdev=guest']
        if cid:
            self.options += ['-device', f'vhost-vsock-pci,guest-cid={cid}']
        self.same_folder = same_folder
        if same_folder:
            self.options += ['-virtfs', f'local,path={same_folder},mount_tag=same,security_model=none']
        self.init = 'lib/systemd/systemd systemd.firstboot=off' if systemd else 'usr/sbin/guest-init'
        self.jobs = 0
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def start(self):
        self.shared = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix='guest.')))
        (self.shared / 'agent').write_text(AGENT, encoding='utf-8')
        (self.shared / 'jobs').mkdir()
        self.console = self.shared / 'console'
        accel = accelerator()
        # Without the register IA32_ARCH_CAPABILITIES, which KVM cannot set where the host is itself a guest.
        processor = 'host,arch-capabilities=off' if accel == 'kvm' else 'max'
        command = [QEMU, '-machine', f'q35,accel={accel}', '-cpu', processor, *self.options,
                   '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot',
                   '-serial', f'file:{self.console}',
                   '-kernel', str(self.image.kernel), '-initrd', str(self.image.initramfs), '-append',
                   f'console=ttyS0 root=/dev/vda rw init=/{self.init} net.ifnames=0 quiet panic=-1',
                   '-drive', f'file={self.image.disk},format=raw,if=virtio,snapshot=on',
                   '-netdev', 'user,id=net', '-device', 'virtio-net-pci,netdev=net',
                   '-virtfs', f'local,path={self.shared},mount_tag=shared,security_model=none']
        began = time.monotonic()
        self.process = subprocess.Popen(['setpriv', '--pdeathsig', 'KILL', '--', *command], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.stack.callback(self.end)
        self.wait_for(self.shared / 'booted', BOOT_SECONDS[accel], 'did not boot')
        self.boot_seconds = time.monotonic() - began

    def end(self):
        for number in signal.SIGTERM, signal.SIGKILL:
            if self.process.poll() is None:
                self.process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(10)
        self.process.stderr.close()

    def wait_for(self, file, seconds, what):
        deadline = time.monotonic() + seconds
        while not file.exists():
            if self.process.poll() is not None:
                raise Failed(f'QEMU ended: {self.process.stderr.read().strip()}\n{self.last_words()}')
            if time.monotonic() > deadline:
                raise Failed(f'the guest {what} within {seconds:.0f} s\n{self.last_words()}')
            time.sleep(0.02)

    def last_words(self):
        with contextlib.suppress(OSError):
            return '\n'.join(self.console.read_text(encoding='utf-8', errors='replace').splitlines()[-20:])
        return ''

    def run(self, script, seconds=300):
        """Runs a shell script in the guest as its root. Returns its status, standard output and errors."""
        self.jobs += 1
        job = self.shared / 'jobs' / str(self.jobs)
        job.mkdir()
        (job / 'command').write_text(script, encoding='utf-8')
        (job / 'seconds').write_text(f'{seconds:.0f}', encoding='utf-8')
        (job / 'ready').touch()
        self.wait_for(job / 'status', seconds + 30, f'did not end the command "{script.strip().splitlines()[-1]}"')
        status = int((job / 'status').read_text(encoding='utf-8'))
        return status, *((job / name).read_text(encoding='utf-8', errors='replace') for name in ('out', 'err'))

    def install(self, library, icd='clique.icd'):
        """Gives the guest libclique.so and its .icd, and nothing else of Clique's."""
        shutil.copy(library, self.shared / 'libclique.so')
        status, _, errors = self.run(f'cp {SHARED}/libclique.so /usr/lib/ && '
                                     f'echo /usr/lib/libclique.so >/etc/OpenCL/vendors/{icd}')
        if status != 0:
            raise Failed(f'libclique.so cannot be installed in the guest: {errors}')

    def see_same_folder(self):
        """Mounts the folder that guest and host have under the same path."""
        status, _, errors = self.run(f'mkdir -p {self.same_folder} && mount -t 9p -o trans=virtio,version=9p2000.L,'
                                     f'msize=512000,cache=none same {self.same_folder}')
        if status != 0:
            raise Failed(f'{self.same_folder} cannot be mounted in the guest: {errors}')


@contextlib.contextmanager
def memory_file(mib=512):
    """A file that a guest and its host share, for `--guest-memory` and Guest. Devices have sizes that are powers of
    two."""
    with tempfile.NamedTemporaryFile(dir='/dev/shm', prefix='clique-guest-') as file:
        os.truncate(file.name, mib << 20)
        yield file.name


class Node:
    """cliqued on this host, with a key of its own and one for guests."""

    def __init__(self, build, *options):
        self.build = pathlib.Path(build)
        self.options = options
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix='node.')))
            self.start()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def make_key(self, name):
        """Makes a private key. Returns the public one."""
        clique = self.build / 'cli/clique'
        file = self.folder / name
        run([clique, 'keygen', '--file', file])
        return run([clique, 'key', '--file', file]).splitlines()[0]

    def start(self):
        self.key = self.make_key('node.key')
        self.guest_key = self.make_key('guest.key')
        self.authorized = self.folder / 'authorized-clients'
        self.authorized.write_text(f'{self.guest_key} guest\n', encoding='utf-8')
        self.log = self.folder / 'log'
        command = [self.build / 'daemon/cliqued', '--name', 'host', '--config', '/dev/null', '--listen', '127.0.0.1:0',
                   '--identity', self.folder / 'node.key', '--authorized-clients', self.authorized, *self.options]
        with open(self.log, 'w', encoding='utf-8') as log:
            self.process = subprocess.Popen(['setpriv', '--pdeathsig', 'TERM', '--', *map(str, command)],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.stack.callback(self.end)
        deadline = time.monotonic() + 60
        while not (found := re.search(r'listens on tcp://127\.0\.0\.1:(\d+)', self.said())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f'cliqued does not listen:\n{self.said()}')
            time.sleep(0.02)
        self.port = int(found[1])

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def said(self):
        return self.log.read_text(encoding='utf-8', errors='replace')

    def admit(self, guest, *hosts):
        """Gives the guest its private key, and the node's public key under the names by which it knows the node."""
        shutil.copy(self.folder / 'guest.key', guest.shared / 'client.key')
        (guest.shared / 'known-nodes').write_text(
            ''.join(f'{self.name_of(host)} {self.key}\n' for host in hosts), encoding='utf-8')

    def name_of(self, host):
        return f'{host}:{self.port}'

    def environment(self, host, memory=False):
        """Shell assignments with which a program in the guest finds the node at this host.

        memory: data moves through the memory that guest and host share
        """
        return (f'export CLIQUE_NODES={self.name_of(host)} CLIQUE_IDENTITY={SHARED}/client.key '
                f'CLIQUE_SHARED_MEMORY={int(memory)} CLIQUE_KNOWN_NODES={SHARED}/known-nodes '
                # Emulated guests take seconds to prove their keys.
                'CLIQUE_REMEMBER_UNREACHABLE=0 CLIQUE_CONNECT_TIMEOUT_MS=60000\n')
