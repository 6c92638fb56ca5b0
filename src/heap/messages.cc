#include "mapdiag/heap/messages.h"

#include <fmt/format.h>

#include "mapdiag/support/text.h"
#include "mapdiag/support/units.h"

namespace mapdiag::heap {

std::string bad_lines_warning(const std::string& shown, std::uint64_t count,
                              const std::vector<BadLineNote>& first) {
    auto out = fmt::format("{}: {} not usable and left out: ", printable(shown),
                           count == 1 ? "1 line is" : fmt::format("{} lines are", count));
    for (std::size_t i = 0; i < first.size(); ++i) {
        out += fmt::format("{}line {} ({})", i == 0 ? "" : ", ", first[i].line, first[i].reason);
    }
    return count > first.size() ? out + ", ..." : out;
}

std::string cut_warning(const std::string& shown, std::uint64_t line) {
    return fmt::format(
        "{}: the dump is cut within line {}; everything before that line is used, and what was not "
        "written any more is missing from all figures",
        printable(shown), line);
}

std::string damaged_stream_warning(const std::string& shown, const std::string& why) {
    return fmt::format(
        "{}: {}; every whole line before that place is used, and the rest is missing from all "
        "figures",
        printable(shown), why);
}

std::string no_index_warning(const std::string& shown, const std::string& why) {
    return fmt::format("{}: no index is kept, so that the next command reads the dump again: {}",
                       printable(shown), why);
}

Error too_many_objects(const std::string& shown, std::uint64_t limit) {
    return Error::because("load", shown,
                          fmt::format("more than {} objects, which is the limit", limit));
}

Error too_many_refs(const std::string& shown, std::uint64_t limit) {
    return Error::because("load", shown,
                          fmt::format("more than {} references, which is the limit", limit));
}

Error sizes_overflow(const std::string& shown) {
    return Error::because("load", shown, "the sizes of its objects add up to more than 2^64 bytes");
}

Error not_a_dump(const std::string& shown, std::string_view what) {
    return Error::because("load", shown, fmt::format("no heap dump in Meliae's format: {}", what));
}

Error opens_to_too_much(const std::string& shown, std::uint64_t limit) {
    return Error::because(
        "load", shown,
        fmt::format("it opens to more than {} ({} bytes); give --max-size if that is meant",
                    format_bytes(limit), limit));
}

Error out_of_memory(const std::string& shown) {
    return Error::because("load", shown, "not enough memory");
}

Error dump_changed(const std::string& shown) {
    return Error::because("read", shown, "it was changed after it was loaded");
}

Error no_such_address(const std::string& shown, std::uint64_t address) {
    return Error::because("find", fmt::format("address {}", address),
                          fmt::format("{} has no object there, and no reference to it", shown));
}

Error no_such_type(const std::string& shown, std::string_view type) {
    return Error::because("find", fmt::format("type {}", quoted(type)),
                          fmt::format("{} has no object of it", shown));
}

Error only_referred_to(std::uint64_t address, std::uint64_t referrers) {
    return Error::because(
        "find", fmt::format("address {}", address),
        fmt::format("the dump has no line for it, only references from {}",
                    referrers == 1 ? "1 object" : fmt::format("{} objects", referrers)));
}

Error merged_into_owner(std::uint64_t address, const std::string& owner) {
    return Error::because("find", fmt::format("address {}", address),
                          fmt::format("it is the instance dict of {} and shown as a part of it; "
                                      "--raw shows them apart",
                                      owner));
}

}  // namespace mapdiag::heap
