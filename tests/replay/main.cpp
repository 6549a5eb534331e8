// usage: api_replay [FIRST [END]]      prints one line for each case: its name, a tab, and what came of it
//        api_replay count | names      how many cases there are, and which
//
// A case that ends the process is printed as "crash", one that takes too long as "hang", and the next one starts in a
// process of its own.
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>

#include "replay.h"

namespace mulciber::replay {

void* find(const char* name) {
  static std::map<std::string, void*> known;
  void*& found = known[name];
  if (found) return found;
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  static void* const runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL);
  for (void* library : {driver, runtime})
    if (library && !found) found = dlsym(library, name);
  if (!found) {
    std::fprintf(stderr, "%s: there is no such function: %s\n", name, dlerror());
    std::_Exit(3);
  }
  return found;
}

uint64_t bits(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

namespace {

const char* const groupNames[] = {"before cuInit", "no context", "driver", "runtime"};

std::string shown(World& world, const Choices& result) {
  const uint8_t* slot = world.slot[result.slot];
  const bool isSet = std::any_of(slot, slot + World::slotBytes, [](uint8_t byte) { return byte != 0xAB; });
  if (!isSet) return "same";
  if (result.shownBytes == 0) return "set";
  int64_t value = 0;
  std::memcpy(&value, slot, result.shownBytes);
  if (result.shownBytes == 4) value = static_cast<int32_t>(value);
  return std::to_string(value);
}

std::string runCall(World& world, Group group, const Call& call, const std::vector<size_t>& chosen) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < chosen.size(); ++i) values.push_back(call.arguments[i].all[chosen[i]].make(world));
  std::string line = std::to_string(call.invoke(values.data()));
  for (size_t i = 0; i < chosen.size(); ++i)
    if (call.arguments[i].slot >= 0 && chosen[i] == 0) line += " " + shown(world, call.arguments[i]);
  if (group == Group::Runtime) {
    const int last = FUNCTION(cudaGetLastError)();
    if (last != 0) line += " last=" + std::to_string(last);
  }
  if (group == Group::Driver || group == Group::Runtime) {
    const int after = FUNCTION(cuCtxSynchronize)();
    if (after != 0) line += " then=" + std::to_string(after);
  }
  return line;
}

