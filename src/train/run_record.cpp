#include "train/run_record.h"

#include "core/numbers.h"
#include "train/host.h"

namespace headroom {
namespace {

constexpr std::uint64_t kSchema = 1;

json::Value whole(std::uint64_t value) { return json::number(value); }

json::Value best_value(const std::optional<Best>& best) {
  if (!best) return {};
  return json::Value(json::Object{{"metric", json::text(best->metric)},
                                  {"value", json::number(best->value)},
                                  {"step", whole(best->step)}});
}

}  // namespace

std::string run_json(const RunRecord& r) {
  json::Array command;
  for (const std::string& word : r.command_line) command.push_back(json::text(word));
  json::Object root{
      {"schema", whole(kSchema)},
      {"version", json::text(r.version)},
      {"commit", json::text(r.commit)},
      {"command_line", json::Value(std::move(command))},
      {"name", json::text(r.name)},
      {"host", json::Value(json::Object{{"cpu", json::text(cpu_model())},
                                        {"isa", json::text(instruction_set())}})},
      {"threads", whole(static_cast<std::uint64_t>(r.threads))},
      {"precision", json::text(r.precision)},
      {"derived", json::Value(r.derived)},
      {"budget", whole(r.budget)},
      {"parameters", whole(r.parameters)},
      {"start", json::text(r.start)},
      {"end", r.end.empty() ? json::Value() : json::text(r.end)},
      {"elapsed_s", json::number(r.elapsed_s)},
      {"steps", whole(r.steps)},
      {"best", best_value(r.best)},
      {"not_trained", r.not_trained ? json::Value(*r.not_trained) : json::Value()},
      {"exit_reason", json::text(r.exit_reason)},
      {"exit_code", r.exit_code ? whole(static_cast<std::uint64_t>(*r.exit_code)) : json::Value()},
      {"resumes", whole(r.resumes)},
      {"init_from", r.init_from.empty() ? json::Value() : json::text(r.init_from)},
  };
  if (r.construction) root.emplace_back("construction", *r.construction);
  return json::write(json::Value(std::move(root))) + "\n";
}

EarlierRun read_earlier_run(const std::filesystem::path& run_json) {
  EarlierRun run;
  if (!std::filesystem::exists(run_json)) return run;
  const json::Value root = json::parse_file(run_json.string());
  const auto text = [&](const char* key, std::string& out) {
    const json::Value* const value = root.find(key);
    const auto* const found = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    if (found != nullptr) out = *found;
  };
  const auto number = [&](const char* key) {
    const json::Value* const value = root.find(key);
    return value == nullptr ? nullptr : std::get_if<json::Number>(&value->data);
  };
  text("start", run.start);
  text("exit_reason", run.exit_reason);
  text("init_from", run.init_from);
  if (const auto* const elapsed = number("elapsed_s"))
    run.elapsed_s = read_real(elapsed->text).value;
  if (const auto* const resumes = number("resumes")) run.resumes = read_whole(resumes->text).value;
  return run;
}

}  // namespace headroom
