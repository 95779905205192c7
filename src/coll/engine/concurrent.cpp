#include "coll/engine/concurrent.hpp"

namespace isthmus::coll {
namespace {

class AllOf final : public Operation {
 public:
  explicit AllOf(std::vector<Task> tasks) : tasks_(std::move(tasks)) {}
  bool poll() override {
    bool all = true;
    for (Task& task : tasks_) {
      if (!task.finished()) all = task.step() && all;
    }
    return all;
  }

 private:
  std::vector<Task> tasks_;
};

class Until final : public Operation {
 public:
  explicit Until(std::function<bool()> condition) : condition_(std::move(condition)) {}
  bool poll() override { return held_ = held_ || condition_(); }

 private:
  std::function<bool()> condition_;
  bool held_ = false;
};

}  // namespace

Pending all_of(std::vector<Task> tasks) {
  return Pending(std::make_unique<AllOf>(std::move(tasks)));
}

Pending until(std::function<bool()> condition) {
  return Pending(std::make_unique<Until>(std::move(condition)));
}

}  // namespace isthmus::coll
