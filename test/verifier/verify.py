#!/usr/bin/env python3
"""A second verifier of audit chains, written from core/audit/FORMAT.md and from nothing else.

    verify.py [--json] [--key VERIFIER_KEY]... [--head NOTE_FILE]... PATH...
    verify.py --batch        one JSON array of such arguments a line on stdin, one JSON answer a line on stdout

A folder's `*.seg` files are one chain, of each folder below PATH; files named one by one are one chain together. Exit code: 0 when
everything that was checked is right, 1 when anything is not, 2 when there was nothing to look at or it could not be read.

Memory: one frame, the last 1,024 checkpoints' hashes, one small entry an epoch. Nothing is allocated by a length that was only claimed,
and nothing of a chain is printed but names whose alphabet has been checked.
"""
import base64
import binascii
import collections
import hashlib
import json
import os
import re
import stat
import struct
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# Limits of core/bounds/audit-limits.ts.
FRAME_RECORDS_MAX = 1_024
FRAME_BODY_BYTES_MAX = 768 * 1024
SEGMENT_FILE_BYTES_MAX = 16 * 1024 * 1024
RECIPIENTS_MAX = 16
NOTE_BYTES_MAX = 16 * 1024
NOTE_SIGNATURES_MAX = 16
HEADS_BYTES_MAX = 8 * 1024 * 1024
RECEIPT_CHECKPOINTS_MAX = 1_024
CLOCK_SKEW_MS = 60_000

SEALED, STATEMENT = 1, 2
SEGMENT, CERTIFICATE, CHECKPOINT, RECEIPT, END = 32, 33, 34, 35, 36
FORM_OF = {**dict.fromkeys(range(1, 9), SEALED), **dict.fromkeys(range(32, 37), STATEMENT)}

HEADER = struct.Struct('<4sBBHQIIQ32s')
OPERATION = re.compile(rb'[a-z0-9]{26}|\0{26}')
NUMBER = rb'(0|[1-9][0-9]{0,15})'
TIME = rb'[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z'
STRING = rb'([ !#-\[\]-~]*)'
HASH = rb'([0-9a-f]{64})'
ORIGIN = re.compile(rb'postern\.dev/audit/[a-z0-9./-]{1,200}')
RECIPIENT = re.compile(rb'age1[a-z0-9]{1,4000}')
SEGMENT_TEXT = re.compile(
    rb'\{"format":"postern-audit/1","origin":"' + STRING + rb'","segment":' + NUMBER + rb',"epoch":' + NUMBER + rb',"key":"' + STRING
    + rb'","recipients":\["([a-z0-9",]+)"\],"opened_at":"' + TIME
    + rb'"(?:,"previous_segment":\{"bytes":' + NUMBER + rb',"sha256":"' + HASH + rb'"\})?'
    + rb'(?:,"previous_epoch":\{"sequence":' + NUMBER + rb',"hash":"' + HASH + rb'"\})?\}')
END_TEXT = re.compile(rb'\{"ended_at":"' + TIME + rb'","because":"(?:stopped|rotated)"\}')
CHECKPOINT_TEXT = re.compile(rb'([!-~]+)\n' + NUMBER + rb'\n([A-Za-z0-9+/]{43}=)\nepoch ' + NUMBER + rb'\ntime ' + TIME + rb'\n')
CERTIFICATE_TEXT = re.compile(rb'postern\.dev/audit-epoch/v1\n([!-~]+)\n' + NUMBER + rb'\n([!-~]+)\n')
HEADS_TEXT = re.compile(rb'postern\.dev/audit-heads/v1\n' + TIME + rb'\n(?:-|[!-~]+ [0-9a-f]{64})\n((?:[!-~]+ [0-9]+ [A-Za-z0-9+/=]+\n)*)')
HEADS_LINE = re.compile(rb'([!-~]+) ' + NUMBER + rb' ([A-Za-z0-9+/]{43}=)')
SIGNATURE_LINE = re.compile('— '.encode() + rb'([!-*,-~]{1,300}) ([A-Za-z0-9+/]+={0,2})')
VERIFIER_KEY = re.compile(rb'([!-*,-~]{1,300})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})')


class Broken(Exception):
    """What was read is not what FORMAT.md says; the text is our own and holds nothing of the file."""


def require(condition, why):
    if not condition:
        raise Broken(why)


