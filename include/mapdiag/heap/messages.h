#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mapdiag/support/error.h"

namespace mapdiag::heap {

/// A bad line for a person: its number, from 1, and what is wrong with it.
struct BadLineNote {
    std::uint64_t line;
    std::string_view reason;
};

// Everything that loading a dump may say. `shown` is the dump's path.

/// "big.dump: 3 lines are not usable and were left out: line 2 (not JSON), line 7 (no size), ..."
std::string bad_lines_warning(const std::string& shown, std::uint64_t count,
                              const std::vector<BadLineNote>& first);
/// The dump ends within a line: `line` is that line's number.
std::string cut_warning(const std::string& shown, std::uint64_t line);
/// The compressed stream ends too early or is damaged; `why` says which.
std::string damaged_stream_warning(const std::string& shown, const std::string& why);
/// The index could not be kept anywhere; `why` is the last error.
std::string no_index_warning(const std::string& shown, const std::string& why);

Error too_many_objects(const std::string& shown, std::uint64_t limit);
Error too_many_refs(const std::string& shown, std::uint64_t limit);
Error sizes_overflow(const std::string& shown);
/// Nothing in the file is an object line; `what` names what it is instead.
Error not_a_dump(const std::string& shown, std::string_view what);
Error opens_to_too_much(const std::string& shown, std::uint64_t limit);
Error out_of_memory(const std::string& shown);
/// A line is not what it was when the dump was loaded.
Error dump_changed(const std::string& shown);
Error no_such_address(const std::string& shown, std::uint64_t address);
Error no_such_type(const std::string& shown, std::string_view type);
/// The address is only referred to, by `referrers` objects; the dump has no line for it.
Error only_referred_to(std::uint64_t address, std::uint64_t referrers);
/// The address is the instance dict of `owner`, into which it was merged.
Error merged_into_owner(std::uint64_t address, const std::string& owner);

}  // namespace mapdiag::heap
