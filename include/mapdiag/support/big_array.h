#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace mapdiag {

/// kHuge: a table that is filled and then accessed at random. kReserve: room for the worst case, of
/// which a part is used and which must cost nothing beyond that part.
enum class Pages { kHuge, kReserve };

namespace detail {
/// Fresh zeroed pages straight from the kernel; throws bad_alloc.
void* map_pages(std::size_t bytes, Pages pages);
void unmap_pages(void* data, std::size_t bytes);
}  // namespace detail

/// A fixed-size array for millions of plain values. It starts zeroed without being touched, so that
/// the thread that fills a part pays for its pages, and it asks for huge pages: random access to
/// hundreds of megabytes is otherwise bound by address translation.
template <class T>
class BigArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    BigArray() = default;
    explicit BigArray(std::size_t size, Pages pages = Pages::kHuge) : size_(size) {
        if (size != 0) {
            data_ = static_cast<T*>(detail::map_pages(size * sizeof(T), pages));
        }
    }
    BigArray(BigArray&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    BigArray& operator=(BigArray&& other) noexcept {
        BigArray old(std::move(*this));
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    BigArray(const BigArray&) = delete;
    BigArray& operator=(const BigArray&) = delete;
    ~BigArray() {
        if (data_ != nullptr) {
            detail::unmap_pages(data_, size_ * sizeof(T));
        }
    }

    std::size_t size() const { return size_; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }
    std::span<T> span() { return {data_, size_}; }
    std::span<const T> span() const { return {data_, size_}; }

  private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace mapdiag