def labelled(label, data):
    return hashlib.sha256(label + b'\0' + data).digest()


def number(text):
    value = int(text)
    require(value < 2**53, 'a number is 2^53 or more')
    return value


def unbase64(text):
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        raise Broken('a base64 text cannot be read') from None
    require(base64.b64encode(data) == text, 'a base64 text is not the one way of writing its bytes')
    return data


class Key:
    """A verifier key: name, and public key with the key ids of plain signatures (1) and of cosignatures (4)."""

    def __init__(self, text):
        parts = VERIFIER_KEY.fullmatch(text)
        require(parts, 'a verifier key is not name+id+base64')
        self.name = parts[1]
        data = unbase64(parts[3])
        require(len(data) == 33 and data[0] == 1, 'a verifier key is not Ed25519')
        self.public = Ed25519PublicKey.from_public_bytes(data[1:])
        self.ids = {kind: hashlib.sha256(self.name + b'\n' + bytes([kind]) + data[1:]).digest()[:4] for kind in (1, 4)}
        require(self.ids[1].hex().encode() == parts[2], 'the key id of a verifier key does not fit')

    def signed(self, signature, data):
        try:
            self.public.verify(signature, data)
            return True
        except InvalidSignature:
            return False


class Note:
    """A signed note: its text with the final newline, and (name, key id, signature) of each line."""

    def __init__(self, data, bytes_max=NOTE_BYTES_MAX):
        require(len(data) <= bytes_max, 'a note is too long')
        cut = data.rfind(b'\n\n')
        require(cut > 0, 'a note has no text, or no empty line before its signatures')
        self.text = data[:cut + 1]
        require(re.fullmatch(rb'[\n -~]+', self.text), 'the text of a note is not ASCII')
        rest = data[cut + 2:]
        require(rest.endswith(b'\n'), 'a note does not end with a newline')
        lines = rest[:-1].split(b'\n')
        require(1 <= len(lines) <= NOTE_SIGNATURES_MAX, 'a note has too few or too many signatures')
        self.signatures = []
        for line in lines:
            parts = SIGNATURE_LINE.fullmatch(line)
            require(parts, 'a signature line of a note cannot be read')
            signature = unbase64(parts[2])
            require(5 <= len(signature) <= 150, 'a signature of a note is too short or too long')
            self.signatures.append((parts[1], signature[:4], signature[4:]))

    def signed_by(self, key, kind=1):
        """None without a line of the key; else whether all its lines are right."""
        lines = [signature for name, key_id, signature in self.signatures if (name, key_id) == (key.name, key.ids[kind])]
        return all(self._right(key, kind, signature) for signature in lines) if lines else None

    def _right(self, key, kind, signature):
        if kind == 1:
            return key.signed(signature, self.text)
        if len(signature) != 72:
            return False
        seconds = int.from_bytes(signature[:8], 'big')
        return seconds < 2**53 and key.signed(signature[8:], b'cosignature/v1\ntime %d\n' % seconds + self.text)


Head = collections.namedtuple('Head', 'origin size hash whole_object')


def read_heads(path, keys):
    """Heads of one note: one of a checkpoint or receipt, any number of an object of `heads/`."""
    note = Note(read_small(path, HEADS_BYTES_MAX), HEADS_BYTES_MAX)
    heads = HEADS_TEXT.fullmatch(note.text)
    for key in keys:
        require(note.signed_by(key) is not False and note.signed_by(key, 4) is not False, 'a head is not signed by the authority it names')
    if not heads:
        require(len(note.text) <= NOTE_BYTES_MAX, 'a note is too long')
        checkpoint = CHECKPOINT_TEXT.fullmatch(note.text)
        require(checkpoint and ORIGIN.fullmatch(checkpoint[1]), 'a head is no checkpoint, receipt or heads object')
        return [Head(checkpoint[1].decode(), number(checkpoint[2]), unbase64(checkpoint[3]), False)]
    found = []
    for line in heads[1].split(b'\n')[:-1]:
        parts = HEADS_LINE.fullmatch(line)
        require(parts and ORIGIN.fullmatch(parts[1]), 'a line of a heads object cannot be read')
        found.append(Head(parts[1].decode(), number(parts[2]), unbase64(parts[3]), True))
    return found


