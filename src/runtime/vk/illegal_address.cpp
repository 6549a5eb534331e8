#include "runtime/vk/illegal_address.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "util/log.h"

namespace mulciber::vk {

namespace {

struct Range {
  uintptr_t begin = 0, end = 0;
};

// Everything that the handler looks at: it may call nothing that takes locks or memory.
constexpr size_t mostDevices = 16, mostDrivers = 32, mostNames = 8, nameBytes = 128;
std::array<std::atomic<std::atomic<bool>*>, mostDevices> lostFlags;
std::array<Range, mostDrivers> drivers;
std::atomic<size_t> driverCount{0};  // raised once what the handler reads is in place
std::array<std::array<char, nameBytes>, mostNames> names;
std::atomic<uint32_t> launches{0};
std::atomic<bool> wasUsed{false};
bool isQuiet = false;
struct sigaction segvBefore, busBefore;

// Text of bounded length.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text && length_ < sizeof(text_)) text_[length_++] = *text++;
    return *this;
  }
  Line& hexadecimal(uintptr_t number) {
    *this << "0x";
    int shift = 60;
    while (shift > 0 && number >> shift == 0) shift -= 4;
    for (; shift >= 0 && length_ < sizeof(text_); shift -= 4)
      text_[length_++] = "0123456789abcdef"[number >> shift & 15];
    return *this;
  }
  void write() const {
    if (::write(STDERR_FILENO, text_, length_) < 0) return;  // nobody is left to be told
  }

 private:
  char text_[2048];
  size_t length_ = 0;
};

// Where the thread was, and the end of its stack's used part.
bool placeOf(const ucontext_t& context, uintptr_t& code, uintptr_t& stack) {
#if defined(__x86_64__)
  code = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  stack = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  return true;
#elif defined(__aarch64__)
  code = context.uc_mcontext.pc;
  stack = context.uc_mcontext.sp;
  return true;
#else
  (void)context, (void)code, (void)stack;
  return false;
#endif
}

bool isDrivers(uintptr_t address) {
  return std::any_of(drivers.begin(), drivers.begin() + driverCount.load(std::memory_order_acquire),
                     [&](const Range& range) { return range.begin <= address && address < range.end; });
}

// Code of a kernel belongs to no file, and a driver has called it: a return address lies on the stack. Others in the
// process may make code at run time too.
bool isKernel(const ucontext_t& context) {
  uintptr_t code = 0, stack = 0;
  Dl_info file;
  if (!placeOf(context, code, stack) || dladdr(reinterpret_cast<void*>(code), &file) != 0) return false;  // NOLINT
  constexpr size_t mostBytes = 256 << 10;
  uintptr_t words[512];
  for (size_t at = 0; at < mostBytes; at += sizeof(words)) {
    // The kernel copies it, so that the end of the stack is an error and no fault.
    const iovec here{words, sizeof(words)}, there{reinterpret_cast<void*>(stack + at), sizeof(words)};  // NOLINT
    const ssize_t copied = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (copied <= 0) return false;
    for (size_t i = 0; i < static_cast<size_t>(copied) / sizeof(uintptr_t); ++i)
      if (isDrivers(words[i])) return true;
  }
  return false;
}

void report(const siginfo_t& info) {
  if (isQuiet) return;
  const uint32_t count = launches.load(std::memory_order_acquire);
  Line line;
  size_t named = 0;
  const auto isNew = [&](uint32_t launch) {
    for (uint32_t later = launch + 1; later < count; ++later)
      if (std::strcmp(names[later % mostNames].data(), names[launch % mostNames].data()) == 0) return false;
    return true;
  };
  const uint32_t oldest = count - std::min<uint32_t>(count, mostNames);
  for (uint32_t launch = oldest; launch < count; ++launch) named += isNew(launch);
  line << "mulciber: error: " << (named == 1 ? "the kernel " : "one of the kernels launched last (");
  size_t said = 0;
  for (uint32_t launch = count; launch-- > oldest;)
    if (isNew(launch)) line << (said++ == 0 ? "" : ", ") << names[launch % mostNames].data();
  line << (named == 1 ? "" : ")") << " used ";
  // The processor does not tell an address that no memory can have.
  if (info.si_code > 0 && info.si_code < SI_KERNEL)
    (line << "the illegal address ").hexadecimal(reinterpret_cast<uintptr_t>(info.si_addr));
  else line << "an illegal address";
  line << ": CUDA on the CPU has ended in this process\n";
  line.write();
}

void handle(int number, siginfo_t* info, void* context) {
  if (isKernel(*static_cast<const ucontext_t*>(context))) {
    if (!wasUsed.exchange(true)) report(*info);
    for (const auto& flag : lostFlags)
      if (std::atomic<bool>* isLost = flag.load()) isLost->store(true);
    sigset_t all;
    sigfillset(&all);
    while (true) sigsuspend(&all);
  }
  const struct sigaction& before = number == SIGBUS ? busBefore : segvBefore;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(number, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(number);
  // As if this had never been here: the fault comes again, and what was sent is sent again.
  sigaction(number, &before, nullptr);
  if (info->si_code <= 0) raise(number);
}

// The code of the Vulkan drivers that are loaded.
void findDrivers() {
  std::vector<std::pair<std::string, Range>> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        Range range;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
          range = {info->dlpi_addr + part.p_vaddr, info->dlpi_addr + part.p_vaddr + part.p_memsz};
        }
        static_cast<decltype(files)*>(out)->emplace_back(info->dlpi_name ? info->dlpi_name : "", range);
        return 0;
      },
      &files);
  size_t count = 0;
  for (const auto& [name, range] : files) {
    void* const file = name.empty() ? nullptr : dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!file) continue;
    const auto entry = reinterpret_cast<uintptr_t>(dlsym(file, "vk_icdGetInstanceProcAddr"));
    dlclose(file);
    if (range.begin <= entry && entry < range.end && count < mostDrivers) drivers[count++] = range;
  }
  driverCount.store(count, std::memory_order_release);
}

void install() {
  isQuiet = !util::log().should_log(spdlog::level::err);
  findDrivers();
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &segvBefore);
  sigaction(SIGBUS, &action, &busBefore);
}

}  // namespace

void watchIllegalAddresses(std::atomic<bool>& isLost) {
  static std::once_flag once;
  std::call_once(once, install);
  for (auto& flag : lostFlags) {
    std::atomic<bool>* none = nullptr;
    if (flag.compare_exchange_strong(none, &isLost)) return;
  }
}

void forgetIllegalAddresses(std::atomic<bool>& isLost) {
  for (auto& flag : lostFlags) {
    std::atomic<bool>* known = &isLost;
    if (flag.compare_exchange_strong(known, nullptr)) return;
  }
}

void noteLaunch(std::string_view kernel) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const uint32_t launch = launches.load(std::memory_order_relaxed);
  std::array<char, nameBytes>& name = names[launch % mostNames];
  const size_t length = std::min(kernel.size(), nameBytes - 1);
  std::memcpy(name.data(), kernel.data(), length);
  name[length] = '\0';
  launches.store(launch + 1, std::memory_order_release);
}

bool wasAddressIllegal() { return wasUsed.load(std::memory_order_acquire); }

}  // namespace mulciber::vk
