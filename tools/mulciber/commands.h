// The commands of `mulciber`. Each gives the exit status of the program.
#pragma once

#include <string>
#include <vector>

#include "mulciber/translator.h"

namespace mulciber::tool {

enum ExitStatus {
  ExitSuccess = 0,
  ExitFailure = 1,      // the input is bad, or a check failed
  ExitUsage = 2,        // the command line is wrong
  ExitCannotRun = 125,  // `run` could not prepare the program; 126: not executable, 127: not found
  ExitNotExecutable = 126,
  ExitNotFound = 127,
};

struct RunOptions {
  std::vector<std::string> command;
  std::string trace;
  bool profile = false, explain = false;
};
int run(const RunOptions& options);

struct TranslateOptions {
  std::string input, output, library, kernel, dump;
  std::vector<std::string> profiles;
  bool asText = false, asJson = false, debugInfo = false;
  bool exactDenormals = mulciber::TranslateOptions().exactDenormals;
  uint32_t inlineLimit = mulciber::TranslateOptions().inlineLimit;
};
int translate(const TranslateOptions& options);
// The part of it that --library asks for.
int writeLibrary(const TranslateOptions& options, const ParsedModule& module,
                 const std::vector<TargetProfile>& profiles, const mulciber::TranslateOptions& translation,
                 Diagnostics& diagnostics);

struct CheckOptions {
  std::string program, profile;
  bool asJson = false;
};
int check(const CheckOptions& options);

struct PrecompileOptions {
  std::string program, kernel;
  std::vector<std::string> blocks;  // "256" or "16,16" or "8,8,4"
};
int precompile(const PrecompileOptions& options);

struct InfoOptions {
  bool asJson = false, asProfile = false;
};
int info(const InfoOptions& options);

struct DoctorOptions {
  bool asJson = false;
};
int doctor(const DoctorOptions& options);

}  // namespace mulciber::tool
