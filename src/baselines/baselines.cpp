#include <array>

#include "baselines/gradient_descent.h"
#include "baselines/makers.h"

namespace headroom {

namespace {

bool retrieval(TaskType task) { return is_retrieval(task); }
bool single_points(TaskType task) { return task == TaskType::kNearestNeighbor; }
bool patterns(TaskType task) { return task == TaskType::kPatternFit; }
bool product(TaskType task) { return task == TaskType::kInnerProduct; }
bool linear(TaskType task) { return task == TaskType::kLinearRegression; }
bool signs(TaskType task) { return task == TaskType::kLinearClassification; }
bool regression(TaskType task) { return is_in_context(task) && !signs(task); }

constexpr std::array kThree{3.0};
constexpr std::array kLambdas{0.1, 1.0};
constexpr std::array kAlphas{1.0, 0.1, 0.01, 0.001, 0.0001};
constexpr std::array kDescents{1.0, 5.0};
constexpr std::array kDepths{2.0, 4.0};

constexpr std::array kRows{
    BaselineRow{.name = "zero",
                .sentence = "predicts the zero vector: loss 1",
                .serves = retrieval,
                .make = make_zero},
    BaselineRow{.name = "chance",
                .sentence = "returns a point of the set other than the asking one at random",
                .serves = single_points,
                .make = make_chance},
    BaselineRow{.name = "best_linear_map",
                .sentence = "a (the asking point) + b (sum of the other points), a and b by least "
                            "squares: what no attention pattern is needed for",
                .serves = retrieval,
                .make = make_best_linear_map,
                .reference = true},
    BaselineRow{.name = "exact",
                .sentence = "finds the wanted points by comparing all pairs: loss 0",
                .serves = retrieval,
                .make = make_exact},

    BaselineRow{.name = "zero",
                .sentence = "predicts 0: normalized_loss 1, as the best linear map of the points "
                            "and the query",
                .serves = product,
                .make = make_zero,
                .reference = true},
    BaselineRow{.name = "best_bilinear_form",
                .sentence = "c <sum of the points, query>, c by least squares: what a head of "
                            "linear attention of full rank gives",
                .serves = product,
                .make = make_bilinear_form},
    BaselineRow{.name = "exact",
                .sentence = "the formula itself: loss 0",
                .serves = product,
                .make = make_exact_inner_product},

    BaselineRow{.name = "zero",
                .sentence = "predicts the zero vector",
                .serves = patterns,
                .make = make_zero},
    BaselineRow{.name = "uniform",
                .sentence = "the mean of all tokens: attention that looks at nothing",
                .serves = patterns,
                .make = make_uniform,
                .reference = true},

    BaselineRow{.name = "zero",
                .sentence = "predicts 0: error 1 at every position",
                .serves = regression,
                .make = make_zero,
                .reference = true},
    BaselineRow{.name = "averaging",
                .sentence = "<w, x> with w the mean of y_i x_i over the examples",
                .serves = is_in_context,
                .make = make_averaging},
    BaselineRow{.name = "nearest",
                .sentence = "the mean y of the K nearest examples; of all where there are fewer",
                .serves = is_in_context,
                .make = make_nearest,
                .parameter = "K",
                .counts = true,
                .values = kThree},
    BaselineRow{.name = "weighted_nearest",
                .sentence = "the same with weights 1 / distance; the mean of those at distance 0 "
                            "where there are any",
                .serves = is_in_context,
                .make = make_weighted_nearest,
                .parameter = "K",
                .counts = true,
                .values = kThree},
    BaselineRow{.name = "least_squares",
                .sentence = "ordinary least squares through the examples, the solution of least "
                            "norm",
                .serves = is_in_context,
                .make = make_least_squares},
    BaselineRow{.name = "ridge",
                .sentence = "least squares with LAMBDA ||w||^2 added to the sum of squared errors",
                .serves = is_in_context,
                .make = make_ridge,
                .parameter = "LAMBDA",
                .values = kLambdas},
    BaselineRow{.name = "ridge_optimal",
                .sentence = "ridge with lambda = task.noise^2, which no predictor beats on the "
                            "task's own prompts; least squares without noise",
                .serves = linear,
                .make = make_ridge_optimal},
    BaselineRow{.name = "gradient_descent",
                .sentence = "STEPS steps (at most 24) of gradient descent from w = 0, the step "
                            "size tuned for each position on prompts of their own; longer "
                            "prompts take that of the last",
                .serves = is_in_context,
                .make = make_gradient_descent,
                .parameter = "STEPS",
                .counts = true,
                .most = kMostTunedSteps,
                .values = kDescents},
    BaselineRow{.name = "tree",
                .sentence = "a regression tree of depth DEPTH, grown greedily by squared error",
                .serves = is_in_context,
                .make = make_tree,
                .parameter = "DEPTH",
                .counts = true,
                .values = kDepths},
    BaselineRow{.name = "tree",
                .sentence = "the same grown until its leaves are pure",
                .serves = is_in_context,
                .make = make_whole_tree},
    BaselineRow{.name = "boosted_trees",
                .sentence = "50 boosted trees of depth 4 at rate .1, as XGBoost grows them",
                .serves = is_in_context,
                .make = make_boosted_trees,
                .cost = Cost::kSlow},
    BaselineRow{.name = "lasso",
                .sentence = "least squares with ALPHA ||w||_1 added to half the mean squared error",
                .serves = is_in_context,
                .make = make_lasso,
                .cost = Cost::kSlow,
                .parameter = "ALPHA",
                .values = kAlphas},
    BaselineRow{.name = "two_layer_network",
                .sentence = "a network of 100 hidden units, trained on each prompt's examples by "
                            "100 steps of Adam at rate .005",
                .serves = is_in_context,
                .make = make_two_layer_network,
                .cost = Cost::kSlow},

    BaselineRow{.name = "zero",
                .sentence = "guesses: half of the signs are wrong, loss log 2; what the others "
                            "predict of -1 and 1 counts as the model's output does",
                .serves = signs,
                .make = make_zero,
                .reference = true},
};

}  // namespace

std::span<const BaselineRow> baseline_rows() { return kRows; }

}  // namespace headroom
