#include "runtime/fatbin/fatbin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "support/test_data.h"

namespace mulciber::fatbin {
namespace {

using ::testing::HasSubstr;

std::string load(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string sample(const std::string& name) { return load((test::dataFolder() / "data" / name).string()); }

Bytes bytesOf(const std::string& text) { return std::as_bytes(std::span(text)); }

// nvcc drops comments and indentation from the text it embeds, so compare words.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream stream(line.substr(0, line.find("//")));
    for (std::string word; stream >> word;) result.push_back(word);
  }
  return result;
}

class Compression : public ::testing::TestWithParam<const char*> {};

TEST_P(Compression, TakesTheHighestUsableArchitecture) {  // PLAT-03
  const std::string file = sample(GetParam());
  Error error;
  auto images = readFile(bytesOf(file), 90, error);
  ASSERT_TRUE(images) << error.message;
  ASSERT_EQ(images->size(), 1u);
  ASSERT_EQ(images->front().size(), 1u);
  EXPECT_EQ(images->front()[0].architecture, 80u) << "compute_90a runs nowhere else";
  EXPECT_EQ(words(images->front()[0].text), words(sample("scale.ptx")));
}

TEST_P(Compression, TakesAHigherArchitectureOnlyWhereThereIsNoOther) {  // PLAT-01
  const std::string file = sample(GetParam());
  Error error;
  auto images = readFile(bytesOf(file), 79, error);
  ASSERT_TRUE(images) << error.message;
  EXPECT_EQ(images->front()[0].architecture, 75u);
  images = readFile(bytesOf(file), 70, error);
  ASSERT_TRUE(images) << error.message;
  EXPECT_EQ(images->front()[0].architecture, 75u) << "the lowest of those above";
}

TEST(Fatbin, PtxForOneArchitectureAloneComesLast) {
  const auto ptx = [](uint32_t architecture, uint64_t flags) {
    Entry entry{};
    entry.kind = Kind::Ptx;
    entry.architecture = architecture;
    entry.flags = flags;
    return entry;
  };
  Entry machineCode = ptx(90, 0);
  machineCode.kind = Kind::Cubin;
  const Entry specific90 = ptx(90, Entry::architectureSpecific), family100 = ptx(100, Entry::familySpecific);
  const Entry plain120 = ptx(120, 0), plain110 = ptx(110, 0);
  const auto chosen = [](const std::vector<Entry>& entries) {
    Error error;
    const Entry* entry = choosePtx(entries, 90, error);
    return entry ? entry->architecture : 0;
  };
  EXPECT_EQ(chosen({machineCode, specific90, family100, plain120, plain110}), 110u);
  EXPECT_EQ(chosen({machineCode, family100, specific90}), 90u);
  EXPECT_EQ(chosen({machineCode, family100}), 100u);
  EXPECT_EQ(chosen({machineCode}), 0u);
}

TEST_P(Compression, ReadsTheSameFromMemory) {
  const std::string file = sample(GetParam());
  Error error;
  auto direct = readImage(file.data(), 90, error);
  ASSERT_TRUE(direct) << error.message;
  const Wrapper wrapper{wrapperMagic, 1, file.data(), nullptr};
  auto wrapped = readImage(&wrapper, 90, error);
  ASSERT_TRUE(wrapped) << error.message;
  EXPECT_EQ(direct->at(0).text, wrapped->at(0).text);
}

// Whatever is done to the bytes, reading ends in modules or an error, never in a crash.
TEST_P(Compression, SurvivesDamage) {
  const std::string original = sample(GetParam());
  std::mt19937 random(1);
  for (int round = 0; round < 4000; ++round) {
    std::string file = original;
    for (uint32_t n = 1 + random() % 4; n > 0; --n) {
      // Headers matter most: half of the damage goes to the first 128 bytes.
      const size_t range = random() % 2 ? 128 : file.size();
      file[random() % range] = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
    }
    if (random() % 4 == 0) file.resize(random() % file.size());
    Error error;
    if (!readFile(bytesOf(file), 90, error)) {
      ASSERT_NE(error.code, Error::Code::None);
      ASSERT_FALSE(error.message.empty());
      ASSERT_EQ(error.message.find('\n'), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Compression,
                         ::testing::Values("none.fatbin", "speed.fatbin", "balance.fatbin", "size.fatbin"),
                         [](const auto& mode) { return std::string(mode.param, strcspn(mode.param, ".")); });

TEST(Fatbin, LinkedWrapperGivesEveryObject) {
  const std::string linked = sample("machine_code_only.fatbin"), first = sample("none.fatbin"),
                    second = sample("size.fatbin");
  const void* prelinked[] = {first.data(), second.data(), nullptr};
  const Wrapper wrapper{wrapperMagic, 2, linked.data(), prelinked};
  Error error;
  auto modules = readImage(&wrapper, 90, error);
  ASSERT_TRUE(modules) << error.message;
  EXPECT_EQ(modules->size(), 2u);
}

TEST(Fatbin, MachineCodeAloneIsRefusedByName) {  // PLAT-02
  const std::string file = sample("machine_code_only.fatbin");
  Error error;
  EXPECT_FALSE(readImage(file.data(), 90, error));
  EXPECT_EQ(error.code, Error::Code::NoBinaryForGpu);
  EXPECT_THAT(error.message, HasSubstr("no PTX in this program (it holds machine code sm_75)"));
}

TEST(Fatbin, ImageKinds) {
  Error error;
  auto text = readImage(".version 8.0\n.target sm_80\n", 90, error);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->at(0).text, ".version 8.0\n.target sm_80\n");
  EXPECT_FALSE(
      readImage("\x7F"
                "ELF",
                90, error));
  EXPECT_EQ(error.code, Error::Code::NoBinaryForGpu);
  EXPECT_FALSE(readImage("!<arch>\n", 90, error));
  EXPECT_EQ(error.code, Error::Code::InvalidImage);
  EXPECT_FALSE(readImage(nullptr, 90, error));
  EXPECT_EQ(error.code, Error::Code::InvalidImage);
  const Wrapper unknown{wrapperMagic, 7, nullptr, nullptr}, empty{wrapperMagic, 1, nullptr, nullptr};
  EXPECT_FALSE(readImage(&unknown, 90, error));
  EXPECT_FALSE(readImage(&empty, 90, error));
}

TEST(Fatbin, Files) {
  Error error;
  EXPECT_FALSE(readFile("/no/such/file", 90, error));
  EXPECT_EQ(error.code, Error::Code::FileNotFound);
  EXPECT_FALSE(readFile(Bytes{}, 90, error));
  EXPECT_FALSE(readFile(bytesOf("not PTX at all"), 90, error));
  EXPECT_EQ(error.code, Error::Code::InvalidImage);
  EXPECT_TRUE(readFile(bytesOf(".version 8.0\n"), 90, error));
  EXPECT_FALSE(readFile("/proc/self/exe", 90, error));
  EXPECT_EQ(error.code, Error::Code::NoBinaryForGpu);
  EXPECT_THAT(error.message, HasSubstr("no CUDA device code"));
}

#ifdef MULCIBER_NVCC
// Real objects, with every compression mode, whole and relocatable: the embedded text is what nvcc kept.
class Nvcc : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(Nvcc, EmbeddedTextIsTheKeptText) {
  const auto [mode, linkage, debug] = GetParam();
  char folder[] = "/tmp/mulciber-fatbin-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder));
  const std::string at = folder;
  const std::string command = std::string(MULCIBER_NVCC) + " -c -arch=compute_75 -compress-mode=" + mode + " " +
                              linkage + " " + debug + " --keep --keep-dir " + at + " " +
                              (test::dataFolder() / "data/scale.cu").string() + " -o " + at + "/scale.o >" + at +
                              "/log 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << load(at + "/log");
  Error error;
  auto images = readFile(at + "/scale.o", 90, error);
  ASSERT_TRUE(images) << error.message;
  ASSERT_EQ(images->size(), 1u);
  const PtxModule& module = images->front().at(0);
  EXPECT_EQ(words(module.text), words(load(at + "/scale.ptx")));
  EXPECT_EQ(module.architecture, 75u);
  if (*linkage) {
    EXPECT_THAT(module.options, HasSubstr("--compile-only"));
  }
  std::filesystem::remove_all(at);
}

INSTANTIATE_TEST_SUITE_P(Corpus, Nvcc,
                         ::testing::Combine(::testing::Values("none", "speed", "balance", "size"),
                                            ::testing::Values("", "-rdc=true"), ::testing::Values("", "-lineinfo")));
#endif

}  // namespace
}  // namespace mulciber::fatbin
