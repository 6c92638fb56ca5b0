#include "heap/reader/raw_chunk.h"

#include <algorithm>
#include <cstring>

#include "heap/reader/json_text.h"
#include "heap/reader/layout_scanner.h"
#include "heap/reader/line_parser.h"

namespace mapdiag::heap {
namespace {

// The shortest object is {"address":1,"type":"","size":1}, the shortest ref "1,".
constexpr std::size_t kShortestObject = 28;
constexpr std::size_t kShortestRef = 2;

// Adds what was read to the chunk.
class ChunkReader {
  public:
    ChunkReader(std::string_view text, const ChunkPlace& place) : text_(text), place_(place) {
        const auto most_objects = text.size() / kShortestObject + 2;
        chunk_.objects = BigArray<RawObject>(most_objects, Pages::kReserve);
        chunk_.ref_ends = BigArray<std::uint32_t>(most_objects, Pages::kReserve);
        chunk_.refs = BigArray<std::uint64_t>(text.size() / kShortestRef + 2, Pages::kReserve);
    }

    RawChunk read() && {
        const char* at = text_.data();
        const char* const end = at + text_.size();
        // The scanner reads whole words; near the end of the text only the careful parser may go.
        const char* const safe = text_.size() > kScannerSlack ? end - kScannerSlack : text_.data();
        while (at != end) {
            ScannedObject object;
            object.refs = chunk_.refs.data() + chunk_.ref_count;
            if (at < safe) {
                if (const char* const next = scan_usual_line(at, safe, object)) {
                    add_scanned(object, at);
                    at = next;
                    ++chunk_.line_count;
                    continue;
                }
            }
            const auto* const line_end =
                static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
            const char* const stop = line_end == nullptr ? end : line_end;
            read_unusual({at, static_cast<std::size_t>(stop - at)}, line_end == nullptr);
            ++chunk_.line_count;
            at = line_end == nullptr ? end : line_end + 1;
        }
        return std::move(chunk_);
    }

  private:
    std::uint64_t offset_of(const char* at) const {
        return place_.offset + static_cast<std::uint64_t>(at - text_.data());
    }

    void add_scanned(const ScannedObject& object, const char* at) {
        chunk_.ref_count += object.ref_count;
        chunk_.ref_ends[chunk_.object_count] = static_cast<std::uint32_t>(chunk_.ref_count);
        chunk_.objects[chunk_.object_count] = {.address = object.address,
                                               .size = object.size,
                                               .line = offset_of(at),
                                               .type = chunk_.types.intern(object.type),
                                               .length = object.length};
        if (object.text.data() != nullptr) {
            add_text(object.type, object.text, object.is_name);
        }
        ++chunk_.object_count;
    }

    // A name, or a string value: of a frame it is the function's name, of a bool nothing that the
    // type does not say, else data.
    void add_text(std::string_view type, std::string_view text, bool is_name) {
        const auto object = static_cast<std::uint32_t>(chunk_.object_count);
        if (is_name || type == "frame") {
            if (!is_data_type(type)) {
                add_name(object, text);
            }
        } else if (type != "bool") {
            chunk_.text_objects.push_back(object);
            chunk_.text_hashes.push_back(hash_bytes(text, place_.hash_key));
        }
    }

    void add_name(std::uint32_t object, std::string_view decoded) {
        chunk_.names.push_back({object, chunk_.name_pool.intern(decoded)});
    }

    // No writer gives these a "name"; one that does has put data there.
    static bool is_data_type(std::string_view type) {
        return type == "str" || type == "unicode" || type == "bytes" || type == "bytearray" ||
               type == "int" || type == "long" || type == "float";
    }

    void read_unusual(std::string_view line, bool at_the_end) {
        LineParser parser(line);
        while (parser.has_object()) {
            const char* const start = line.data() + parser.offset();
            if (!parser.read_object(parsed_)) {
                break;
            }
            add_parsed(start);
        }
        if (!parser.ok()) {
            add_bad_line(at_the_end && place_.last ? BadLine::kCut : parser.reason());
        }
    }

    void add_parsed(const char* start) {
        std::ranges::copy(parsed_.refs, chunk_.refs.data() + chunk_.ref_count);
        chunk_.ref_count += parsed_.refs.size();
        chunk_.objects[chunk_.object_count] = {.address = parsed_.address,
                                               .size = parsed_.size,
                                               .line = offset_of(start),
                                               .type = chunk_.types.intern(parsed_.type),
                                               .length = parsed_.length};
        chunk_.ref_ends[chunk_.object_count] = static_cast<std::uint32_t>(chunk_.ref_count);
        if (!parsed_.name.empty()) {
            add_text(parsed_.type, parsed_.name, true);
        }
        if (parsed_.has_value) {
            add_value();
        }
        ++chunk_.object_count;
    }

    void add_value() {
        // A frame's name goes the way of names, decoded.
        if (parsed_.type != "frame") {
            add_text(parsed_.type, parsed_.value, false);
        } else if (const auto decoded = decode_json_text(parsed_.value)) {
            add_text(parsed_.type, *decoded, true);
        }
    }

    void add_bad_line(BadLine reason) {
        ++chunk_.bad_line_count;
        if (chunk_.bad_lines.size() < RawChunk::kShownBadLines) {
            chunk_.bad_lines.push_back({chunk_.line_count, reason});
        }
    }

    std::string_view text_;
    ChunkPlace place_;
    RawChunk chunk_;
    ParsedObject parsed_;
};

}  // namespace

RawChunk read_chunk(std::string_view text, const ChunkPlace& place) {
    return ChunkReader(text, place).read();
}

}  // namespace mapdiag::heap
