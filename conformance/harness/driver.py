"""The driver under test: making programs load it, and its properties."""

import contextlib
import json
import os
import pathlib
import re
import tempfile

from . import process


class DriverError(Exception):
    """The driver cannot be loaded, or has no devices."""


class Driver:
    """One ICD, the only one that the programs of a suite see."""

    def __init__(self, icd_file, caches):
        self.icd_file = pathlib.Path(icd_file).resolve()
        if not self.icd_file.is_file():
            raise DriverError(f'the ICD file {icd_file} does not exist; build the preset release, or '
                              'give one with --vendor')
        self.env = dict(os.environ)
        self.env.pop('OCL_ICD_FILENAMES', None)
        self.env['OCL_ICD_VENDORS'] = str(self.icd_file)
        # Every run starts with empty caches: a cached binary of an earlier driver could hide a build that fails now.
        for variable in ('XDG_CACHE_HOME', 'XDG_DATA_HOME', 'POCL_CACHE_DIR'):
            folder = pathlib.Path(caches, variable.lower())
            folder.mkdir()
            self.env[variable] = str(folder)
        self.platform, self.devices = self._identify()

    def _identify(self):
        finished = process.run(['clinfo', '--json'], env=self.env, timeout=120)
        if finished.fault or finished.status:
            raise DriverError(f'clinfo failed ({finished.fault or finished.status}):\n{finished.output}')
        # A driver or layer may print messages before or after the document.
        start, end = finished.output.find('{'), finished.output.rfind('}')
        try:
            info = json.loads(finished.output[start:end + 1])
        except ValueError as error:
            raise DriverError(f'the output of clinfo --json is not valid ({error}):\n{finished.output}') from None
        if len(info['platforms']) != 1 or not info['devices'][0].get('online'):
            raise DriverError(
                f'{self.icd_file} must offer exactly one platform, with devices; clinfo says:\n'
                f'{finished.output[:2000]}')
        return info['platforms'][0], info['devices'][0]['online']

    @property
    def device_count(self):
        return len(self.devices)

    @property
    def description(self):
        """The driver in one line, which is the same on every machine with the same driver."""
        version = self.platform['CL_PLATFORM_VERSION'].strip()
        return f"{self.platform['CL_PLATFORM_NAME']}, {version}"

    @property
    def versions(self):
        """The devices' driver versions."""
        return {device['CL_DRIVER_VERSION'] for device in self.devices}

    @property
    def label(self):
        """The name of the device in the files of expected outcomes: hardware and driver, such as pocl-clique."""
        device = self.devices[0]
        if 'PoCL' in device['CL_DEVICE_VERSION'] or device['CL_DEVICE_NAME'].startswith(('pthread', 'cpu')):
            kind = 'pocl'
        else:
            kind = re.sub(r'[^a-z0-9]+', '-', device['CL_DEVICE_NAME'].lower()).strip('-')
        return f'{kind}-clique' if self.platform['CL_PLATFORM_NAME'] == 'Clique' else f'{kind}-native'


@contextlib.contextmanager
def load(icd_file):
    """The driver of an ICD file, with caches that exist as long as the block."""
    with tempfile.TemporaryDirectory(prefix='conformance-') as caches:
        yield Driver(icd_file, caches)
