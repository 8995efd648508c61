#!/usr/bin/env python3
"""What cliqued logs at each level and in each format, its state at SIGUSR1, and the names of its processes."""

import json
import os
import pathlib
import re
import signal

import nodes


class Levels(nodes.TestCase):
    def log_at(self, level):
        """What cliqued logs at the level while a program uses it, each line as (level, message)."""
        node = self.node('--log-level', level)
        self.assertEqual(self.compute(node), (0, 'right\n'))
        self.assertTrue(node.says('session 1 ended'), node.log())
        node.stop()
        return [(found[1], found[2]) for found in re.finditer(r'(?m)^\S+ \S+ cliqued\[\d+\] (\w+): (.*)$', node.log())]

    def test_levels_differ(self):
        info, debug, trace = (self.log_at(level) for level in ('info', 'debug', 'trace'))
        levels = lambda lines: {level for level, _ in lines}
        self.assertEqual(levels(info) - {'warning'}, {'info'})
        self.assertEqual(levels(debug) - {'warning'}, {'info', 'debug'})
        self.assertEqual(levels(trace) - {'warning'}, {'info', 'debug', 'trace'})

        def says(lines, level, text):
            self.assertTrue(any(one == level and re.search(text, message) for one, message in lines), (text, lines))

        for lines in (debug, trace):
            says(lines, 'debug', r'process \d+ starts the driver .* for a session')
            says(lines, 'debug', r'process \d+ is ready for a session with ')
            says(lines, 'debug', rf'security_client\S+ at 127\S+ is admitted as user {nodes.USER}, an administrator, '
                                 'and asks for a session')
            says(lines, 'debug', r'session 1 gets process \d+ for ')
            says(lines, 'debug', r'session 1: process \d+ has ended')
        says(trace, 'trace', r'connection 1 comes from 127\.0\.0\.1:\d+')
        says(trace, 'trace', r'connection \d+: Hello of security_client.* with wish 0')
        says(trace, 'trace', r'session 1: process \d+ has sent its record')


