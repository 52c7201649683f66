// The three forms in which rows of fields are shown. Used by describe.cpp alone.
#pragma once

#include <string>

#include "core/fields.h"
#include "core/json.h"

namespace headroom {

// Every field below `path`, sections within sections included; with `type`, only those that go with
// this name of the section's `type`, which itself is left out.
std::string fields_as_text(const Fields& fields, const std::string& path,
                           const std::string& type = "");
std::string fields_as_markdown(const Fields& fields, const std::string& path,
                               const std::string& type = "");

// A JSON Schema, draft 2020-12, that accepts what the reader accepts of one document, but for rules
// between fields. `root`: the whole config, which may also say "extends".
json::Value fields_as_schema(const Fields& fields, const std::string& title, bool root);

// Fit for a cell of a table.
std::string markdown_cell(const std::string& text);

}  // namespace headroom
