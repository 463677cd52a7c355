"""The tools behind `dev.py`: virtual environment, notebooks, figures, timings."""
