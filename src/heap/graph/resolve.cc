// References: from the addresses in the dump to rows of object numbers.
#include <algorithm>
#include <array>
#include <random>

#include "heap/graph/address_table.h"
#include "heap/graph/assemble.h"
#include "mapdiag/heap/messages.h"
#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

constexpr std::size_t kBatch = 64;

// A reference to an address without a line.
struct Miss {
    std::uint64_t address;
    std::uint32_t place;  // in `children`
};

// Where a chunk's objects and live references come to stand.
struct ChunkBase {
    std::size_t first_object = 1;
    std::uint64_t first_ref = 0;
};

std::uint64_t random_seed() {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32) | device();
}

std::uint32_t row_begin(const RawChunk& chunk, std::size_t object) {
    return object == 0 ? 0 : chunk.ref_ends[object - 1];
}

class Resolver {
  public:
    Resolver(std::span<RawChunk> chunks, Draft& draft)
        : chunks_(chunks),
          draft_(draft),
          table_(draft.columns.slots.span(), draft.columns.address.span(), draft.facts.table_seed) {
    }

    std::uint64_t place_chunks() {
        ChunkBase next;
        const auto types = draft_.columns.type.span();
        for (const auto& chunk : chunks_) {
            bases_.push_back(next);
            auto live = static_cast<std::uint64_t>(chunk.ref_count);
            if (draft_.facts.repeated != 0) {
                for (std::size_t i = 0; i < chunk.object_count; ++i) {
                    if (!types[next.first_object + i]) {
                        live -= chunk.ref_ends[i] - row_begin(chunk, i);
                    }
                }
            }
            next.first_object += chunk.object_count;
            next.first_ref += live;
        }
        return next.first_ref;
    }

    void resolve_all(std::uint64_t refs) {
        BigArray<std::uint32_t> starts(draft_.facts.line_objects + 2);
        BigArray<ObjectId> children(refs);
        misses_.resize(chunks_.size());
        in_parallel(chunks_.size(), [&](std::size_t i) {
            resolve_chunk(i, starts.span(), children.span());
            chunks_[i].refs = {};
            chunks_[i].ref_ends = {};
        });
        starts[starts.size() - 1] = static_cast<std::uint32_t>(refs);
        draft_.columns.child_start = Column(std::move(starts));
        draft_.columns.children = Column(std::move(children));
    }

    std::vector<Miss> take_misses() {
        std::vector<Miss> all;
        for (auto& some : misses_) {
            all.insert(all.end(), some.begin(), some.end());
            some = {};
        }
        std::ranges::sort(all, {}, &Miss::address);
        return all;
    }

  private:
    void resolve_chunk(std::size_t number, std::span<std::uint32_t> starts,
                       std::span<ObjectId> children) {
        const auto& chunk = chunks_[number];
        const auto& base = bases_[number];
        auto place = static_cast<std::uint32_t>(base.first_ref);
        const auto types = draft_.columns.type.span();
        std::uint32_t run_begin = 0;  // the live refs from here on are not resolved yet
        std::uint32_t run_end = 0;
        for (std::size_t i = 0; i < chunk.object_count; ++i) {
            const auto id = base.first_object + i;
            starts[id] = place + (run_end - run_begin);
            const auto end = chunk.ref_ends[i];
            if (types[id]) {
                run_end = end;
                continue;
            }
            resolve_run(number, run_begin, run_end, children.subspan(place), place);
            place += run_end - run_begin;
            run_begin = run_end = end;
        }
        resolve_run(number, run_begin, run_end, children.subspan(place), place);
    }

    void resolve_run(std::size_t number, std::uint32_t begin, std::uint32_t end,
                     std::span<ObjectId> into, std::uint32_t place) {
        const auto refs = std::as_const(chunks_[number].refs).span().subspan(begin, end - begin);
        std::array<std::size_t, kBatch> homes{};
        for (std::size_t at = 0; at < refs.size(); at += kBatch) {
            const auto batch = refs.subspan(at, std::min(kBatch, refs.size() - at));
            // Slots and then addresses of a whole batch are fetched before the first is needed.
            for (std::size_t i = 0; i < batch.size(); ++i) {
                homes[i] = table_.home(batch[i]);
                table_.prefetch_slot(homes[i]);
            }
            for (std::size_t i = 0; i < batch.size(); ++i) {
                table_.prefetch_address(homes[i]);
            }
            for (std::size_t i = 0; i < batch.size(); ++i) {
                const auto id = table_.find_from(homes[i], batch[i]);
                into[at + i] = id;
                if (!id) {
                    misses_[number].push_back(
                        {batch[i], place + static_cast<std::uint32_t>(at + i)});
                }
            }
        }
    }

    std::span<RawChunk> chunks_;
    Draft& draft_;
    AddressTable table_;
    std::vector<ChunkBase> bases_;
    std::vector<std::vector<Miss>> misses_;
};

void fill_table(Draft& draft) {
    auto& columns = draft.columns;
    BigArray<ObjectId> slots(AddressTable::slots_for(draft.facts.line_objects));
    draft.facts.table_seed = random_seed();
    const auto repeated =
        fill_address_table(slots.span(), columns.address.span(), draft.facts.table_seed);
    for (const auto id : repeated) {
        columns.type.owned()[id.value] = {};
        columns.size.owned()[id.value] = 0;
    }
    draft.facts.repeated = repeated.size();
    columns.slots = Column(std::move(slots));
}

// Gives the addresses without a line their numbers.
Result<void> number_missing(Draft& draft, const std::vector<Miss>& misses, const LoadLimits& limits,
                            const std::string& shown) {
    auto& columns = draft.columns;
    const auto end = draft.facts.line_objects + 1;
    std::vector<std::uint64_t> addresses;
    for (const auto& miss : misses) {
        if (addresses.empty() || addresses.back() != miss.address) {
            addresses.push_back(miss.address);
            if (end - 1 + addresses.size() > limits.objects) {
                return std::unexpected(too_many_objects(shown, limits.objects));
            }
        }
        columns.children.owned()[miss.place] = {
            static_cast<std::uint32_t>(end + addresses.size() - 1)};
    }
    draft.facts.missing = addresses.size();
    draft.facts.missing_refs = misses.size();
    if (!addresses.empty()) {
        BigArray<std::uint64_t> longer(end + addresses.size());
        std::ranges::copy(columns.address.span(), longer.begin());
        std::ranges::copy(addresses, longer.begin() + end);
        columns.address = Column(std::move(longer));
    }
    return {};
}

}  // namespace

Result<void> resolve_refs(Draft& draft, std::span<RawChunk> chunks, const LoadLimits& limits,
                          const std::string& shown) {
    fill_table(draft);
    Resolver resolver(chunks, draft);
    const auto refs = resolver.place_chunks();
    if (refs > limits.refs) {
        return std::unexpected(too_many_refs(shown, limits.refs));
    }
    resolver.resolve_all(refs);
    return number_missing(draft, resolver.take_misses(), limits, shown);
}

}  // namespace mapdiag::heap
