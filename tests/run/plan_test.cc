#include "mapdiag/run/plan.h"

#include <map>

#include "support/catch.h"

using namespace mapdiag;
using namespace mapdiag::run;

namespace {

Environment environment(std::map<std::string, std::string> variables) {
    return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
}

RunPlan plan(const RunOptions& options, std::map<std::string, std::string> variables = {}) {
    auto made = plan_run(options, environment(std::move(variables)));
    REQUIRE(made);
    return *made;
}

const std::vector<std::string> kStep = {"uv", "run", "linkml-map", "--entity", "Person"};

}  // namespace

TEST_CASE("the switch is read as documented") {
    for (const auto* word : {"true", "TRUE", "True", "1", "yes", "On", " true "}) {
        CHECK(find_switch(word) == true);
    }
    for (const auto* word : {"", "false", "FALSE", "0", "no", "OFF"}) {
        CHECK(find_switch(word) == false);
    }
    CHECK(!find_switch("maybe"));
    CHECK(plan({.command = kStep}).mode == Mode::off);
    CHECK(plan({.command = kStep}, {{"DM_MAP_PROFILE", "yes"}}).mode == Mode::on);
    CHECK(plan({.command = kStep, .profile = true}).mode == Mode::on);
    CHECK(
        plan({.command = kStep, .profile = true, .no_profile = true}, {{"DM_MAP_PROFILE", "true"}})
            .mode == Mode::off);
}

TEST_CASE("an unknown switch is off and warned of once") {
    const auto made = plan({.command = kStep}, {{"DM_MAP_PROFILE", "maybe"}});
    CHECK(made.mode == Mode::off);
    CHECK(made.warning ==
          "DM_MAP_PROFILE=maybe is neither on (true, 1, yes, on) nor off (false, 0, no, off, "
          "empty): taken as off");
    CHECK(!plan({.command = kStep, .profile = true}, {{"DM_MAP_PROFILE", "maybe"}}).warning);
}

TEST_CASE("the entity comes from the option, the environment, the command, the program") {
    const std::map<std::string, std::string> on = {{"DM_MAP_PROFILE", "true"}};
    auto with_variable = on;
    with_variable["MAPDIAG_ENTITY"] = "V";
    CHECK(plan({.command = kStep, .entity = "O"}, with_variable).entity.display == "O");
    CHECK(plan({.command = kStep}, with_variable).entity.display == "V");
    CHECK(plan({.command = kStep}, on).entity.display == "Person");
    CHECK(plan({.command = {"x", "--entity=A b"}}, on).entity.display == "A b");
    CHECK(plan({.command = {"/bin/x", "y"}, .profile = true}).entity.display == "x");
}

TEST_CASE("a command without an entity is passed through, a lone program is a wrong use") {
    const std::map<std::string, std::string> on = {{"DM_MAP_PROFILE", "true"}};
    CHECK(plan({.command = {"uv", "run", "python"}}, on).mode == Mode::off);
    CHECK(plan({.command = {"true"}}).mode == Mode::off);
    CHECK(plan_run({.command = {"true"}}, environment(on)).error().text() ==
          "can't diagnose true: no entity is known: give --entity NAME, or --profile to use the "
          "program's name");
    CHECK(plan_run({}, environment(on)).error().text() == "can't run: no command was given");
    CHECK(plan_run({.command = kStep, .entity = ""}, environment(on)).error().text() ==
          "can't use --entity: the name is empty");
}

TEST_CASE("only an explicit log folder writes a log when off") {
    const auto made = plan({.command = kStep, .log_dir = "d"});
    CHECK(made.mode == Mode::log_only);
    CHECK(made.log_path() == "d/Person.log");
    CHECK(plan({.command = kStep}, {{"MAPDIAG_LOG_DIR", "d"}}).mode == Mode::off);
    CHECK(plan({.command = kStep}, {{"MAPDIAG_LOG_DIR", "d"}, {"DM_MAP_PROFILE", "1"}}).log_dir ==
          "d");
    CHECK(plan({.command = kStep}, {{"DM_MAP_PROFILE", "1"}}).folded_path() ==
          "logs/Person.folded");
}