class Epoch:
    __slots__ = ('first', 'key_text', 'signed_to', 'signed_records', 'certified')

    def __init__(self, first, key_text):
        self.first, self.key_text, self.signed_to, self.signed_records, self.certified = first, key_text, None, 0, None


class Chain:
    """The good part of a chain so far, and what a next frame must be."""

    def __init__(self, keys, sizes):
        self.keys, self.sizes = keys, sizes
        self.origin = None
        self.sequence = 1
        self.hash = None
        self.time = None
        self.segment = 0
        self.previous_segment = None
        self.recipients = 0
        self.epoch = 0
        self.epoch_key = None
        self.epochs = {}
        self.checkpoint_due = False
        self.ended = False
        self.checkpoints = collections.deque(maxlen=RECEIPT_CHECKPOINTS_MAX)
        self.hash_at = {}
        self.skews = []
        self.records = 0  # Without checkpoints, receipts and certificates: those bear a signature of their own.
        self.forged = None
        self.why = None

    def verify(self, paths):
        for path in paths:
            try:
                self._segment_file(path)
            except Broken as broken:
                self.why = str(broken)
                return

    def _segment_file(self, path):
        with open(path, 'rb') as file:
            size = os.fstat(file.fileno()).st_size
            require(size <= SEGMENT_FILE_BYTES_MAX, 'a segment is longer than a segment may be')
            whole, first, left = hashlib.sha256(), True, size
            while left or first:
                frame = self._frame(file, left, first)
                whole.update(frame)
                left -= len(frame)
                first = False
            self.previous_segment = (size, whole.hexdigest().encode())

    def _frame(self, file, left, first_of_segment):
        """Checks one frame, takes it on, and gives back its bytes."""
        require(left >= HEADER.size, 'a segment ends within a frame')
        header = file.read(HEADER.size)
        require(len(header) == HEADER.size, 'a segment ends within a frame')
        magic, version, form, count, sequence, epoch, body_bytes, time, previous = HEADER.unpack(header)
        require(magic == b'\xf7PAF', 'no frame begins here')
        require(version == 1, 'a version of the format that this verifier does not know')
        require(form in (SEALED, STATEMENT), 'a frame of unknown form')
        require(1 <= count <= (FRAME_RECORDS_MAX if form == SEALED else 1), 'a frame has too few or too many records')
        require(1 <= body_bytes <= FRAME_BODY_BYTES_MAX, 'the body of a frame is empty or too long')
        rest_bytes = 32 * count + body_bytes + 32
        require(left >= HEADER.size + rest_bytes, 'a segment ends within a frame')
        rest = file.read(rest_bytes)
        require(len(rest) == rest_bytes, 'a segment ends within a frame')
        own = labelled(b'postern/audit/frame/v1', header + rest[:-32])
        require(own == rest[-32:], 'the hash of the frame does not fit its bytes')
        require(sequence == self.sequence, 'another sequence stands where this one should')
        last = sequence + count - 1
        require(last < 2**53, 'a sequence is 2^53 or more')
        require(self.hash is None or previous == self.hash, 'the frame does not follow the frame before it')
        kind = self._heads(form, rest[:32 * count])
        body = rest[32 * count:-32]
        require(first_of_segment == (kind == SEGMENT), 'a segment statement stands at the beginning of a segment, and only there')
        if kind == SEGMENT:
            self._begin_segment(body, epoch, previous)
        require(epoch == self.epoch, 'the frame is of another epoch')
        if self.checkpoint_due and kind != SEGMENT:
            require(kind == CHECKPOINT, 'no checkpoint directly behind the beginning or the end of an epoch')
        elif kind != SEGMENT:
            require(not self.ended, 'the epoch has ended, and goes on')
        self._body(kind, body, previous)
        if self.time is not None and time + CLOCK_SKEW_MS < self.time:
            self.skews.append((sequence, self.time - time)) if len(self.skews) < 1_000 else None
        if kind not in (CERTIFICATE, CHECKPOINT, RECEIPT):
            self.records += count
        self.time = time
        self.hash = own
        self.sequence = last + 1
        if last in self.sizes:
            self.hash_at[last] = own
        return header + rest

    def _heads(self, form, heads):
        kind = 0
        for at in range(0, len(heads), 32):
            kind = heads[at]
            require(FORM_OF.get(kind) == form, 'a record of unknown kind, or in a frame of the wrong form')
            require(heads[at + 1:at + 6] == bytes(5), 'a reserved byte is not zero')
            operation = heads[at + 6:at + 32]
            require(OPERATION.fullmatch(operation), 'an operation id cannot be read')
            require(form == SEALED or operation == bytes(26), 'a statement with an operation id')
        return kind

    def _begin_segment(self, body, epoch, previous):
        parts = SEGMENT_TEXT.fullmatch(body)
        require(parts, 'a segment statement cannot be read')
        origin, segment, of_epoch, key_text, recipients, before_bytes, before_hash, epoch_sequence, epoch_hash = parts.groups()
        require(ORIGIN.fullmatch(origin), 'an origin cannot be read')
        if self.origin is None:
            require(previous == labelled(b'postern/audit/origin/v1', origin), 'the chain does not begin at its origin')
        else:
            require(origin.decode() == self.origin, 'a segment of another chain')
        require(number(segment) == self.segment + 1, 'the number of the segment is not the next one')
        require(number(of_epoch) == epoch, 'the segment statement names another epoch than its frame')
        listed = recipients.split(b'","')
        require(len(listed) <= RECIPIENTS_MAX and all(RECIPIENT.fullmatch(one) for one in listed), 'the recipients cannot be read')
        if self.previous_segment is None:
            require(before_bytes is None, 'a first segment names a segment before it')
        else:
            require(before_bytes is not None and (number(before_bytes), before_hash) == self.previous_segment,
                    'the segment before is not the one that this one follows')
        if epoch == self.epoch and self.epoch > 0:
            require(epoch_sequence is None, 'a segment within an epoch names the epoch before')
            require(not self.ended and not self.checkpoint_due, 'the epoch has ended, or has not begun in order, and goes on')
            require(key_text == self.epochs[epoch].key_text, 'another key in the middle of an epoch')
        else:
            self._begin_epoch(epoch, key_text, origin, epoch_sequence, epoch_hash)
        self.origin = origin.decode()
        self.segment += 1
        self.recipients = len(listed)

    def _begin_epoch(self, epoch, key_text, origin, before_sequence, before_hash):
        require(epoch == self.epoch + 1, 'the epoch is not the next one')
        require(not self.checkpoint_due, 'no checkpoint directly behind the beginning or the end of an epoch')
        if epoch == 1:
            require(before_sequence is None, 'the first epoch names an epoch before it')
        else:
            require(before_sequence is not None and number(before_sequence) == self.sequence - 1 and before_hash == self.hash.hex().encode(),
                    'the epoch before is not the one that this one follows')
        key = Key(key_text)
        require(key.name == origin + b'/epoch-%d' % epoch, 'the key is not named after its epoch')
        self.epoch, self.epoch_key, self.ended, self.checkpoint_due = epoch, key, False, True
        self.epochs[epoch] = Epoch(self.sequence, key_text)

    def _body(self, kind, body, previous):
        if kind < SEGMENT:
            self._sealed(body)
        elif kind == CERTIFICATE:
            self._certificate(Note(body))
        elif kind == CHECKPOINT:
            self._checkpoint(Note(body), previous)
        elif kind == RECEIPT:
            self._receipt(Note(body))
        elif kind == END:
            require(END_TEXT.fullmatch(body), 'the end of an epoch cannot be read')
            self.ended = self.checkpoint_due = True

    def _sealed(self, body):
        first = b'age-encryption.org/v1\n'
        require(body.startswith(first), 'a sealed body is no age file')
        at, stanzas = len(first), 0
        while True:
            end = body.find(b'\n', at)
            require(end >= 0, 'a sealed body is no age file')
            if body.startswith(b'---', at):
                break
            stanzas += body.startswith(b'-> ', at)
            at = end + 1
        require(stanzas == self.recipients, 'a sealed body is for more or fewer readers than its segment names')

    def _certificate(self, note):
        parts = CERTIFICATE_TEXT.fullmatch(note.text)
        require(parts, 'a certificate cannot be read')
        require(parts[1].decode() == self.origin, 'a certificate of another chain')
        epoch = self.epochs.get(number(parts[2]))
        require(epoch is not None, 'a certificate of an epoch that has not begun')
        require(parts[3] == epoch.key_text, 'a certificate of another key than the one of its epoch')
        for key in self.keys:
            right = note.signed_by(key)
            if right:
                epoch.certified = epoch.certified or key.name.decode()
            if right is False:
                self._note_forged('the certificate')

    def _checkpoint(self, note, previous):
        parts = CHECKPOINT_TEXT.fullmatch(note.text)
        require(parts, 'a checkpoint cannot be read')
        require(parts[1].decode() == self.origin, 'a checkpoint of another chain')
        require(number(parts[2]) == self.sequence - 1, 'a checkpoint of another size than what is before it')
        require(unbase64(parts[3]) == previous, 'a checkpoint of another hash than the frame before it')
        require(number(parts[4]) == self.epoch, 'a checkpoint of another epoch')
        require(note.signed_by(self.epoch_key) is True, 'a checkpoint is not signed by the key of its epoch')
        self.epochs[self.epoch].signed_to = self.sequence - 1
        self.epochs[self.epoch].signed_records = self.records
        self.checkpoints.append(hashlib.sha256(note.text).digest())
        self.checkpoint_due = False

    def _receipt(self, note):
        require(hashlib.sha256(note.text).digest() in self.checkpoints, 'a receipt of a checkpoint that is not among the last ones')
        require(any(len(signature) == 72 for _, _, signature in note.signatures), 'a receipt without a cosignature')
        if any(note.signed_by(key, 4) is False for key in self.keys):
            self._note_forged('the receipt')

    def _note_forged(self, what):
        self.forged = self.forged or (self.sequence, f'{what} at sequence {self.sequence} is not signed by the authority it names')


