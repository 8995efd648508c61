#!/usr/bin/env python3
"""What cliqued tells Prometheus: a real scrape of a real node, checked by promtool."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

import nodes
from tunnel import Tunnel

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = re.compile(r'^([A-Za-z_]+)(?:\{(.*)\})? (\S+)$')


class Scraping(nodes.TestCase):
    def start(self, *options, **more):
        """A node that serves metrics. Returns it, and the address of these."""
        node = self.node('--metrics', '127.0.0.1:0', *options, **more)
        self.assertTrue(node.says('metrics: http://'), node.log())
        return node, re.search(r'metrics: (http://\S+/metrics)', node.log())[1]

    def scrape(self, url):
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read().decode()

    def samples(self, url):
        """The values by name and labels."""
        lines = [line for line in self.scrape(url).splitlines() if line and not line.startswith('#')]
        return {f'{name}{{{labels}}}' if labels else name: float(value)
                for name, labels, value in (SAMPLE.match(line).groups('') for line in lines)}

    def reaches(self, url, name, value):
        """Waits until a value is at least this. Snapshots are a second old."""
        self.assertTrue(nodes.eventually(lambda: self.samples(url).get(name, -1) >= value, 20),
                        f'{name} stays below {value}:\n' + self.scrape(url))


class Metrics(Scraping):
    def test_follow_the_rules_of_prometheus(self):
        if not shutil.which('promtool'):
            self.skipTest("promtool is missing; 'tools/setup test' installs it")
        node, url = self.start()
        self.session(node)
        self.reaches(url, 'clique_sessions', 1)
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=self.scrape(url), text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual((checked.returncode, checked.stdout), (0, ''))

    def test_are_those_that_are_documented_and_drawn(self):
        node, url = self.start()
        self.session(node)
        self.reaches(url, 'clique_sessions', 1)
        offered = {re.match('[A-Za-z_]+?(?=(_bucket|_sum|_count)?($|{))', name)[0] for name in self.samples(url)}
        page = (ROOT / 'docs/configuration.md').read_text()
        documented = set(re.findall('`((?:clique|DCGM)_[A-Za-z_]+)`', page))
        of_gpus = {name for name in documented if name.startswith('DCGM')}
        self.assertEqual(documented - of_gpus, {name for name in offered if name.startswith('clique')})
        dashboard = json.loads((ROOT / 'contrib/prometheus/clique.json').read_text())
        drawn = {name for panel in dashboard['panels'] for target in panel['targets']
                 for name in re.findall('(?:clique|DCGM)_[A-Za-z_]+?(?=(?:_bucket|_sum|_count)?\\W)', target['expr'])}
        self.assertEqual(drawn, documented)

    def test_sessions_and_what_they_use(self):
        node, url = self.start('--sessions', '3')
        client = self.session(node, arguments=('--bytes', str(1 << 24), '--busy'))
        self.reaches(url, 'clique_sessions', 1)
        self.reaches(url, 'clique_kernels_total', 1)
        ways = ('network', 'shared')
        self.assertTrue(nodes.eventually(lambda: any(
            self.samples(url)[f'clique_transfer_bytes_total{{way="{way}",direction="in"}}'] > 4096 for way in ways)))
        found = self.samples(url)
        self.assertEqual(found['clique_session_limit'], 3)
        self.assertEqual(found['clique_sessions_opened_total'], 1)
        self.assertEqual(found['clique_draining'], 0)
        self.assertGreaterEqual(found['clique_admissions_total{wish="session"}'], 1)
        self.assertGreaterEqual(found['clique_admissions_total{wish="devices"}'], 1)
        client.kill()
        self.assertTrue(nodes.eventually(lambda: self.samples(url)['clique_sessions'] == 0, 60))
        after = self.samples(url)
        self.assertGreaterEqual(after['clique_kernels_total'], found['clique_kernels_total'])
        self.assertFalse([name for name in after if name.startswith('clique_client_')])

    def commands_wait(self, **more):
        node, url = self.start(**more)
        count = 300
        client = self.session(node, arguments=('--enqueue', str(count)))
        self.reaches(url, 'clique_queued_commands', count)
        self.assertEqual(self.samples(url)['clique_queued_commands'], count)
        client.stdin.write('go\n')
        client.stdin.flush()
        self.assertEqual(client.stdout.readline(), 'finished\n')
        self.assertTrue(nodes.eventually(lambda: self.samples(url)['clique_queued_commands'] == 0, 20),
                        self.scrape(url))
        self.assertEqual(self.samples(url)['clique_sessions'], 1)

    def test_commands_that_wait(self):
        self.commands_wait()

    def test_commands_that_wait_for_a_gpu(self):
        if not os.path.exists(os.path.join(os.environ['CLIQUE_TEST_CUDA_DRIVER'], 'libcuda.so.1')):
            self.skipTest('this cliqued is built without CUDA')
        self.commands_wait(devices='gpu', FAKE_CUDA_GPUS='1', CLIQUE_CACHE='0', CLIQUE_COMPILER='/bin/true',
                           LD_LIBRARY_PATH=os.environ['CLIQUE_TEST_CUDA_DRIVER'])

    def test_commands_of_a_session_that_is_killed(self):
        node, url = self.start()
        client = self.session(node, arguments=('--enqueue', '10'))
        self.reaches(url, 'clique_queued_commands', 10)
        client.kill()
        self.assertTrue(nodes.eventually(lambda: self.samples(url)['clique_queued_commands'] == 0, 60))

    def test_builds_round_trips_and_resumes(self):
        node, url = self.start()
        tunnel = Tunnel(node)
        self.addCleanup(tunnel.close)
        self.session(tunnel.address, arguments=('--busy',), CLIQUE_SHARED_MEMORY='0')
        self.reaches(url, 'clique_build_seconds_count', 2)
        self.reaches(url, 'clique_round_trip_seconds_count', 1)
        self.assertEqual(self.samples(url)['clique_resumes_total'], 0)
        tunnel.cut()
        self.reaches(url, 'clique_resumes_total', 1)
        found = self.samples(url)
        for name in ('clique_build_seconds', 'clique_round_trip_seconds'):
            buckets = [value for sample, value in found.items() if sample.startswith(name + '_bucket')]
            self.assertEqual(buckets, sorted(buckets))
            self.assertGreaterEqual(found[f'{name}_bucket{{le="+Inf"}}'], buckets[-2])
            self.assertGreater(found[name + '_sum'], 0)

    def test_memory_by_client(self):
        key, public, _ = self.made_key('alice.key')
        clients = self.folder / 'authorized-clients'
        clients.write_text(f'{public} alice\n')
        node, url = self.start('--authorized-clients', clients)
        self.session(node, CLIQUE_IDENTITY=str(key), arguments=('--hold',))
        self.reaches(url, 'clique_client_sessions{client="alice"}', 1)
        self.assertIn('clique_client_memory_bytes{client="alice"}', self.samples(url))

    def test_refusals_by_reason(self):
        node, url = self.start('--sessions', '1')
        before = self.samples(url)
        self.assertEqual(before['clique_refusals_total{reason="limit"}'], 0)
        self.session(node)
        self.assertEqual(self.compute(node)[0], 3)
        self.reaches(url, 'clique_refusals_total{reason="limit"}', 1)
        self.assertEqual({name for name in self.samples(url) if 'refusals' in name},
                         {name for name in before if 'refusals' in name})

    def test_hostile_names_are_labels(self):
        key, public, _ = self.made_key('key')
        clients = self.folder / 'authorized-clients'
        clients.write_text(f'{public} a"b\\c{{}}\n')
        node, url = self.start('--authorized-clients', clients)
        self.session(node, CLIQUE_IDENTITY=str(key))
        self.assertTrue(nodes.eventually(lambda: 'clique_client_sessions{' in self.scrape(url), 20))
        line, = [line for line in self.scrape(url).splitlines() if line.startswith('clique_client_sessions{')]
        self.assertEqual(line, 'clique_client_sessions{client="a\\"b\\\\c{}"} 1')

    def test_nothing_listens_without_the_setting(self):
        self.assertNotIn('metrics', self.node().log())

    def test_other_pages_do_not_exist(self):
        _, url = self.start()
        with self.assertRaises(urllib.error.HTTPError) as error:
            self.scrape(url.replace('/metrics', '/'))
        self.assertEqual(error.exception.code, 404)

    def test_wrong_addresses_are_explained(self):
        node, url = self.start()
        port = re.search(r':(\d+)/', url)[1]
        for address, part in ((f'127.0.0.1:{port}', 'cannot listen'), ('192.0.2.1:9100', 'cannot listen'),
                              ('127.0.0.1:x', 'is not a port')):
            status, said = nodes.run([nodes.CLIQUED, '--config', '/dev/null', '--listen', '127.0.0.1:0', '--metrics',
                                      address])
            self.assertNotEqual(status, 0)
            self.assertIn('metrics', said)
            self.assertIn(part, said)


class Dashboard(Scraping):
    """What contrib/prometheus/clique.json draws, from a real Prometheus that scrapes real nodes."""

    def setUp(self):
        super().setUp()
        if not shutil.which('prometheus'):
            self.skipTest("prometheus is missing; 'tools/setup test' installs it")

    def prometheus(self, *urls):
        """Starts Prometheus, which looks at these pages each second. Returns its address."""
        targets = [re.sub('^http://|/metrics$', '', url) for url in urls]
        (self.folder / 'prometheus.yml').write_text(json.dumps(
            {'global': {'scrape_interval': '1s'},
             'scrape_configs': [{'job_name': 'clique', 'static_configs': [{'targets': targets}]}]}))
        log = self.folder / 'prometheus.log'
        with self.closed_port() as free:
            address = free
        with open(log, 'wb') as file:
            process = subprocess.Popen(
                ['prometheus', f'--config.file={self.folder}/prometheus.yml', f'--web.listen-address={address}',
                 f'--storage.tsdb.path={self.folder}/prometheus'], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                preexec_fn=nodes.die_with_parent)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        ready = nodes.eventually(lambda: process.poll() is not None or b'ready to receive web requests' in
                                 log.read_bytes())
        self.assertTrue(ready and process.poll() is None, log.read_text())
        return address

    @staticmethod
    def answer(address, expression):
        """The series of an expression, as Prometheus has them now: their labels and their value."""
        query = urllib.parse.urlencode({'query': expression})
        with urllib.request.urlopen(f'http://{address}/api/v1/query?{query}', timeout=10) as answer:
            return [(series['metric'], float(series['value'][1])) for series in json.load(answer)['data']['result']]

    def test_every_query_has_data(self):
        _, public, _ = self.made_key('alice.key')
        clients = self.folder / 'authorized-clients'
        clients.write_text(f'{public} alice\n')
        node, url = self.start('--sessions', '9', '--authorized-clients', clients)
        pages = [url]
        gpus, url_of_gpus = self.start(name='beta', log='beta.log', devices='', POCL_DEVICES='basic',
                                       FAKE_CUDA_GPUS='2', CLIQUE_CACHE='0', CLIQUE_COMPILER='/bin/true',
                                       LD_LIBRARY_PATH=os.environ['CLIQUE_TEST_CUDA_DRIVER'])
        # Without CUDA the node has no GPUs to tell of.
        has_gpus = 'DCGM_' in ' '.join(self.samples(url_of_gpus)) or 'Fake' in self.clinfo(gpus)
        if has_gpus:
            pages.append(url_of_gpus)
        address = self.prometheus(*pages)
        # The rates need values from before the session.
        self.assertTrue(nodes.eventually(lambda: len(self.answer(address, 'clique_sessions')) == len(pages)))
        self.session(node, CLIQUE_IDENTITY=str(self.folder / 'alice.key'), arguments=('--busy',))
        dashboard = json.loads((ROOT / 'contrib/prometheus/clique.json').read_text())
        instances = '|'.join(re.sub('^http://|/metrics$', '', url) for url in pages)
        for panel in dashboard['panels']:
            for target in panel['targets']:
                expression = target['expr']
                if 'DCGM' in expression and not has_gpus:
                    continue
                expression = expression.replace('$instance', instances).replace('$__rate_interval', '1m')
                self.assertNotIn('$', expression)
                with self.subTest(panel=panel['title'], expression=expression):
                    self.assertTrue(nodes.eventually(lambda: self.answer(address, expression)), 'no series')
        kernels = f'rate(clique_kernels_total{{instance=~"{instances}"}}[1m])'
        self.assertTrue(nodes.eventually(lambda: any(value > 0 for _, value in self.answer(address, kernels))))
        self.assertEqual([labels for labels, _ in self.answer(address, 'clique_client_sessions')][0]['client'], 'alice')

    def draw(self, *arguments):
        """Runs contrib/prometheus/draw. Returns its status, and what it says on standard error."""
        drawn = subprocess.run([ROOT / 'contrib/prometheus/draw', *map(str, arguments)], text=True, check=False,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if 'Install the package python3-matplotlib' in drawn.stderr:
            self.skipTest("python3-matplotlib is missing; 'tools/setup test' installs it")
        return drawn.returncode, drawn.stderr

    def test_is_drawn(self):
        node, url = self.start('--sessions', '7')
        address = self.prometheus(url)
        self.session(node)
        for expression in ('clique_sessions == 1', 'rate(clique_kernels_total[10s])'):
            self.assertTrue(nodes.eventually(lambda: self.answer(address, expression)), expression)
        picture = self.folder / 'dashboard.svg'
        times = ('--last', '30s', '--rate-interval', '10s')
        self.assertEqual(self.draw('--prometheus', address, *times, picture), (0, ''))
        texts = [text.text for text in xml.etree.ElementTree.parse(picture).iter('{http://www.w3.org/2000/svg}text')]
        dashboard = json.loads((ROOT / 'contrib/prometheus/clique.json').read_text())
        self.assertEqual([panel['title'] for panel in dashboard['panels'] if panel['title'] not in texts], [])
        version = self.answer(address, 'clique_build_info')[0][0]['version']
        # The node's name instead of a number, the sessions now, and the curves' names.
        self.assertIn(f'alpha {version}', texts)
        self.assertIn('1', texts)
        instance = re.sub('^http://|/metrics$', '', url)
        self.assertIn(f'{instance} limit', texts)
        # This node has no GPUs, which two panels show.
        self.assertGreaterEqual(texts.count('No data'), 2)
        nobody = self.folder / 'nobody.svg'
        self.assertEqual(self.draw('--prometheus', address, '--instance', 'nobody', nobody), (0, ''))
        self.assertEqual(nobody.read_text().count('>No data<'), len(dashboard['panels']))

    def test_explains_why_it_cannot_be_drawn(self):
        with self.closed_port() as free:
            status, said = self.draw('--prometheus', free, self.folder / 'dashboard.svg')
        self.assertNotEqual(status, 0)
        self.assertIn(f'Prometheus at {free} does not answer', said)
        for arguments, part in ((('x.jpg',), 'does not end in .svg or .png'), (('--last', '1w', 'x.svg'), "'1w'")):
            status, said = self.draw(*arguments)
            self.assertNotEqual(status, 0)
            self.assertIn(part, said)


if __name__ == '__main__':
    nodes.main()
