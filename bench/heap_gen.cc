// heap_gen OBJECTS FILE: writes a made-up heap dump in Meliae's format for the benchmarks. The same
// number gives the same bytes everywhere: a fixed seed, and arithmetic of our own only.
//
// The heap is that of a batch program on Python 2.7: a registry of holders, each a list of records
// (instances with a dict), tuples and dicts; strings, numbers and None shared by skewed choice; one
// dict with a fiftieth of all objects below it; classes and modules that nearly everything leads
// to. Objects come depth first, as Meliae's dump_all_objects() writes them, with about 2.3
// references each.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

class Random {
  public:
    std::uint64_t next() {  // splitmix64
        state_ += 0x9E3779B97F4A7C15ULL;
        auto z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }
    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>((next() >> 32) * n >> 32);
    }
    // Small results are far more likely.
    std::uint32_t skewed(std::uint32_t n) {
        const auto a = below(n);
        return static_cast<std::uint32_t>(std::uint64_t{a} * below(n) / n * below(n) / n);
    }

  private:
    std::uint64_t state_ = 20261201;
};

enum class Kind : std::uint8_t {
    kHolder,
    kRecord,
    kRecordDict,
    kTuple,
    kDict,
    kBigDict,
    kString,
    kInt
};

struct Pending {
    std::uint64_t address;
    Kind kind;
    std::uint32_t length;
};

class Generator {
  public:
    Generator(std::uint64_t objects, std::FILE* file) : left_(objects), file_(file) {}

    void run() {
        write_shared();
        big_length_ = static_cast<std::uint32_t>(left_ / 100);
        open_.push_back({allocate(1000), Kind::kBigDict, big_length_});
        while (left_ > 0) {
            if (open_.empty()) {
                open_.push_back({allocate(16000), Kind::kHolder, 2000});
            }
            const auto next = open_.back();
            open_.pop_back();
            write(next);
        }
        flush();
    }

  private:
    static constexpr std::uint32_t kShared = 3000;
    static constexpr std::uint32_t kClasses = 80;

    std::uint64_t allocate(std::uint32_t size) {
        // Small objects of one size lie side by side in pages of their own, as pymalloc has them.
        const auto step = (size + 15) / 16 * 16;
        if (step > 512) {
            large_ += step;
            return large_ - step;
        }
        auto& pool = pools_[step / 16];
        if (pool % 4096 + step > 4096 || pool == 0) {
            pool = small_;
            small_ += 4096;
        }
        pool += step;
        return pool - step;
    }

    void begin(std::uint64_t address, const std::string& type, std::uint64_t size) {
        out_ += "{\"address\": " + std::to_string(address) + ", \"type\": \"" + type +
                "\", \"size\": " + std::to_string(size);
        --left_;
    }
    void length(std::uint64_t n) { out_ += ", \"len\": " + std::to_string(n); }
    void refs() {
        out_ += ", \"refs\": [";
        first_ = true;
    }
    void ref(std::uint64_t address) {
        out_ += first_ ? "" : ", ";
        first_ = false;
        out_ += std::to_string(address);
    }
    void end() {
        out_ += "]}\n";
        if (out_.size() > (1U << 20)) {
            flush();
        }
    }
    void flush() {
        if (std::fwrite(out_.data(), 1, out_.size(), file_) != out_.size()) {
            std::perror("heap_gen");
            std::exit(1);
        }
        out_.clear();
    }

    std::string text(std::uint32_t size) {
        static const char* const kWords[] = {"visit",   "person", "measurement", "value_as_number",
                                             "concept", "cohort", "a\\/b",       "\\u00e9tude"};
        std::string out;
        while (out.size() < size && out.size() < 100) {
            out += kWords[random_.below(8)];
            out += '_';
        }
        return out;
    }
    void write_string(std::uint64_t address, std::uint32_t size) {
        begin(address, "str", 37 + size);
        length(size);
        out_ += ", \"value\": \"" + text(size) + '"';
        refs();
        end();
    }
    void write_int(std::uint64_t address, std::int64_t value) {
        begin(address, "int", 24);
        out_ += ", \"value\": " + std::to_string(value);
        refs();
        end();
    }

