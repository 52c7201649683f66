// From the names of --shift to rows of the table, and from those to tasks.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/numbers.h"
#include "core/spelling.h"
#include "tasks/in_context.h"
#include "tasks/shifts.h"

namespace headroom {

namespace {

constexpr std::size_t kMostShiftedPoints = 65536;  // as task.points

bool takes_value(const ShiftRow& row) { return *row.parameter != '\0'; }

// Numbers of examples at which a shift of the query can be asked: first .. last, none where first >
// last.
struct ExampleRange {
  std::size_t first = 0, last = 0;
};
ExampleRange example_range(const Task& task, const ShiftRow& row) {
  const Stage stage = task.final_stage();
  ExampleRange range{task.shape().first_position, stage.points - 1};
  range.first = std::max(range.first, row.fewest_examples);
  if (row.below_dims) range.last = std::min(range.last, stage.dims - 1);
  return range;
}

std::size_t points_of(const Task& task, const ShiftChoice& choice) {
  const double points = static_cast<double>(task.final_stage().points);
  return static_cast<std::size_t>(std::llround(choice.value * points));
}

// Why the task's sizes do not allow the shift; "" = they do.
std::string obstacle(const Task& task, const ShiftChoice& choice) {
  const Stage stage = task.final_stage();
  const auto count_text = [](std::size_t n) { return std::to_string(n); };
  if (choice.row->longer && points_of(task, choice) <= stage.points) {
    return "that is not above task.points = " + count_text(stage.points);
  }
  if (choice.row->longer && points_of(task, choice) > kMostShiftedPoints) {
    return "that is more than " + count_text(kMostShiftedPoints) + " points";
  }
  if (stage.dims < choice.row->fewest_dims) {
    return "it needs " + count_text(choice.row->fewest_dims) + " dimensions, the task has " +
           count_text(stage.dims);
  }
  const ExampleRange range = example_range(task, *choice.row);
  if (!choice.row->replaces_query || range.first <= range.last) return "";
  return choice.row->below_dims
             ? "it needs fewer examples than dimensions, and a prompt holds " +
                   count_text(range.first) + " examples in " + count_text(stage.dims) +
                   " dimensions"
             : "it needs an example, and a prompt holds " + count_text(range.last);
}

[[noreturn]] void unknown_shift(const TaskConfig& task, const std::string& name) {
  std::vector<std::string> known{"all"}, shown{"all"};
  for (const ShiftRow& row : shift_rows()) {
    if (!row.serves(task.type)) continue;
    known.push_back(row.name);
    shown.push_back(row.name + (takes_value(row) ? std::string("[=") + row.parameter + "]" : ""));
  }
  const std::string front = name.substr(0, name.find('='));
  refuse("unknown shift " + in_quotes(name) + did_you_mean(front, known) +
         " (of this task: " + join(shown) + ")");
}

ShiftChoice choice_of(const TaskConfig& task, const std::string& name) {
  const std::size_t equals = name.find('=');
  const auto row = std::ranges::find_if(shift_rows(), [&](const ShiftRow& r) {
    return r.serves(task.type) && name.substr(0, equals) == r.name;
  });
  if (row == shift_rows().end()) unknown_shift(task, name);
  ShiftChoice choice{.row = &*row, .value = row->value};
  if (equals == std::string::npos) return choice;
  if (!takes_value(*row)) refuse("shift " + in_quotes(name) + ": " + row->name + " takes no value");
  const RealRead read = read_real(name.substr(equals + 1));
  if (read.status != RealStatus::kOk || !(read.value > 0) || read.value > kMostShift) {
    refuse("shift " + in_quotes(name) + ": " + row->parameter +
           " must be a number above 0 and at most " + short_real(kMostShift));
  }
  choice.value = read.value;
  return choice;
}

}  // namespace

std::string ShiftChoice::name() const {
  return row->name + (takes_value(*row) ? "=" + short_real(value) : "");
}

std::vector<ShiftChoice> choose_shifts(const TaskConfig& config,
                                       std::span<const std::string> names) {
  if (names.empty()) return {};
  if (!is_in_context(config.type)) {
    refuse("shifts are of prompts in context; task.type = " +
           std::string(name_in(kTaskTypes, config.type)) + " has none");
  }
  const std::unique_ptr<Task> task = make_task(config);
  std::vector<ShiftChoice> chosen;
  const auto add = [&](ShiftChoice choice) {
    choice.left_out = obstacle(*task, choice);
    if (choice.by_name && !choice.left_out.empty()) {
      refuse("shift " + choice.name() + ": " + choice.left_out);
    }
    const auto same = [&](const ShiftChoice& c) {
      return c.row == choice.row && c.value == choice.value;
    };
    const auto there = std::ranges::find_if(chosen, same);
    if (there == chosen.end()) {
      chosen.push_back(choice);
    } else {
      there->by_name |= choice.by_name;
    }
  };
  for (const std::string& name : names) {
    if (name != "all") {
      add(choice_of(config, name));
      continue;
    }
    for (const ShiftRow& row : shift_rows()) {
      if (row.serves(config.type)) add({.row = &row, .value = row.value, .by_name = false});
    }
  }
  return chosen;
}

ShiftedTask shifted_task(const TaskConfig& config, const ShiftChoice& choice, std::uint64_t seed) {
  const ShiftRow& row = *choice.row;
  const std::unique_ptr<Task> plain = make_task(config);
  const Stage stage = plain->final_stage();
  const std::shared_ptr<const Shift> shift =
      row.make({.seed = seed,
                .value = choice.value,
                .dims = stage.dims,
                .dim = config.dim,
                .answer_square = plain->position_scale() + config.noise * config.noise});
  ShiftedTask shifted;
  const auto add = [&](const TaskConfig& of, std::optional<std::size_t> examples) {
    std::unique_ptr<Task> task = make_task(of);
    static_cast<InContextTask&>(*task).set_shift(shift, examples);
    const TaskShape shape = task->shape();
    for (std::size_t p = 0; p < shape.predictions; ++p) {
      shifted.examples.push_back(shape.first_position + p);
    }
    shifted.prompts.push_back(std::move(task));
  };
  if (row.replaces_query) {
    const auto [first, last] = example_range(*plain, row);
    const std::size_t gaps = std::min(last - first, kMostPrefixes - 1);
    for (std::size_t i = 0; i <= gaps; ++i) {
      add(config, gaps == 0 ? last : first + ((last - first) * i + gaps / 2) / gaps);
    }
  } else if (row.longer) {
    TaskConfig longer = config;
    if (longer.curriculum) longer.curriculum->points.reset();
    longer.points = points_of(*plain, choice);
    add(longer, {});
  } else {
    add(config, {});
  }
  return shifted;
}

std::vector<const Task*> pointers(std::span<const std::unique_ptr<Task>> tasks) {
  std::vector<const Task*> out;
  for (const std::unique_ptr<Task>& task : tasks) out.push_back(task.get());
  return out;
}

}  // namespace headroom
