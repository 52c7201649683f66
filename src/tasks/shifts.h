// Distribution shifts: prompts that a model was not trained on (Garg et al. 2022 and their eval.py;
// science D.1). The table in shifts.cpp has a row a shift; InContextTask::draw asks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/rng.h"
#include "core/view.h"
#include "tasks/task.h"

namespace headroom {

// Means of x_c^2 and x_c^4 over the coordinates of x, those that are 0 included.
struct InputMoments {
  double square = 1, fourth = 3;
};

// What a shift does to an item. The streams are the item's own for this purpose, so that x, f and
// the noise are those of the unshifted item.
class Shift {
 public:
  virtual ~Shift() = default;
  // x (n,d) in place; coordinates from `dims` on are 0 and stay so. The last row is the query of a
  // row of the table that replaces the query.
  virtual void inputs(Random&, std::size_t /*dims*/, View<float, 2> /*x*/) const {}
  virtual void answers(Random&, std::span<float> /*y*/) const {}  // in place, task.noise is in
  // E x_c^2 and E x_c^4 of what inputs() makes of x with these moments.
  virtual InputMoments moments(const InputMoments& x) const { return x; }
  // The factor of E y^2 without noise.
  virtual double answer_scale() const { return 1; }
};

struct ShiftSetting {
  std::uint64_t seed = 0;         // of what is drawn once an evaluation
  double value = 0;               // of the row's parameter
  std::size_t dims = 0, dim = 0;  // coordinates in use, and all
  double answer_square = 0;       // E y^2 of the unshifted task, noise included
};

struct ShiftRow {
  const char* name;
  const char* sentence;
  bool (*serves)(TaskType task);
  std::unique_ptr<Shift> (*make)(const ShiftSetting& setting);
  const char* parameter = "";  // what VALUE is in NAME=VALUE; "": there is none
  double value = 0;            // its default; it is above 0 and at most kMostShift
  // The query alone is replaced, so that each number of examples has a prompt of its own.
  bool replaces_query = false;
  std::size_t fewest_examples = 0;  // that such a query needs
  std::size_t fewest_dims = 1;
  bool below_dims = false;  // and only fewer examples than coordinates leave one
  bool longer = false;      // prompts of `value` times as many points
};
inline constexpr double kMostShift = 1000;
std::span<const ShiftRow> shift_rows();

// One shift of the table for a task.
struct ShiftChoice {
  const ShiftRow* row = nullptr;
  double value = 0;
  bool by_name = true;        // not by `all`
  std::string left_out = {};  // why this task or model cannot have it; "" = it can
  std::string name() const;   // "scale_x=3"
};

// Each of the shifts that `names` asks for once: NAME, NAME=VALUE, or "all", every row of this task
// at its default. Throws Error(kUsage) for a name that is none of this task's, with the nearest and
// what there is, and for one asked by name that its sizes do not allow; `all` says so in left_out.
std::vector<ShiftChoice> choose_shifts(const TaskConfig& task, std::span<const std::string> names);

// The task under a shift at its final stage. Where the query is replaced one task for each of at
// most kMostPrefixes evenly spaced numbers of examples, whose one prediction is that query's; else
// one with all its predictions.
inline constexpr std::size_t kMostPrefixes = 5;
struct ShiftedTask {
  std::vector<std::unique_ptr<Task>> prompts;
  std::vector<std::size_t> examples;  // that each prediction has seen, of all prompts in a row
};
ShiftedTask shifted_task(const TaskConfig& task, const ShiftChoice& choice, std::uint64_t seed);

// Several tasks whose predictions are scored in a row.
std::vector<const Task*> pointers(std::span<const std::unique_ptr<Task>> tasks);

}  // namespace headroom
