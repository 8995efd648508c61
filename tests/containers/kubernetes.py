#!/usr/bin/env python3
"""The manifests of contrib/kubernetes: names, ports, volumes and secrets refer to each other; the schemas, if
kubernetes-validate is installed; and what the pods run, as their users and with their files, without Kubernetes."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import nodes

try:
    import yaml
except ImportError:
    nodes.skip('Python has no yaml; tools/setup test installs it')

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'contrib/kubernetes'
DOCUMENT = ROOT / 'docs/schedulers.md'
# What administrators make.
MADE = {'node.key', 'authorized-clients', 'client.key', 'known-nodes'}


def documents(path):
    return [one for one in yaml.safe_load_all(path.read_text()) if one]


class Application:
    """A folder with a kustomization: the objects that it makes."""

    def __init__(self, folder):
        self.folder = folder
        self.kustomization, = documents(folder / 'kustomization.yaml')
        self.objects = [one for name in self.kustomization['resources'] for one in documents(folder / name)]
        self.generated = {(kind, one['name']): one['files'] for kind, key in
                          (('Secret', 'secretGenerator'), ('ConfigMap', 'configMapGenerator'))
                          for one in self.kustomization.get(key, [])}

    def of_kind(self, kind):
        return [one for one in self.objects if one['kind'] == kind]

    def workload(self):
        found, = self.of_kind('DaemonSet') + self.of_kind('Job')
        return found

    def pod(self):
        return self.workload()['spec']['template']['spec']

    def container(self):
        container, = self.pod()['containers']
        return container


APPLICATIONS = {'node': Application(FOLDER), 'client': Application(FOLDER / 'client')}


class Manifests(unittest.TestCase):
    def test_every_file_belongs_to_a_kustomization(self):
        used = set()
        for application in APPLICATIONS.values():
            folder = application.folder
            used |= {folder / name for name in ('kustomization.yaml', *application.kustomization['resources'])}
            for files in application.generated.values():
                for name in files:
                    self.assertTrue((folder / name).exists() != (name in MADE), name)
                    used.add(folder / name)
            self.assertTrue(application.kustomization['generatorOptions']['disableNameSuffixHash'])
        found = {path for path in FOLDER.rglob('*') if path.is_file()}
        self.assertEqual(found - used, set())

    def test_the_page_makes_the_missing_files(self):
        text = DOCUMENT.read_text()
        for name in MADE:
            self.assertRegex(text, rf'(--file|>) ?(client/)?{name}\b', name)
        self.assertNotIn('ed25519:', ''.join(path.read_text() for path in FOLDER.rglob('*') if path.is_file()))

    def test_volumes(self):
        for application in APPLICATIONS.values():
            volumes = {volume['name']: volume for volume in application.pod()['volumes']}
            mounts = application.container()['volumeMounts']
            self.assertEqual(sorted(volumes), sorted(mount['name'] for mount in mounts))
            for volume in volumes.values():
                if 'secret' in volume:
                    self.assertIn(('Secret', volume['secret']['secretName']), application.generated)
                    # No other user may read a private key; the group is fsGroup.
                    self.assertEqual(volume['secret']['defaultMode'], 0o440)
                elif 'configMap' in volume:
                    self.assertIn(('ConfigMap', volume['configMap']['name']), application.generated)
                else:
                    self.assertIn('emptyDir', volume)
            for mount in mounts:
                self.assertNotIn('subPath', mount, 'such a file does not change with its Secret')
                self.assertEqual(mount.get('readOnly', False), 'emptyDir' not in volumes[mount['name']])

    def test_labels_and_ports(self):
        application = APPLICATIONS['node']
        workload = application.workload()
        labels = workload['spec']['template']['metadata']['labels']
        self.assertEqual(workload['spec']['selector']['matchLabels'], labels)
        service, = application.of_kind('Service')
        self.assertEqual(service['spec']['selector'], labels)
        self.assertEqual(service['spec']['clusterIP'], 'None')
        port, = application.container()['ports']
        self.assertEqual(port['hostPort'], port['containerPort'])
        settings = (FOLDER / 'cliqued.toml').read_text()
        self.assertIn(f':{port["containerPort"]}"', settings)
        self.assertEqual([(one['targetPort'], one['port']) for one in service['spec']['ports']],
                         [(port['name'], port['containerPort'])])
        self.assertEqual(application.container()['readinessProbe']['tcpSocket']['port'], port['name'])
        namespace, = application.of_kind('Namespace')
        self.assertEqual(application.kustomization['namespace'], namespace['metadata']['name'])
        drain = int(re.search(r'drain-timeout = (\d+)', settings)[1])
        self.assertGreaterEqual(application.pod()['terminationGracePeriodSeconds'], drain + 10)
        for name in re.findall(r'kubectl label node .* (\S+)=true', DOCUMENT.read_text()):
            self.assertEqual(application.pod()['nodeSelector'], {name: 'true'})

    def test_no_privileges(self):
        for application in APPLICATIONS.values():
            pod, container = application.pod(), application.container()
            self.assertTrue(pod['securityContext']['runAsNonRoot'])
            self.assertEqual(pod['securityContext']['fsGroup'], pod['securityContext']['runAsGroup'])
            self.assertEqual(pod['securityContext']['seccompProfile'], {'type': 'RuntimeDefault'})
            self.assertFalse(pod['automountServiceAccountToken'])
            context = container['securityContext']
            self.assertEqual(context['capabilities'], {'drop': ['ALL']})
            self.assertTrue(context['readOnlyRootFilesystem'] and not context['allowPrivilegeEscalation'])

    def test_schemas(self):
        try:
            import kubernetes_validate  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest('there is no kubernetes-validate, which is on PyPI')
        for application in APPLICATIONS.values():
            for one in application.objects:
                kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)


class Pods(nodes.TestCase):
    """What the containers run, with their paths in a mount namespace, as their users, and without capabilities."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest('only root can run programs as the users of the pods')
        self.folder.chmod(0o755)
        self.files = self.folder / 'files'
        self.files.mkdir()

    def make_folder(self, folder):
        """Makes a folder of the host for the time of the test, unless it exists."""
        missing = [one for one in (folder, *folder.parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir()
            self.addCleanup(one.rmdir)

    def run_as_pod(self, application, changed):
        """The command that runs the container's command. @param changed texts in its files, and what replaces them"""
        pod, container = application.pod(), application.container()
        user, group = pod['securityContext']['runAsUser'], pod['securityContext']['fsGroup']
        script, bases = [], set()
        volumes = {volume['name']: volume for volume in pod['volumes']}
        for mount in container['volumeMounts']:
            place, volume = mount['mountPath'], volumes[mount['name']]
            if place == '/tmp':
                # The test's own files may be there.
                continue
            base = re.match(r'/.*?/clique[^/]*', place)[0]
            if base not in bases:
                bases.add(base)
                self.make_folder(pathlib.Path(base))
                script.append(f'mount -t tmpfs -o mode=755 volume {base}')
            script.append(f'mkdir -p {place}')
            kind = 'Secret' if 'secret' in volume else 'ConfigMap'
            if 'emptyDir' in volume:
                script.append(f'chown {user}:{group} {place}')
                continue
            name = volume['secret']['secretName'] if kind == 'Secret' else volume['configMap']['name']
            for file in application.generated[kind, name]:
                source = self.files / file
                if not source.exists():
                    source.write_text((application.folder / file).read_text())
                text = source.read_text()
                for old, new in changed.items():
                    text = text.replace(old, new)
                source.write_text(text)
                script.append(f'cp {source} {place}/{file} && chown root:{group} {place}/{file} && '
                              f'chmod {"440" if kind == "Secret" else "644"} {place}/{file}')
        script.append('exec "$@"')
        command = container.get('command', [nodes.CLIQUED]) + container.get('args', [])
        command = [word.replace('$(NODE_NAME)', 'gpu-a') for word in command]
        environment = dict(os.environ, **{one['name']: one['value'] for one in container['env'] if 'value' in one})
        environment.pop('CLIQUE_NODES', None)
        return ['unshare', '--mount', 'sh', '-ec', '\n'.join(script), 'sh', 'setpriv', f'--reuid={user}',
                f'--regid={group}', '--clear-groups', '--no-new-privs', '--inh-caps=-all', '--bounding-set=-all', '--',
                *command], environment

    def test_the_job_uses_the_nodes(self):
        if nodes.run([*nodes.AS_NOBODY, nodes.CLIQUED, '--version'])[0] != 0 or not shutil.which('clinfo'):
            self.skipTest('other users cannot run cliqued, or clinfo is missing')
        if nodes.run(['unshare', '--mount', 'true'])[0] != 0 or not os.access('/etc', os.W_OK):
            self.skipTest('mount namespaces are not permitted here')
        # As docs/schedulers.md makes them.
        for name in ('node.key', 'client.key'):
            self.assertEqual(self.clique('keygen', '--file', self.files / name)[0], 0)
        key = {name: self.clique('key', '--file', self.files / name)[1].split()[0]
               for name in ('node.key', 'client.key')}
        self.assertEqual(self.clique('authorize', '--file', self.files / 'authorized-clients',
                                     key['client.key'], 'job')[0], 0)
        (self.files / 'known-nodes').write_text(f'* {key["node.key"]}\n')
        log = self.folder / 'cliqued.log'
        command, environment = self.run_as_pod(APPLICATIONS['node'], {'0.0.0.0:7890': '127.0.0.1:0'})
        with open(log, 'wb') as stream:
            daemon = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream,
                                      preexec_fn=nodes.die_with_parent)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        found = nodes.eventually(lambda: re.search(r'listens on tcp://(\S+)', log.read_text()) or
                                 daemon.poll() is not None)
        self.assertIsNone(daemon.poll(), log.read_text())
        self.assertIn('node gpu-a listens', log.read_text())
        command, environment = self.run_as_pod(APPLICATIONS['client'], {'"gpu-a", "gpu-b"': f'"{found[1]}"'})
        status, said = nodes.run(command, env=environment)
        self.assertEqual(status, 0, said)
        self.assert_served(said)
        self.assertTrue(nodes.eventually(lambda: 'node gpu-a' in log.read_text()))
        # Another key is refused.
        (self.files / 'client.key').unlink()
        self.assertEqual(self.clique('keygen', '--file', self.files / 'client.key')[0], 0)
        command, environment = self.run_as_pod(APPLICATIONS['client'], {})
        self.assert_refused(nodes.run(command, env=environment)[1], 'is not authorized on node gpu-a')

    def test_options_and_settings_are_those_of_cliqued(self):
        args = APPLICATIONS['node'].container()['args']
        config = self.folder / 'cliqued.toml'
        shutil.copy(FOLDER / 'cliqued.toml', config)
        words = [str(config) if word.endswith('.toml') else word for word in args]
        status, said = nodes.run([nodes.CLIQUED, *words, '--check'])
        self.assertIn('system-calls', said, shlex.join(words))
        config.write_text(config.read_text() + 'unknown = 1\n')
        status, said = nodes.run([nodes.CLIQUED, *words, '--check'])
        self.assertEqual(status, 1)
        self.assertIn('unknown', said)


if __name__ == '__main__':
    sys.dont_write_bytecode = True
    nodes.main()
