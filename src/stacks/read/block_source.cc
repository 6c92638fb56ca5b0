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
    auto wanted = std::max(block_size_, carried_.size * 2);
    if (auto done = reserve(block.bytes, wanted, stream_.shown()); !done) {
        return std::unexpected(done.error());
    }
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
        wanted *= 2;
        if (auto done = reserve(block.bytes, wanted, stream_.shown()); !done) {
            return std::unexpected(done.error());
        }
    }
    if (const auto left = block.used - end; left > 0) {
        if (auto done = reserve(carried_, left, stream_.shown()); !done) {
            return std::unexpected(done.error());
        }
        std::memcpy(carried_.data.get(), block.bytes.data.get() + end, left);
    }
    block.used = end;
    block.sequence = sequence_++;
    block.last = at_end_;
    return true;
}

}  // namespace mapdiag::stacks
