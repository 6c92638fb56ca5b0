#include <algorithm>
#include <numeric>

#include "mapdiag/stacks/export.h"

namespace mapdiag::stacks {
namespace {

// The place of each frame among all in the order of their texts.
std::vector<std::uint32_t> places(const FrameTable& table) {
    std::vector<std::uint32_t> order(table.id_limit());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t id) { return table.text({id}); });
    std::vector<std::uint32_t> places(order.size());
    for (std::uint32_t place = 0; place < order.size(); ++place) {
        places[order[place]] = place;
    }
    return places;
}

}  // namespace

std::vector<MergedStack> merge_stacks(const Profile& profile) {
    const auto place = places(profile.table);
    const auto place_of = [&](FrameId id) { return place[id.value]; };
    std::vector<MergedStack> stacks;
    stacks.reserve(profile.stack_count());
    profile.for_each_stack([&](std::span<const FrameId> frames, Weight weight) {
        if (weight > 0) {
            stacks.push_back({.frames = frames, .weight = weight});
        }
    });
    std::ranges::sort(stacks, [&](const MergedStack& a, const MergedStack& b) {
        return std::ranges::lexicographical_compare(a.frames, b.frames, {}, place_of, place_of);
    });
    std::size_t kept = 0;
    for (const auto& stack : stacks) {
        if (kept > 0 && std::ranges::equal(stacks[kept - 1].frames, stack.frames)) {
            stacks[kept - 1].weight += stack.weight;
        } else {
            stacks[kept++] = stack;
        }
    }
    stacks.resize(kept);
    return stacks;
}

}  // namespace mapdiag::stacks