def signature_of(chain):
    """(verdict, sequence, text) of the signature line."""
    if not chain.keys:
        return 'not checked', None, 'not checked (--key)'
    names = ', '.join(key.name.decode() for key in chain.keys)
    if chain.forged:
        return 'INVALID', chain.forged[0], f'INVALID: {chain.forged[1]}'
    signed = [(epoch.signed_to, number_) for number_, epoch in chain.epochs.items() if epoch.certified and epoch.signed_to is not None]
    if not signed:
        return 'INVALID', 1, f'INVALID: no checkpoint is signed by a key that {names} answers for'
    to, last_epoch = max(signed)
    for number_ in range(1, last_epoch):
        if not chain.epochs[number_].certified:
            first = chain.epochs[number_].first
            return 'INVALID', first, f'INVALID: {names} does not answer for the key of epoch {number_}, from sequence {first} on'
    more = chain.records - chain.epochs[last_epoch].signed_records
    rest = '' if more == 0 else f', {more} record{"" if more == 1 else "s"} after it {"is" if more == 1 else "are"} not signed'
    return 'valid', to, f'valid to sequence {to}, signed by {chain.epochs[last_epoch].certified}{rest}'


def tail_of(chain, heads, origins, given):
    """(verdict, sequence, text) of the tail line; the worst thing first."""
    if not given:
        return 'not checked', None, 'not checked (--head)'
    mine = [head for head in heads if chain.origin is None or head.origin == chain.origin]
    foreign = [head for head in heads if not head.whole_object and origins and head.origin not in origins]
    last = chain.sequence - 1

    def shown(head):
        return f'{head.size} {base64.b64encode(head.hash).decode()}'
    hash_by_size = {}
    for head in mine:
        other = hash_by_size.setdefault(head.size, head)
        if other.hash != head.hash:
            return 'FORK', head.size, f'FORK: two heads of one size: {shown(other)} and {shown(head)}'
    for head in mine:
        if head.size <= last and chain.origin is not None and chain.hash_at.get(head.size) != head.hash:
            own = chain.hash_at.get(head.size)
            found = f'{head.size} {base64.b64encode(own).decode()}' if own else f'no frame that ends at {head.size}'
            return 'FORK', head.size, f'FORK: head witnessed {shown(head)}, found {found}'
    if foreign:
        return 'ROLLBACK', foreign[0].size, f'ROLLBACK: head witnessed {foreign[0].size} of {foreign[0].origin}, found another chain'
    if not mine:
        return 'not checked', None, 'not checked (no head speaks of this chain)'
    size = max(head.size for head in mine)
    if size > last:
        return 'TRUNCATED', size, f'TRUNCATED: head witnessed {size}, found {last}'
    return 'complete', size, f'nothing is missing up to sequence {size}'


