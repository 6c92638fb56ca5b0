#include "mapdiag/report/profile_lines.h"

#include <algorithm>

#include "support/catch.h"

using namespace mapdiag::record;
using mapdiag::report::profile_lines;
using mapdiag::report::ProfileLines;
using Lines = std::vector<std::string>;

namespace {

// The lines, with what holds for all of them.
ProfileLines lines_of(const ProfileRecord& profile) {
    auto lines = profile_lines(profile);
    for (const auto* list : {&lines.profile, &lines.warnings}) {
        for (const auto& line : *list) {
            CHECK_FALSE(line.empty());
            CHECK(line.find('\n') == std::string::npos);
        }
    }
    return lines;
}

ProfiledProcess process(ProfileOutcome outcome) {
    ProfiledProcess one;
    one.pid = 7;
    one.program = "linkml-map";
    one.python_version = "3.11";
    one.outcome = outcome;
    one.attempts = 1;
    return one;
}

// A profile that went well.
ProfileRecord good() {
    ProfileRecord profile;
    profile.state = ProfileState::written;
    profile.path = "logs/E.folded";
    profile.samples = 1234;
    profile.stacks = 88;
    profile.python_seen = true;
    profile.found = FoundProfiler{ProfilerSource::search_path, "/bin/py-spy", "0.4.3"};
    auto one = process(ProfileOutcome::sampled);
    one.samples = 1234;
    one.samplings = 1230;
    one.told_samplings = true;
    one.profiled_s = 12.3;
    one.attached_after_s = 0.012;
    profile.processes = {one};
    return profile;
}

// A run whose only Python came to nothing.
ProfileRecord empty(ProfiledProcess one) {
    auto profile = good();
    profile.state = ProfileState::empty;
    profile.path.clear();
    profile.samples = 0;
    profile.stacks = 0;
    profile.processes = {std::move(one)};
    return profile;
}

std::string only_line(const ProfileRecord& profile) {
    const auto lines = lines_of(profile);
    REQUIRE(lines.profile.size() == 1);
    CHECK(lines.warnings.empty());
    return lines.profile[0];
}

std::string denied(DenialCause cause, int scope = -1) {
    auto one = process(ProfileOutcome::denied);
    one.denial = {.cause = cause, .yama_scope = scope};
    one.message = "Error: Permission denied (os error 1)";
    return only_line(empty(one));
}

}  // namespace

TEST_CASE("nothing is said where profiling was off") {
    CHECK(lines_of({}).profile.empty());
    CHECK(lines_of({}).warnings.empty());
}

TEST_CASE("a good profile is described in three lines") {
    const auto lines = lines_of(good());
    CHECK(lines.warnings.empty());
    CHECK(lines.profile ==
          Lines{"logs/E.folded: 1 234 samples in 88 stacks, 100 a second, wall clock (waiting "
                "counts too)",
                "process 7 (linkml-map, Python 3.11): 1 234 samples in 12.3 s, from 0.01 s after "
                "its start",
                "taken by py-spy 0.4.3, /bin/py-spy (found in PATH)"});
}

TEST_CASE("the mode is said") {
    auto profile = good();
    profile.settings = {
        .rate = 20, .idle = false, .subprocesses = false, .native = true, .nonblocking = true};
    CHECK(lines_of(profile).profile[0] ==
          "logs/E.folded: 1 234 samples in 88 stacks, 20 a second, busy time only (waiting is left "
          "out), native frames too, without stopping the job");
}

TEST_CASE("where py-spy came from is said") {
    const std::vector<std::pair<ProfilerSource, std::string>> rows = {
        {ProfilerSource::option, "given by --py-spy"},
        {ProfilerSource::variable, "given by $MAPDIAG_PYSPY"},
        {ProfilerSource::interpreter, "found beside the job's Python"},
        {ProfilerSource::uv, "provided by uv run --with py-spy"},
        {ProfilerSource::uvx, "provided by uvx --from py-spy"},
    };
    for (const auto& [source, text] : rows) {
        auto profile = good();
        profile.found->source = source;
        profile.found->version.clear();
        CHECK(lines_of(profile).profile[2] == "taken by this py-spy, /bin/py-spy (" + text + ")");
    }
}