class ToJournal(nodes.TestCase):
    """cliqued under systemd, whose library a substitute stands for: it writes the fields of each entry to a file."""

    SUBSTITUTE = """
        #include <stdio.h>
        #include <stdlib.h>
        #include <sys/uio.h>
        int sd_journal_sendv(const struct iovec* fields, int count) {
          FILE* file = fopen(getenv("CLIQUE_TEST_JOURNAL"), "a");
          for (int i = 0; i < count; ++i)
            fprintf(file, "%.*s\\n", (int)fields[i].iov_len, (const char*)fields[i].iov_base);
          fprintf(file, "\\n");
          fclose(file);
          return 0;
        }
        """

    def journal_of(self, stream, *options):
        """Has a program use a node. Returns the node and the entries, each as a dictionary."""
        library, entries = self.folder / 'libsystemd.so.0', self.folder / 'journal'
        (self.folder / 'journal.c').write_text(self.SUBSTITUTE)
        nodes.run(['cc', '-shared', '-fPIC', '-o', library, self.folder / 'journal.c'])
        if not library.exists():
            self.skipTest('there is no C compiler')
        entries.touch()
        log = self.folder / 'cliqued.log'
        log.touch()
        path = ':'.join(filter(None, (str(self.folder), os.environ.get('LD_LIBRARY_PATH'))))
        process = nodes.Journalled(
            [nodes.CLIQUED, '--config', '/dev/null', '--name', 'alpha', '--listen', '127.0.0.1:0', '--devices', '0',
             *options], log, entries, stream(log), LD_LIBRARY_PATH=path)
        self.addCleanup(process.stop)
        return process

    def entries(self, process):
        text = process.entries.read_text(encoding='utf-8')
        return [dict(line.split('=', 1) for line in entry.splitlines()) for entry in text.split('\n\n') if entry]

    def test_fields(self):
        node = self.journal_of(lambda log: f'{log.stat().st_dev}:{log.stat().st_ino}')
        self.assertEqual(self.compute(node.address), (0, 'right\n'))
        ended = lambda: [each for each in self.entries(node) if 'session 1 ended' in each['MESSAGE']]
        self.assertTrue(nodes.eventually(ended, 20))
        entry, = ended()
        self.assertEqual({name: entry[name] for name in ('PRIORITY', 'SYSLOG_IDENTIFIER', 'CLIQUE_NODE',
                                                         'CLIQUE_SESSION', 'CLIQUE_CLIENT', 'CLIQUE_USER')},
                         {'PRIORITY': '6', 'SYSLOG_IDENTIFIER': 'cliqued', 'CLIQUE_NODE': 'alpha',
                          'CLIQUE_SESSION': '1', 'CLIQUE_CLIENT': f'user {nodes.USER}', 'CLIQUE_USER': nodes.USER})
        self.assertRegex(entry['CLIQUE_ADDRESS'], r'^127\.0\.0\.1:\d+$')
        self.assertIn('session 1 ended: seconds=', entry['MESSAGE'])
        self.assertEqual(entry['CLIQUE_KERNELS'], '1')
        # Lines of the daemon and of workers are in the journal alone.
        self.assertNotRegex(node.log.read_text(), r'(cliqued|worker)\[')

    def test_fields_of_workers(self):
        node = self.journal_of(lambda log: f'{log.stat().st_dev}:{log.stat().st_ino}')
        self.assertEqual(self.compute(node.address), (0, 'right\n'))
        of_session = lambda: [each for each in self.entries(node)
                              if each['SYSLOG_IDENTIFIER'] == 'worker' and each.get('CLIQUE_SESSION') == '1']
        opened = lambda: [each for each in of_session()
                          if re.match(r'worker\[\d+\] info: session of ', each['MESSAGE'])]
        self.assertTrue(nodes.eventually(opened, 20), self.entries(node))
        entry = opened()[0]
        self.assertEqual({name: entry[name] for name in ('PRIORITY', 'CLIQUE_NODE', 'CLIQUE_CLIENT', 'CLIQUE_USER')},
                         {'PRIORITY': '6', 'CLIQUE_NODE': 'alpha', 'CLIQUE_CLIENT': f'user {nodes.USER}',
                          'CLIQUE_USER': nodes.USER})
        self.assertTrue(entry['CLIQUE_DEVICES'])
        self.assertRegex(entry['CLIQUE_ADDRESS'], r'^127\.0\.0\.1:\d+$')

    def test_another_stream(self):
        node = self.journal_of(lambda log: '1:2')
        self.assertEqual(self.entries(node), [])
        self.assertIn('cliqued[', node.log.read_text())


