#include "block_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "line.h"
#include "record.h"

namespace mapdiag::stacks {
namespace {

Result<void> reserve(OwnedBytes& bytes, std::size_t size, const std::string& shown) {
    if (size <= bytes.size) {
        return {};
    }
    auto* const grown = static_cast<char*>(std::realloc(bytes.data.get(), size));
    if (grown == nullptr) {
        return std::unexpected(Error("read", shown, ENOMEM));
    }
    std::ignore = bytes.data.release();
    bytes.data.reset(grown);
    bytes.size = size;
    return {};
}

std::size_t start_of_line(std::string_view text, std::size_t inside) {
    const auto before = inside == 0 ? std::string_view::npos : text.rfind('\n', inside - 1);
    return before == std::string_view::npos ? 0 : before + 1;
}

}  // namespace

std::size_t end_of_records(std::string_view text) {
    const auto last_end = text.rfind('\n');
    if (last_end == std::string_view::npos) {
        return 0;
    }
    const auto end = last_end + 1;
    // Looks back for a process frame that begins a record, as far as one record may reach.
    const auto furthest = end > kLongestRecord ? end - kLongestRecord : 0;
    for (auto at = end; at > furthest;) {
        at = start_of_line(text, at - 1);
        if (process_opening(text.substr(at)) > 0) {
            return record_is_open(text.substr(at, end - at)) ? at : end;
        }
    }
    return end;
}

Result<bool> BlockSource::next(Block& block) {
    const std::scoped_lock lock(mutex_);
    if (at_end_ || failed_) {
        return false;
    }
    auto filled = fill(block);
    failed_ = !filled;
    return filled;
}

Result<bool> BlockSource::fill(Block& block) {
    auto wanted = std::max(limits_.size, carried_.size * 2);
    if (auto done = reserve(block.bytes, wanted, stream_.shown()); !done) {
        return std::unexpected(done.error());
    }
    block.too_long = false;
    block.used = carried_.size;
    if (carried_.size > 0) {
        std::memcpy(block.bytes.data.get(), carried_.data.get(), carried_.size);
        carried_ = {};
    }
    std::size_t end = 0;
    for (;;) {
        const auto got = stream_.read({block.bytes.data.get() + block.used, wanted - block.used});
        if (!got) {
            return std::unexpected(got.error());
        }
        at_end_ = *got == 0;
        block.used += *got;
        if (at_end_) {
            end = block.used;
            break;
        }
        if (block.used < wanted) {
            continue;
        }
        end = end_of_records(block.text());
        if (end > 0) {
            break;
        }
        if (wanted >= limits_.longest_line) {
            return skip_line(block);
        }
        wanted = std::min(wanted * 2, limits_.longest_line);
        if (auto done = reserve(block.bytes, wanted, stream_.shown()); !done) {
            return std::unexpected(done.error());
        }
    }
    if (auto done = carry(block.text().substr(end)); !done) {
        return std::unexpected(done.error());
    }
    block.used = end;
    block.sequence = sequence_++;
    block.last = at_end_;
    return true;
}

Result<bool> BlockSource::skip_line(Block& block) {
    block.used = 0;
    block.too_long = true;
    while (!at_end_) {
        const auto got =
            stream_.read({block.bytes.data.get(), std::min(block.bytes.size, limits_.size)});
        if (!got) {
            return std::unexpected(got.error());
        }
        at_end_ = *got == 0;
        const std::string_view text(block.bytes.data.get(), *got);
        if (const auto end = text.find('\n'); end != std::string_view::npos) {
            if (auto done = carry(text.substr(end + 1)); !done) {
                return std::unexpected(done.error());
            }
            break;
        }
    }
    block.sequence = sequence_++;
    block.last = at_end_;
    return true;
}

// Keeps what the next piece begins with.
Result<void> BlockSource::carry(std::string_view rest) {
    if (rest.empty()) {
        return {};
    }
    if (auto done = reserve(carried_, rest.size(), stream_.shown()); !done) {
        return done;
    }
    std::memcpy(carried_.data.get(), rest.data(), rest.size());
    return {};
}

}  // namespace mapdiag::stacks
