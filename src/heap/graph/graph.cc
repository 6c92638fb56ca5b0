#include "mapdiag/heap/graph.h"

#include <algorithm>

#include "heap/graph/address_table.h"

namespace mapdiag::heap {

std::string_view Graph::type_name(TypeId type) const {
    if (!type) {
        return {};
    }
    const auto begin = columns_.type_start[type.value - 1];
    return {columns_.type_bytes.span().data() + begin, columns_.type_start[type.value] - begin};
}

std::optional<TypeId> Graph::find_type(std::string_view name) const {
    for (std::uint32_t type = 1; type < type_count(); ++type) {
        if (type_name({type}) == name) {
            return TypeId{type};
        }
    }
    return std::nullopt;
}

std::optional<std::string_view> Graph::find_name(ObjectId id) const {
    const auto named = columns_.named.span();
    const auto at = std::ranges::lower_bound(named, id);
    if (at == named.end() || *at != id) {
        return std::nullopt;
    }
    const auto number = columns_.name[static_cast<std::size_t>(at - named.begin())];
    const auto begin = columns_.name_start[number];
    return std::string_view(columns_.name_bytes.span().data() + begin,
                            columns_.name_start[number + 1] - begin);
}

std::optional<ObjectId> Graph::find(std::uint64_t address) const {
    const AddressTable table(columns_.slots.span(), columns_.address.span(), facts_.table_seed);
    if (const auto id = table.find(address)) {
        return id;
    }
    const auto missing = columns_.address.span().subspan(end());
    const auto at = std::ranges::lower_bound(missing, address);
    if (at == missing.end() || *at != address) {
        return std::nullopt;
    }
    return ObjectId{end() + static_cast<std::uint32_t>(at - missing.begin())};
}

std::optional<MergedDict> Graph::find_merged(ObjectId owner) const {
    const auto merged = columns_.merged.span();
    const auto at = std::ranges::lower_bound(merged, owner, {}, &MergedDict::owner);
    if (at == merged.end() || at->owner != owner) {
        return std::nullopt;
    }
    return *at;
}

std::optional<ObjectId> Graph::find_owner(ObjectId dict) const {
    const auto merged = columns_.merged.span();
    const auto at = std::ranges::find(merged, dict, &MergedDict::dict);
    if (at == merged.end()) {
        return std::nullopt;
    }
    return at->owner;
}

bool Graph::has_text(ObjectId id) const {
    return std::ranges::binary_search(columns_.texts.span(), id);
}

}  // namespace mapdiag::heap
