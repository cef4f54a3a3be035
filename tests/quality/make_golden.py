#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes topk_golden.json beside this script: 200 random cases of top-k accuracy.

Expected top-1 values come from scikit-learn (accuracy_score of numpy's argmax), and so do top-k
values where no scores tie: scikit-learn's own top-k breaks ties towards the larger class index,
against its argmax. Where scores tie, the definition in src/quality/topk.h is written out below.
Needs numpy and scikit-learn; the tests need the JSON file only. Usage: make_golden.py
"""
import json
import pathlib

import numpy
from sklearn.metrics import accuracy_score, top_k_accuracy_score


def by_definition(scores, labels, k):
    hits = 0
    for row, label in zip(scores.tolist(), labels.tolist()):
        order = sorted(range(len(row)), key=lambda c: (-row[c], c))
        hits += label in order[:k]
    return hits / len(labels)


def make_case(random, number):
    items = int(random.integers(1, 9))
    classes = int(random.integers(3, 8))
    ties = number % 2 == 0
    if ties:
        scores = random.integers(-2, 3, (items, classes)).astype(float)
    else:
        scores = random.permutation(items * classes).reshape(items, classes) / 8.0
    labels = random.integers(0, classes, items)
    k = 1 if number % 4 < 2 else int(random.integers(2, classes))
    if k == 1:
        expected = accuracy_score(labels, numpy.argmax(scores, axis=1))
    elif ties:
        expected = by_definition(scores, labels, k)
    else:
        expected = top_k_accuracy_score(labels, scores, k=k, labels=range(classes))
    assert abs(expected - by_definition(scores, labels, k)) < 1e-15
    return {
        "k": k,
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "accuracy": float(expected),
    }


def main():
    random = numpy.random.default_rng(20180301)
    cases = [make_case(random, number) for number in range(200)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    target = pathlib.Path(__file__).with_name("topk_golden.json")
    target.write_text("[\n" + lines + "\n]\n")


if __name__ == "__main__":
    main()
