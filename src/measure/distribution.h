// SPDX-License-Identifier: Apache-2.0
//
// The distributions that intervals need. Pure functions. The incomplete beta function is Lentz's
// continued fraction (Press et al., Numerical Recipes, 6.4); quantiles are its inverse by
// safeguarded Newton steps, to about 1e-12 relative. Costs a microsecond or a few.
#pragma once

#include <cstdint>

namespace assay {

// I_x(a, b), the regularised incomplete beta function; a, b > 0, 0 <= x <= 1.
double incomplete_beta(double a, double b, double x);

double normal_cdf(double z);
double normal_quantile(double probability);  // 0 < probability < 1

// Student's t with df > 0 degrees of freedom (not only whole ones: Welch).
double student_t_cdf(double t, double df);
double student_t_quantile(double probability, double df);

// P(B <= k) of a binomial with n trials.
double binomial_cdf(int64_t k, int64_t n, double probability);

}  // namespace assay
