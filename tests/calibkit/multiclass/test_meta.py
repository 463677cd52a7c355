"""`Calibrated`: a scikit-learn classifier with a calibrator, fitted on held-out data."""

import numpy as np
import pytest
import sklearn
from packaging.version import Version
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from calibkit import CalibrationWarning
from calibkit.calibrators import PlattCalibrator
from calibkit.multiclass import Calibrated, MatrixScaling, OneVsRest, TemperatureScaling

X, Y = make_classification(
    600, n_features=8, n_informative=5, n_classes=3, n_clusters_per_class=1, random_state=0
)
X2, Y2 = make_classification(400, n_features=8, random_state=1)


sklearn_version = Version(sklearn.__version__)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_scores_of_pairs_are_not_taken_for_classes(n_classes):
    """Three classes have three pairs, so that the number of columns alone tells nothing."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.1, (y + 1) % n_classes, y)
    model = Calibrated(SVC(decision_function_shape="ovo"), TemperatureScaling("logits"))
    with pytest.raises(ValueError, match='pairs of classes.*decision_function_shape="ovr"'):
        model.fit(X, y)
    assert model.set_params(estimator=SVC()).fit(X, y).score(X, y) > 0.85


class TestHeldOut:
    def test_the_calibrator_sees_predictions_of_rows_not_trained_on(self):
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        model = Calibrated(GaussianNB(), TemperatureScaling("probabilities"), cv=folds).fit(X, Y)
        scores = cross_val_predict(GaussianNB(), X, Y, cv=folds, method="predict_proba")
        alone = TemperatureScaling("probabilities").fit(scores, Y)
        assert model.calibrator_.temperature_ == alone.temperature_
        np.testing.assert_array_equal(
            model.predict_proba(X), alone.calibrate(GaussianNB().fit(X, Y).predict_proba(X))
        )

    def test_a_classifier_that_remembers_everything(self):
        """A tree is right on all data that it was trained on: no caution, says that fit."""
        tree = DecisionTreeClassifier(random_state=0)
        noisy = np.where(np.random.default_rng(0).random(len(Y)) < 0.3, (Y + 1) % 3, Y)
        held_out = Calibrated(tree).fit(X[:400], noisy[:400])
        prefit = Calibrated(tree.fit(X[:400], noisy[:400]), cv="prefit")
        with pytest.warns(CalibrationWarning, match="lower bound"):
            prefit.fit(X[:400], noisy[:400])
        good = log_loss(noisy[400:], held_out.predict_proba(X[400:]))
        assert good < 1.1 < log_loss(noisy[400:], prefit.predict_proba(X[400:]))

    @pytest.mark.skipif(
        sklearn_version < Version("1.8"), reason="scikit-learn has no temperature scaling"
    )
    def test_better_than_without_and_no_worse_than_scikit_learn(self):
        digits, target = load_digits(return_X_y=True)
        train, test = slice(0, 900), slice(900, None)
        plain = GaussianNB().fit(digits[train], target[train])
        model = Calibrated(GaussianNB(), cv=3).fit(digits[train], target[train])
        theirs = CalibratedClassifierCV(GaussianNB(), method="temperature", ensemble=False, cv=3)
        theirs.fit(digits[train], target[train])
        said = (one.predict_proba(digits[test]) for one in (plain, model, theirs))
        losses = [log_loss(target[test], prob) for prob in said]
        assert losses[1] < 0.5 * losses[0]
        assert losses[1] < losses[2] + 0.02  # other folds

    def test_prefit_leaves_the_classifier_alone(self):
        inner = GaussianNB().fit(X[:300], Y[:300])
        model = Calibrated(inner, cv="prefit").fit(X[300:], Y[300:])
        assert model.estimator_ is inner
        scores = inner.predict_proba(X[300:])
        alone = TemperatureScaling("probabilities").fit(scores, Y[300:])
        assert model.calibrator_.temperature_ == alone.temperature_


class TestCombinations:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "calibrator",
        [
            None,
            MatrixScaling("probabilities"),
            TemperatureScaling("logits"),
            OneVsRest("logits", PlattCalibrator()),
        ],
    )
    def test_three_classes(self, calibrator):
        model = Calibrated(LogisticRegression(), calibrator).fit(X, Y)
        prob = model.predict_proba(X)
        np.testing.assert_allclose(prob.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), prob.argmax(axis=1))

    @pytest.mark.parametrize("calibrator", [PlattCalibrator(), TemperatureScaling("logits")])
    def test_two_classes_by_name(self, calibrator):
        names = np.array(["no", "yes"])[Y2]
        model = Calibrated(LogisticRegression(), calibrator).fit(X2, names)
        assert model.classes_.tolist() == ["no", "yes"]
        assert model.predict_proba(X2).shape == (400, 2) and model.score(X2, names) > 0.8

    def test_a_classifier_without_probabilities(self):
        model = Calibrated(LinearSVC(), TemperatureScaling("logits")).fit(X, Y)
        assert model.predict_proba(X).shape == (600, 3)
        with pytest.raises(ValueError, match="has no predict_proba"):
            Calibrated(LinearSVC().fit(X, Y), cv="prefit").fit(X, Y)

    @pytest.mark.slow
    def test_inside_scikit_learn(self):
        inner = make_pipeline(StandardScaler(), LogisticRegression())
        search = GridSearchCV(
            Calibrated(inner, cv=2), {"calibrator__bounds": [(0.1, 10), (0.5, 2)]}, cv=2
        )
        search.set_params(estimator__calibrator=TemperatureScaling("probabilities"))
        assert search.fit(X, Y).best_score_ > 0.7

    @pytest.mark.parametrize("make", [int, np.random.default_rng])
    def test_the_same_twice(self, make):
        one, two, other = (
            Calibrated(GaussianNB(), rng=make(seed)).fit(X, Y).predict_proba(X)
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(one, two)
        assert (one != other).any()


class TestBadInput:
    def test_rare_class(self):
        y = np.where(np.arange(600) < 3, 7, Y)
        with pytest.raises(ValueError, match="class 7 has 3"):
            Calibrated(GaussianNB()).fit(X, y)

    def test_one_class(self):
        with pytest.raises(ValueError, match="only one class"):
            Calibrated(GaussianNB()).fit(X, np.zeros(600))

    def test_one_dimension_and_three_classes(self):
        with pytest.raises(ValueError, match=r"Use OneVsRest\(.probabilities., PlattCalibrator"):
            Calibrated(GaussianNB(), PlattCalibrator()).fit(X, Y)

    @pytest.mark.parametrize("calibrator", ["sigmoid", PlattCalibrator, 3])
    def test_calibrator(self, calibrator):
        with pytest.raises(ValueError, match="calibrator must be one of"):
            Calibrated(GaussianNB(), calibrator).fit(X, Y)

    def test_cv(self, subtests):
        for cv in (1, "loo", 2.5):
            with subtests.test(cv=cv), pytest.raises(ValueError, match="cv must be"):
                Calibrated(GaussianNB(), cv=cv).fit(X, Y)

    def test_classes_that_a_fitted_classifier_has_not_seen(self):
        inner = GaussianNB().fit(X[Y < 2], Y[Y < 2])
        with pytest.raises(ValueError, match=r"y\[\d+\] = 2 is a class"):
            Calibrated(inner, cv="prefit").fit(X, Y)


class TestWeights:
    TIMES = np.random.default_rng(0).integers(0, 4, 600)

    @staticmethod
    def splits(rows):
        """Divide the first 600 rows and their copies into three folds, copies together."""
        return [(np.flatnonzero(rows % 3 != k), np.flatnonzero(rows % 3 == k)) for k in range(3)]

    def test_a_row_of_weight_two_is_that_row_twice_in_one_fold(self):
        rows = np.arange(600)
        copies = rows.repeat(self.TIMES)
        weighted = Calibrated(GaussianNB(), cv=self.splits(rows))
        weighted.fit(X, Y, sample_weight=self.TIMES)
        repeated = Calibrated(GaussianNB(), cv=self.splits(copies)).fit(X[copies], Y[copies])
        np.testing.assert_allclose(
            weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-9
        )
        plain = Calibrated(GaussianNB(), cv=self.splits(rows)).fit(X, Y)
        assert np.abs(weighted.predict_proba(X) - plain.predict_proba(X)).max() > 1e-3

    def test_they_reach_the_calibrator_of_a_classifier_that_is_fitted(self):
        """Nearest neighbours take no weights; their calibrator does."""
        fitted = KNeighborsClassifier(15).fit(X[:300], Y[:300])
        model = Calibrated(fitted, cv="prefit")
        model.fit(X[300:], Y[300:], sample_weight=self.TIMES[300:])
        alone = TemperatureScaling("probabilities").fit(
            fitted.predict_proba(X[300:]), Y[300:], sample_weight=self.TIMES[300:]
        )
        assert model.calibrator_.temperature_ == alone.temperature_

    @pytest.mark.parametrize(
        "inner", [KNeighborsClassifier(), make_pipeline(StandardScaler(), GaussianNB())]
    )
    def test_a_classifier_that_takes_none_is_named(self, inner):
        words = f'{type(inner).__name__}.fit takes no sample_weight.*cv="prefit"'
        with pytest.raises(ValueError, match=words):
            Calibrated(inner).fit(X, Y, sample_weight=self.TIMES)
