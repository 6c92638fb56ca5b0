// Instance dicts become part of their owners: see merge_instance_dicts() in assemble.h.
#include <algorithm>
#include <array>
#include <atomic>

#include "heap/graph/assemble.h"
#include "mapdiag/heap/messages.h"
#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

constexpr std::size_t kMaxParts = 64;

// The types that the rule names, in this dump; TypeId{} for one that does not occur.
struct KnownTypes {
    TypeId dict;
    TypeId type;
    TypeId classobj;
    TypeId instance;
    TypeId module;
    std::array<TypeId, 11> never_owners;
};

KnownTypes known_types(const StringPool& pool) {
    const auto find = [&](std::string_view name) {
        const auto number = pool.find(name);
        return number ? TypeId{*number + 1} : TypeId{};
    };
    return {.dict = find("dict"),
            .type = find("type"),
            .classobj = find("classobj"),
            .instance = find("instance"),
            .module = find("module"),
            .never_owners = {find("str"), find("dict"), find("tuple"), find("list"), find("type"),
                             find("function"), find("wrapper_descriptor"), find("code"),
                             find("classobj"), find("int"), find("weakref")}};
}

class Collapser {
  public:
    explicit Collapser(Draft& draft)
        : draft_(draft),
          end_(draft.facts.line_objects + 1),
          types_(known_types(draft.types)),
          type_of_(draft.columns.type.span()),
          starts_(draft.columns.child_start.span()),
          children_(draft.columns.children.span()) {}

    bool may_apply() const { return static_cast<bool>(types_.dict); }

    void count_refs() {
        counts_ = BigArray<std::uint8_t>(end_ + draft_.facts.missing);
        const auto parts = parts_for(children_.size());
        in_parallel(parts, [&](std::size_t part) {
            const auto range = part_of(children_.size(), part, parts);
            for (auto i = range.begin; i < range.end; ++i) {
                // Only "none", "one" or "more" is asked for, so that a full counter is left alone.
                const std::atomic_ref<std::uint8_t> count(counts_[children_[i].value]);
                if (count.load(std::memory_order_relaxed) < 2) {
                    count.fetch_add(1, std::memory_order_relaxed);
                }
            }
        });
    }

    std::vector<MergedDict> find_merges() const {
        const auto parts = parts_for(end_);
        std::vector<std::vector<MergedDict>> found(parts);
        in_parallel(parts, [&](std::size_t part) {
            const auto range = part_of(end_, part, parts);
            for (auto id = range.begin; id < range.end; ++id) {
                const ObjectId owner{static_cast<std::uint32_t>(id)};
                if (const auto dict = dict_to_merge(owner)) {
                    const auto own = static_cast<std::uint32_t>(row(owner).size() - 1);
                    found[part].push_back({owner, dict, own});
                }
            }
        });
        std::vector<MergedDict> all;
        for (const auto& some : found) {
            all.insert(all.end(), some.begin(), some.end());
        }
        return all;
    }

    std::span<const ObjectId> row(ObjectId id) const {
        return children_.subspan(starts_[id.value], starts_[id.value + 1] - starts_[id.value]);
    }
    const KnownTypes& types() const { return types_; }

  private:
    static std::size_t parts_for(std::size_t size) {
        return std::clamp<std::size_t>(size / 65536, 1, kMaxParts);
    }
    TypeId type_of(ObjectId id) const { return id.value < end_ ? type_of_[id.value] : TypeId{}; }
    bool is_never_owner(TypeId type) const {
        return std::ranges::find(types_.never_owners, type) != types_.never_owners.end();
    }
    bool is_own_dict(ObjectId id) const {
        return type_of(id) == types_.dict && counts_[id.value] == 1;
    }

    // The dict that becomes part of this object, or none.
    ObjectId dict_to_merge(ObjectId owner) const {
        const auto type = type_of(owner);
        if (!type) {
            return {};
        }
        const auto refs = row(owner);
        if (type == types_.module) {
            return module_dict(refs);
        }
        if (refs.size() != 2 || is_never_owner(type)) {
            return {};
        }
        if (type == types_.instance && types_.classobj && type_of(refs[0]) == types_.classobj) {
            return is_own_dict(refs[1]) ? refs[1] : ObjectId{};
        }
        return types_.type && type_of(refs[1]) == types_.type && is_own_dict(refs[0]) ? refs[0]
                                                                                      : ObjectId{};
    }

    // CPython lists the dict of a module last, behind its C state; writers for the purpose first.
    ObjectId module_dict(std::span<const ObjectId> refs) const {
        if (refs.empty()) {
            return {};
        }
        if (is_own_dict(refs.back())) {
            return refs.back();
        }
        return is_own_dict(refs.front()) ? refs.front() : ObjectId{};
    }

    Draft& draft_;
    std::size_t end_;
    KnownTypes types_;
    std::span<const TypeId> type_of_;
    std::span<const std::uint32_t> starts_;
    std::span<const ObjectId> children_;
    BigArray<std::uint8_t> counts_;
};

