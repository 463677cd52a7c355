# What R says of cars and of binary.csv.
# In this folder: Rscript by_r.R > by_r.json
suppressMessages({library(splines); library(MASS)})
d <- read.csv("binary.csv"); y <- d$label; p <- d$prob; x <- qlogis(p)

fitted_to <- function(formula) glm(formula, family = binomial, epsilon = 1e-14)
with_ends <- function(fit, term) c(coef(fit)[[term]], suppressMessages(confint(fit, term)))
indices <- function(curve) {
  e <- abs(curve - p)
  c(mean(e), quantile(e, c(.5, .9)), max(e), 100 * mean(e^2))
}
spline <- function(shares) {
  knots <- quantile(x, shares); k <- length(knots)
  indices(fitted(fitted_to(y ~ ns(x, knots = knots[2:(k - 1)], Boundary.knots = knots[c(1, k)]))))
}
said <- list(
  "cars speed" = cars$speed, "cars dist" = cars$dist,
  "cars loess at 5 to 25" = predict(loess(dist ~ speed, cars), data.frame(speed = 5:25)),
  "calibration in the large" = with_ends(fitted_to(y ~ offset(x)), 1),
  "calibration slope" = with_ends(fitted_to(y ~ x), 2),
  "joint intercept" = with_ends(fitted_to(y ~ x), 1),
  "loess" = indices(fitted(loess(y ~ p))),
  "loess 2/3 1" = indices(fitted(loess(y ~ p, span = 2 / 3, degree = 1))),
  "spline 3" = spline(c(.1, .5, .9)), "spline 4" = spline(c(.05, .35, .65, .95)),
  "spline 5" = spline(c(.05, .275, .5, .725, .95))
)
rows <- sapply(names(said), function(name) sprintf(
  '  "%s": [%s]', name, paste(formatC(said[[name]], digits = 15, format = "g", width = 1), collapse = ", ")))
cat("{\n", paste(rows, collapse = ",\n"), "\n}\n", sep = "")