    void write_shared() {
        none_ = allocate(16);
        begin(none_, "NoneType", 16);
        refs();
        end();
        for (std::uint32_t i = 0; i < kShared; ++i) {
            strings_.push_back(allocate(64));
            write_string(strings_.back(), 4 + random_.below(24));
            ints_.push_back(allocate(24));
            write_int(ints_.back(), static_cast<std::int64_t>(i) - 5);
        }
        const auto globals = allocate(3000);
        for (std::uint32_t i = 0; i < kClasses; ++i) {
            classes_.push_back(allocate(904));
            begin(classes_.back(), "type", 904);
            out_ += ", \"name\": \"Record" + std::to_string(i) + '"';
            refs();
            ref(globals);
            ref(i == 0 ? none_ : classes_.front());
            end();
        }
        begin(globals, "dict", 3000);
        length(kClasses);
        refs();
        for (std::uint32_t i = 0; i < kClasses; ++i) {
            ref(strings_[i]);
            ref(classes_[i]);
        }
        end();
        const auto module = allocate(56);
        begin(module, "module", 56);
        out_ += ", \"name\": \"app\"";
        refs();
        ref(globals);
        end();
    }

    std::uint64_t push(Kind kind, std::uint32_t size, std::uint32_t n) {
        const auto address = allocate(size);
        open_.push_back({address, kind, n});
        return address;
    }
    std::uint64_t shared_string() { return strings_[random_.skewed(kShared)]; }
    std::uint64_t value() {
        // Nothing new once the rest of the objects is spoken for.
        if (open_.size() >= left_) {
            return none_;
        }
        const auto choice = random_.below(100);
        if (choice < 38) {
            const auto n = random_.below(20) == 0 ? random_.below(900) : 5 + random_.below(50);
            return push(Kind::kString, 37 + n, n);
        }
        if (choice < 54) {
            return push(Kind::kInt, 24, 0);
        }
        if (choice < 68) {
            return none_;
        }
        if (choice < 84) {
            return shared_string();
        }
        if (choice < 92) {
            return ints_[random_.skewed(kShared)];
        }
        const auto n = 1 + random_.below(4);
        return push(Kind::kTuple, 56 + 8 * n, n);
    }
    std::uint64_t item() {
        if (open_.size() + 2 >= left_) {
            return none_;
        }
        const auto choice = random_.below(10);
        if (choice < 5) {
            return push(Kind::kRecord, 64, random_.skewed(kClasses));
        }
        const auto n = 1 + random_.below(choice < 8 ? 5 : 8);
        return choice < 8 ? push(Kind::kTuple, 56 + 8 * n, n) : push(Kind::kDict, 280, n);
    }

    void write(const Pending& object) {
        const auto n = object.length;
        switch (object.kind) {
            case Kind::kString:
                return write_string(object.address, n);
            case Kind::kInt:
                return write_int(object.address, static_cast<std::int64_t>(random_.next() >> 20));
            case Kind::kRecord:
                begin(object.address, "Record" + std::to_string(n), 64);
                refs();
                ref(open_.size() < left_ ? push(Kind::kRecordDict, 280, 2 + n % 9) : none_);
                ref(classes_[n]);
                break;
            case Kind::kHolder:
            case Kind::kTuple:
                begin(object.address, object.kind == Kind::kTuple ? "tuple" : "list",
                      56 + 8ULL * n);
                length(n);
                refs();
                for (std::uint32_t i = 0; i < n; ++i) {
                    ref(object.kind == Kind::kTuple ? value() : item());
                }
                break;
            case Kind::kDict:
            case Kind::kRecordDict:
            case Kind::kBigDict:
                begin(object.address, "dict", 280 + (n > 5 ? 48ULL * n : 0));
                length(n);
                refs();
                for (std::uint32_t i = 0; i < n; ++i) {
                    ref(object.kind == Kind::kRecordDict ? strings_[i] : shared_string());
                    ref(value());
                }
                break;
        }
        end();
    }

    std::uint64_t left_;
    std::FILE* file_;
    Random random_;
    std::string out_;
    bool first_ = true;
    std::uint32_t big_length_ = 0;
    std::uint64_t small_ = 0x7F2000000000ULL;
    std::uint64_t large_ = 0x55D000000000ULL;
    std::uint64_t pools_[33] = {};
    std::uint64_t none_ = 0;
    std::vector<std::uint64_t> strings_;
    std::vector<std::uint64_t> ints_;
    std::vector<std::uint64_t> classes_;
    std::vector<Pending> open_;
};

}  // namespace

int main(int argc, char** argv) {
    const auto objects = argc == 3 ? std::strtod(argv[1], nullptr) : 0;
    if (objects < 10000) {
        std::fputs("usage: heap_gen OBJECTS FILE   (at least 10000 objects)\n", stderr);
        return 2;
    }
    std::FILE* const file = std::fopen(argv[2], "wb");
    if (file == nullptr) {
        std::perror(argv[2]);
        return 1;
    }
    Generator(static_cast<std::uint64_t>(objects), file).run();
    return std::fclose(file) == 0 ? 0 : 1;
}
