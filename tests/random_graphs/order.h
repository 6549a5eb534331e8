// Which parts of launches are known to come before which: what streams, events and executable graphs have behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "program.h"

namespace mulciber::random_graphs {

bool conflict(const Node& one, const Node& other);

// A set of accesses, by their numbers.
class Past {
 public:
  bool has(size_t i) const { return i / 64 < words_.size() && (words_[i / 64] >> i % 64 & 1) != 0; }
  void add(size_t i) {
    if (words_.size() <= i / 64) words_.resize(i / 64 + 1);
    words_[i / 64] |= uint64_t{1} << i % 64;
  }
  void add(const Past& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  }

 private:
  std::vector<uint64_t> words_;
};

class Order {
 public:
  // `wait` makes one stream wait for another.
  using Wait = std::function<void(unsigned stream, unsigned other)>;
  explicit Order(Wait wait) : wait_(std::move(wait)) { forget(); }

  void giveWork(unsigned stream, const Node& node);
  void launch(unsigned stream, unsigned executable, const Program& program);
  // The executable graph is another one now: it is not ordered after the last one's launches.
  void replace(unsigned executable) { executables_[executable] = {}; }
  void forget();  // all work has ended

 private:
  struct Access {
    const Node* node;
    unsigned stream;
  };
  // One of a launch, not numbered yet.
  struct Part {
    const Node* node;
    std::vector<size_t> before;  // of the launch's parts
    Past events;                 // what the waits before it have waited for
  };
  void gather(const Graph& graph, const Program& program, const std::vector<size_t>& before, const Past& events,
              std::vector<Part>& parts);
  void settle(unsigned stream, const Past& also, const std::vector<Part>& parts);

  Wait wait_;
  std::vector<Access> accesses_;
  std::vector<Past> streams_, executables_, events_;
};

}  // namespace mulciber::random_graphs
