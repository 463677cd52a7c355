"""Numbers that Matsubara and others (2023) prints, and the fitted models that its simulations need.

Facts copied from the source's tables, in its units: rejected predictions in per cent. The features
of the simulations come from NumPy's legacy generator with seed 0. The coefficients are those that
scikit-learn 1.2.2 fitted (tables 12 and 13: a later version); optimisers of other versions stop at
other digits.
"""

from typing import NamedTuple

# Slope and intercept of the models made for one half and for one hundredth.
FITTED = {
    0.5: (0.2582340869548939, -0.02803069435647275),
    0.01: (0.27276707569962133, -4.664906501306633),
}


class Shifted(NamedTuple):
    """A row of Table 2: prevalences in training and in use, then the four measures."""

    made_for: float
    used_at: float
    tce: float
    tce_q: float
    ece: float
    ace: float


TABLE_2 = (
    Shifted(0.5, 0.5, 7.2833, 10.8833, 0.0138, 0.0150),
    Shifted(0.5, 0.4, 96.1, 96.4667, 0.0963, 0.0951),
    Shifted(0.5, 0.6, 98.8333, 98.9333, 0.1097, 0.1096),
    Shifted(0.01, 0.01, 3.4, 0.1833, 0.0017, 0.0031),
    Shifted(0.01, 0.0, 95.5, 68.7333, 0.0094, 0.0094),
    Shifted(0.01, 0.02, 92.3167, 89.7333, 0.0139, 0.0139),
)

# Tables 6 to 11: one list per prevalence in use; the model is made for one half.
SMALLEST = (3, 6, 30, 60, 300, 600, 3000)
TABLE_6 = {
    0.5: (3.45, 3.3833, 2.35, 2.6333, 7.2833, 13.5667, 92.2),
    0.4: (88.0667, 88.0667, 88.3333, 87.8667, 96.1, 96.6, 93.95),
}
LARGEST = (6, 30, 60, 300, 600, 3000, 6000)
TABLE_7 = {
    0.5: (5.85, 3.0, 2.3667, 3.7667, 3.3833, 3.45, 3.45),
    0.4: (5.5, 9.1, 14.3833, 79.6667, 85.65, 88.0667, 88.0667),
}
BOTH = (6, 30, 60, 300, 600)  # the smallest size; the largest is four times as large
TABLE_8 = {
    0.5: (3.8, 1.8333, 0.2833, 7.2833, 13.5667),
    0.4: (7.7333, 45.7667, 66.1833, 96.1, 96.6),
}
TABLE_11 = {
    0.5: (33.6667, 36.0, 31.3667, 37.8, 46.5),
    0.4: (50.2833, 73.2667, 96.5333, 99.2667, 98.6333),
}
NOISE = (0, 0.01, 0.05, 0.1, 0.5, 1)
TABLE_9 = {
    0.5: (7.2833, 8.7167, 12.8833, 8.35, 61.95, 86.1833),
    0.4: (96.1, 96.4, 94.7667, 93.85, 86.6667, 90.3167),
}
LEVELS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5)
TABLE_10 = {
    0.5: (1.45, 2.4667, 3.05, 7.2833, 12.85, 53.1),
    0.4: (77.8, 86.3, 90.1833, 96.1, 97.2167, 99.3),
}


class Refitted(NamedTuple):
    """A model of its own: slope and intercept, and the printed value of a calibrated model."""

    slope: float
    intercept: float
    tce: float


TABLE_12 = {  # by number of test rows
    3000: Refitted(0.275970293461838, -0.02453429510594143, 8.0667),
    30_000: Refitted(0.2515768647264394, -0.011864588375465052, 16.1633),
    60_000: Refitted(0.2515796053831914, 0.0046700210448600244, 19.1483),
}
TABLE_13 = {  # by prevalence
    0.4: Refitted(0.25537313045175697, -0.43602122462935133, 7.55),
    0.3: Refitted(0.2607178643792383, -0.867163932987517, 8.1667),
    0.2: Refitted(0.2704065916981771, -1.4156772983761494, 15.95),
    0.06: Refitted(0.27910862193191777, -2.800544473058055, 11.5333),
}


class Real(NamedTuple):
    """A row of Tables 3 and 14 for one data set and one method."""

    tce: float
    tce_q: float
    ece: float
    ace: float


TABLES_3_AND_14 = {
    ("abalone", "SVM"): Real(47.2089, 38.3573, 0.0436, 0.0473),
    ("abalone", "MLP"): Real(3.8278, 10.4466, 0.0167, 0.0122),
    ("optical digits", "SVM"): Real(4.8043, 10.6762, 0.0042, 0.0028),
    ("optical digits", "MLP"): Real(4.6856, 12.1590, 0.0037, 0.0034),
    ("satimage", "SVM"): Real(10.2020, 21.8540, 0.0229, 0.0163),
    ("satimage", "MLP"): Real(58.0528, 58.4671, 0.0352, 0.0328),
}
