#!/usr/bin/env python3
"""Reads a trace of `clique trace` with Perfetto's own definition of the format, the package perfetto of PyPI.

Use: read_trace.py TRACE NODE…    Fails unless there are kernels of each node, and a migration with its reason.
"""

import collections
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

# Whatever the sequence of packets has interned: the names of an entry's list in InternedData.
INTERNED = ('event_categories', 'event_names', 'debug_annotation_names')


def slices(trace):
    """The slices: name, category, facts, and the names of their track and of the tracks above it."""
    tracks = {}
    names = collections.defaultdict(dict)
    default_track = {}
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        if packet.HasField('track_descriptor'):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField('trace_packet_defaults'):
            default_track[sequence] = packet.trace_packet_defaults.track_event_defaults.track_uuid
        for kind in INTERNED:
            for entry in getattr(packet.interned_data, kind):
                names[sequence, kind][entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_string_values:
            names[sequence, 'values'][entry.iid] = entry.str.decode()
    for packet in trace.packet:
        event = packet.track_event
        if not packet.HasField('track_event') or event.type != perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            continue
        sequence = packet.trusted_packet_sequence_id
        category = event.categories[0] if event.categories else names[sequence, 'event_categories'][
            event.category_iids[0]]
        facts = {}
        for fact in event.debug_annotations:
            kind = fact.WhichOneof('value')
            value = getattr(fact, kind)
            facts[fact.name or names[sequence, 'debug_annotation_names'][fact.name_iid]] = (
                names[sequence, 'values'][value] if kind == 'string_value_iid' else value)
        path = []
        track = event.track_uuid or default_track[sequence]
        while track in tracks:
            path.append(tracks[track].name)
            track = tracks[track].parent_uuid
        yield event.name or names[sequence, 'event_names'][event.name_iid], category, facts, path


def main():
    trace = perfetto.Trace()
    with open(sys.argv[1], 'rb') as stream:
        trace.ParseFromString(stream.read())
    kernels = collections.Counter()
    reasons = collections.Counter()
    for name, category, facts, path in slices(trace):
        if category == 'kernel':
            kernels[path[-1] if path[-1].startswith('Device') else path[1], name] += 1
        elif category == 'migration':
            reasons[facts['reason']] += 1
    for (device, kernel), count in sorted(kernels.items()):
        print(f'{count:4} times kernel {kernel} on {device}')
    for reason, count in reasons.most_common():
        print(f'{count:4} migrations: {reason}')
    for node in sys.argv[2:]:
        if not any(node in device for device, _ in kernels):
            sys.exit(f'read_trace.py: {sys.argv[1]} has no kernel of {node}')
    if not reasons:
        sys.exit(f'read_trace.py: {sys.argv[1]} has no migration')


if __name__ == '__main__':
    main()
