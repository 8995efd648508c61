#!/usr/bin/env python3
"""Runs the container of a manifest in contrib/kubernetes with podman, as Kubernetes runs it: its image, command, user,
groups, environment, file system, and privileges. Becomes podman.

Use: run_pod.py MANIFEST VOLUMES OPTIONS… [-- COMMAND…]
VOLUMES is a folder with a folder for each volume of the pod; OPTIONS are passed to `podman run`. COMMAND takes the
place of the container's."""

import os
import pathlib
import sys

import yaml

# The names of Kubernetes' fields for the environment, and what they are here.
FIELDS = {'spec.nodeName': 'gpu-a'}


def environment_of(container):
    return {variable['name']: variable.get('value') or FIELDS[variable['valueFrom']['fieldRef']['fieldPath']]
            for variable in container['env']}


def pod_options(pod, container, volumes):
    """What `podman run` needs to know, without the image and the command."""
    security, own = pod['securityContext'], container['securityContext']
    if not (security['runAsNonRoot'] and own['readOnlyRootFilesystem'] and not own['allowPrivilegeEscalation']
            and own['capabilities'] == {'drop': ['ALL']} and security['seccompProfile'] == {'type': 'RuntimeDefault'}):
        sys.exit('run_pod.py: the pod has other privileges than those that this program knows')
    options = [f'--user={security["runAsUser"]}:{security["runAsGroup"]}', f'--group-add={security["fsGroup"]}',
               '--cap-drop=ALL', '--security-opt=no-new-privileges', '--read-only', '--read-only-tmpfs=false']
    options += [f'--env={name}={value}' for name, value in environment_of(container).items()]
    for mount in container['volumeMounts']:
        access = 'ro' if mount.get('readOnly') else 'rw'
        options.append(f'--volume={volumes / mount["name"]}:{mount["mountPath"]}:{access}')
    return options


def words_of(container, command):
    """The image, after its entry point if that is not the image's own, and the arguments."""
    replaced = command or container.get('command')
    command = command or container.get('command', []) + container.get('args', [])
    entry = []
    if replaced:
        entry, command = [f'--entrypoint={command[0]}'], command[1:]
    for name, value in environment_of(container).items():
        command = [word.replace(f'$({name})', value) for word in command]
    return [*entry, container['image'], *command]


def main(manifest, volumes, *options):
    end = options.index('--') if '--' in options else len(options)
    with open(manifest, encoding='utf-8') as file:
        workload = next(one for one in yaml.safe_load_all(file) if one['kind'] in ('DaemonSet', 'Job'))
    pod = workload['spec']['template']['spec']
    container, = pod['containers']
    words = ['podman', 'run', *pod_options(pod, container, pathlib.Path(volumes).resolve()), *options[:end],
             *words_of(container, list(options[end + 1:]))]
    os.execvp(words[0], words)


if __name__ == '__main__':
    main(*sys.argv[1:])
