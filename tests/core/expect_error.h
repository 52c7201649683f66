// What a test expects of an Error: its exit code and parts of its one line.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "core/error.h"

namespace headroom {

template <class Action>
std::string error_of(const Action& action, Exit code = Exit::kUsage) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

// Runs it; the error's message must hold every part.
template <class Action>
void expect_error(const Action& action, std::initializer_list<std::string> parts,
                  Exit code = Exit::kUsage) {
  const std::string message = error_of(action, code);
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "expected: " << part << "\nin: " << message;
  }
}

}  // namespace headroom