def report(chain, signature, tail):
    last = chain.sequence - 1
    lines = [
        f'verified: {last} records',
        f'first sequence: {1 if last else "none"}',
        f'last sequence: {last or "none"}',
        ('chain: valid' if chain.origin else 'chain: there is none') if chain.why is None else f'chain: broken at sequence {chain.sequence}: {chain.why}',
        f'signature: {signature[2]}',
        f'tail: {tail[2]}',
    ]
    return lines + [f'CLOCK_SKEW at sequence {at}: {ms} ms back' for at, ms in chain.skews]


def gather(paths):
    """Groups of files, each one chain, in their order."""
    groups, single = [], []
    for path in paths:
        if stat.S_ISDIR(os.stat(path).st_mode):
            for folder, folders, names in os.walk(path):
                folders.sort()
                files = [os.path.join(folder, name) for name in names if name.endswith('.seg')]
                groups.append([file for file in files if stat.S_ISREG(os.stat(file).st_mode)])
        else:
            require(stat.S_ISREG(os.stat(path).st_mode), 'what is named is neither a file nor a folder')
            single.append(path)
    groups.append(single)
    return [ordered(group) for group in groups if group]


def ordered(files):
    def place(file):
        with open(file, 'rb') as opened:
            head = opened.read(16)
        first = int.from_bytes(head[8:], 'little') if len(head) == 16 else 2**64
        return first, os.fsencode(os.path.basename(file))
    return sorted(files, key=place)


