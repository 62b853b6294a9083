"""Reproduction of the paper's tables and figures, run by ``python -m reproduction``.

It uses the public interface of skliquid and is not part of the installed package. To read the code:

1. ``experiment`` and ``experiment_rules``: an experiment, its TOML file, and checks of that file;
2. ``protocols``, ``methods`` and ``real_adaboost``: how a trial prepares data, trains and scores;
3. ``trial``, ``trial_store``, ``process_runner``, ``dask_runner``: trials, their results on disk,
   and how they are run on one machine or on a cluster;
4. ``trial_statistics`` and ``variations``: means over trials beside the published values;
5. ``result_tables``, ``paper_diagrams``, ``paper_figures`` and ``result_figures``: tables, and
   figures in the style of ``figure_style``;
6. ``claim_checks`` and ``result_summary``: what the results say about the paper;
7. ``experiment_displays``, ``report`` and ``output_files``: all files, and the HTML page that
   ``templates/`` makes of them;
8. ``command`` and ``exits``: the command line.
"""
