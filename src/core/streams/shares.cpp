#include "core/streams/shares.hpp"

#include <algorithm>
#include <cmath>

namespace isthmus::core {
namespace {

constexpr double kWorthTelling = 0.125, kSame = 0.005;
// If several send, this part of the rate stays unused. The excess that they sent while they came
// and went stands in a queue, which drains only this way. An unused 1 % was too little: 8 senders
// at 200 Mbit/s lost segments for seconds (2026-11).
constexpr double kSpare = 0.03;

}  // namespace

void Shares::claim(NodeId member, double part, Time now) {
  part = std::isfinite(part) ? std::clamp(part, 0.0, 1.0) : 0;
  const auto found = members_.find(member);
  if (part <= 0 && found == members_.end()) return;
  Member& known = found == members_.end() ? members_[member] : found->second;
  changed_ = changed_ || known.part != part;
  known.part = part;
  known.heard = now;
}

void Shares::forget(NodeId member) {
  const auto found = members_.find(member);
  if (found == members_.end()) return;
  changed_ = changed_ || found->second.part > 0;
  members_.erase(found);
}

void Shares::tick(Time now) {
  const auto over = [now](const auto& entry) {
    return entry.second.part > 0 && now - entry.second.heard > kForgotten;
  };
  changed_ = std::erase_if(members_, over) > 0 || changed_;
  exactly_ = true;
}

std::size_t Shares::size() const {
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [](const auto& entry) { return entry.second.part > 0; }));
}

// The level at which all claims together, none beyond it, are the whole rate.
void Shares::settle() {
  std::vector<double> parts;
  parts.reserve(members_.size());
  for (const auto& [node, member] : members_) {
    if (member.part > 0) parts.push_back(member.part);
  }
  std::sort(parts.begin(), parts.end());
  double left = parts.size() > 1 ? 1 - kSpare : 1;
  level_ = 1;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double each = left / static_cast<double>(parts.size() - i);
    if (parts[i] >= each) {
      level_ = each;
      return;
    }
    left -= parts[i];
  }
  // All have as much as they can use; a sender that takes more gets the rest.
  if (!parts.empty()) level_ = std::min(1.0, left + parts.back());
}

std::vector<Shares::News> Shares::news(bool risen) {
  if (changed_) settle();
  const double bound = exactly_ ? kSame : kWorthTelling;
  std::vector<News> news;
  if (changed_ || exactly_ || (waits_ && risen)) {
    waits_ = false;
    for (auto& [node, member] : members_) {
      if (member.part <= 0) continue;
      if (std::abs(member.told - level_) <= bound * std::min(member.told, level_)) continue;
      const bool rises = member.told > 0 && level_ > member.told;
      if (rises && member.part <= member.told) continue;
      if (rises && !risen) {
        waits_ = true;
        continue;
      }
      member.told = level_;
      news.push_back({node, level_});
    }
  }
  changed_ = exactly_ = false;
  return news;
}

}  // namespace isthmus::core
