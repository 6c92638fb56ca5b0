#include "mapdiag/support/decompress.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <thread>

#include "support/catch.h"
#include "support/temp_folder.h"

using namespace mapdiag;

namespace {

std::string gzipped(const std::string& bytes) {
    z_stream stream = {};
    REQUIRE(::deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(::deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<unsigned>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<unsigned>(out.size());
    REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
}

std::string zstd_packed(const std::string& bytes) {
    std::string out(ZSTD_compressBound(bytes.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
    return out;
}

// Not compressible to almost nothing, with NUL and every other byte in it.
std::string sample(std::size_t size) {
    std::string out;
    std::uint32_t state = 1;
    while (out.size() < size) {
        state = state * 1664525U + 1013904223U;
        out += static_cast<char>(state >> 24U);
        out += "ab";
    }
    out.resize(size);
    return out;
}

struct Outcome {
    std::string bytes;
    std::string damage;
    Compression compression = Compression::none;
};

// Reads in pieces of `piece` bytes, and checks that the whole-file helper says the same.
Outcome read_in_pieces(const std::string& path, std::size_t piece, bool use_isal) {
    auto stream = InputStream::open(path, {.use_isal = use_isal});
    REQUIRE(stream);
    Outcome outcome;
    std::string buffer(piece, '\0');
    for (;;) {
        const auto got = stream->read(buffer);
        REQUIRE(got);
        if (*got == 0) {
            break;
        }
        outcome.bytes += buffer.substr(0, *got);
    }
    CHECK(stream->read(buffer) == 0U);
    outcome.compression = stream->compression();
    if (stream->damage()) {
        outcome.damage = stream->damage()->text();
    }
    const auto whole = InputBytes::load(path, {.use_isal = use_isal});
    REQUIRE(whole);
    CHECK((whole->bytes() == outcome.bytes));
    CHECK(whole->compression() == outcome.compression);
    CHECK(whole->damage().has_value() == !outcome.damage.empty());
    return outcome;
}

}  // namespace

TEST_CASE("plain, gzip and zstd give the same bytes, in any piece size and with either inflater") {
    const test::TempFolder folder;
    for (const std::size_t size : {0U, 1U, 3U, 4U, 5U, 1000U, 700000U}) {
        const auto bytes = sample(size);
        const auto plain = folder.write("plain.gz", bytes);
        const auto gzip = folder.write("gzip", gzipped(bytes));
        const auto zstd = folder.write("zstd", zstd_packed(bytes));
        for (const std::size_t piece : {7U, 4096U, 1U << 20U}) {
            for (const bool use_isal : {false, true}) {
                INFO(size << " bytes in pieces of " << piece << ", ISA-L " << use_isal);
                CHECK((read_in_pieces(plain, piece, use_isal).bytes == bytes));
                const auto from_gzip = read_in_pieces(gzip, piece, use_isal);
                CHECK((from_gzip.bytes == bytes));
                CHECK(from_gzip.damage.empty());
                CHECK(compression_name(from_gzip.compression) == "gzip");
                const auto from_zstd = read_in_pieces(zstd, piece, use_isal);
                CHECK((from_zstd.bytes == bytes));
                CHECK(from_zstd.damage.empty());
                CHECK(compression_name(from_zstd.compression) == "zstd");
            }
        }
    }
}

TEST_CASE("several members or frames are one file, and zeros after gzip are padding") {
    const test::TempFolder folder;
    const auto a = sample(200000);
    for (const bool use_isal : {false, true}) {
        const auto gzip = read_in_pieces(
            folder.write("g", gzipped(a) + gzipped("") + gzipped("tail") + std::string(9, '\0')),
            1000, use_isal);
        CHECK((gzip.bytes == a + "tail"));
        CHECK(gzip.damage.empty());
    }
    const auto zstd =
        read_in_pieces(folder.write("z", zstd_packed(a) + zstd_packed("tail")), 1000, true);
    CHECK((zstd.bytes == a + "tail"));
    CHECK(zstd.damage.empty());
}

TEST_CASE("data that is cut short gives what it has and says where it ended") {
    const test::TempFolder folder;
    const auto bytes = sample(300000);
    for (const bool use_isal : {false, true}) {
        const auto packed = gzipped(bytes);
        for (const auto cut : {packed.size() / 2, packed.size() - 1, packed.size() - 8}) {
            const auto path = folder.write("cut", packed.substr(0, cut));
            const auto got = read_in_pieces(path, 4096, use_isal);
            CHECK(bytes.starts_with(got.bytes));
            CHECK(got.bytes.size() > bytes.size() / 3);
            CHECK(got.damage == "can't read all of " + path +
                                    ": the gzip data is cut short after " + std::to_string(cut) +
                                    " bytes, which unpack to " + std::to_string(got.bytes.size()));
        }
    }
    const auto packed = zstd_packed(bytes);
    const auto path = folder.write("cut", packed.substr(0, packed.size() - 5));
    const auto got = read_in_pieces(path, 4096, true);
    CHECK(bytes.starts_with(got.bytes));
    CHECK(got.damage.starts_with("can't read all of " + path +
                                 ": the zstd data is cut short after "));
}

TEST_CASE("damaged data gives what came before it and says so") {
    const test::TempFolder folder;
    const auto bytes = sample(300000);
    for (const bool use_isal : {false, true}) {
        auto packed = gzipped(bytes);
        packed[packed.size() - 6] ^= 1;  // in the checksum
        const auto wrong_sum = read_in_pieces(folder.write("sum", packed), 4096, use_isal);
        CHECK((wrong_sum.bytes == bytes));
        CHECK_THAT(wrong_sum.damage,
                   Catch::Matchers::Contains("the gzip data is damaged (incorrect data check)"));
        const auto after =
            read_in_pieces(folder.write("after", gzipped("x") + "junk"), 4096, use_isal);
        CHECK(after.bytes == "x");
        CHECK_THAT(after.damage,
                   Catch::Matchers::Contains("the gzip data is followed by other data after"));
    }
    const auto frame = read_in_pieces(folder.write("z", zstd_packed("x") + "junk"), 4096, true);
    CHECK(frame.bytes == "x");
    CHECK_THAT(frame.damage, Catch::Matchers::Contains("the zstd data is followed by other data"));
}

TEST_CASE("more than max_size is an error, also of a small file that unpacks to much") {
    const test::TempFolder folder;
    const std::string zeros(5000000, '\0');
    const InputOptions options{.max_size = 1000000};
    const auto plain = folder.write("plain", zeros);
    CHECK(InputBytes::load(plain, options).error().text() ==
          "can't read " + plain + ": larger than 1000000 bytes");
    const auto gzip = folder.write("gzip", gzipped(zeros));
    CHECK(InputBytes::load(gzip, options).error().text() ==
          "can't read " + gzip + ": it unpacks to more than 1000000 bytes");
    const auto zstd = folder.write("zstd", zstd_packed(zeros));
    CHECK(InputBytes::load(zstd, options).error().text() ==
          "can't read " + zstd + ": it unpacks to more than 1000000 bytes");
    CHECK(InputBytes::load(plain, {.max_size = zeros.size()}));
}

TEST_CASE("a pipe is read as a file is, and a plain file is mapped") {
    const test::TempFolder folder;
    CHECK(InputBytes::load(folder.write("plain", "bytes"))->mapping() != nullptr);
    CHECK(InputBytes::load(folder.write("packed", gzipped("bytes")))->mapping() == nullptr);

    std::array<int, 2> ends = {};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    Fd reading(ends[0]);
    const auto packed = gzipped(sample(400000));
    std::jthread writer([&, writing = Fd(ends[1])] {
        // One byte first: the magic number may arrive in parts.
        REQUIRE(write_all(writing.get(), packed.substr(0, 1), "pipe"));
        REQUIRE(write_all(writing.get(), packed.substr(1), "pipe"));
    });
    auto stream = InputStream::of(std::move(reading), "pipe");
    REQUIRE(stream);
    std::string got;
    std::string buffer(10000, '\0');
    for (auto size = *stream->read(buffer); size > 0; size = *stream->read(buffer)) {
        got += buffer.substr(0, size);
    }
    CHECK((got == sample(400000)));
}

TEST_CASE("what can't be read is named") {
    const test::TempFolder folder;
    CHECK(InputStream::open(folder.path("none")).error().text() ==
          "can't open " + folder.path("none") + ": No such file or directory");
    CHECK(InputStream::open(folder.path()).error().text() ==
          "can't read " + folder.path() + ": Is a directory");
    CHECK(InputBytes::load(folder.path()).error().text() ==
          "can't read " + folder.path() + ": Is a directory");
}
