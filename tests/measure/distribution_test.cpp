// SPDX-License-Identifier: Apache-2.0
#include "measure/distribution.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay {
namespace {

// Expected values without another source are SciPy 1.17's.
void expect_close(double value, double expected, double relative) {
  EXPECT_NEAR(value, expected, relative * std::fabs(expected));
}

TEST(IncompleteBeta, AgreesWithScipyOverManyOrdersOfMagnitude) {
  expect_close(incomplete_beta(0.5, 0.5, 0.3), 0.36901011956554536, 1e-13);
  expect_close(incomplete_beta(2, 3, 0.4), 0.5248, 1e-13);
  expect_close(incomplete_beta(10, 0.5, 0.99), 0.6579281751567845, 1e-13);
  expect_close(incomplete_beta(5000, 3, 0.999), 0.12435737403741323, 1e-10);
  expect_close(incomplete_beta(1e5, 1e5, 0.501), 0.8144532554424423, 1e-9);
  expect_close(incomplete_beta(1, 1e6, 1e-6), 0.632120742768355, 1e-9);
  expect_close(incomplete_beta(0.01, 2, 1e-5), 0.9001633583899892, 1e-13);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(NormalQuantile, IsExactFarIntoTheTails) {
  expect_close(normal_quantile(1e-10), -6.361340902404056, 1e-13);
  expect_close(normal_quantile(0.001), -3.090232306167813, 1e-13);
  expect_close(normal_quantile(0.3), -0.5244005127080409, 1e-13);
  expect_close(normal_quantile(0.975), 1.959963984540054, 1e-13);
  expect_close(normal_quantile(0.9999), 3.719016485455709, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-15);
}

TEST(StudentTQuantile, GivesTheTableOfTheTextbooks) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062, 5e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.3027, 5e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 4), 2.7764, 5e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 8), 2.3060, 5e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 9), 2.2622, 5e-5);
  EXPECT_NEAR(student_t_quantile(0.975, 29), 2.0452, 5e-5);
}

TEST(StudentTQuantile, AgreesWithScipyForAnyDegreesOfFreedom) {
  expect_close(student_t_quantile(0.975, 1), 12.706204736174694, 1e-12);
  expect_close(student_t_quantile(0.975, 2.5), 3.5746548420036817, 1e-12);
  expect_close(student_t_quantile(0.9, 0.7), 5.009947959646406, 1e-12);
  expect_close(student_t_quantile(0.999, 30), 3.3851848668293045, 1e-12);
  expect_close(student_t_quantile(0.975, 1e6), 1.959966356814107, 1e-9);
  expect_close(student_t_quantile(1e-6, 3), -103.29946778041935, 1e-11);
  expect_close(student_t_quantile(0.6, 12), 0.25903274567688733, 1e-12);
  EXPECT_EQ(student_t_quantile(0.5, 3), 0);
}

TEST(StudentTCdf, IsTheInverseOfTheQuantile) {
  for (const double df : {0.5, 1.0, 3.0, 40.0, 5000.0}) {
    for (const double p : {0.001, 0.2, 0.7, 0.9999}) {
      expect_close(student_t_cdf(student_t_quantile(p, df), df), p, 1e-10);
    }
  }
}

TEST(BinomialCdf, CountsTheTails) {
  expect_close(binomial_cdf(3, 10, 0.5), 176.0 / 1024, 1e-13);
  expect_close(binomial_cdf(990, 1000, 0.99), 0.5426994078251104, 1e-11);
  expect_close(binomial_cdf(0, 100, 0.01), std::pow(0.99, 100), 1e-13);
  expect_close(binomial_cdf(499000, 1000000, 0.5), 0.0228041499326948, 1e-8);
  EXPECT_EQ(binomial_cdf(-1, 10, 0.5), 0);
  EXPECT_EQ(binomial_cdf(10, 10, 0.5), 1);
}

}  // namespace
}  // namespace assay
