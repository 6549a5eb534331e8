// What shells need to complete a command line.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace mulciber::tool {

// Prints a line for each word that can follow the command of that name, or `mulciber` itself where it is empty: the
// word, what it takes, and what it is for, apart by tabs. What it takes is - for nothing, or words apart by commas:
// FILE, PROGRAM, what else there is no list of in capitals, and what can be taken as it is. The word * stands for what
// is no option. False when there is no such command.
bool printCompletions(const CLI::App& app, const std::string& name);

}  // namespace mulciber::tool
