#include "heap/reader/sniff.h"

#include <algorithm>
#include <array>

#include "mapdiag/support/text.h"

namespace mapdiag::heap {
namespace {

using namespace std::string_view_literals;

struct Signature {
    std::string_view bytes;
    std::string_view what;
};

constexpr std::array kSignatures = {
    Signature{"\x7F"
              "ELF"sv,
              "it is an ELF file (a program, a library or a core dump)"},
    Signature{"\x89PNG"sv, "it is a PNG picture"},
    Signature{"PK\x03\x04"sv, "it is a zip archive"},
    Signature{"BZh"sv, "it is compressed with bzip2; mapdiag reads plain, .gz and .zst dumps"},
    Signature{"\xFD"
              "7zXZ"sv,
              "it is compressed with xz; mapdiag reads plain, .gz and .zst dumps"},
    Signature{"\x28\xB5\x2F\xFD"sv, "it is a damaged .zst file"},
    Signature{"\x1F\x8B"sv, "it is a damaged .gz file"},
    Signature{"SQLite format 3"sv, "it is an SQLite database"},
    Signature{"mapdiag heap ix"sv, "it is an index that mapdiag keeps beside a dump"},
    Signature{"\x80\x02"sv, "it looks like a Python pickle"},
    Signature{"\x80\x03"sv, "it looks like a Python pickle"},
    Signature{"\x80\x04"sv, "it looks like a Python pickle"},
    Signature{"\x80\x05"sv, "it looks like a Python pickle"},
    Signature{"memray"sv, "it is a memray capture"},
    Signature{"JAVA PROFILE"sv, "it is a Java heap dump"},
    Signature{"%PDF"sv, "it is a PDF document"},
    Signature{"#!"sv, "it is a script"},
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::string_view describe_text(std::string_view text) {
    const auto trimmed = trim(text);
    if (trimmed.starts_with("<")) {
        return contains(trimmed, "<svg") ? "it is an SVG picture" : "it is an XML or HTML file";
    }
    if (trimmed.starts_with("{") || trimmed.starts_with("[")) {
        if (contains(trimmed, "speedscope")) {
            return "it is a speedscope profile";
        }
        if (contains(trimmed, "\"address\"")) {
            return "it is JSON, but no line of it is a whole object with address, type and size";
        }
        return "it is JSON of another kind";
    }
    // A stack, a blank and a count at the end of the first line.
    const auto line = trim(trimmed.substr(0, trimmed.find('\n')));
    const auto blank = line.rfind(' ');
    if (blank != std::string_view::npos && contains(line.substr(0, blank), ";") &&
        find_u64(line.substr(blank + 1))) {
        return "it is a file of folded stacks (see mapdiag top)";
    }
    return "it is a text file";
}

}  // namespace

std::string_view describe_file(std::string_view beginning) {
    if (beginning.empty()) {
        return "the file is empty";
    }
    for (const auto& signature : kSignatures) {
        if (beginning.starts_with(signature.bytes)) {
            return signature.what;
        }
    }
    if (contains(beginning, "\0"sv)) {
        return "it is binary data";
    }
    if (trim(beginning).empty()) {
        return "it holds nothing but blanks and line ends";
    }
    return describe_text(beginning);
}

}  // namespace mapdiag::heap
