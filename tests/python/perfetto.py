"""Reads traces in Perfetto's format: as much of it as Clique writes, independently of Clique's own code."""

import collections
import struct

Slice = collections.namedtuple('Slice', 'track category name facts flows begin end depth')
Track = collections.namedtuple('Track', 'name parent process thread')

# Wire types.
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class CutOff(Exception):
    """The data ends in the middle."""


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise CutOff
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at += 1
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """The fields of a message: number to values, in their order."""
    found = collections.defaultdict(list)
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = varint(data, at)
        elif wire == BYTES:
            size, at = varint(data, at)
            if at + size > len(data):
                raise CutOff
            value, at = data[at:at + size], at + size
        elif wire in (FIXED64, FIXED32):
            size, form = (8, '<Q') if wire == FIXED64 else (4, '<I')
            if at + size > len(data):
                raise CutOff
            value, at = struct.unpack(form, data[at:at + size])[0], at + size
        else:
            raise ValueError(f'wire type {wire}')
        found[number].append(value)
    return found


def packets(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag != 1 << 3 | BYTES:
            raise ValueError(f'tag {tag} instead of a packet')
        size, at = varint(data, at)
        if at + size > len(data):
            return
        yield fields(data[at:at + size])
        at += size


class Sequence:
    """The names of a sequence of packets."""

    def __init__(self):
        self.categories, self.names, self.facts, self.values = {}, {}, {}, {}
        self.track = None

    def define(self, data):
        for number, names in ((1, self.categories), (2, self.names), (3, self.facts), (29, self.values)):
            for entry in fields(data)[number]:
                entry = fields(entry)
                names[entry[1][0]] = entry[2][0].decode() if entry[2] else ''


class Trace:
    """slices: all that have ended. tracks: by their uuid. open: the number of slices that have not ended."""

    def __init__(self, data):
        self.tracks = {}
        self.slices = []
        self.clocks = {}
        sequences = {}
        events = []
        for packet in packets(data):
            for snapshot in packet[6]:
                for clock in fields(snapshot)[1]:
                    clock = fields(clock)
                    self.clocks[clock[1][0]] = clock[2][0]
            for descriptor in packet[60]:
                self._describe(fields(descriptor))
            number = packet[10][0] if packet[10] else None
            if packet[13] and packet[13][0] & 1:
                sequences[number] = Sequence()
            if packet[59]:
                for defaults in fields(packet[59][0])[11]:
                    sequences[number].track = fields(defaults)[11][0]
            if packet[12]:
                sequences[number].define(packet[12][0])
            for event in packet[11]:
                events.append((packet[8][0], self._event(fields(event), sequences[number])))
        self._nest(sorted(events, key=lambda event: event[0]))

    def _describe(self, descriptor):
        process = fields(descriptor[3][0]) if descriptor[3] else None
        thread = fields(descriptor[4][0]) if descriptor[4] else None
        self.tracks[descriptor[1][0]] = Track(
            descriptor[2][0].decode() if descriptor[2] else None, descriptor[5][0] if descriptor[5] else None,
            process and process[1][0], thread and thread[2][0])

    @staticmethod
    def _event(event, sequence):
        track = event[11][0] if event[11] else sequence.track
        name = event[23][0].decode() if event[23] else sequence.names[event[10][0]] if event[10] else None
        category = event[22][0].decode() if event[22] else sequence.categories[event[3][0]] if event[3] else None
        facts = {}
        for annotation in map(fields, event[4]):
            key = annotation[10][0].decode() if annotation[10] else sequence.facts[annotation[1][0]]
            if annotation[3]:
                facts[key] = annotation[3][0]
            elif annotation[6]:
                facts[key] = annotation[6][0].decode()
            else:
                facts[key] = sequence.values[annotation[17][0]]
        return event[9][0], track, category, name, facts, event[47]

    def _nest(self, events):
        stacks = collections.defaultdict(list)
        for time, (kind, track, category, name, facts, flows) in events:
            if kind == 1:
                stacks[track].append((time, category, name, facts, flows))
            elif kind == 2:
                begin, category, name, facts, flows = stacks[track].pop()
                self.slices.append(Slice(track, category, name, facts, flows, begin, time, len(stacks[track])))
        self.open = sum(map(len, stacks.values()))

    def of(self, category, name=None):
        """The slices of a category, and of a name, in the order of their begin."""
        found = [each for each in self.slices if each.category == category and name in (None, each.name)]
        return sorted(found, key=lambda each: each.begin)


def read(path):
    with open(path, 'rb') as stream:
        return Trace(stream.read())
