#!/usr/bin/env python3
"""Prints the predictions that tests/tasks/frozen_baselines_test.cpp holds the trees, the boosted trees and the lasso to.

Needs Debian's python3-sklearn and python3-xgboost (made with 1.2.1 and 1.7.4). A prompt of numbers that any language makes alike;
position k is predicted from the k examples before it. Positions at which the order of the coordinates, which scikit-learn draws,
changes the answer are left out: there splits tie.
"""

import numpy as np
import xgboost
from sklearn.linear_model import Lasso
from sklearn.tree import DecisionTreeRegressor

N, D = 60, 5
POSITIONS = [2, 5, 8, 13, 20, 27, 34, 41, 48, 55, 59]


def prompt():
    i, j = np.meshgrid(np.arange(N), np.arange(D), indexing="ij")
    x = (2 * np.sin(12.9898 * i + 78.233 * j + 1)).astype(np.float32)
    wide = x.astype(np.float64)
    return x, (wide[:, 0] * wide[:, 1] + np.abs(wide[:, 2]) - 0.5 * wide[:, 3]).astype(np.float32)


def show(name, values):
    print(f"{name}: " + ", ".join(f"{{{k}, {float(value):.7g}}}" for k, value in values))


def main():
    x, y = prompt()
    for depth in (2, 4):
        kept = []
        for k in POSITIONS:
            answers = {float(DecisionTreeRegressor(max_depth=depth, random_state=seed).fit(x[:k], y[:k]).predict(x[k:k + 1])[0])
                       for seed in range(30)}
            if max(answers) - min(answers) < 1e-9:
                kept.append((k, answers.pop()))
        show(f"tree_{depth}", kept)
    boosted = []
    for k in POSITIONS:
        answers = []
        for order in (np.arange(D), np.arange(D)[::-1]):
            model = xgboost.XGBRegressor(n_estimators=50, max_depth=4, learning_rate=0.1, tree_method="exact", base_score=0.5)
            answers.append(model.fit(x[:k, order], y[:k]).predict(x[k:k + 1, order])[0])
        if abs(answers[0] - answers[1]) < 1e-5:
            boosted.append((k, answers[0]))
    show("boosted_trees", boosted)
    for alpha in (0.1, 0.01):
        fits = ((k, Lasso(alpha=alpha, fit_intercept=False, max_iter=100000, tol=1e-12).fit(x[:k].astype(np.float64), y[:k]))
                for k in POSITIONS)
        show(f"lasso_{alpha}", [(k, fit.predict(x[k:k + 1].astype(np.float64))[0]) for k, fit in fits])


if __name__ == "__main__":
    main()
