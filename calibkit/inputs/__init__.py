"""What comes in: labels, probabilities, weights; and from K classes to one event."""

from calibkit.inputs.containers import *  # noqa: F403
from calibkit.inputs.options import *  # noqa: F403
from calibkit.inputs.rows import *  # noqa: F403
