#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mapdiag::heap {

/// Decodes what stands between the quotes of a JSON string to UTF-8. Meliae writes every code unit
/// that is not plain ASCII as \uXXXX and cuts strings at 100 units, so that half a surrogate pair
/// is common: a lone half becomes the three bytes that UTF-8 would have for it (as in WTF-8), and
/// text_for_people() shows it as \udXXX. Bytes that are not ASCII pass as they are. Nothing when an
/// escape is malformed.
std::optional<std::string> decode_json_text(std::string_view raw);

/// Decoded text as Python 3 shows it: in quotes, with control characters, lone surrogates and bytes
/// that are no UTF-8 escaped.
std::string text_for_people(std::string_view decoded);

/// The other way, in Meliae's own escapes: what decode_json_text() reads back.
std::string encode_json_text(std::string_view decoded);

}  // namespace mapdiag::heap