// By object: the dict that it takes in, or the owner that takes it in.
BigArray<ObjectId> partners_of(const std::vector<MergedDict>& merges, std::size_t end) {
    BigArray<ObjectId> partners(end);
    for (const auto& merge : merges) {
        partners[merge.owner.value] = merge.dict;
        partners[merge.dict.value] = merge.owner;
    }
    return partners;
}

class RowRewriter {
  public:
    RowRewriter(Draft& draft, const Collapser& collapser, const std::vector<MergedDict>& merges)
        : end_(draft.facts.line_objects + 1),
          old_refs_(draft.columns.children.size()),
          merged_(merges.size()),
          dict_type_(collapser.types().dict),
          types_(draft.columns.type.span()),
          collapser_(collapser),
          partners_(partners_of(merges, end_)) {}

    void run(Draft& draft) {
        BigArray<std::uint32_t> starts(end_ + 1);
        std::uint32_t sum = 0;
        for (std::size_t id = 0; id < end_; ++id) {
            starts[id] = sum;
            sum += new_length({static_cast<std::uint32_t>(id)});
        }
        starts[end_] = sum;
        BigArray<ObjectId> children(old_refs_ - merged_);
        const std::size_t parts = 16;
        in_parallel(parts, [&](std::size_t part) {
            const auto range = part_of(end_, part, parts);
            for (auto id = range.begin; id < range.end; ++id) {
                copy_row({static_cast<std::uint32_t>(id)}, children.data() + starts[id]);
            }
        });
        draft.columns.child_start = Column(std::move(starts));
        draft.columns.children = Column(std::move(children));
    }

  private:
    bool is_merged_dict(ObjectId id) const {
        return partners_[id.value] && types_[id.value] == dict_type_;
    }
    std::uint32_t new_length(ObjectId id) const {
        const auto own = static_cast<std::uint32_t>(collapser_.row(id).size());
        if (!partners_[id.value]) {
            return own;
        }
        return is_merged_dict(id)
                   ? 0
                   : own - 1 +
                         static_cast<std::uint32_t>(collapser_.row(partners_[id.value]).size());
    }
    void copy_row(ObjectId id, ObjectId* into) const {
        const auto partner = partners_[id.value];
        if (partner && is_merged_dict(id)) {
            return;
        }
        if (partner) {
            into = std::ranges::copy(collapser_.row(partner), into).out;
        }
        std::ranges::remove_copy(collapser_.row(id), into, partner);
    }

    std::size_t end_;
    std::size_t old_refs_;
    std::size_t merged_;
    TypeId dict_type_;
    std::span<const TypeId> types_;
    const Collapser& collapser_;
    BigArray<ObjectId> partners_;
};

std::string_view name_of(const Draft& draft, ObjectId id) {
    const auto named = draft.columns.named.span();
    const auto at = std::ranges::lower_bound(named, id);
    if (at == named.end() || *at != id) {
        return {};
    }
    return draft.names[draft.columns.name[static_cast<std::size_t>(at - named.begin())]];
}

// An instance of a Python 2 class gets the class's name as its type, as in Meliae.
void name_instances(Draft& draft, const Collapser& collapser,
                    const std::vector<MergedDict>& merges) {
    const auto types = draft.columns.type.owned();
    for (const auto& merge : merges) {
        if (types[merge.owner.value] != collapser.types().instance) {
            continue;
        }
        const auto name = name_of(draft, collapser.row(merge.owner).front());
        if (!name.empty()) {
            types[merge.owner.value] = {draft.types.intern(std::string(name)) + 1};
        }
    }
}

bool move_sizes(Draft& draft, const std::vector<MergedDict>& merges) {
    const auto sizes = draft.columns.size.owned();
    const auto types = draft.columns.type.owned();
    const auto lengths = draft.columns.length.owned();
    bool fits = true;
    for (const auto& merge : merges) {
        auto& size = sizes[merge.owner.value];
        fits = fits && !__builtin_add_overflow(size, sizes[merge.dict.value], &size);
        sizes[merge.dict.value] = 0;
        types[merge.dict.value] = {};
        if (lengths[merge.owner.value] == kNoLength) {
            lengths[merge.owner.value] = lengths[merge.dict.value];
        }
    }
    return fits;
}

}  // namespace

Result<void> merge_instance_dicts(Draft& draft, const std::string& shown) {
    Collapser collapser(draft);
    if (!collapser.may_apply()) {
        return {};
    }
    collapser.count_refs();
    const auto merges = collapser.find_merges();
    if (merges.empty()) {
        return {};
    }
    // The rewriter and the namer look at rows and types as they were: sizes and types come last.
    name_instances(draft, collapser, merges);
    RowRewriter(draft, collapser, merges).run(draft);
    if (!move_sizes(draft, merges)) {
        return std::unexpected(sizes_overflow(shown));
    }
    BigArray<MergedDict> merged(merges.size());
    std::ranges::copy(merges, merged.begin());
    draft.columns.merged = Column(std::move(merged));
    draft.facts.merged = merges.size();
    return {};
}

}  // namespace mapdiag::heap