TEST_CASE("a placement is asked for by its word") {
    CHECK(plan({.command = kStep, .placement = "v1"}).placement ==
          record::Placement::own_cgroup_v1);
    CHECK(find_placement_word("v2") == record::Placement::own_cgroup_v2);
    CHECK(find_placement_word("shared") == record::Placement::shared_cgroup);
    CHECK(find_placement_word("tree") == record::Placement::process_tree);
    CHECK(find_placement_word("none") == record::Placement::none);
    CHECK(!plan({.command = kStep}).placement);
    CHECK(plan_run({.command = kStep, .placement = "x"}, environment({})).error().text() ==
          "can't use the placement \"x\": it is none of v2, v1, shared, tree, none");
}

TEST_CASE("entity names become file names that are safe and differ") {
    CHECK(make_entity_name("q\"\xC3\xA9").stem == "q\"\xC3\xA9");
    CHECK(make_entity_name("../a/b").stem == "%2E.%2Fa%2Fb");
    CHECK(make_entity_name("a\nb").stem == "a%0Ab");
    CHECK(make_entity_name("a\nb").display == "a\\nb");
    CHECK(make_entity_name("a%0Ab").stem == "a%250Ab");
    CHECK(make_entity_name("-x").stem == "%2Dx");
    const std::string long_name(300, 'x');
    CHECK(make_entity_name(long_name).stem.size() == 200);
    CHECK(make_entity_name(long_name + "a").stem != make_entity_name(long_name + "b").stem);
}

TEST_CASE("a recipe's own py-spy record is taken over when on") {
    const std::map<std::string, std::string> on = {{"DM_MAP_PROFILE", "1"}};
    const std::vector<std::string> recipe = {
        "uv",  "run", "py-spy",       "record", "-r",         "50",       "--format",
        "raw", "-o",  "out/E.folded", "--",     "linkml-map", "--entity", "Person"};
    const auto made = plan({.command = recipe}, on);
    CHECK(made.command ==
          std::vector<std::string>{"uv", "run", "linkml-map", "--entity", "Person"});
    REQUIRE(made.taken_over);
    CHECK(made.taken_over->rate == 50);
    CHECK(made.entity.display == "Person");
    CHECK(made.folded_path() == "out/E.folded");
    CHECK(made.journal_path() == "out/Person.diag.jsonl");
    CHECK_FALSE(made.write_log);
    CHECK_FALSE(made.left_as_it_is);
    CHECK(plan({.command = recipe, .log_dir = "d"}, on).journal_path() == "d/Person.diag.jsonl");

    // Off, and where no profile is wanted, the command is what it was.
    CHECK(plan({.command = recipe}).command == recipe);
    CHECK(plan({.command = recipe, .log_dir = "d"}).command == recipe);
    const auto unprofiled = plan({.command = recipe, .own_profiler = false}, on);
    CHECK(unprofiled.command == recipe);
    CHECK(unprofiled.write_log);
}

TEST_CASE("the profile's name is the entity's where nothing else says it") {
    const std::map<std::string, std::string> on = {{"DM_MAP_PROFILE", "1"}};
    const auto made =
        plan({.command = {"py-spy", "record", "-fraw", "-oA.b.folded", "--", "p", "x"}}, on);
    CHECK(made.entity.display == "A.b");
    CHECK(made.log_dir == ".");
    CHECK(plan({.command = {"py-spy", "record", "-fraw", "-o/A", "--", "p", "x"}}, on).log_dir ==
          "/");
    // Nothing says what the run is called: a command that is no map step.
    CHECK(plan({.command = {"py-spy", "record", "-fraw", "--", "p", "x"}}, on).mode == Mode::off);
}

TEST_CASE("a py-spy record that can't be taken over stays, and why is said") {
    const auto made = plan({.command = {"py-spy", "record", "-t", "--", "p", "--entity", "E"}},
                           {{"DM_MAP_PROFILE", "1"}});
    CHECK(made.command.front() == "py-spy");
    REQUIRE(made.left_as_it_is);
    CHECK(made.left_as_it_is->find("nothing for --threads") != std::string::npos);
    CHECK_FALSE(made.taken_over);
    CHECK(made.folded_path() == "logs/E.folded");
    CHECK(made.write_log);
}