TEST_CASE("what was left out of a profile is said") {
    auto profile = good();
    profile.left_out_children = 3;
    profile.over_limit = 1;
    profile.limit_at_once = 8;
    auto helper = process(ProfileOutcome::sampled);
    helper.helper = true;
    profile.processes.push_back(helper);
    auto short_one = process(ProfileOutcome::too_short);
    profile.processes.push_back(short_one);
    profile.processes.push_back(short_one);
    const auto lines = lines_of(profile);
    CHECK(lines.profile[3] ==
          "3 Pythons that a profiled one started: not in it (--subprocesses takes them in)");
    CHECK(lines.profile[4] == "1 short Python of uv itself: not in it");
    CHECK(lines.warnings ==
          Lines{"not in the profile: process 7 (linkml-map, Python 3.11) ended before py-spy was "
                "ready: too short a run to profile (and 1 more like it)",
                "1 Python not profiled: mapdiag runs 8 py-spys at once at most"});
}

TEST_CASE("many processes do not make many lines") {
    auto profile = good();
    for (int i = 0; i < 20; ++i) {
        profile.processes.push_back(profile.processes[0]);
    }
    const auto lines = lines_of(profile);
    CHECK(lines.profile.size() == 11);
    CHECK(lines.profile[9] == "and 13 more like these");
}

TEST_CASE("no py-spy: where it was looked for, and how to get it") {
    ProfileRecord profile;
    profile.state = ProfileState::not_found;
    profile.looked_at = {{ProfilerSource::search_path, "/usr/bin:/bin", ""},
                         {ProfilerSource::interpreter, "/v/bin", ""},
                         {ProfilerSource::uv, "", "error: no network"},
                         {ProfilerSource::uvx, "", "uvx is not in PATH"}};
    CHECK(
        only_line(profile) ==
        "none: py-spy was not found. Looked for at: PATH (/usr/bin:/bin); beside the job's Python "
        "(/v/bin); uv run --with py-spy: error: no network; uvx --from py-spy: uvx is not in "
        "PATH. To get it: pip install py-spy, or name it with --py-spy");
    profile.looked_at = {{ProfilerSource::option, "/x", "it is no file that can be executed"}};
    CHECK(only_line(profile).find("--py-spy (/x): it is no file that can be executed") !=
          std::string::npos);
    profile.looked_at = {{ProfilerSource::variable, "/x", ""}};
    CHECK(only_line(profile).find("$MAPDIAG_PYSPY (/x)") != std::string::npos);
}

TEST_CASE("no Python, and no file, are said") {
    ProfileRecord profile;
    profile.state = ProfileState::no_python;
    CHECK(only_line(profile) == "none: no Python process was seen in the job");
    profile.state = ProfileState::not_written;
    profile.trouble = "can't write logs/E.folded: No space left on device";
    CHECK(only_line(profile) == "none: can't write logs/E.folded: No space left on device");
}

TEST_CASE("a refusal has one line with its cause and its remedy") {
    CHECK(denied(DenialCause::yama, 1) ==
          "none: py-spy may not look into the job: ptrace is restricted "
          "(kernel.yama.ptrace_scope is 1). Remedy: sysctl kernel.yama.ptrace_scope=0 on the "
          "machine itself, or for a container --cap-add=SYS_PTRACE and root in it");
    CHECK(
        denied(DenialCause::yama, 3) ==
        "none: the kernel forbids every ptrace (kernel.yama.ptrace_scope is 3), until the machine "
        "is started again with a lower value: py-spy can't look into the job");
    CHECK(denied(DenialCause::capability) ==
          "none: py-spy may not look into the job: mapdiag has no CAP_SYS_PTRACE, as is usual in a "
          "container. Remedy: start the container with --cap-add=SYS_PTRACE");
    CHECK(denied(DenialCause::other_user) ==
          "none: py-spy may not look into the job, which runs as another user: ptrace needs the "
          "same user. Remedy: run mapdiag as that user, or with CAP_SYS_PTRACE");
    CHECK(denied(DenialCause::seccomp) ==
          "none: py-spy may not look into the job: a system call filter (seccomp) refuses ptrace. "
          "Remedy: start the container with --cap-add=SYS_PTRACE, or allow ptrace in its seccomp "
          "profile");
    CHECK(denied(DenialCause::unknown) ==
          "none: py-spy failed: it was refused permission to look into the job, and nothing that "
          "forbids it can be seen from here. Its words: Error: Permission denied (os error 1)");
}