// Such a function may end what others need.
bool isConsuming(const std::string& name) {
  for (const char* part : {"Destroy",      "Free",       "Unload",     "Release",   "Reset",  "Unregister", "Push",
                           "Pop",          "SetCurrent", "SetMemPool", "SetDevice", "Retain", "SetLimit",   "Link",
                           "SetAttribute", "SetValid",   "Advise",     "Prefetch",  "Detach", "ToSymbol"})
    if (name.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

void addCall(Group group, Call given) {
  auto call = std::make_shared<const Call>(std::move(given));
  const bool consumes = isConsuming(call->name);
  auto add = [&](Group in, std::vector<size_t> chosen) {
    std::string name = call->name + "(";
    for (size_t i = 0; i < chosen.size(); ++i) name += (i ? ", " : "") + call->arguments[i].all[chosen[i]].name;
    cases().push_back(
        {in, name + ")", [in, call, chosen](World& world) { return runCall(world, in, *call, chosen); }, consumes});
  };
  const std::vector<size_t> right(call->arguments.size(), 0);
  add(group, right);
  for (size_t i = 0; i < right.size(); ++i)
    for (size_t wrong = 1; wrong < call->arguments[i].all.size(); ++wrong) {
      std::vector<size_t> chosen = right;
      chosen[i] = wrong;
      add(group, chosen);
    }
  // Two at once: which is looked at first.
  for (size_t i = 0; i + 1 < right.size(); ++i)
    if (call->arguments[i].all.size() > 1 && call->arguments[i + 1].all.size() > 1) {
      std::vector<size_t> chosen = right;
      chosen[i] = chosen[i + 1] = 1;
      add(group, chosen);
    }
  if (group == Group::Driver) {
    if (call->name != "cuInit") add(Group::BeforeInit, right);
    add(Group::NoContext, right);
  }
}

void sequence(Group group, std::string name, std::function<std::string(World&)> body) {
  cases().push_back({group, std::move(name), std::move(body), true});
}

namespace {

// A case hangs when it has not used the processor for the one or has used very much of it: the clock alone says nothing
// on a loaded machine.
constexpr unsigned secondsWithoutProgress = 20;
constexpr long processorSeconds = 60;
constexpr int wantsFreshProcess = 42;

long processorMilliseconds() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

volatile long usedAtStart, usedAtLastLook;

void look(int) {
  const long used = processorMilliseconds();
  if (used - usedAtLastLook < 20 || used - usedAtStart > processorSeconds * 1000) {
    std::signal(SIGALRM, SIG_DFL);
    raise(SIGALRM);
  }
  usedAtLastLook = used;
  alarm(secondsWithoutProgress);
}

void watchForHang() {
  std::signal(SIGALRM, look);
  usedAtStart = processorMilliseconds();
  usedAtLastLook = usedAtStart;
  alarm(secondsWithoutProgress);
}

[[noreturn]] void runFrom(size_t first, size_t end, int report) {
  static World world;
  const Group group = cases()[first].group;
  if (group != Group::BeforeInit) world.initialize();
  for (size_t i = first; i < end; ++i) {
    const Case& one = cases()[i];
    if (one.group != group) std::_Exit(wantsFreshProcess);
    world.clearSlots();
    watchForHang();
    if (group == Group::NoContext) FUNCTION(cuCtxSetCurrent)(CUcontext{});
    const std::string line = std::string(groupNames[static_cast<int>(group)]) + ": " + one.name + "\t" + one.run(world);
    alarm(0);
    world.dropStructures();
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    const uint64_t done = i + 1;
    (void)!write(report, &done, sizeof(done));
    if (group == Group::BeforeInit) continue;
    for (CUcontext popped = nullptr; FUNCTION(cuCtxPopCurrent)(&popped) == CUDA_SUCCESS && popped;) popped = nullptr;
    FUNCTION(cuCtxSetCurrent)(world.context);
    if (FUNCTION(cuCtxSynchronize)() != CUDA_SUCCESS) std::_Exit(wantsFreshProcess);
    FUNCTION(cudaGetLastError)();
    if (one.consumes) world.makeConsumables();
  }
  std::_Exit(0);
}

int main(int count, char** arguments) {
  addDriverCalls();
  addRuntimeCalls();
  addSequences();
  addAttributeCalls();
  addBatchCalls();
  addRegisteredCalls();
  addOldCalls();
  addToldCalls();
  addOrders();
  addEntryPoints();
  addBrokenCalls();
  addArrayCalls();
  addArrayCopies();
  addTextureCalls();
  addCapturedMemoryCalls();
  addCapturedCalls();
  addCaptures();
  addCapturedNodes();
  addConditionalCalls();
  addGraphMemoryCalls();
  std::stable_sort(cases().begin(), cases().end(), [](const Case& a, const Case& b) { return a.group < b.group; });
  if (count > 1 && std::string(arguments[1]) == "count") {
    std::printf("%zu\n", cases().size());
    return 0;
  }
  if (count > 1 && std::string(arguments[1]) == "names") {
    for (const Case& one : cases()) std::printf("%s: %s\n", groupNames[static_cast<int>(one.group)], one.name.c_str());
    return 0;
  }
  const size_t first = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 0;
  const size_t end = std::min(cases().size(), count > 2 ? std::strtoul(arguments[2], nullptr, 10) : SIZE_MAX);
  for (size_t next = first; next < end;) {
    int report[2];
    if (pipe(report) != 0) return 1;
    const pid_t child = fork();
    if (child == 0) {
      close(report[0]);
      runFrom(next, end, report[1]);
    }
    close(report[1]);
    uint64_t done = next;
    for (uint64_t value = 0; read(report[0], &value, sizeof(value)) == sizeof(value);) done = value;
    close(report[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return 3;
    const bool progressed = done > next;
    next = done;
    if (next >= end || (WIFEXITED(status) && WEXITSTATUS(status) == wantsFreshProcess && progressed)) continue;
    const bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    std::printf("%s: %s\t%s\n", groupNames[static_cast<int>(cases()[next].group)], cases()[next].name.c_str(),
                hung ? "hang" : "crash");
    ++next;
  }
  return 0;
}

}  // namespace
}  // namespace mulciber::replay

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  return mulciber::replay::main(count, arguments);
}
