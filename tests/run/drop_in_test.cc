#include "drop_in.h"

#include "mapdiag/support/text.h"
#include "support/catch.h"

using namespace mapdiag;
using namespace mapdiag::run;

namespace {

using Words = std::vector<std::string>;

Words words(std::string_view line) {
    Words out;
    for (const auto word : split_words(line)) {
        out.emplace_back(word);
    }
    return out;
}

RecordCall call(std::string_view line) {
    auto found = find_record_call(words(line));
    REQUIRE(found);
    return *found;
}

// A call that can be taken over.
RecordCall taken(std::string_view line) {
    auto found = call(line);
    CHECK(found.obstacle == "");
    return found;
}

std::string obstacle(std::string_view line) {
    return call(line).obstacle;
}

}  // namespace

TEST_CASE("the recipe's py-spy record goes out of its command") {
    const auto found = taken(
        "uv run --with py-spy py-spy record --subprocesses --rate 120 --format raw "
        "--output logs/E.folded -- linkml-map map-data --entity E -r 3 -- x");
    CHECK(found.command == words("uv run --with py-spy linkml-map map-data --entity E -r 3 -- x"));
    CHECK(found.settings.rate == 120);
    CHECK(found.settings.subprocesses);
    CHECK_FALSE(found.settings.idle);
    CHECK_FALSE(found.settings.native);
    CHECK_FALSE(found.settings.nonblocking);
    CHECK(found.output == "logs/E.folded");
}

TEST_CASE("what py-spy record does not say is py-spy's default") {
    const auto found = taken("py-spy record -f raw -- p");
    CHECK(found.command == words("p"));
    CHECK(found.settings.rate == 100);
    CHECK_FALSE(found.settings.idle);
    CHECK_FALSE(found.settings.subprocesses);
    CHECK_FALSE(found.output);
}

TEST_CASE("the rate in every way of writing it") {
    for (const auto* way :
         {"-r50", "-r 50", "-r=50", "--rate=50", "--rate 50", "-sr50", "-sr 50"}) {
        CAPTURE(way);
        const auto found = taken("py-spy record -f raw " + std::string(way) + " -- p -r 7");
        CHECK(found.settings.rate == 50);
        CHECK(found.command == words("p -r 7"));
    }
}

TEST_CASE("output and format in every way of writing them") {
    for (const auto* way : {"-o a/b -f raw", "-oa/b -fraw", "-o=a/b -f=raw",
                            "--output a/b --format raw", "--output=a/b --format=raw"}) {
        CAPTURE(way);
        CHECK(taken("py-spy record " + std::string(way) + " -- p").output == "a/b");
    }
    CHECK(taken("py-spy record -f raw -o a=b -- p").output == "a=b");
}

TEST_CASE("flags alone, long, and several in one word") {
    CHECK(taken("py-spy record -f raw --idle -- p").settings.idle);
    CHECK(taken("py-spy record -f raw --native -- p").settings.native);
    CHECK(taken("py-spy record -f raw --nonblocking -- p").settings.nonblocking);
    const auto found = taken("py-spy record -isnf raw -- p");
    CHECK(found.settings.idle);
    CHECK(found.settings.subprocesses);
    CHECK(found.settings.native);
}

TEST_CASE("without -- the words that are no options are the program") {
    CHECK(taken("py-spy record -f raw p a").command == words("p a"));
    // py-spy takes its options from between the program's words too.
    const auto found = taken("py-spy record p a -f raw -r 9 b");
    CHECK(found.command == words("p a b"));
    CHECK(found.settings.rate == 9);
    CHECK(taken("py-spy record p - -f raw -- -x").command == words("p - -x"));
}

TEST_CASE("py-spy is found where it is started, by any path") {
    CHECK(taken("/opt/bin/py-spy record -f raw -- p").command == words("p"));
    CHECK(taken("env A=1 nice py-spy record -f raw -- p").command == words("env A=1 nice p"));
    CHECK(taken("uv run py-spy record -f raw -- p").command == words("uv run p"));
    CHECK(taken("poetry run py-spy record -f raw -- p").command == words("poetry run p"));
}

