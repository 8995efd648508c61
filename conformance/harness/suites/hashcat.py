"""hashcat: finds invented passwords, with all devices of the platform together."""

import hashlib
import re
import tempfile

from .. import process
from ..outcome import Outcome
from ..suite import Suite

# Hash mode, the hash of an invented password, and the mask to search.
ATTACKS = {
    'md5': ('0', hashlib.md5(b'hello1').hexdigest(), '?l?l?l?l?l?d'),
    'sha256': ('1400', hashlib.sha256(b'code42').hexdigest(), '?l?l?l?l?d?d'),
    'sha512': ('1700', hashlib.sha512(b'word7').hexdigest(), '?l?l?l?l?d'),
}


class Hashcat(Suite):
    """Three tests per case: the password was found, every device took part, and the exit status is 0."""

    name = 'hashcat'
    timeout = 600

    def cases(self):
        return list(ATTACKS)

    def execute(self, case):
        mode, digest, mask = ATTACKS[case]
        with tempfile.TemporaryDirectory(prefix='conformance-hashcat-') as folder:
            # Without -D 1,2 hashcat ignores CPUs; without --force it rejects PoCL's CPU devices.
            command = ['hashcat', '-m', mode, '-a', '3', '-D', '1,2', '--force', '--potfile-disable',
                       '--backend-ignore-cuda', '--session', f'conformance-{case}', digest, mask]
            finished = process.run(command, env=self.driver.env, timeout=self.timeout, cwd=folder)
        self.log(case, finished.output)
        if finished.fault:
            return {case: finished.fault}
        devices = sorted(set(re.findall(r'^Speed\.#(\d+)', finished.output, re.MULTILINE)))
        print(f"  {case}: devices that took part: {', '.join(devices) or 'none'}")
        checks = {
            'cracked': re.search(rf'{digest}:\S+', finished.output),
            'every device took part': len(devices) == self.driver.device_count,
            'exit status': finished.status == 0,
        }
        return {f'{case}::{name}': Outcome.PASS if good else Outcome.FAIL for name, good in checks.items()}
