#include "mapdiag/linux/proc.h"

#include <unistd.h>

#include <filesystem>

#include "support/catch.h"
#include "support/temp_folder.h"

using mapdiag::linux_os::ProcessId;
using mapdiag::linux_os::ProcFs;
using mapdiag::test::TempFolder;

namespace {

// A stat line with the fields that are read; all others are 0.
std::string stat_line(const std::string& pid, const std::string& name, char state,
                      const std::string& parent, const std::string& start) {
    return pid + " (" + name + ") " + state + ' ' + parent + " 70 71 0 -1 4194304 0 0 0 0 11 12" +
           " 0 0 20 0 1 0 " + start + " 1000 200\n";
}

// A tree of /proc: 10 is the parent of 11 and 12, 11 that of 13.
class FakeProc {
  public:
    FakeProc() {
        add(10, "sh", 1);
        add(11, "python3", 10);
        add(12, "odd (name) Z 1\nUid: 7", 10);
        add(13, "child", 11);
        children(10, 10, "12 11 ");
        children(11, 11, "");
        children(11, 15, "13 ");
        children(12, 12, "");
        children(13, 13, "");
    }
    void add(int pid, const std::string& name, int parent, const std::string& start = "500") {
        const auto number = std::to_string(pid);
        write(pid, "stat", stat_line(number, name, 'S', std::to_string(parent), start));
    }
    void children(int pid, int thread, const std::string& list) {
        write(pid, "task/" + std::to_string(thread) + "/children", list);
    }
    void write(int pid, const std::string& file, const std::string& bytes) {
        folder.write(std::to_string(pid) + '/' + file, bytes);
    }
    ProcFs proc() const { return ProcFs(folder.path()); }

