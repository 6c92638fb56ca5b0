#include "mapdiag/heap/graph.h"

#include <algorithm>

#include "heap/graph/address_table.h"

namespace mapdiag::heap {

namespace {

std::string_view text_of(const Column<char>& bytes, std::uint64_t begin, std::uint64_t end) {
    const auto part = bytes.part(begin, end);
    return {part.data(), part.size()};
}

}  // namespace

std::string_view Graph::type_name(TypeId type) const {
    if (!type) {
        return {};
    }
    return text_of(columns_.type_bytes, columns_.type_start[type.value - 1],
                   columns_.type_start[type.value]);
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
    const auto at = lower_bound_in(columns_.named, id);
    if (at == columns_.named.size() || columns_.named[at] != id) {
        return std::nullopt;
    }
    const auto number = columns_.name[at];
    return text_of(columns_.name_bytes, columns_.name_start[number],
                   columns_.name_start[number + 1]);
}

// As AddressTable::find(), but reading no more of a mapped table than it has to.
ObjectId Graph::find_with_line(std::uint64_t address) const {
    const auto& slots = columns_.slots;
    auto slot = AddressTable::home(address, slots.size(), facts_.table_seed);
    for (std::size_t tried = 0; tried < slots.size(); ++tried) {
        const auto id = slots[slot];
        if (!id || columns_.address[id.value] == address) {
            return id;
        }
        slot = slot + 1 == slots.size() ? 0 : slot + 1;
    }
    return {};
}

std::optional<ObjectId> Graph::find(std::uint64_t address) const {
    if (const auto id = find_with_line(address)) {
        return id;
    }
    // The missing ones stand behind, sorted among themselves.
    std::size_t begin = end();
    std::size_t size = facts_.missing;
    while (size != 0) {
        const auto half = size / 2;
        const bool is_below = columns_.address[begin + half] < address;
        begin = is_below ? begin + half + 1 : begin;
        size = is_below ? size - half - 1 : half;
    }
    if (begin == columns_.address.size() || columns_.address[begin] != address) {
        return std::nullopt;
    }
    return ObjectId{static_cast<std::uint32_t>(begin)};
}

std::optional<MergedDict> Graph::find_merged(ObjectId owner) const {
    const auto at = lower_bound_in(columns_.merged, owner, &MergedDict::owner);
    if (at == columns_.merged.size() || columns_.merged[at].owner != owner) {
        return std::nullopt;
    }
    return columns_.merged[at];
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
    return is_in(columns_.texts, id);
}

}  // namespace mapdiag::heap