def read_small(path, bytes_max):
    with open(path, 'rb') as file:
        data = file.read(bytes_max + 1)
    require(len(data) <= bytes_max, 'a note is too long')
    return data


def read_key(text):
    if os.path.isfile(text):
        return Key(read_small(text, NOTE_BYTES_MAX).strip())
    return Key(os.fsencode(text))


def run(arguments):
    """Answers {code, chains: [...]}, or {code: 2, error}."""
    keys, notes, paths, rest = [], [], [], list(arguments)
    while rest:
        word = rest.pop(0)
        if word in ('--key', '--head'):
            require(rest, 'an option lacks its value')
            (keys if word == '--key' else notes).append(rest.pop(0))
        elif word != '--json':
            paths.append(word)
    require(paths, 'no path is given')
    keys = [read_key(key) for key in keys]
    heads, refused = [], None
    for note in notes:
        try:
            heads += read_heads(note, keys)
        except Broken as broken:
            refused = str(broken)
    sizes = {head.size for head in heads}
    chains = []
    for group in gather(paths) or ([[]] if notes else []):
        chain = Chain(keys, sizes)
        chain.verify(group)
        chains.append(chain)
    require(chains, 'no segment is here')
    origins = {chain.origin for chain in chains if chain.origin}
    answers = []
    for chain in chains:
        signature = signature_of(chain)
        tail = ('INVALID', None, f'INVALID: {refused}') if refused else tail_of(chain, heads, origins, notes)
        good = chain.why is None and signature[0] != 'INVALID' and tail[0] in ('not checked', 'complete')
        answers.append({
            'origin': chain.origin, 'records': chain.sequence - 1, 'broken_at': chain.sequence if chain.why is not None else None,
            'why': chain.why, 'signature': signature[0], 'signature_at': signature[1], 'tail': tail[0], 'tail_at': tail[1],
            'clock_skew_at': [at for at, _ in chain.skews], 'good': good, 'lines': report(chain, signature, tail)})
    return {'code': 0 if all(answer['good'] for answer in answers) else 1, 'chains': answers}


def answer_to(arguments):
    try:
        return run(arguments)
    except Broken as broken:
        return {'code': 2, 'error': str(broken), 'chains': []}
    except OSError as failed:
        return {'code': 2, 'error': f'a file cannot be read ({os.strerror(failed.errno or 0)})', 'chains': []}


def main():
    if sys.argv[1:] == ['--batch']:
        for line in sys.stdin:
            print(json.dumps(answer_to(json.loads(line))), flush=True)
        return 0
    answer = answer_to(sys.argv[1:])
    if '--json' in sys.argv[1:]:
        print(json.dumps(answer))
    elif answer['code'] == 2:
        print(f'error: {answer["error"]}', file=sys.stderr)
    else:
        for chain in answer['chains']:
            if len(answer['chains']) > 1:
                print(f'chain {chain["origin"] or "without an origin"}')
            print('\n'.join(chain['lines']))
    return answer['code']


if __name__ == '__main__':
    sys.exit(main())
