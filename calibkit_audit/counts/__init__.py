"""Files of predictions, block by block, and rows that a database has counted."""

from calibkit_audit.counts.files import monitor_files
from calibkit_audit.counts.places import PredictionFileError
from calibkit_audit.counts.table import CountTable

__all__ = ["CountTable", "PredictionFileError", "monitor_files"]
