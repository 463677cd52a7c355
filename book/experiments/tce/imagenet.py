"""Table 5 of Matsubara and others (2023): five networks on ImageNet, dogs against the rest.

The authors' files may be used, but not redistributed (CC BY-NC 4.0). Who has them puts
``labels.npy`` and ``preds_00.npy`` to ``preds_04.npy`` (folder ``Dataset/DL`` of the repository
``facebookresearch/tce``) into a folder ``tce`` of ``CALIBKIT_DATA``. The positive class holds the
identifiers 151 to 275, 12.5 % of 50,000 images; the source prints 150 to 275.
"""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NETWORKS = ("AlexNet", "VGG19", "Res18", "Res50", "Res152")


def folder() -> Path | None:
    """Return the folder with the authors' files, or None where they are not."""
    found = Path(os.environ.get("CALIBKIT_DATA", "")) / "tce"
    files = ["labels.npy", *(f"preds_0{k}.npy" for k in range(len(NETWORKS)))]
    return found if all((found / name).is_file() for name in files) else None


def predictions() -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Return labels and predictions of each network; sums of probabilities above 1 become 1."""
    found = folder()
    if found is None:
        raise FileNotFoundError(
            "The authors' files of Table 5 are not here. Put labels.npy and preds_00.npy to "
            "preds_04.npy into the folder tce of CALIBKIT_DATA."
        )
    label = np.load(found / "labels.npy").astype(np.int64)
    probs = [np.load(found / f"preds_0{k}.npy") for k in range(len(NETWORKS))]
    return {
        name: (label, np.minimum(prob.astype(np.float64), 1.0))
        for name, prob in zip(NETWORKS, probs, strict=True)
    }
