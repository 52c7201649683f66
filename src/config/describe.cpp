#include "config/describe.h"

#include <algorithm>
#include <vector>

#include "baselines/baseline.h"
#include "config/describe_format.h"
#include "config/run_config.h"
#include "config/sweep.h"
#include "config/write.h"
#include "core/error.h"
#include "core/numbers.h"
#include "core/spelling.h"
#include "tasks/shifts.h"
#include "theory/bounds.h"
#include "theory/construction.h"
#include "train/metrics.h"

namespace headroom {
namespace {

// The rows of a config with every default, and the config they are bound to.
struct Defaults {
  Defaults() { config.declare(fields); }
  Defaults(const Defaults&) = delete;
  RunConfig config;
  Fields fields;
};

// The section at a dotted path, or nullptr.
const Fields* section_at(const Fields& fields, const std::string& path) {
  const std::size_t dot = path.find('.');
  const Fields::Field* field = fields.find(path.substr(0, dot));
  if (field == nullptr || !field->section) return nullptr;
  return dot == std::string::npos ? field->section.get()
                                  : section_at(*field->section, path.substr(dot + 1));
}

void add_section_paths(const Fields& fields, const std::string& path,
                       std::vector<std::string>& out) {
  for (const Fields::Field& field : fields.rows()) {
    if (!field.section) continue;
    const std::string here = path.empty() ? field.name : path + "." + field.name;
    out.push_back(here);
    add_section_paths(*field.section, here, out);
  }
}

std::string describe_section(const Fields& fields, const std::string& path, DescribeFormat format) {
  return format == DescribeFormat::kMarkdown ? fields_as_markdown(fields, path)
                                             : fields_as_text(fields, path);
}

// A section whose `type` says what it is: each name with the fields that go with it.
std::string describe_types(const Fields& section, const std::string& path, DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::string out;
  for (const auto& choice : section.find("type")->choices) {
    if (!out.empty()) out += "\n";
    out += markdown ? "## " + choice.name + "\n\n" + markdown_cell(choice.sentence) + ".\n\n"
                    : choice.name + ": " + choice.sentence + "\n\n";
    out += markdown ? fields_as_markdown(section, path, choice.name)
                    : fields_as_text(section, path, choice.name);
  }
  return out;
}

std::string describe_tasks(const Defaults& defaults, DescribeFormat format) {
  return describe_types(*section_at(defaults.fields, "task"), "task", format);
}
std::string describe_attention(const Defaults& defaults, DescribeFormat format) {
  // The order in which the kernels work (attention_mixed.h).
  const std::string formula =
      "A copy's heads: q = W_Q x, k = W_K y, v = W_V y (y = x in self-attention); qk_norm, rotary; "
      "scores s = scale <q, k>; mix_scores; biases by distance; mask; weights w by type; "
      "mix_weights; z = sum over the keys of w v; out = W_O z, the copies combined.";
  std::string out = format == DescribeFormat::kMarkdown ? markdown_cell(formula) : formula;
  out += "\n\n";
  for (const char* section : {"model.attention", "model.positions"})
    out += describe_section(*section_at(defaults.fields, section), section, format) + "\n";
  out.pop_back();
  return out;
}
std::string describe_config(const Defaults& defaults, DescribeFormat format) {
  return describe_section(defaults.fields, "", format);
}
std::string describe_defaults(const Defaults& defaults, DescribeFormat format) {
  const std::string text = config_text(defaults.config);
  return format == DescribeFormat::kMarkdown ? "```json\n" + text + "```\n" : text;
}

std::string describe_metrics(const Defaults&, DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::size_t width = 0;
  for (const Metric& m : metrics()) width = std::max(width, std::string(m.name).size());
  std::string out, file;
  for (const Metric& m : metrics()) {
    if (file != m.file) {
      out += (file.empty() ? "" : "\n") + std::string(markdown ? "## " : "") + m.file + "\n";
      if (markdown) out += "\n| column | unit | meaning |\n|---|---|---|\n";
      file = m.file;
    }
    const std::string name = m.name, unit = m.unit;
    const std::string sentence =
        m.sentence + std::string(m.always ? "" : " Where the task has it.");
    if (markdown) {
      out += "| `" + name + "` | " + unit + " | " + markdown_cell(sentence) + " |\n";
    } else {
      out += "  " + name + std::string(width - name.size() + 2, ' ') + sentence +
             (unit.empty() ? "" : " (" + unit + ")") + "\n";
    }
  }
  return out;
}

std::string describe_baselines(const Defaults&, DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::string out =
      "eval.baselines and `headroom eval --baselines` take `default` (those that are quick), `all` "
      "or names. Capitals stand for a number above 0, at most 1e6.\n";
  for (const Choice<TaskType>& task : kTaskTypes) {
    out += markdown ? "\n## " + std::string(task.name) +
                          "\n\n| baseline | in the sets | meaning |\n|---|---|---|\n"
                    : "\n" + std::string(task.name) + "\n";
    for (const BaselineRow& row : baseline_rows()) {
      if (!row.serves(task.value)) continue;
      const std::string name =
          row.name + (*row.parameter == '\0' ? "" : std::string("_") + row.parameter);
      std::vector<std::string> members;
      for (const double value : row.values)
        members.push_back(BaselineChoice{.row = &row, .value = value}.name());
      const std::string sets = (row.cost == Cost::kQuick ? "default, all" : "all") +
                               (members.empty() ? std::string() : ": " + join(members));
      out += markdown ? "| `" + name + "` | " + markdown_cell(sets) + " | " +
                            markdown_cell(row.sentence) + " |\n"
                      : "  " + name + "   (" + sets + ")\n    " + row.sentence + "\n";
    }
  }
  return out;
}

std::string describe_shifts(const Defaults&, DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::string out =
      "`headroom eval --shift` takes NAME, NAME=VALUE or `all`, each at its default. Errors are "
      "divided by that of predicting 0 on the shifted prompts. Where the query is replaced, at "
      "most " +
      std::to_string(kMostPrefixes) +
      " evenly spaced numbers of examples are asked for, on the prompts of the unshifted stream. "
      "Of linear_classification errors are shares of wrong signs. Baselines stay as they are for "
      "the "
      "unshifted task: ridge_optimal keeps its lambda, gradient_descent its steps.\n";
  if (markdown) out += "\n| shift | default | tasks | meaning |\n|---|---|---|---|\n";
  for (const ShiftRow& row : shift_rows()) {
    std::vector<std::string> lacking;
    for (const Choice<TaskType>& task : kTaskTypes)
      if (is_in_context(task.value) && !row.serves(task.value)) lacking.push_back(task.name);
    const bool valued = *row.parameter != '\0';
    const std::string name = row.name + (valued ? std::string("=") + row.parameter : ""),
                      value = valued ? short_real(row.value) : "",
                      tasks = "all in context" +
                              (lacking.empty() ? std::string() : " but " + join(lacking));
    out += markdown ? "| `" + name + "` | " + value + " | " + markdown_cell(tasks) + " | " +
                          markdown_cell(row.sentence) + " |\n"
                    : "  " + name + "   (" + (valued ? "default " + value + "; " : "") + tasks +
                          ")\n    " + row.sentence + "\n";
  }
  return out;
}

std::string describe_constructions(const Defaults&, DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::string out;
  for (const ConstructionRow& row : construction_rows()) {
    const std::unique_ptr<Construction> construction = row.make();
    Fields settings;
    construction->declare(settings);
    if (!out.empty()) out += "\n";
    const auto line = [&](const std::string& name, const char* text) {
      out += markdown ? name + ": " + markdown_cell(text) + ".\n\n"
                      : "    " + name + ": " + text + "\n";
    };
    out += markdown ? "## " + std::string(row.name) + "\n\n" + markdown_cell(row.sentence) + ".\n\n"
                    : row.name + std::string(": ") + row.sentence + "\n";
    line("weights", row.weights);
    line("loss", row.formula);
    out += (markdown ? "" : "\n") + describe_section(settings, "", format);
  }
  return out;
}

std::string describe_bounds(const Defaults&, DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::string out;
  for (const BoundRow& row : bound_rows()) {
    if (!out.empty()) out += "\n";
    out += markdown
               ? "## " + std::string(row.name) + "\n\n" + markdown_cell(row.statement) + ".\n\n"
               : row.name + std::string(": ") + row.statement + "\n";
    for (const auto& [name, text] : {std::pair{"applies to", row.scope}, {"source", row.source}})
      out += markdown ? name + std::string(": ") + markdown_cell(text) + ".\n\n"
                      : std::string("    ") + name + ": " + text + "\n";
  }
  return out;
}

std::string describe_grid(const Defaults&, DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::string out =
      "A sweep file is JSON with comments, as a config is; `headroom grid` turns it into "
      "commands. ";
  out += "Its keys:\n\n";
  if (markdown) out += "| key | takes | meaning |\n|---|---|---|\n";
  for (const SweepKey& key : sweep_keys()) {
    const std::string name = key.name, takes = key.takes;
    out += markdown ? "| `" + name + "` | " + markdown_cell(takes) + " | " +
                          markdown_cell(key.sentence) + " |\n"
                    : name + "   (" + takes + ")\n    " + key.sentence + "\n";
  }
  return out + (markdown ? "\n```jsonc\n" : "\n") + kSweepExample + (markdown ? "```\n" : "");
}

struct Topic {
  const char* name;
  const char* sentence;
  std::string (*run)(const Defaults&, DescribeFormat);
  const char* section;  // whose schema `--json-schema` gives; nullptr = none, "" = the whole config
};
constexpr Topic kTopics[] = {
    {"tasks", "every task with its fields", describe_tasks, "task"},
    {"attention", "every attention variant and position scheme with its formula",
     describe_attention, "model.attention"},
    {"metrics", "every column of a run's CSV files", describe_metrics, nullptr},
    {"baselines", "the predictors that a model is compared with", describe_baselines, nullptr},
    {"shifts", "the distribution shifts that `eval --shift` knows", describe_shifts, nullptr},
    {"constructions", "every model set by hand with its settings", describe_constructions, nullptr},
    {"bounds", "what no attention layer of a rank can get below, and where that applies",
     describe_bounds, nullptr},
    {"grid", "the keys of a sweep file, which `headroom grid` expands", describe_grid, nullptr},
    {"config", "every field of the config: default, range and meaning", describe_config, ""},
    {"defaults", "the default config as JSON, to start from", describe_defaults, ""},
};

std::string describe_topics(DescribeFormat format) {
  const bool markdown = format == DescribeFormat::kMarkdown;
  std::string out =
      markdown ? "| topic | shows |\n|---|---|\n" : "headroom describe TOPIC, where TOPIC is\n";
  const auto row = [&](const std::string& name, const std::string& sentence) {
    constexpr std::size_t kWidth = 17;
    out += markdown ? "| `" + name + "` | " + sentence + " |\n"
                    : "  " + name + std::string(kWidth - name.size(), ' ') + sentence + "\n";
  };
  for (const Topic& topic : kTopics) row(topic.name, topic.sentence);
  row("train.optimizer", "or any other section of the config: its fields");
  return out;
}

std::string schema(const Defaults& defaults, const std::string& section) {
  const Fields& fields = section.empty() ? defaults.fields : *section_at(defaults.fields, section);
  const std::string title = section.empty() ? "headroom config" : "headroom config: " + section;
  return json::write(fields_as_schema(fields, title, section.empty())) + "\n";
}

}  // namespace

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& topic : kTopics) names.push_back(topic.name);
  return names;
}

std::string describe(const std::string& name, DescribeFormat format) {
  const Defaults defaults;
  const bool wants_schema = format == DescribeFormat::kJsonSchema;
  if (name.empty()) return wants_schema ? schema(defaults, "") : describe_topics(format);
  for (const Topic& topic : kTopics) {
    if (name != topic.name) continue;
    if (!wants_schema) return topic.run(defaults, format);
    if (topic.section != nullptr) return schema(defaults, topic.section);
    throw Error(Exit::kUsage,
                "describe " + name + " --json-schema: only parts of the config have a schema");
  }
  if (const Fields* section = section_at(defaults.fields, name)) {
    return wants_schema ? schema(defaults, name) : describe_section(*section, name, format);
  }
  std::vector<std::string> known = topic_names();
  const std::string topics = join(known);
  add_section_paths(defaults.fields, "", known);
  throw Error(Exit::kUsage, "describe: unknown topic " + in_quotes(name) +
                                did_you_mean(name, known) + " (topics: " + topics +
                                ", and the sections of the config)");
}

}  // namespace headroom