TEST_CASE("each way to have no samples has its own line") {
    auto one = process(ProfileOutcome::unsupported_python);
    one.python_version = "3.99.0";
    CHECK(only_line(empty(one)) ==
          "none: unsupported version of Python 3.99.0: py-spy 0.4.3 does not know it. Remedy: a "
          "newer py-spy (pip install -U py-spy)");
    one = process(ProfileOutcome::no_interpreter);
    one.attempts = 13;
    one.message = "Error: x";
    CHECK(only_line(empty(one)) ==
          "none: py-spy saw no Python interpreter in process 7 (linkml-map, Python 3.11), in 13 "
          "attempts. Its words: Error: x");
    CHECK(
        only_line(empty(process(ProfileOutcome::too_short))) ==
        "none: process 7 (linkml-map, Python 3.11) ended before py-spy was ready: too short a run "
        "to profile");
    one = process(ProfileOutcome::cannot_start);
    one.message = "can't start /x: Exec format error";
    CHECK(only_line(empty(one)) ==
          "none: py-spy can't be started: can't start /x: Exec format error");
    one = process(ProfileOutcome::died);
    one.signal = 9;
    CHECK(only_line(empty(one)) ==
          "none: the profiler died: py-spy was killed by SIGKILL while it profiled process 7 "
          "(linkml-map, Python 3.11); its samples are lost");
    CHECK(only_line(empty(process(ProfileOutcome::hung))) ==
          "none: py-spy did not end when it was told to and had to be killed; its samples of "
          "process 7 (linkml-map, Python 3.11) are lost");
    one = process(ProfileOutcome::failed);
    CHECK(only_line(empty(one)) ==
          "none: py-spy failed: it ended without a profile and said nothing");
    one.message = "Error: x";
    CHECK(only_line(empty(one)) == "none: py-spy failed: Error: x");
    auto none = empty(one);
    none.processes.clear();
    CHECK(only_line(none) == "none: no Python of the job was profiled");
}

TEST_CASE("0 samples have a reason") {
    auto one = process(ProfileOutcome::no_samples);
    one.told_samplings = true;
    one.profiled_s = 0.98;
    one.samplings = 98;
    const std::string begin = "none: 0 samples from process 7 (linkml-map, Python 3.11)";
    CHECK(only_line(empty(one)) ==
          begin + ", though py-spy took 98 looks in 0.98 s: it saw no Python frame in it");
    auto profile = empty(one);
    profile.settings.idle = false;
    CHECK(only_line(profile) == begin +
                                    ", though py-spy took 98 looks in 0.98 s: it was never seen "
                                    "busy (without --cpu, waiting is counted too)");
    one.errors = 98;
    CHECK(only_line(empty(one)) ==
          begin + ", though py-spy took 98 looks in 0.98 s: 98 of its looks failed");
    one.errors = 0;
    one.samplings = 0;
    CHECK(only_line(empty(one)) ==
          begin + ", though py-spy took 0 looks in 0.98 s: it ended before py-spy's first look");
    one.told_samplings = false;
    CHECK(only_line(empty(one)) == begin + ": it saw no Python frame in it");
}

TEST_CASE("a profile that can't be trusted is not praised") {
    auto profile = good();
    profile.processes[0].samplings = 1000;
    profile.processes[0].errors = 99;
    CHECK(lines_of(profile).warnings.empty());
    profile.processes[0].errors = 100;
    CHECK(lines_of(profile).warnings ==
          Lines{"100 of 1 000 looks of py-spy at the job failed with an error: shares in this "
                "profile may be off by several points"});
    profile.processes[0].errors = 500;
    CHECK(lines_of(profile).warnings ==
          Lines{"500 of 1 000 looks of py-spy at the job failed with an error: do not trust this "
                "profile"});
    profile.processes[0].samplings = 15;
    profile.processes[0].errors = 629;
    CHECK(lines_of(profile).warnings ==
          Lines{"629 of 644 looks of py-spy at the job failed with an error: do not trust this "
                "profile"});
    profile = good();
    profile.samples = 12;
    CHECK(lines_of(profile).warnings ==
          Lines{"only 12 samples: too few for shares of single functions"});
}

TEST_CASE("what disturbed the profiling is said") {
    auto profile = good();
    profile.processes[0].behind_s = 1.2;
    profile.processes[0].stopped_job = true;
    profile.lost_lines = 2;
    CHECK(
        lines_of(profile).warnings ==
        Lines{"py-spy left process 7 (linkml-map, Python 3.11) stopped; mapdiag continued it",
              "py-spy was 1.20 s behind in sampling: 100 a second is too much here, shares may be "
              "off. Remedy: a lower --rate",
              "2 lines of py-spy's profile could not be read: left out"});
}
