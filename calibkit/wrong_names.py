"""A wrong name is answered: what other libraries say, and what it is called here.

`WORDS` is the table of the book's page "From another library", whose test compares them.
"""

import re
import sys
from collections.abc import Iterable
from typing import NamedTuple


class Word(NamedTuple):
    """What they say and what we say, as the page shows it, and how one would type the former."""

    theirs: str
    ours: str
    typed: str = ""  # names, and options with =; capitals and underscores do not matter


_TABLE = """
ECE, expected calibration error | `expected_calibration_error`; for K classes with
  `view="top-label"` | ece expected_calibration binary_calibration_error get_ece binned_ece
ACE in netcal | `average_calibration_error`
ACE, adaptive; "equal frequency", "quantile" bins | `adaptive_calibration_error`, or any error
  with `bins=EqualMass(15)` | ace adaptive_ece adaece equal_frequency quantile
MCE, "max" norm | `maximum_calibration_error` | mce max_calibration_error
RMSCE, "l2" norm | `root_mean_square_calibration_error` | rmsce rmsece
static, class-wise, marginal ECE | `class_wise_calibration_error`; `marginal_calibration_error` |
  sce static_calibration_error classwise_ece cwece multiclass_calibration_error
debiased, unbiased error | `debiased_calibration_error` | debiased_ece unbiased_calibration_error
  get_calibration_error
smooth ECE (smECE) | `smooth_calibration_error`; its p-value and null level by `null_level` |
  smece smooth_ece
calibration curve, reliability diagram | `reliability_table`; `plot.reliability_diagram(y, p)` |
  calibration_curve calibration_display reliability_diagram reliability_curve reliability_plot
  plot_calibration_curve rel_diagram calibration_plot
confidence, accuracy | the probability and the event of `view="top-label"`
Brier score, `brier_score_loss` | `brier_score`; of one column it counts the event alone | brier
  brier_score_loss brier_loss
NLL, cross-entropy | `log_loss`, in nats | nll cross_entropy logloss negative_log_loss
ICI, E50, E90, E_max, ECI | `clinic.smooth_curve`, which has all five | ici eavg e50 e90
  emax eci integrated_calibration_index estimated_calibration_index
CITL, calibration slope, O/E | `clinic.calibration_in_the_large`,
  `clinic.calibration_slope`, `clinic.observed_expected_ratio` | citl
  calibration_intercept calibration_slope calibration_in_the_large oe_ratio
net benefit, decision curve (DCA) | `decisions.decision_curve` |
  net_benefit dca decision_curve decision_curve_analysis
`pos_label="yes"` | `positive="yes"` | pos_label=
`n_bins=15` | `bins=15`, where there are bins | n_bins= num_bins= nbins=
`strategy="uniform"`, `strategy="quantile"` | `bins=15`, `bins=EqualMass(15, rule="quantile")` |
  strategy=
`weights=w` | `sample_weight=w` | weights= sample_weights=
`random_state=0`, `seed=0` | `rng=0`, where chance is drawn | random_state= seed=
`logits=z` | probabilities, `softmax(z, axis=1)` or `expit(z)` of scipy.special; `audit` takes
  logits | logits= from_logits=
`y_pred=p`, `probs=p` | `y_prob=p`, after the labels | y_pred= y_score= y_scores= scores= y_proba=
  probs= proba= probas= probabilities= preds= y_hat= predictions=
histogram binning, isotonic, Platt, temperature | {py:mod}`calibkit.calibrators`
  | histogram_binning isotonic_regression isotonic platt
  platt_scaling temperature_scaling isotonic_calibrator platt_calibrator dirichlet_calibrator
  calibrated_classifier_cv
"""
_ROWS = (" ".join(row.split()).split(" | ") for row in re.split(r"\n(?=\S)", _TABLE.strip()))
WORDS = tuple(Word(*row) for row in _ROWS)
_ROLE = re.compile(r"\{[\w:]+\}")


def answer(typed: str) -> str:
    """Return what a name (or an option, with = behind it) is called here; empty if unknown.

    >>> answer("BrierScoreLoss")
    'brier_score; of one column it counts the event alone'
    """
    key = _key(typed)
    found = (word.ours for word in WORDS if key in map(_key, word.typed.split()))
    return _ROLE.sub("", next(found, "")).replace("`", "")


def _key(typed: str) -> str:
    return typed.lower().replace("_", "")


def unknown_name(module: str, name: str) -> AttributeError:
    """Return the error for a name that a module does not have, with ours where it is known."""
    ours = answer(name)
    if ours:
        return AttributeError(f"{module} has no {name!r}; here it is {ours}.")
    message = f"module {module!r} has no attribute {name!r}"
    # Python looks for a like one.
    return AttributeError(message, name=name, obj=sys.modules[module])


def unknown_option(options: Iterable[str], also: Iterable[str] = ()) -> TypeError:
    """Return the error for an option that the function which the user called does not have."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_back.f_globals.get("__name__", "").startswith("calibkit."):
        frame = frame.f_back
    # Arguments come first among a function's own names, and those without a place at their end.
    code, wrong = frame.f_code, next(iter(options))
    named = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    ours = answer(f"{wrong}=")
    told = f"here it is {ours}" if ours else f"it takes {', '.join([*named, *also])}"
    return TypeError(f"{code.co_name}() has no option {wrong!r}; {told}.")
