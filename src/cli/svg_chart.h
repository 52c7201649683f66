// A line chart as one inline SVG element: no script, no font, nothing to load.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x; what is not finite is a gap
  bool grey = false;                              // a line to compare with, without a colour
  bool diverged = false;                          // a cross at its last finite point
};

struct Chart {
  std::string title, x_title, y_title;
  bool log_x = true, log_y = true;  // log axes leave out what is not above 0
  std::vector<ChartLine> lines;
};

// What & < > " and ' mean in HTML.
std::string html_text(const std::string& text);

// At most `most` points: those of equal steps of the logarithm of x become one, their mean.
std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points,
                                               std::size_t most);

// A <figure> with the chart and its legend. "" where no line has a point that can be drawn. Each
// line names itself under the mouse. Colours: Okabe and Ito's, told apart with any colour vision;
// beyond seven lines the dashes tell them apart.
std::string chart_html(const Chart& chart);

}  // namespace headroom