    TempFolder folder;
};

using Pids = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("children of all threads are listed") {
    const FakeProc fake;
    CHECK(fake.proc().pids() == Pids{10, 11, 12, 13});
    CHECK(fake.proc().children(10) == Pids{11, 12});
    CHECK(fake.proc().children(11) == Pids{13});
    CHECK(fake.proc().children(99).empty());
    CHECK(fake.proc().descendants(10) == Pids{11, 12, 13});
    CHECK(fake.proc().descendants(10, 2) == Pids{11, 12});
}

TEST_CASE("without the kernel's lists children are found by their parent") {
    const FakeProc fake;
    for (const auto* pid : {"10", "11", "12", "13"}) {
        std::filesystem::remove_all(fake.folder.path(std::string(pid) + "/task"));
    }
    CHECK(fake.proc().children(10) == Pids{11, 12});
    CHECK(fake.proc().descendants(10) == Pids{11, 12, 13});
}

TEST_CASE("a process tree that says it is its own parent ends") {
    FakeProc fake;
    fake.children(13, 13, "10 11 13");
    CHECK(fake.proc().descendants(10) == Pids{11, 12, 13});
}

TEST_CASE("a name with blanks, brackets and line ends is read whole") {
    const FakeProc fake;
    const auto odd = fake.proc().stat(12);
    REQUIRE(odd);
    CHECK(odd->name == "odd (name) Z 1\nUid: 7");
    CHECK(odd->state == 'S');
    CHECK(odd->parent == 10);
    CHECK(odd->process_group == 70);
    CHECK(odd->session == 71);
    CHECK(odd->user_ticks == 11);
    CHECK(odd->system_ticks == 12);
    CHECK(odd->id == ProcessId{12, 500});
}

TEST_CASE("a pid that is used again is another process") {
    FakeProc fake;
    const auto before = fake.proc().id(13);
    REQUIRE(before);
    CHECK(fake.proc().alive(*before));
    fake.add(13, "other", 1, "900");
    CHECK_FALSE(fake.proc().alive(*before));
    CHECK(fake.proc().id(13) != before);
}

TEST_CASE("zombies and torn files are no living process") {
    FakeProc fake;
    fake.write(20, "stat", stat_line("20", "gone", 'Z', "1", "5"));
    CHECK_FALSE(fake.proc().alive({20, 5}));
    for (const auto* torn : {"", "21", "21 (x", "21 (x) S 1", "21 )x( S 1 2 3"}) {
        fake.write(21, "stat", torn);
        CHECK_FALSE(fake.proc().stat(21));
    }
}

TEST_CASE("the status file gives memory and rights, and says what is not there") {
    FakeProc fake;
    fake.write(10, "status",
               "Name:\tx\nUid:\t1000\t1001\t1000\t1000\nVmHWM:\t    2048 kB\n"
               "CapEff:\t00000000a80425fb\nNoNewPrivs:\t1\nSeccomp:\t2\nTracerPid:\t44\n");
    const auto status = fake.proc().status(10);
    REQUIRE(status);
    CHECK(status->peak_resident_bytes == 2048U * 1024);
    CHECK(status->real_user == 1000U);
    CHECK(status->effective_user == 1001U);
    CHECK(status->effective_capabilities == 0xa80425fbULL);
    CHECK(status->seccomp_mode == 2U);
    CHECK(status->no_new_privileges == true);
    CHECK(status->tracer == 44);

    fake.write(11, "status", "Name:\tx\n");
    const auto bare = fake.proc().status(11);
    REQUIRE(bare);
    CHECK_FALSE(bare->peak_resident_bytes);
    CHECK_FALSE(bare->effective_capabilities);
    CHECK_FALSE(bare->no_new_privileges);
    CHECK_FALSE(fake.proc().status(12));
}

TEST_CASE("arguments and environment are read by their zero bytes") {
    FakeProc fake;
    fake.write(10, "cmdline", std::string("python\0-c\0a\nb\0\0", 15));
    CHECK(fake.proc().arguments(10) == std::vector<std::string>{"python", "-c", "a\nb", ""});
    fake.write(11, "cmdline", "");
    CHECK(fake.proc().arguments(11).empty());
    CHECK(fake.proc().arguments(99).empty());

    fake.write(10, "environ", std::string("PATHS=no\0PATH=/bin\0E=\0", 23));
    CHECK(fake.proc().environment_value(10, "PATH") == "/bin");
    CHECK(fake.proc().environment_value(10, "E") == "");
    CHECK_FALSE(fake.proc().environment_value(10, "PAT"));
}

TEST_CASE("memory figures are bytes") {
    FakeProc fake;
    fake.write(10, "statm", "900 25 10 0 0 0 0\n");
    fake.write(10, "smaps_rollup",
               "00400000-7fff [rollup]\nRss:  100 kB\nPss:      60 kB\nPss_Anon: 5 kB\n");
    CHECK(fake.proc().resident_bytes(10) ==
          25U * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    CHECK(fake.proc().proportional_bytes(10) == 60U * 1024);
    CHECK_FALSE(fake.proc().resident_bytes(11));
}

TEST_CASE("the executable and the holders of a pipe are links") {
    FakeProc fake;
    namespace fs = std::filesystem;
    fs::create_directories(fake.folder.path("11/fd"));
    fs::create_symlink("/usr/bin/python3.11", fake.folder.path("11/exe"));
    fs::create_symlink("pipe:[77]", fake.folder.path("11/fd/0"));
    CHECK(fake.proc().executable(11) == "/usr/bin/python3.11");
    CHECK_FALSE(fake.proc().executable(10));
    CHECK(fake.proc().pipe_holders(77) == Pids{11});
    CHECK(fake.proc().pipe_holders(7).empty());
}

TEST_CASE("the real /proc knows this process") {
    const ProcFs proc;
    const auto self = static_cast<std::int32_t>(::getpid());
    const auto id = proc.id(self);
    REQUIRE(id);
    CHECK(proc.alive(*id));
    CHECK(proc.resident_bytes(self) > 100000U);
    CHECK(proc.stat(self)->parent == ::getppid());
    CHECK_FALSE(proc.arguments(self).empty());
    CHECK(mapdiag::linux_os::seconds_since_start(*id) < 600);
}
