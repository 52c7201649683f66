// `headroom report` through the real binary: what the page says of runs that ended in different
// ways.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "cli/run_binary.h"
#include "cli/svg_chart.h"

namespace headroom::report_test {

namespace fs = std::filesystem;

constexpr const char* kBase = R"({"task": {"dim": 4, "points": 4},
  "model": {"width": 4, "attention": {"heads": 1}, "ffn": {"width": 0}},
  "train": {"steps": 6, "batch": 8, "schedule": {"warmup": 0}}, "eval": {"items": 16, "every": 3},
  "run": {"log_every": 1}})";

class Report : public testing::Test {
 protected:
  Report() { folder_.put("base.json", kBase); }
  BinaryResult run(std::vector<std::string> args) {
    return run_binary(args, {.folder = folder_.path()});
  }
  int train(const std::string& out, std::vector<std::string> sets) {
    std::vector<std::string> args{"train", "base.json", "--out", out, "--quiet"};
    for (const std::string& item : sets) args.insert(args.end(), {"--set", item});
    return run(args).exit_code;
  }
  static std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
    return n;
  }
  ScratchFolder folder_{"report ü"};
};

TEST_F(Report, ASweepOnOnePage) {
  fs::create_directory(folder_.path() / "runs");
  ASSERT_EQ(train("runs/one <&> 1", {}), 0);
  ASSERT_EQ(train("runs/two", {"model.attention.heads=2", "seed=7"}), 0);
  ASSERT_EQ(train("runs/bad", {"train.optimizer.lr=1e30", "model.norm.type=none"}), 4);
  fs::create_directory(folder_.path() / "runs/moved.old-3");
  folder_.put("runs/moved.old-3/config.json", "{}");
  const BinaryResult done = run({"report", "runs", "--out", "page.html"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const std::string page = folder_.read("page.html");
  EXPECT_EQ(count(page, "<svg role=\"img\""), 2u);  // training and held-out
  EXPECT_NE(page.find("<h1>3 runs</h1>"), std::string::npos);
  EXPECT_NE(page.find("one &lt;&amp;&gt; 1"), std::string::npos);
  EXPECT_EQ(page.find("one <&"), std::string::npos);
  EXPECT_EQ(page.find("moved"), std::string::npos);
  EXPECT_EQ(count(page, "<tr class=\"bad\">"), 1u);
  EXPECT_NE(page.find("the update is refused, the loss is nan"), std::string::npos);
  EXPECT_NE(page.find("best_linear_map"), std::string::npos);
  for (const char* key : {"model.attention.heads", "model.attention.key_size", "seed",
                          "train.optimizer.lr", "model.norm.type"})
    EXPECT_NE(page.find(std::string("<td>") + key + "</td>"), std::string::npos) << key;
  // Once in what differs and not in what all share; a field that follows from others is neither.
  EXPECT_EQ(count(page, "<td>train.optimizer.lr</td>"), 1u);
  EXPECT_EQ(count(page, "<td>train.batch</td><td>8</td>"), 1u);
  // It loads nothing.
  for (const char* part : {"http:", "https:", "src=", "<script", "url(", "<link"})
    EXPECT_EQ(page.find(part), std::string::npos) << part;
}

TEST_F(Report, OneRunAndOneInContext) {
  ASSERT_EQ(train("alone", {}), 0);
  ASSERT_EQ(run({"report", "alone", "--out", "alone.html", "--quiet"}).err, "");
  const std::string page = folder_.read("alone.html");
  EXPECT_NE(page.find("<h1>alone</h1>"), std::string::npos);
  EXPECT_EQ(page.find("What differs"), std::string::npos);
  EXPECT_NE(page.find("<details open>"), std::string::npos);
  ASSERT_EQ(train("context", {"task.type=linear_regression", "task.points_from=null",
                              "model.attention.mask=causal"}),
            0);
  ASSERT_EQ(run({"report", "context/", "alone"}).exit_code, 0);
  const std::string both = folder_.read("report.html");
  EXPECT_NE(both.find("against in-context examples"), std::string::npos);
  EXPECT_NE(both.find("least_squares"), std::string::npos);
  EXPECT_NE(both.find("<td>context</td>"), std::string::npos);
  // A baseline that is exact to rounding errors takes no room from the runs.
  folder_.put("context/baselines.csv",
              "baseline,position,error,error_sem\nexact_soon,0,1.0,0.1\nexact_soon,1,1e-12,0.1\n");
  ASSERT_EQ(run({"report", "context"}).exit_code, 0);
  const std::string page_of_one = folder_.read("report.html");
  EXPECT_EQ(page_of_one.find(">1e-10<"), std::string::npos);
  EXPECT_NE(page_of_one.find("<title>exact_soon</title><path class=\"dot\""), std::string::npos);
}

TEST_F(Report, WhatCannotBeReadIsSaid) {
  EXPECT_EQ(run({"report"}).exit_code, 2);
  EXPECT_EQ(run({"report", "none"}).exit_code, 3);
  fs::create_directory(folder_.path() / "runs");
  EXPECT_NE(run({"report", "runs"}).err.find("no config.json"), std::string::npos);
  ASSERT_EQ(train("runs/fine", {}), 0);
  ASSERT_EQ(train("runs/torn", {}), 0);
  folder_.put("runs/torn/run.json", "{");
  const BinaryResult result = run({"report", "runs"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("runs/torn/run.json"), std::string::npos) << result.err;
  EXPECT_NE(folder_.read("report.html").find("class=\"unreadable\""), std::string::npos);
  EXPECT_EQ(run({"report", "runs/torn"}).exit_code, 2);
}

TEST(SvgChart, FourteenBaselinesAreToldApart) {
  Chart chart{"t", "x", "y", true, true, {}};
  for (int i = 0; i < 14; ++i) chart.lines.push_back({"b", {{1, 1 + i}, {2, 1}}, true, false});
  const std::string svg = chart_html(chart);
  std::set<std::string> looks;
  for (std::size_t at = svg.find("M0 4H30"); at != std::string::npos;
       at = svg.find("M0 4H30", at + 1))
    looks.insert(svg.substr(at, svg.find("/>", at) - at));
  EXPECT_EQ(looks.size(), 14u);
}

TEST(SvgChart, PlacesPointsOnALogarithmicAxis) {
  const Chart chart{"t",  "x",  "y",
                    true, true, {{"a", {{1, 1}, {10, 0.1}, {100, 0.01}}, false, false}}};
  const std::string svg = chart_html(chart);
  const std::size_t at = svg.find("class=\"line\" d=\"M");
  ASSERT_NE(at, std::string::npos);
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(svg.c_str() + at, "class=\"line\" d=\"M%lf %lfL%lf %lfL%lf %lf", &x[0],
                        &y[0], &x[1], &y[1], &x[2], &y[2]),
            6);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.11);
  EXPECT_NEAR(y[1] - y[0], y[2] - y[1], 0.11);
  EXPECT_GT(x[1] - x[0], 200);
  EXPECT_GT(y[1] - y[0], 100);
  EXPECT_EQ(chart_html({"t", "x", "y", true, true, {{"a", {{1, 0}, {2, -1}}, false, false}}}), "");
  // One point and a diverged line are seen too.
  const std::string one =
      chart_html({"t", "x", "y", false, true, {{"a", {{3, 0.5}, {4, NAN}}, false, true}}});
  EXPECT_NE(one.find("class=\"dot\""), std::string::npos);
  EXPECT_NE(one.find("class=\"cross\""), std::string::npos);
  EXPECT_EQ(one.find("nan"), std::string::npos);
}

TEST(SvgChart, ThinningKeepsTheMean) {
  std::vector<std::pair<double, double>> points;
  for (int i = 1; i <= 10000; ++i) points.emplace_back(i, 3);
  const auto few = thinned(points, 100);
  EXPECT_LE(few.size(), 100u);
  EXPECT_GE(few.size(), 60u);
  for (const auto& [x, y] : few) EXPECT_EQ(y, 3);
  EXPECT_EQ(thinned(few, 100), few);
  points.insert(points.begin(), {0, 7});  // an evaluation before the first update
  const auto from_zero = thinned(points, 100);
  EXPECT_LE(from_zero.size(), 100u);
  EXPECT_GE(from_zero.size(), 60u);
  EXPECT_EQ(from_zero.front(), points.front());
  for (std::size_t i = 1; i < from_zero.size(); ++i) EXPECT_EQ(from_zero[i].second, 3);
}

}  // namespace headroom::report_test
