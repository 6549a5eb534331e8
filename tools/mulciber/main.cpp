// The mulciber command line.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include "commands.h"
#include "completions.h"
#include "mulciber/version.h"
#include "terminal.h"
#include "util/environment.h"
#include "util/suggestion.h"

namespace {

// The number of arguments that are ours in `mulciber run [OPTION...] [--] PROGRAM [ARGUMENT...]`: those before the
// program. The parser must not see the others, because it would read options and lists in them.
int ownArguments(int argc, char** argv) {
  if (argc < 2 || std::strcmp(argv[1], "run") != 0) return argc;
  int count = 2;
  while (count < argc && argv[count][0] == '-' && std::strcmp(argv[count], "--") != 0)
    count += std::strcmp(argv[count], "--trace") == 0 ? 2 : 1;  // with its file
  return std::min(count, argc);
}

// What is wrong with the first word of the command line; empty when it is a command or an option.
std::string problemWithCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (std::ranges::find(names, word) != names.end()) return {};
  if (word.starts_with('-')) return app.get_option_no_throw(word) ? "" : fmt::format("'{}' is no option", word);
  return fmt::format("'{}' is no command{}; the commands are {}", word, mulciber::util::suggest(word, names),
                     fmt::join(names, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mulciber::tool;
  CLI::App app("Mulciber runs CUDA programs on Vulkan.", "mulciber");
  app.set_version_flag("--version", "mulciber " MULCIBER_VERSION_STRING);
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 success, 1 bad input or a failed check, 2 wrong usage. `mulciber run` ends as the program does, "
      "or with 125 when it cannot be prepared, 126 when it is not executable, 127 when it is not found.\n"
      "docs/environment.md lists the environment variables.");

  RunOptions runOptions;
  CLI::App* runCommand = app.add_subcommand("run", "Run a CUDA program on Vulkan");
  runCommand->add_option("program", runOptions.command, "The program and its arguments")->type_name("PROGRAM");
  runCommand->footer(
      "The program finds Mulciber's libcuda.so.1, libcudart.so and libcufft.so in place of NVIDIA's; a CUDA runtime "
      "linked into it (nvcc's default) is redirected when it is loaded. Programs it starts are treated the same way.\n"
      "Example: mulciber run ./vector_add 1000");

  runCommand
      ->add_option("--trace", runOptions.trace,
                   "Write what it does over time into this file, for Perfetto or chrome://tracing")
      ->type_name("FILE");
  runCommand->add_flag("--profile", runOptions.profile, "Print a table of its kernels and their times at its end");
  runCommand->add_flag("--explain", runOptions.explain,
                       "Print what was translated, what fell back and which work-arounds were on at its end");

  PrecompileOptions precompileOptions;
  CLI::App* precompileCommand =
      app.add_subcommand("precompile", "Compile a program's kernels into the cache, ahead of its first start");
  precompileCommand
      ->add_option("program", precompileOptions.program,
                   "PTX text, a fat binary, or a program, object or library with CUDA code")
      ->type_name("FILE")
      ->required();
  precompileCommand->add_option("-k,--kernel", precompileOptions.kernel, "Only this kernel")->type_name("NAME");
  precompileCommand
      ->add_option(
          "-b,--block", precompileOptions.blocks,
          "Block size that it launches, as 256 or 16,16; may be given several times. Drivers compile for each size")
      ->type_name("SIZE");

  TranslateOptions translateOptions;
  CLI::App* translateCommand = app.add_subcommand("translate", "Translate PTX to SPIR-V, with no device needed");
  translateCommand
      ->add_option("input", translateOptions.input,
                   "PTX text, a fat binary, or a program, object or library with CUDA code; - for standard input")
      ->type_name("FILE")
      ->required();
  translateCommand
      ->add_option("-o,--output", translateOptions.output,
                   "File for the kernel, - for standard output, or folder for several (default: KERNEL.spv here)")
      ->type_name("FILE");
  translateCommand->add_option("-k,--kernel", translateOptions.kernel, "Only this kernel")->type_name("NAME");
  translateCommand
      ->add_option(
          "-p,--profile", translateOptions.profiles,
          "What the device can do: a JSON file, or vulkan1.3, lavapipe, nvidia (default: vulkan1.3). Several "
          "times with --library, where there is also portable: a device takes the first that it suits (default "
          "there: nvidia, lavapipe and portable)")
      ->type_name("PROFILE")
      ->allow_extra_args(false);
  translateCommand
      ->add_option("--library", translateOptions.library,
                   "Write PREFIX.kernels, which engines load without the translator, with PREFIX.h, "
                   "PREFIX.c and PREFIX.json")
      ->type_name("PREFIX");
  translateCommand
      ->add_option("--dump", translateOptions.dump,
                   "Print a stage of the translation (ptx, ir, ssa, spirv, ..., or all)")
      ->type_name("STAGE");
  translateCommand->add_flag("--text", translateOptions.asText, "SPIR-V as text; on standard output without -o");
  translateCommand->add_flag("--json", translateOptions.asJson, "Describe the kernels on standard output, as JSON");
  translateCommand->add_flag("-g,--debug", translateOptions.debugInfo,
                             "Keep the lines of the CUDA source and the names of registers");
  translateCommand->add_flag("!--flush-denormals", translateOptions.exactDenormals,
                             "Let the device flush float denormals where keeping them costs speed");
  translateCommand
      ->add_option("--inline-limit", translateOptions.inlineLimit,
                   "Instructions a kernel may have with all functions inlined (default: 32768)")
      ->type_name("NUMBER");

  CheckOptions checkOptions;
  CLI::App* checkCommand = app.add_subcommand("check", "Say what a program needs, and what of it is not there");
  checkCommand
      ->add_option("program", checkOptions.program, "A program or library, a fat binary, or PTX; it is not started")
      ->type_name("FILE")
      ->required();
  checkCommand
      ->add_option("-p,--profile", checkOptions.profile,
                   "What the device can do: a JSON file, or vulkan1.3, lavapipe, nvidia (default: the first device's, "
                   "or vulkan1.3 without one)")
      ->type_name("PROFILE");
  checkCommand->add_flag("--json", checkOptions.asJson, "As JSON");

  InfoOptions infoOptions;
  CLI::App* infoCommand = app.add_subcommand("info", "List devices and the CUDA features each offers");
  infoCommand->add_flag("--json", infoOptions.asJson, "As JSON");
  infoCommand->add_flag("--profile", infoOptions.asProfile,
                        "What the first device can do, for `translate --profile`, as JSON");

  DoctorOptions doctorOptions;
  CLI::App* doctorCommand = app.add_subcommand("doctor", "Check the installation and say what to do");
  doctorCommand->add_flag("--json", doctorOptions.asJson, "As JSON");

  if (argc > 1 && std::strcmp(argv[1], "--completions") == 0)  // for the scripts in packaging/, so in no help
    return printCompletions(app, argc > 2 ? argv[2] : "") ? ExitSuccess : ExitUsage;
  if (const std::string problem = argc > 1 ? problemWithCommand(app, argv[1]) : std::string(); !problem.empty()) {
    complain(problem);
    return ExitUsage;
  }
  const int own = ownArguments(argc, argv);
  runOptions.command.assign(argv + own + (own < argc && std::strcmp(argv[own], "--") == 0), argv + argc);
  try {
    app.parse(own, argv);
    if (*runCommand && runOptions.command.empty()) throw CLI::RequiredError("program");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitSuccess : ExitUsage;
  }
  if (*runCommand) return run(runOptions);
  mulciber::util::environment();  // reports variables that nobody knows
  try {
    const int status = *translateCommand    ? translate(translateOptions)
                       : *precompileCommand ? precompile(precompileOptions)
                       : *checkCommand      ? check(checkOptions)
                       : *infoCommand       ? info(infoOptions)
                                            : doctor(doctorOptions);
    if (std::fflush(stdout) == 0) return status;
    complain(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  } catch (const std::system_error& error) {  // of fmt::print
    complain(fmt::format("cannot write to standard output: {}", error.code().message()));
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory");
  }
  return ExitFailure;
}
