"""Decodes a log of 100,000 command dumps by `prm decode`, and the same mailboxes by scapy, in turn.

    prm_log.py PRM

Prints, in seconds: prm for the whole log, from its start to its end and of processors (the least of 3 runs each), scapy
to take one mailbox apart and to make text of it (the least of 3 runs over a part of them); and the largest memory of
prm, in MB, for a tenth of the log and for all of it.
"""

import os
import random
import subprocess
import sys
import tempfile
import time

from scapy_qp import QueryQpOut

COMMANDS, PART, OFFSET, SIZE = 100_000, 300, 0x18, 272

# What a QP in RTS has: offset in the context, bytes, and a value or how many random bits.
FIELDS = [
    (0x00, 4, 0x30001800), (0x04, 4, 0x00001234), (0x08, 4, 0x6F543A40), (0x0C, 4, 0x00000004), (0x10, 4, 24),
    (0x14, 4, 24), (0x20, 4, 0x40), (0x28, 8, 62), (0x30, 8, 62), (0x38, 4, 0x00DE0000), (0x3C, 4, 0x01012345),
    (0x40, 4, 32), (0x70, 4, 0x80060000), (0x78, 4, 24), (0x7C, 4, 24), (0x88, 4, 24), (0x90, 4, 0x0000E00C),
    (0x94, 4, 24), (0x9C, 4, 24), (0xA0, 8, 40), (0xA8, 4, 0x11111111),
]


def mailbox(dice):
    out = bytearray(SIZE)
    for at, width, value in FIELDS:
        value = dice.getrandbits(value) if value in (24, 32, 40, 62) else value
        out[OFFSET + at : OFFSET + at + width] = value.to_bytes(width, "big")
    return bytes(out)


def write_log(path, mailboxes):
    with open(path, "w") as log:
        for n, out in enumerate(mailboxes):
            slot = n % 4
            begin = "[ 12.3] mlx5_core 0000:08:00.0: dump_command:%d:(pid 55): "
            log.write(begin % 873 + f"cmd[{slot}]: dump command data QUERY_QP(0x50b) OUTPUT\n")
            for at in range(0, SIZE, 16):
                dwords = " ".join(out[at + i : at + i + 4].hex() for i in range(0, 16, 4))
                log.write(f"[ 12.3] cmd[{slot}]: {at:03x}: {dwords}\n")
            log.write(begin % 912 + f"cmd[{slot}]: end dump\n")


def run(prm, log):
    """Seconds, seconds of processors, and MB of memory."""
    begin = time.perf_counter()
    child = subprocess.Popen([prm, "decode", log], stdout=subprocess.DEVNULL)
    # What wait4 says of memory counts this program, too, as it was when it forked.
    memory = 0
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid != 0:
            seconds = time.perf_counter() - begin
            break
        with open(f"/proc/{child.pid}/status") as file:
            lines = [line.split() for line in file if line.startswith("VmHWM:")]
        memory = max([memory, *(int(line[1]) / 1024 for line in lines)])
        time.sleep(0.005)
    if status != 0:
        sys.exit(f"prm decode ends with {status}")
    return seconds, usage.ru_utime + usage.ru_stime, memory


def scapy(mailboxes, make):
    begin = time.perf_counter()
    for out in mailboxes:
        make(out)
    return (time.perf_counter() - begin) / len(mailboxes)


def main():
    prm = sys.argv[1]
    dice = random.Random(1)
    mailboxes = [mailbox(dice) for _ in range(COMMANDS)]
    ours, apart, shown = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        short, long = f"{scratch}/short", f"{scratch}/long"
        write_log(short, mailboxes[: COMMANDS // 10])
        write_log(long, mailboxes)
        for _ in range(3):
            ours.append(run(prm, long))
            apart.append(scapy(mailboxes[:PART], QueryQpOut))
            shown.append(scapy(mailboxes[:PART], lambda out: QueryQpOut(out).show(dump=True)))
        _, _, small = run(prm, short)
    seconds, processors, memory = min(a for a, _, _ in ours), min(b for _, b, _ in ours), max(c for _, _, c in ours)
    print(seconds, processors, min(apart), min(shown), small, memory)


if __name__ == "__main__":
    main()
