#include "cli/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "cli/table.h"

namespace headroom {
namespace {

constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                              "#56B4E9", "#E69F00", "#000000"};
constexpr std::array kGreys{"#777", "#bbb", "#222"};
constexpr std::array kDashes{"", "7 3", "2 2", "8 3 2 3", "4 2"};
constexpr double kWidth = 640, kHeight = 330, kLeft = 58, kRight = 12, kTop = 10, kBottom = 42;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Axis {
  bool log = false;
  double low = kInfinity, high = -kInfinity;  // of the values, on a log axis their log10

  bool takes(double value) const { return std::isfinite(value) && (!log || value > 0); }
  double place(double value) const { return log ? std::log10(value) : value; }
  void include(double value) {
    low = std::min(low, place(value));
    high = std::max(high, place(value));
  }
  // Room on both sides, also where all values are equal.
  void widen(double share) {
    const double room = high > low ? share * (high - low) : 0.5;
    low -= room;
    high += room;
  }
  double share(double value) const { return (place(value) - low) / (high - low); }
};

std::string tick_text(double value) {
  if (value == 0) return "0";
  if (std::abs(value) >= 1e6) return short_number(value);
  if (std::abs(value) < 9.99e-4) {
    const std::string text = scientific(value, 1);
    const std::size_t zero = text.find(".0");
    return zero == std::string::npos ? text : text.substr(0, zero) + text.substr(zero + 2);
  }
  std::string text = fixed(value, 3);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::vector<double> ticks(const Axis& axis) {
  std::vector<double> out;
  if (axis.log) {
    const double decades = axis.high - axis.low;
    const std::vector<double> digits = decades < 1   ? std::vector<double>{1, 1.5, 2, 3, 4, 5, 6, 8}
                                       : decades < 3 ? std::vector<double>{1, 2, 5}
                                                     : std::vector<double>{1};
    for (double power = std::floor(axis.low); power <= axis.high; power += 1)
      for (const double digit : digits) out.push_back(digit * std::pow(10.0, power));
  } else {
    const double raw = (axis.high - axis.low) / 6,
                 power = std::pow(10, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double digit : {5.0, 2.0, 1.0})
      if (digit * power >= raw) step = digit * power;
    for (double i = std::ceil(axis.low / step); i * step <= axis.high; i += 1)
      out.push_back(i * step);
  }
  std::erase_if(out, [&](double t) { return !(axis.share(t) >= 0 && axis.share(t) <= 1); });
  return out;
}

std::string at(double value) { return fixed(value, 1); }

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart), x_{chart.log_x}, y_{chart.log_y} {
    for (const ChartLine& line : chart.lines) {
      for (const auto& [x, y] : line.points) {
        if (!shown(x, y)) continue;
        x_.include(x);
        y_.include(y);
      }
    }
  }

  bool empty() const { return x_.low > x_.high; }

  std::string html() {
    x_.widen(0.02);
    y_.widen(0.06);
    std::string out = "<figure><figcaption>" + html_text(chart_.title) +
                      "</figcaption>\n<svg role=\"img\" aria-label=\"" + html_text(chart_.title) +
                      "\" viewBox=\"0 0 " + at(kWidth) + " " + at(kHeight) + "\">\n";
    grid(out);
    std::size_t colour = 0, dash = 0;
    std::string baselines, runs;  // of the legend: few, and then perhaps many
    for (const ChartLine& line : chart_.lines) {
      const std::size_t n = line.grey ? dash++ + 1 : colour++;
      const std::string look =
          std::string("stroke=\"") +
          (line.grey ? kGreys[n / kDashes.size() % kGreys.size()] : kColours[n % kColours.size()]) +
          "\" stroke-dasharray=\"" +
          kDashes[(line.grey ? n : n / kColours.size()) % kDashes.size()] + "\"";
      if (!curve(out, line, look)) continue;
      std::string& legend = line.grey ? baselines : runs;
      legend += "<li><svg viewBox=\"0 0 30 8\" class=\"key\"><path d=\"M0 4H30\" " + look +
                "/></svg>" + html_text(line.name) + (line.diverged ? " (&#215; diverged)" : "") +
                "</li>\n";
    }
    return out + "</svg>\n<ul class=\"legend\">\n" + baselines + runs + "</ul></figure>\n";
  }

