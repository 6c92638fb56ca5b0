#include "heap/graph/assemble.h"

#include <algorithm>

#include "mapdiag/heap/messages.h"
#include "mapdiag/support/parallel.h"

namespace mapdiag::heap {
namespace {

// How a chunk's own numbers become those of the whole dump.
struct Joint {
    std::size_t first_object = 1;
    std::size_t first_name = 0;
    std::size_t first_text = 0;
    std::vector<std::uint32_t> types;
    std::vector<std::uint32_t> names;
};

std::vector<std::uint32_t> renumber(const StringPool& from, StringPool& into) {
    std::vector<std::uint32_t> numbers(from.size());
    for (std::uint32_t i = 0; i < from.size(); ++i) {
        numbers[i] = into.intern(from[i]);
    }
    return numbers;
}

struct Columns {
    BigArray<std::uint64_t> address;
    BigArray<std::uint64_t> size;
    BigArray<TypeId> type;
    BigArray<std::uint32_t> length;
    BigArray<std::uint64_t> line;
    BigArray<ObjectId> named;
    BigArray<std::uint32_t> name;
    BigArray<ObjectId> texts;
    BigArray<std::uint64_t> text_hashes;
};

void copy_chunk(const RawChunk& chunk, const Joint& joint, Columns& into) {
    const auto id_of = [&](std::uint32_t object) {
        return ObjectId{static_cast<std::uint32_t>(joint.first_object + object)};
    };
    for (std::size_t i = 0; i < chunk.object_count; ++i) {
        const auto& raw = chunk.objects[i];
        const auto id = joint.first_object + i;
        into.address[id] = raw.address;
        into.size[id] = raw.size;
        into.type[id] = {joint.types[raw.type] + 1};
        into.length[id] = raw.length;
        into.line[id] = raw.line;
    }
    for (std::size_t i = 0; i < chunk.names.size(); ++i) {
        into.named[joint.first_name + i] = id_of(chunk.names[i].object);
        into.name[joint.first_name + i] = joint.names[chunk.names[i].name];
    }
    for (std::size_t i = 0; i < chunk.text_objects.size(); ++i) {
        into.texts[joint.first_text + i] = id_of(chunk.text_objects[i]);
        into.text_hashes[joint.first_text + i] = chunk.text_hashes[i];
    }
}

}  // namespace

Result<Draft> assemble(std::span<RawChunk> chunks, const LoadLimits& limits,
                       const std::string& shown) {
    Draft draft;
    std::vector<Joint> joints;
    Joint next;
    for (auto& chunk : chunks) {
        next.types = renumber(chunk.types, draft.types);
        next.names = renumber(chunk.name_pool, draft.names);
        joints.push_back(next);
        next.first_object += chunk.object_count;
        next.first_name += chunk.names.size();
        next.first_text += chunk.text_objects.size();
        draft.facts.bad_lines += chunk.bad_line_count;
        draft.facts.lines += chunk.line_count;
        if (chunk.ref_count > limits.refs) {
            return std::unexpected(too_many_refs(shown, limits.refs));
        }
    }
    const auto end = next.first_object;
    if (end - 1 > limits.objects) {
        return std::unexpected(too_many_objects(shown, limits.objects));
    }
    draft.facts.line_objects = end - 1;
    Columns columns{.address = BigArray<std::uint64_t>(end),
                    .size = BigArray<std::uint64_t>(end),
                    .type = BigArray<TypeId>(end),
                    .length = BigArray<std::uint32_t>(end),
                    .line = BigArray<std::uint64_t>(end),
                    .named = BigArray<ObjectId>(next.first_name),
                    .name = BigArray<std::uint32_t>(next.first_name),
                    .texts = BigArray<ObjectId>(next.first_text),
                    .text_hashes = BigArray<std::uint64_t>(next.first_text)};
    in_parallel(chunks.size(), [&](std::size_t i) {
        copy_chunk(chunks[i], joints[i], columns);
        // What was copied is given back at once, so that nothing is held twice.
        chunks[i].objects = {};
        chunks[i].names = {};
        chunks[i].text_objects = {};
        chunks[i].text_hashes = {};
    });
    draft.columns.address = Column(std::move(columns.address));
    draft.columns.size = Column(std::move(columns.size));
    draft.columns.type = Column(std::move(columns.type));
    draft.columns.length = Column(std::move(columns.length));
    draft.columns.line = Column(std::move(columns.line));
    draft.columns.named = Column(std::move(columns.named));
    draft.columns.name = Column(std::move(columns.name));
    draft.columns.texts = Column(std::move(columns.texts));
    draft.columns.text_hashes = Column(std::move(columns.text_hashes));
    return draft;
}

}  // namespace mapdiag::heap