TEST_CASE("a tool runner that provides py-spy alone goes with it") {
    CHECK(taken("uvx py-spy record -f raw -- p").command == words("p"));
    CHECK(taken("uvx --from py-spy py-spy record -f raw -- p").command == words("p"));
    CHECK(taken("uvx py-spy@0.4.1 record -f raw -- p").command == words("p"));
    CHECK(taken("uv tool run py-spy record -f raw -- p").command == words("p"));
    CHECK(taken("env A=1 pipx run py-spy record -f raw -- p").command == words("env A=1 p"));
}

TEST_CASE("words of another program are not taken for a call") {
    for (const auto* line :
         {"p", "py-spy", "py-spy top -- p", "echo py-spy record -f raw -- p",
          "linkml-map py-spy record", "uv run --with py-spy p record", "python -m py_spy record x",
          "sh -c py-spy_record", "uv run p --out py-spy"}) {
        CAPTURE(line);
        CHECK_FALSE(find_record_call(words(line)));
    }
    CHECK_FALSE(find_record_call({"sh", "-c", "py-spy record -f raw -- p"}));
}

TEST_CASE("what mapdiag has nothing for is named") {
    CHECK(obstacle("py-spy record -o x.svg -- p") ==
          "--format flamegraph, which is py-spy's default");
    CHECK(obstacle("py-spy record -f flamegraph -- p") == "--format flamegraph");
    CHECK(obstacle("py-spy record --format=speedscope -- p") == "--format speedscope");
    CHECK(obstacle("py-spy record -fchrometrace -- p") == "--format chrometrace");
    for (const auto* flag : {"threads", "gil", "function", "nolineno", "full-filenames", "help"}) {
        CHECK(obstacle("py-spy record -f raw --" + std::string(flag) + " -- p") ==
              "--" + std::string(flag));
    }
    CHECK(obstacle("py-spy record -f raw -st -- p") == "--threads");
    CHECK(obstacle("py-spy record -f raw -d 5 -- p") == "--duration");
    CHECK(obstacle("py-spy record -f raw --pid=5") == "--pid");
    CHECK(obstacle("py-spy record -f raw --new=5 -- p") == "--new");
    CHECK(obstacle("py-spy record -f raw --idle=5 -- p") == "--idle");
    CHECK(obstacle("py-spy record -f raw -z -- p") == "-z");
    CHECK(obstacle("py-spy record -f raw -nX -- p") == "-X");
    CHECK(obstacle("py-spy record -f raw --native --nonblocking -- p") ==
          "--native with --nonblocking");
    CHECK(obstacle("py-spy record -f raw") == "a call without a program");
    CHECK(obstacle("py-spy record -f raw --") == "a call without a program");
    CHECK(obstacle("py-spy record -f raw --rate") == "--rate without a value");
}

TEST_CASE("values that no py-spy or no profile can have are refused") {
    for (const auto* rate : {"0", "1001", "-1", "1.5", "x", "99999999999999999999"}) {
        CHECK(obstacle("py-spy record -f raw --rate=" + std::string(rate) + " -- p") ==
              "--rate " + std::string(rate));
    }
    CHECK(obstacle("py-spy record -f raw -o /dev/stdout -- p") == "--output /dev/stdout");
    CHECK(obstacle("py-spy record -f raw --output= -- p") == "--output ");
    CHECK(find_record_call({"py-spy", "record", "-f", "a\nb"})->obstacle == "--format a\\nb");
}

TEST_CASE("the warning for a command that stays as it is") {
    CHECK(
        left_as_it_is("--threads") ==
        "the command's own py-spy record stays as it is, since mapdiag has nothing for --threads: "
        "there is no profile of mapdiag's, and the exit status is py-spy's, which hides the job's. "
        "Remedy: take py-spy record out of the command, or use --format raw with --rate, --output, "
        "--idle, --subprocesses, --native or --nonblocking only");
}
