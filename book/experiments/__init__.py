"""The experiments of the literature, run again: one folder per page of the book.

`synthetic` makes ``book/study.md``, `pseudo_real` ``book/pseudo_real.md``, `verified`
``book/verified.md``, `tce` ``book/tce_tables.md``, `others`
``book/other_libraries.md``. Each runs as
``python -m book.experiments.NAME`` from the root of the repository; results are stored in
``book/_data``.
"""
