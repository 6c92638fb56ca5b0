#include "app.h"

int main(int argc, char** argv) {
    return mapdiag::cli::run_command_line(argc, argv);
}
