// Tables for people who would rather write SQL.
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "mapdiag/heap/convert.h"
#include "mapdiag/heap/reach.h"
#include "mapdiag/support/output_file.h"
#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
struct FinishStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

class TableWriter {
  public:
    TableWriter(std::string path, std::string temporary)
        : path_(std::move(path)), temporary_(std::move(temporary)) {}
    TableWriter(const TableWriter&) = delete;
    TableWriter& operator=(const TableWriter&) = delete;
    ~TableWriter() {
        database_.reset();
        std::error_code ignored;
        std::filesystem::remove(temporary_, ignored);
    }

    bool open() {
        sqlite3* database = nullptr;
        const int status = sqlite3_open_v2(temporary_.c_str(), &database,
                                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
        database_.reset(database);
        return status == SQLITE_OK;
    }
    // A new file that appears as a whole needs no journal and no syncs.
    bool start() {
        return run(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
            "BEGIN;"
            "CREATE TABLE types(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
            "CREATE TABLE objects(id INTEGER PRIMARY KEY, address TEXT NOT NULL,"
            " type INTEGER NOT NULL REFERENCES types(id), size INTEGER NOT NULL,"
            " len INTEGER, name TEXT, retained INTEGER NOT NULL, dominator INTEGER,"
            " value TEXT);"
            "CREATE TABLE refs(parent INTEGER NOT NULL REFERENCES objects(id),"
            " position INTEGER NOT NULL, child INTEGER REFERENCES objects(id));"
            "CREATE TABLE missing(address TEXT NOT NULL, parents INTEGER NOT NULL);");
    }
    bool finish() {
        return run(
            "CREATE INDEX objects_by_type ON objects(type);"
            "CREATE UNIQUE INDEX objects_by_address ON objects(address);"
            "CREATE INDEX refs_by_parent ON refs(parent);"
            "CREATE INDEX refs_by_child ON refs(child);"
            "COMMIT;");
    }
    Statement prepare(const char* sql) {
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr);
        return Statement(statement);
    }
    bool step(const Statement& statement) {
        const bool done = sqlite3_step(statement.get()) == SQLITE_DONE;
        return sqlite3_reset(statement.get()) == SQLITE_OK && done;
    }
    Error error() const {
        return Error::because("write", path_,
                              database_ ? sqlite3_errmsg(database_.get()) : "not enough memory");
    }
    // Puts the finished file in its place.
    Result<void> commit() {
        database_.reset();
        std::error_code failure;
        std::filesystem::rename(temporary_, path_, failure);
        if (failure) {
            return std::unexpected(Error("put in place", path_, failure.value()));
        }
        return {};
    }

  private:
    bool run(const char* sql) {
        return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
    }

    std::string path_;
    std::string temporary_;
    Database database_;
};

void set_column(const Statement& to, int place, std::uint64_t number) {
    sqlite3_bind_int64(to.get(), place, static_cast<sqlite3_int64>(number));
}
void set_column(const Statement& to, int place, std::string_view text) {
    const auto valid = to_valid_utf8(text);
    sqlite3_bind_text64(to.get(), place, valid.data(), valid.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void set_null(const Statement& to, int place) {
    sqlite3_bind_null(to.get(), place);
}

bool write_types(const Graph& graph, TableWriter& writer) {
    const auto insert = writer.prepare("INSERT INTO types VALUES(?, ?)");
    bool ok = true;
    for (std::uint32_t type = 1; ok && type < graph.type_count(); ++type) {
        set_column(insert, 1, std::uint64_t{type});
        set_column(insert, 2, graph.type_name({type}));
        ok = writer.step(insert);
    }
    return ok;
}

bool write_objects(const Graph& graph, const DominatorTree& tree, const Describer& values,
                   TableWriter& writer) {
    const auto insert = writer.prepare("INSERT INTO objects VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bool ok = true;
    for (std::uint32_t i = 1; ok && i < graph.end(); ++i) {
        const ObjectId id{i};
        if (!graph.is_object(id)) {
            continue;
        }
        sqlite3_clear_bindings(insert.get());
        set_column(insert, 1, std::uint64_t{i});
        set_column(insert, 2, std::to_string(graph.address(id)));
        set_column(insert, 3, std::uint64_t{graph.type(id).value});
        set_column(insert, 4, graph.size(id));
        if (graph.length(id) != kNoLength) {
            set_column(insert, 5, std::uint64_t{graph.length(id)});
        }
        if (const auto name = graph.find_name(id)) {
            set_column(insert, 6, *name);
        }
        set_column(insert, 7, tree.retained[i]);
        if (tree.dominator[i]) {
            set_column(insert, 8, std::uint64_t{tree.dominator[i].value});
        }
        if (const auto* value = values.find_value(id)) {
            set_column(insert, 9, *value);
        }
        ok = writer.step(insert);
    }
    return ok;
}

bool write_refs(const Graph& graph, const ConvertOptions& options, TableWriter& writer,
                std::uint64_t& refs) {
    const auto insert = writer.prepare("INSERT INTO refs VALUES(?, ?, ?)");
    const ExpensiveRefs expensive(graph);
    bool ok = true;
    for (std::uint32_t id = 1; ok && id < graph.end(); ++id) {
        std::uint64_t position = 0;
        const auto add = [&](ObjectId child) {
            set_column(insert, 1, std::uint64_t{id});
            set_column(insert, 2, position++);
            if (graph.is_missing(child)) {
                set_null(insert, 3);
            } else {
                set_column(insert, 3, std::uint64_t{child.value});
            }
            ok = ok && writer.step(insert);
            ++refs;
        };
        if (options.without_expensive && graph.is_object({id})) {
            expensive.for_each_kept({id}, add);
        } else {
            std::ranges::for_each(graph.children({id}), add);
        }
    }
    return ok;
}

bool write_missing(const Graph& graph, TableWriter& writer) {
    const auto insert = writer.prepare("INSERT INTO missing VALUES(?, ?)");
    bool ok = true;
    for (auto id = graph.end(); ok && id < graph.end_with_missing(); ++id) {
        set_column(insert, 1, std::to_string(graph.address({id})));
        set_column(insert, 2, std::uint64_t{graph.parents({id}).size()});
        ok = writer.step(insert);
    }
    return ok;
}

}  // namespace

Result<Converted> convert_to_sqlite(Heap& heap, const ConvertOptions& options,
                                    const std::string& path) {
    const auto tree = heap.retained();
    if (!tree) {
        return std::unexpected(tree.error());
    }
    const auto& graph = heap.graph();
    Describer values(graph);
    if (options.show_values) {
        std::vector<ObjectId> ids;
        for (std::uint32_t id = 1; id < graph.end(); ++id) {
            ids.push_back({id});
        }
        if (auto shown = values.show_values(heap, std::move(ids)); !shown) {
            return std::unexpected(shown.error());
        }
    }
    // SQLite opens its file itself: made first, so that its mode is right and errors are the usual.
    const auto temporary = path + ".tmp";
    if (auto made = write_output_file(temporary, {}, 0600); !made) {
        return std::unexpected(made.error());
    }
    TableWriter writer(path, temporary);
    Converted written{.objects = graph.facts().objects};
    if (!writer.open() || !writer.start() || !write_types(graph, writer) ||
        !write_objects(graph, **tree, values, writer) ||
        !write_refs(graph, options, writer, written.refs) || !write_missing(graph, writer) ||
        !writer.finish()) {
        return std::unexpected(writer.error());
    }
    if (auto committed = writer.commit(); !committed) {
        return std::unexpected(committed.error());
    }
    return written;
}

}  // namespace mapdiag::heap
