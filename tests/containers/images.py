#!/usr/bin/env python3
"""The files of contrib/containers name packages and options that exist, and what docs/schedulers.md and the manifests
of contrib/kubernetes say of the images. Nothing is built, because that needs a network."""

import json
import pathlib
import re
import unittest

import nodes

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'contrib/containers'
DOCUMENT = (ROOT / 'docs/schedulers.md').read_text()
MANIFESTS = {'node': ROOT / 'contrib/kubernetes/node.yaml', 'client': ROOT / 'contrib/kubernetes/client/job.yaml'}
COMPONENTS = re.search(r'set\(CPACK_COMPONENTS_ALL (.*)\)', (ROOT / 'packaging/CMakeLists.txt').read_text())[1].split()


def instructions(path):
    """The instructions of a Containerfile: pairs of a word and the rest."""
    text = re.sub(r'^#.*\n', '', path.read_text(), flags=re.MULTILINE).replace('\\\n', ' ')
    return [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]


class Images(unittest.TestCase):
    def test_packages(self):
        for name, expected in {'node': ['cliqued', 'clique'], 'client': ['libclique1', 'clique']}.items():
            run, = (rest for word, rest in instructions(FOLDER / f'Containerfile.{name}') if word == 'RUN')
            packages = re.findall(r'/packages/(\w+)_\*\.deb', run)
            self.assertEqual(packages, expected)
            self.assertLessEqual(set(packages), set(COMPONENTS))

    def test_base(self):
        for name in MANIFESTS:
            begin = instructions(FOLDER / f'Containerfile.{name}')[:2]
            self.assertEqual(begin, [['ARG', 'BASE=debian:12'], ['FROM', '$BASE']])

    def test_what_the_node_runs(self):
        found = dict(instructions(FOLDER / 'Containerfile.node'))
        self.assertEqual(json.loads(found['ENTRYPOINT']), ['cliqued'])
        words = json.loads(found['CMD'])
        status, said = nodes.run([nodes.CLIQUED, '--config', '/dev/null', *words, '--check'])
        self.assertIn('system-calls', said)
        self.assertTrue(words[-1].endswith(':' + found['EXPOSE']))
        user, group = found['USER'].split(':')
        self.assertEqual(user, group)
        self.assertIn(f'-o {user} -g {group}', found['RUN'])
        manifest = MANIFESTS['node'].read_text()
        self.assertIn(f'runAsUser: {user}\n', manifest)
        self.assertIn(f'runAsGroup: {group}\n', manifest)
        self.assertIn(f'sudo chown {user} /srv/clique/node.key', DOCUMENT)

    def test_names(self):
        for name, manifest in MANIFESTS.items():
            image, = re.findall(r'image: (\S+)', manifest.read_text())
            self.assertIn(f'--file contrib/containers/Containerfile.{name} --tag {image} ', DOCUMENT)
            self.assertIn(f'--tag {image} ', (FOLDER / f'Containerfile.{name}').read_text())
            # The page gives the image its name in the registry.
            self.assertIn(f'- name: {image.split(":")[0]}\\n', DOCUMENT)


if __name__ == '__main__':
    nodes.main()
