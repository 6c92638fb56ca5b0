#include "mapdiag/heap/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "heap/reader/json_text.h"
#include "heap/reader/line_parser.h"
#include "mapdiag/heap/messages.h"
#include "mapdiag/heap/reach.h"
#include "mapdiag/support/compress.h"
#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

// So many lines are read and written at a time.
constexpr std::size_t kBatch = 1U << 16;

class DumpWriter {
  public:
    DumpWriter(const Heap& heap, const ConvertOptions& options)
        : graph_(heap.graph()), options_(options), expensive_(heap.graph()) {}

    void add(ObjectId id, std::string_view line, std::string& out) {
        LineParser parser(line);
        if (!parser.has_object() || !parser.read_object(parsed_)) {
            return;  // it was read once; a file that has changed since then is noticed at the end
        }
        fmt::format_to(std::back_inserter(out), "{{\"address\": {}, \"type\": \"{}\", \"size\": {}",
                       graph_.address(id), encode_json_text(graph_.type_name(graph_.type(id))),
                       graph_.size(id));
        if (parsed_.length != kNoLength) {
            fmt::format_to(std::back_inserter(out), ", \"len\": {}", parsed_.length);
        }
        add_value(out);
        out += ", \"refs\": [";
        add_refs(id, out);
        out += "]}\n";
        ++written_.objects;
    }

    const Converted& written() const { return written_; }

  private:
    void add_value(std::string& out) const {
        if (!parsed_.name.empty()) {
            out += ", \"name\": \"" + encode_json_text(parsed_.name) + '"';
        }
        if (parsed_.has_value) {
            out += ", \"value\": \"";
            out += parsed_.value;
            out += '"';
        } else if (!parsed_.plain_value.empty()) {
            out += ", \"value\": ";
            out += trim(parsed_.plain_value);
        }
    }

    void add_refs(ObjectId id, std::string& out) {
        bool is_first = true;
        const auto add_address = [&](std::uint64_t address) {
            fmt::format_to(std::back_inserter(out), "{}{}", is_first ? "" : ", ", address);
            is_first = false;
            ++written_.refs;
        };
        const auto add_ref = [&](ObjectId child) { add_address(graph_.address(child)); };
        if (!options_.without_expensive) {
            std::ranges::for_each(graph_.children(id), add_ref);
        } else if (expensive_.for_each_kept(id, add_ref)) {
            add_address(0);
        }
    }

    const Graph& graph_;
    ConvertOptions options_;
    ExpensiveRefs expensive_;
    ParsedObject parsed_;
    Converted written_;
};

std::vector<ObjectId> objects_of(const Graph& graph) {
    std::vector<ObjectId> ids;
    ids.reserve(graph.facts().objects);
    for (std::uint32_t id = 1; id < graph.end(); ++id) {
        if (graph.is_object({id})) {
            ids.push_back({id});
        }
    }
    return ids;
}

}  // namespace

Result<Converted> convert_to_dump(const Heap& heap, const ConvertOptions& options,
                                  const std::string& path) {
    auto file = PackedOutput::create(path, 0600);
    if (!file) {
        return std::unexpected(file.error());
    }
    const auto& graph = heap.graph();
    Result<void> written;
    const auto zero = graph.find(0);
    if (options.without_expensive && !(zero && graph.is_object(*zero))) {
        written = file->write(
            "{\"address\": 0, \"type\": \"<ex-reference>\", \"size\": 0, \"refs\": []}\n");
    }
    DumpWriter writer(heap, options);
    std::string out;
    const auto ids = objects_of(graph);
    const auto visited = heap.visit_lines(ids, [&](std::size_t i, std::string_view line) {
        if (!written) {
            return;
        }
        writer.add(ids[i], line, out);
        if (out.size() > kBatch) {
            written = file->write(out);
            out.clear();
        }
    });
    if (!visited) {
        return std::unexpected(visited.error());
    }
    if (written) {
        written = file->write(out);
    }
    if (written && writer.written().objects != graph.facts().objects) {
        written = std::unexpected(dump_changed(heap.path()));
    }
    if (written) {
        written = file->commit();
    }
    if (!written) {
        return std::unexpected(written.error());
    }
    return writer.written();
}

std::string converted_text(const std::string& path, const Converted& converted) {
    return fmt::format("{}: {} objects, {} references\n", printable(path), converted.objects,
                       converted.refs);
}

std::string converted_json(const std::string& path, const Converted& converted) {
    const nlohmann::ordered_json out = {
        {"file", to_valid_utf8(path)}, {"objects", converted.objects}, {"refs", converted.refs}};
    return out.dump(2) + '\n';
}

}  // namespace mapdiag::heap
