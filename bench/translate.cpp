// How long the translator takes for the kernels of bench/integer.cu, as PTX by nvcc.
#include <benchmark/benchmark.h>

#include "mulciber/translator.h"
#include "util/file.h"

using namespace mulciber;

namespace {

const std::string& text() {
  static const std::string text = util::readFile(MULCIBER_BENCH_PTX).value_or("");
  return text;
}

ModulePtr parse(benchmark::State& state) {
  Diagnostics diagnostics;
  ModulePtr module = parseModule(text(), MULCIBER_BENCH_PTX, diagnostics);
  if (!module || diagnostics.hasErrors()) state.SkipWithError("the PTX cannot be parsed");
  return module;
}

void parsing(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse(state));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text().size()));
}
BENCHMARK(parsing)->Unit(benchmark::kMillisecond);

void translating(benchmark::State& state) {
  const ModulePtr module = parse(state);
  if (!module) return;
  const auto names = kernelNames(*module);
  for (auto _ : state) {
    for (const std::string& name : names) {
      Diagnostics diagnostics;
      benchmark::DoNotOptimize(translate(*module, name, *builtinProfile("nvidia"), {}, diagnostics));
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * names.size()));
}
BENCHMARK(translating)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
