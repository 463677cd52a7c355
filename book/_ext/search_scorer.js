/* The order of what the search finds. Sphinx puts this file before its own script.

   A page comes first whose title, or the words below, hold what was asked; of equal ones a lesson.
   The API is for those who type a name with `_` or `.`; for all others it comes last. */

// What readers call it, where the title does not. A key is how the name of a page begins.
const READERS_WORDS = {
  "notebooks/00_": "begin beginner jupyter notebook cell",
  "notebooks/01_": "calibration calibrated meaning definition chance rain weather forecast forecasts"
    + " probability frequency percent trust introduction",
  "notebooks/02_": "brier log loss cross entropy proper scoring rule auc roc accuracy sharpness"
    + " resolution refinement decomposition ranking overconfident overconfidence",
  "notebooks/03_": "simulate simulation synthetic data ground truth overconfident overconfidence"
    + " underconfident underconfidence",
  "notebooks/04_": "calibration curve plot graph chart histogram diagonal gap fraction of positives"
    + " confidence band ece expected error chance noise",
  "notebooks/05_": "expected calibration error ace mce adaptive maximum definition formula",
  "notebooks/06_": "bin binning width equal mass quantile deciles sample size bias debiased",
  "notebooks/07_": "smooth curve piecewise linear spline loess lowess kernel",
  "notebooks/08_": "p value significance significant hypothesis goodness of fit bootstrap null",
  "notebooks/09_": "imbalanced unbalanced class weights oversampling undersampling smote resampling"
    + " rare disease fraud prevalence base rate observed expected ratio mortality",
  "notebooks/10_": "neural deep learning softmax logits scaling overconfident overconfidence"
    + " confidence image overfitting pytorch tensorflow",
  "notebooks/11_": "platt sigmoid logistic isotonic beta histogram recalibrate recalibration fix"
    + " repair correct method post hoc random forest gradient boosting xgboost svm naive bayes",
  "notebooks/12_": "multiclass several classes classwise top label dirichlet vector matrix softmax",
  "notebooks/13_": "threshold cutoff decision cost matrix false positive negative utility money"
    + " expected value",
  "notebooks/14_": "check evaluate validate my model calibrated probabilities trust sample size how"
    + " many report monitor drift production performance over time when retrain",
  "notebooks/15_": "llm gpt language model hallucination hallucinations rating evaluation human"
    + " annotators labels agreement kappa",
  "notebooks/further/04_": "confidence interval bands",
  "notebooks/further/06_": "debiased confidence interval bootstrap",
  "notebooks/further/10_": "label smoothing focal loss mixup ensemble",
  "notebooks/further/12_": "dirichlet vector matrix scaling",
  "notebooks/further/13_": "net benefit decision curve reject abstain",
  "notebooks/further/14_": "compare two models monitor drift ci pipeline command line groups fairness",
  "book/audit_a_file": "upload csv excel spreadsheet online tool check my own data model calibrated"
    + " probabilities",
  "book/gallery": "plot plots graph chart picture figure matplotlib example forest decision curve net"
    + " benefit consistency band murphy diagram corp overlay several models simplex three classes",
  "book/read_a_diagram": "picture image screenshot figure published article digitize",
  "book/your_calibration": "my own forecasts guesses self test score overconfident",
  "book/trades": "medical medicine clinical hospital doctor patient patients mortality risk score"
    + " sepsis"
    + " observed expected credit bank loan default scorecard insurance finance probability"
    + " net benefit calibration slope intercept hosmer lemeshow"
    + " weather llm gpt hallucination hallucinations confidence xgboost lightgbm boosting",
  "book/other_libraries": "sklearn scikit learn netcal torchmetrics calibration_curve migrate",
  "book/install": "pip conda windows mac download setup requirements",
  "book/instructors": "teach teaching lecture slides syllabus course class grade grading students"
    + " homework assignment",
  "book/question_bank": "exam examination quiz test moodle canvas gift",
  "book/not_built": "regression intervals quantiles conformal survival detection"
    + " deep ensemble uncertainty",
  "book/capstone": "project assignment final exam",
};
// Which kind of page comes first among equals.
const KINDS = [
  [/^notebooks\/\d/, 20], [/^book\/(audit_a_file|glossary|trades)/, 15], [/^notebooks/, 5],
  [/^book\/api\/calibkit_course/, -300], [/^book\/api/, -200],
];
stopwords.push(..."can do does how i me my should so too what when which why you your".split(" "));

const stems = (text) => {
  const words = text.toLowerCase().split(/[^\p{Letter}\p{Number}_]+/u);
  return words.filter((word) => word && !stopwords.includes(word))
    .map((word) => new Stemmer().stemWord(word));
};
let asked = [], own = null;

function learnWords(index) {
  own = {};
  index.docnames.forEach((page, number) => {
    const known = Object.keys(READERS_WORDS).filter((start) => page.startsWith(start));
    own[page] = new Set(stems([index.titles[number], ...known.map((k) => READERS_WORDS[k])].join(" ")));
    own[page].forEach((stem) => {
      index.titleterms[stem] = [...new Set([index.titleterms[stem] ?? []].flat()).add(number)];
    });
  });
}

const pages = (word) => {
  const stem = stems(word)[0], index = Search._index;
  return new Set([index.terms[stem] ?? [], index.titleterms[stem] ?? []].flat());
};

// Sphinx finds the pages with all words. A word of no page is left out; then the commonest, until
// there is a page.
var splitQuery = (query) => {
  if (own === null) learnWords(Search._index);
  const all = query.split(/[^\p{Letter}\p{Number}_\p{Emoji_Presentation}]+/u).filter(Boolean);
  let left = all.filter((word) => stems(word).length && pages(word).size);
  const together = () => left.map(pages).reduce((a, b) => new Set([...a].filter((k) => b.has(k))));
  while (left.length > 1 && !together().size) {
    const most = Math.max(...left.map((word) => pages(word).size));
    left = left.filter((word) => pages(word).size < most);
  }
  asked = /[._]/.test(query) ? [] : left.flatMap(stems);
  return left.length ? left : all;
};

var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (!asked.length) return score;
    const share = asked.filter((stem) => own[page].has(stem)).length / asked.length;
    return score + 90 * share + (KINDS.find(([kind]) => kind.test(page)) ?? [null, 0])[1];
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