class Json(nodes.TestCase):
    def test_lines_are_objects(self):
        node = self.node('--log-format', 'json', '--log-level', 'debug')
        client = self.session(node)
        client.communicate()
        self.assertTrue(node.says('"message":"session 1 ended"'), node.log())
        self.assertTrue(node.says('"process":"worker"'), node.log())
        lines = [json.loads(line) for line in node.log().splitlines()]
        for line in lines:
            self.assertRegex(line['time'], r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$')
            self.assertIn(line['level'], ('debug', 'info', 'warning'))
            self.assertTrue(line['message'])
        # Lines of workers are in the same log.
        self.assertEqual({line['process'] for line in lines} - {'probe'}, {'cliqued', 'worker'})
        self.assertEqual({line['pid'] for line in lines if line['process'] == 'cliqued'}, {node.process.pid})
        by_message = {line['message']: line for line in lines}
        begin, end = by_message['session 1 began'], by_message['session 1 ended']
        for line in (begin, end):
            self.assertEqual((line['session'], line['client'], line['user']), (1, f'user {nodes.USER}', nodes.USER))
            self.assertIn(f'security_client[{client.pid}]', line['program'])
            self.assertRegex(line['address'], r'^127\.0\.0\.1:\d+$')
        self.assertNotIn('end', begin)
        self.assertEqual((end['end'], end['kernels'], end['uncounted-workers']), ('goodbye', 1, 0))
        self.assertLess(0, end['seconds'])
        self.assertLess(0, end['shared-in'])
        self.assertEqual((end['transport'], end['connections'], end['rate-in']), ('shared-memory', 0, None))

    def test_text_of_others_stays_in_its_value(self):
        node = self.node('--log-format', 'json')
        name = 'x"}\n{"message": "session 7 ended", "y\\": "\x1b[2J'
        client = self.session(node, prefix=('bash', '-c', 'exec -a "$0" "$1" --hold', name))
        client.communicate()
        self.assertTrue(node.says('"message":"session 1 ended"'), node.log())
        self.assertNotIn('\x1b', node.log())
        lines = [json.loads(line) for line in node.log().splitlines()]
        begin, = (line for line in lines if line['message'] == 'session 1 began')
        self.assertTrue(begin['program'].startswith('x"}\\n{"message": '), begin)

    def test_unknown_format(self):
        status, said = nodes.run([nodes.CLIQUED, '--config', '/dev/null', '--log-format', 'xml'])
        self.assertEqual(status, 1)
        self.assertIn("--log-format: 'xml' is not a format of the log; write text or json", said)


class State(nodes.TestCase):
    def test_sigusr1_logs_the_state(self):
        node = self.node('--sessions', '5')
        client = self.session(node)
        os.kill(node.process.pid, signal.SIGUSR1)
        self.assertTrue(node.says('state of session 1: '), node.log())
        self.assertRegex(node.log(), r'info: state of the node: node="alpha" version="[\d.]+" uptime=\d+\.\d{3} '
                                     r'state="up" sessions=1 session-limit=5 encryption="all"')
        self.assertRegex(node.log(), r'info: state of a device: device="\S.*" backend="opencl" driver="\S.*" '
                                     r'driver-version="\S.*" memory-total=\d+ memory-free=- utilisation=-')
        self.assertRegex(node.log(), r'info: state of session 1: seconds=\d+\.\d{3} network-in=\d+ .* '
                                     r'transport=shared-memory connections=0 .* memory=\d+ '
                                     rf'client="user {nodes.USER}" user="{nodes.USER}" address=127')
        # It also does so while it drains.
        os.kill(node.process.pid, signal.SIGTERM)
        self.assertTrue(node.says('draining: '))
        os.kill(node.process.pid, signal.SIGUSR1)
        self.assertTrue(node.says('state="draining"'), node.log())
        self.assertEqual(client.communicate()[0], 'right\n')
        self.assertEqual(node.process.wait(30), 0)


class Titles(nodes.TestCase):
    def test_workers_are_named_after_their_sessions(self):
        node = self.node()
        self.session(node)
        worker = node.worker()
        folder = pathlib.Path(f'/proc/{worker}')
        self.assertEqual((folder / 'comm').read_text(), 'cliqued-worker\n')
        title = lambda: (folder / 'cmdline').read_bytes().rstrip(b'\0')
        self.assertEqual(title(), f'cliqued worker alpha session 1 user {nodes.USER}'.encode())

    def test_names_of_others_are_escaped_and_bounded(self):
        node = self.node(name='al\npha\x1b[2J' + 'ä' * 1000)
        self.session(node)
        worker = node.worker()
        title = pathlib.Path(f'/proc/{worker}/cmdline').read_bytes().rstrip(b'\0').decode()
        self.assertTrue(title.startswith('cliqued worker al\\npha\\x1b[2Jää'), title)
        self.assertTrue(title.endswith('ä'), title)
        self.assertLess(len(title), 500)


if __name__ == '__main__':
    nodes.main()
