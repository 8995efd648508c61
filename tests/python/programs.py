"""Programs that PoCL has compiled on nodes, for nodes that start later.

A session with walls compiles in a folder of its own. When it begins, cliqued moves there what earlier sessions of the
same owner have compiled; when it ends, cliqued keeps that.
"""

import contextlib
import os
import pathlib
import shutil
import tempfile


def folder_of(owner):
    """The name of the folder in which cliqued keeps the programs of an owner's sessions."""
    return 'programs-of-' + ''.join(letter if letter.isascii() and letter.isalnum() else
                                    ''.join(f'_{byte}_' for byte in letter.encode()) for letter in owner)


def link_files(source, target):
    """Adds the files below a folder, except PoCL's unfinished ones, to those below another on the same disk."""
    for folder, _, names in os.walk(source):
        place = target / os.path.relpath(folder, source)
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            # Others may add the same file, or finish theirs, at this moment.
            if not name.startswith('tempfile'):
                with contextlib.suppress(FileExistsError, FileNotFoundError):
                    os.link(os.path.join(folder, name), place / name, follow_symlinks=False)


class Programs:
    """The folder of one node for what PoCL compiles."""

    # An owner may have two sessions at a time.
    SESSIONS = 2

    def __init__(self, shared, owners):
        """Has the owners' sessions begin with the programs in `shared`."""
        self.shared = pathlib.Path(shared)
        self.shared.mkdir(parents=True, exist_ok=True)
        # On the same disk, for links.
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.shared.parent, prefix='programs-of-node.'))
        for owner in owners:
            for session in range(self.SESSIONS):
                link_files(self.shared, self.folder / folder_of(owner) / f'{session}')

    def close(self):
        """Adds what the sessions have compiled to the shared folder. The node must have ended, or been killed."""
        for kept in (*self.folder.glob('programs-of-*/*'), *self.folder.glob('session-*/pocl')):
            link_files(kept, self.shared)
        # Workers of a daemon that was killed may still write.
        shutil.rmtree(self.folder, ignore_errors=True)
