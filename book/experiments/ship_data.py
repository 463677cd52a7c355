"""Write the compact predictions of `calibkit_course/data/shipped` from the original files.

``python -m book.experiments.ship_data`` needs all originals, in the folder that ``CALIBKIT_DATA``
names or in the cache. The same originals give the same arrays; the README beside them has the
checksums.
"""

import hashlib
import sys

import numpy as np

from calibkit_course.data import REGISTRY
from calibkit_course.data.files import SHIPPED, find, read
from calibkit_course.data.packed import pack

NAMES = (
    "mlb",
    "nba",
    "nfl",
    "world_cup",
    "cifar10-wideresnet",
    "cifar10-vgg16",
    "imagenet-resnext101",
    "imagenet-efficientnet",
)
GAMES = ("games", "matches")  # kept to the last bit
LARGEST = 1_000_000  # bytes of all together


def main() -> int:
    """Write each file and print its checksum, as the README has it."""
    total = 0
    for name in NAMES:
        entry = REGISTRY[name]
        original = find(entry)
        if original is None:
            print(f"{entry.file} is not here; set CALIBKIT_DATA to the folder that holds it.")
            return 1
        path = SHIPPED / f"{name}.npz"
        parts = read(original, entry.kind)
        np.savez_compressed(path, **pack(parts, rounded=entry.kind not in GAMES))
        data = path.read_bytes()
        total += len(data)
        print(f"{hashlib.sha256(data).hexdigest()}  {path.name}")
    print(f"{total:,} bytes, at most {LARGEST:,}")
    return int(total > LARGEST)


if __name__ == "__main__":
    sys.exit(main())
