"""Large logs: count predictions once, in bounded memory, and ask anything afterwards.

A `CountTable` keeps, for each of G = 25,200 cells of [0, 1], how many predictions fell into it,
how many events happened, and the sum of the predictions. Tables of parts of the data add up to the
table of all: files can be read by blocks, by several workers, or by the machines of a cluster; a
database counts by one query. In bins whose number divides G counts are exact, and errors to 1e-13.
"""

from calibkit_audit.counts.files import count_files, monitor_files
from calibkit_audit.counts.places import PredictionFileError
from calibkit_audit.counts.table import CountTable

__all__ = ["CountTable", "PredictionFileError", "count_files", "monitor_files"]