 private:
  bool shown(double x, double y) const { return x_.takes(x) && y_.takes(y); }
  double px(double x) const { return kLeft + x_.share(x) * (kWidth - kLeft - kRight); }
  double py(double y) const { return kHeight - kBottom - y_.share(y) * (kHeight - kTop - kBottom); }

  void grid(std::string& out) const {
    const double bottom = kHeight - kBottom, right = kWidth - kRight;
    for (const double t : ticks(x_)) {
      out += "<path class=\"grid\" d=\"M" + at(px(t)) + " " + at(kTop) + "V" + at(bottom) +
             "\"/><text x=\"" + at(px(t)) + "\" y=\"" + at(bottom + 15) +
             "\" text-anchor=\"middle\">" + tick_text(t) + "</text>\n";
    }
    for (const double t : ticks(y_)) {
      out += "<path class=\"grid\" d=\"M" + at(kLeft) + " " + at(py(t)) + "H" + at(right) +
             "\"/><text x=\"" + at(kLeft - 5) + "\" y=\"" + at(py(t) + 4) +
             "\" text-anchor=\"end\">" + tick_text(t) + "</text>\n";
    }
    out += "<path class=\"frame\" d=\"M" + at(kLeft) + " " + at(kTop) + "V" + at(bottom) + "H" +
           at(right) + "\"/>\n<text x=\"" + at((kLeft + right) / 2) + "\" y=\"" + at(kHeight - 6) +
           "\" text-anchor=\"middle\">" + html_text(chart_.x_title) +
           "</text>\n<text text-anchor=\"middle\" transform=\"translate(12 " +
           at((kTop + bottom) / 2) + ") rotate(-90)\">" + html_text(chart_.y_title) + "</text>\n";
  }

  // False where there is nothing to draw.
  bool curve(std::string& out, const ChartLine& line, const std::string& look) const {
    std::string path, dots;
    bool pen_down = false;
    std::pair<double, double> last{NAN, NAN};
    std::size_t n = 0;
    for (const auto& [x, y] : line.points) {
      if (!shown(x, y)) {
        pen_down = false;
        continue;
      }
      path += (pen_down ? "L" : "M") + at(px(x)) + " " + at(py(y));
      pen_down = true;
      last = {x, y};
      ++n;
    }
    if (n == 0) return false;
    // A path of one point shows nothing: its round cap does.
    if (n == 1) path += "h0.1";
    out += "<g><title>" + html_text(line.name) + "</title><path class=\"" +
           (n == 1 ? "dot" : "line") + "\" d=\"" + path + "\" " + look + "/>";
    if (line.diverged) {
      out += "<path class=\"cross\" d=\"M" + at(px(last.first) - 5) + " " +
             at(py(last.second) - 5) + "l10 10m0 -10l-10 10\" " + look + "/>";
    }
    out += "</g>\n";
    return true;
  }

  const Chart& chart_;
  Axis x_, y_;
};

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points,
                                               std::size_t most) {
  if (points.size() <= most) return points;
  // What has no place on a logarithmic axis stays as it is: the first evaluation is at update 0.
  const auto begin =
      std::find_if(points.begin(), points.end(), [](const auto& point) { return point.first > 0; });
  std::vector<std::pair<double, double>> out(points.begin(), begin);
  if (out.size() >= most || begin == points.end()) return points;
  most -= out.size();
  const double first = std::log(begin->first), last = std::log(points.back().first);
  double bin = -1, sum_x = 0, sum_y = 0, n = 0;
  const auto flush = [&] {
    if (n > 0) out.emplace_back(sum_x / n, sum_y / n);
    sum_x = sum_y = n = 0;
  };
  for (const auto& [x, y] : std::span(begin, points.end())) {
    const double at_bin =
        std::floor((std::log(x) - first) / (last - first) * static_cast<double>(most - 1));
    if (at_bin != bin) flush();
    bin = at_bin;
    sum_x += x;
    sum_y += y;
    n += 1;
  }
  flush();
  return out;
}

std::string chart_html(const Chart& chart) {
  Drawing drawing(chart);
  return drawing.empty() ? "" : drawing.html();
}

}  // namespace headroom
