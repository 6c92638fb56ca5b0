// libFuzzer target: whatever the bytes are, parse_journal() gives a journal or an error.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "mapdiag/record/journal.h"
#include "mapdiag/record/record_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(static_cast<const char*>(static_cast<const void*>(data)), size);
    if (const auto journal = mapdiag::record::parse_journal(bytes, "fuzz")) {
        (void)mapdiag::record::one_line(mapdiag::record::record_to_json(journal->record));
    }
    return 0;
}
