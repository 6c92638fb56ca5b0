#include "heap/graph/referrers.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

// A reference that is on its way to its target's bucket.
struct Edge {
    std::uint32_t target;
    std::uint32_t source;
};

constexpr std::size_t kMaxParts = 16;
// The counters of one bucket's targets stay in a first-level cache and its edges in a second-level.
constexpr std::uint32_t kSmallestBucket = 1U << 12;
constexpr std::uint32_t kMostBuckets = 1U << 11;

// Two passes, as random writes over all targets would each miss every cache: references are first
// brought into buckets by target, in order of their source; each bucket is then sorted by itself.
class Transposer {
  public:
    Transposer(std::span<const std::uint32_t> starts, std::span<const ObjectId> cells,
               std::uint32_t targets)
        : starts_(starts), cells_(cells), targets_(targets) {
        const auto width = std::max(kSmallestBucket, std::bit_ceil(targets / kMostBuckets + 1));
        shift_ = static_cast<unsigned>(std::countr_zero(width));
        buckets_ = (targets >> shift_) + 1;
        parts_ = std::clamp<std::size_t>(cells.size() / 65536, 1, kMaxParts);
    }

    Rows run() {
        to_buckets();
        BigArray<std::uint32_t> starts(targets_ + 1ULL);
        in_parallel(buckets_, [&](std::size_t bucket) { count(bucket, starts.span()); });
        std::uint32_t sum = 0;
        for (auto& start : starts) {
            sum += std::exchange(start, sum);
        }
        BigArray<ObjectId> cells(sum);
        in_parallel(buckets_,
                    [&](std::size_t bucket) { fill(bucket, starts.span(), cells.span()); });
        return {Column(std::move(starts)), Column(std::move(cells))};
    }

  private:
    void to_buckets() {
        // place[part][bucket]: first how many edges, then where the next one goes.
        std::vector<std::vector<std::uint32_t>> place(parts_, std::vector<std::uint32_t>(buckets_));
        in_parallel(parts_, [&](std::size_t part) {
            for (const auto cell : cells_of(part)) {
                ++place[part][cell.value >> shift_];
            }
        });
        bucket_start_.resize(buckets_ + 1ULL);
        std::uint32_t sum = 0;
        for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
            bucket_start_[bucket] = sum;
            for (auto& of_part : place) {
                sum += std::exchange(of_part[bucket], sum);
            }
        }
        bucket_start_[buckets_] = sum;
        edges_ = BigArray<Edge>(cells_.size());
        in_parallel(parts_, [&](std::size_t part) { scatter(part, place[part]); });
    }

    IndexRange sources_of(std::size_t part) const {
        return part_of(starts_.size() - 1, part, parts_);
    }
    std::span<const ObjectId> cells_of(std::size_t part) const {
        const auto sources = sources_of(part);
        return cells_.subspan(starts_[sources.begin],
                              starts_[sources.end] - starts_[sources.begin]);
    }

    void scatter(std::size_t part, std::vector<std::uint32_t>& place) {
        const auto sources = sources_of(part);
        for (auto source = sources.begin; source < sources.end; ++source) {
            for (auto at = starts_[source]; at < starts_[source + 1]; ++at) {
                const auto target = cells_[at].value;
                edges_[place[target >> shift_]++] = {target, static_cast<std::uint32_t>(source)};
            }
        }
    }

    std::span<const Edge> bucket_edges(std::size_t bucket) const {
        return edges_.span().subspan(bucket_start_[bucket],
                                     bucket_start_[bucket + 1] - bucket_start_[bucket]);
    }

    // Calls use(target, source) for every edge of a bucket but repeated ones, which stand one
    // behind the other as far as their target is concerned.
    template <class Use>
    void for_each_distinct(std::size_t bucket, Use use) const {
        std::vector<std::uint32_t> last(1ULL << shift_, UINT32_MAX);
        const auto mask = (1U << shift_) - 1;
        for (const auto edge : bucket_edges(bucket)) {
            if (std::exchange(last[edge.target & mask], edge.source) != edge.source) {
                use(edge.target, edge.source);
            }
        }
    }

    void count(std::size_t bucket, std::span<std::uint32_t> counts) const {
        for_each_distinct(bucket, [&](std::uint32_t target, std::uint32_t) { ++counts[target]; });
    }

    void fill(std::size_t bucket, std::span<const std::uint32_t> starts,
              std::span<ObjectId> cells) const {
        std::vector<std::uint32_t> used(1ULL << shift_);
        const auto mask = (1U << shift_) - 1;
        for_each_distinct(bucket, [&](std::uint32_t target, std::uint32_t source) {
            cells[starts[target] + used[target & mask]++] = {source};
        });
    }

    std::span<const std::uint32_t> starts_;
    std::span<const ObjectId> cells_;
    std::uint32_t targets_;
    unsigned shift_;
    std::uint32_t buckets_;
    std::size_t parts_;
    std::vector<std::uint32_t> bucket_start_;
    BigArray<Edge> edges_;
};

}  // namespace

Rows referrers_of(const Column<std::uint32_t>& starts, const Column<ObjectId>& cells,
                  std::uint32_t targets) {
    return Transposer(starts.span(), cells.span(), targets).run();
}

}  // namespace mapdiag::heap
