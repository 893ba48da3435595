"""What a synthetic table is measured by, column by column and by what can be learnt from it."""

import hashlib
import json
import os
import pathlib
import warnings

import numpy as np
import scipy.stats
import sklearn
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import datasets

# Learners see at most so many rows, and are judged by at most so many.
MOST = 20_000

LEARNERS = {
    "logistic": lambda cores: LogisticRegression(max_iter=1000),
    "forest": lambda cores: RandomForestClassifier(100, random_state=0, n_jobs=cores),
    # Newton steps: real tables take some ten, noise without labels that mean anything would take hundreds.
    "svm": lambda cores: LinearSVC(dual=False, max_iter=50, random_state=0),
}


class Numbers:
    """The cells of a table as numbers, column by column."""

    def __init__(self, frame, columns):
        self.rows = len(frame)
        self.places = {c.name: c.units(frame[c.name]) for c in columns if c.numeric}
        self.categories = {c.name: (c.categories(frame[c.name]), c.width()) for c in columns if not c.numeric}
        for column in columns:
            if column.numeric and column.may_miss:
                self.categories[f"{column.name} is missing"] = (self.places[column.name][1].astype(int), 2)


def line(real, synthetic):
    """The mean over numeric columns of the one-dimensional W1, in units of the bounds. Missing cells do not count."""

    def apart(name):
        ours, theirs = (of.places[name][0][~of.places[name][1]] for of in (real, synthetic))
        if len(ours) == 0 or len(theirs) == 0:
            return 0.0 if len(ours) == len(theirs) else 0.5
        if len(ours) == len(theirs):
            return np.abs(np.sort(ours) - np.sort(theirs)).mean()
        return scipy.stats.wasserstein_distance(ours, theirs)

    return mean([apart(name) for name in real.places])


def variation(real, synthetic):
    """The mean over categorical columns, the label included, of half the sum of the differences of shares."""

    def apart(name):
        (ours, width), (theirs, _) = real.categories[name], synthetic.categories[name]
        shares = [np.bincount(numbers, minlength=width) / max(len(numbers), 1) for numbers in (ours, theirs)]
        return np.abs(shares[0] - shares[1]).sum() / 2

    return mean([apart(name) for name in real.categories])


def correlation(real, synthetic):
    """The mean absolute difference of the correlations of pairs of numeric columns; a constant one has 0 with all."""
    width = len(real.places)
    if width < 2:
        return None
    difference = np.abs(correlations(real) - correlations(synthetic))
    return float(difference[np.triu_indices(width, 1)].mean())


def correlations(numbers):
    values = np.stack([units for units, _ in numbers.places.values()])
    values -= values.mean(axis=1, keepdims=True)
    lengths = np.sqrt((values**2).sum(axis=1, keepdims=True))
    values /= np.where(lengths > 1e-9 * np.sqrt(numbers.rows), lengths, np.inf)
    return values @ values.T


def place(real, synthetic):
    """The largest difference of the means of a numeric column, in units of the bounds."""
    apart = []
    for name, (ours, missing) in real.places.items():
        theirs, gone = synthetic.places[name]
        if not missing.all() and not gone.all():
            apart.append(abs(ours[~missing].mean() - theirs[~gone].mean()))
    return float(max(apart)) if apart else None


def share(real, synthetic):
    """The largest difference of the shares of a category, the label's and what is missing included."""
    apart = []
    for name, (ours, width) in real.categories.items():
        shares = [np.bincount(of, minlength=width) / max(len(of), 1) for of in (ours, synthetic.categories[name][0])]
        apart.append(np.abs(shares[0] - shares[1]).max())
    return float(max(apart)) if apart else None


def mean(values):
    return float(np.mean(values)) if values else None


def compared(real, synthetic):
    return {
        "line": line(real, synthetic),
        "variation": variation(real, synthetic),
        "correlation": correlation(real, synthetic),
        "place": place(real, synthetic),
        "share": share(real, synthetic),
    }


def features(frame, columns):
    """Numbers in [0, 1] for each row: places between the bounds (two for cyclic columns), categories one-hot, the
    middle and an indicator for what is missing."""
    parts = []
    for column in columns:
        if column.label:
            continue
        if column.numeric:
            units, missing = column.units(frame[column.name])
            turns = [(1 + turn(2 * np.pi * units)) / 2 for turn in (np.cos, np.sin)]
            parts += turns if column.keys.get("scale") == "cyclic" else [units]
            parts += [missing] * column.may_miss
        else:
            numbers = column.categories(frame[column.name])
            parts += [numbers == number for number in range(column.width())]
    return np.stack([np.asarray(part, dtype=np.float64) for part in parts], axis=1)


def some(frame, seed):
    """At most MOST rows."""
    return frame.sample(MOST, seed=seed) if len(frame) > MOST else frame


def learnt(dataset, training, held_out, learners, seed, cores=1):
    """The share of held-out real rows whose label is predicted well by learners that saw the training rows."""
    if held_out is None or not learners:
        return {}
    training, held_out = some(training, seed), some(held_out, seed)
    rows, labels = features(training, dataset.columns), dataset.label.categories(training[dataset.label.name])
    tests, truth = features(held_out, dataset.columns), dataset.label.categories(held_out[dataset.label.name])
    if len(np.unique(labels)) < 2:
        # There is nothing to learn: everything is predicted to be the one label.
        return {name: float((truth == labels[0]).mean()) for name in learners}
    found = {}
    for name in learners:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found[name] = float(LEARNERS[name](cores).fit(rows, labels).score(tests, truth))
    return found


def learnt_from_real(dataset, training, held_out, learners, seed, cache, cores=1):
    """The same from real rows. It does not depend on the program, so it is kept from one call to the next."""
    found = {}
    for name in learners if held_out is not None else []:
        about = hashlib.sha256()
        for frame in (some(training, seed), some(held_out, seed)):
            about.update(frame.hash_rows(seed=1).to_numpy().tobytes())
        sources = [pathlib.Path(module).read_text() for module in (__file__, datasets.__file__)]
        about.update(json.dumps([dataset.text, name, sklearn.__version__, *sources]).encode())
        kept = cache / f"{dataset.name}-{about.hexdigest()[:24]}.json"
        if not kept.exists():
            cache.mkdir(parents=True, exist_ok=True)
            part = kept.with_name(f"{kept.name}.{os.getpid()}")
            part.write_text(json.dumps(learnt(dataset, training, held_out, [name], seed, cores)))
            part.rename(kept)
        found |= json.loads(kept.read_text())
    return found
