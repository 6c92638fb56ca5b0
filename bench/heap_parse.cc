// heap_parse FILE: how fast simdjson reads a dump and does nothing with it: every line's address,
// size and references are parsed and added up. The floor that the benchmark compares with.
#include <simdjson.h>

#include <cstdio>

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    simdjson::padded_string text;
    if (simdjson::padded_string::load(argv[1]).get(text) != simdjson::SUCCESS) {
        std::perror(argv[1]);
        return 1;
    }
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document_stream lines;
    if (parser.iterate_many(text, 64U << 20).get(lines) != simdjson::SUCCESS) {
        return 1;
    }
    std::uint64_t objects = 0;
    std::uint64_t sum = 0;
    for (auto line : lines) {
        std::uint64_t address = 0;
        std::uint64_t size = 0;
        simdjson::ondemand::array refs;
        if (line["address"].get(address) != simdjson::SUCCESS ||
            line["size"].get(size) != simdjson::SUCCESS ||
            line["refs"].get(refs) != simdjson::SUCCESS) {
            continue;
        }
        sum += address + size;
        for (auto ref : refs) {
            std::uint64_t target = 0;
            if (ref.get(target) == simdjson::SUCCESS) {
                sum += target;
            }
        }
        ++objects;
    }
    std::printf("%llu objects, sum %llu\n", static_cast<unsigned long long>(objects),
                static_cast<unsigned long long>(sum));
    return 0;
}
