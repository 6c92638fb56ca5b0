#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "mapdiag/record/record.h"

namespace mapdiag::run {

/// The output file that a map step's command line names (`-o FILE`, `--output FILE`,
/// `--output=FILE`). Only where the command is a map step (it has the word `map-data`): -o means
/// other things to other programs.
std::optional<std::string> find_output_argument(const std::vector<std::string>& command);

/// What became of that file, looked at after the job's end.
std::optional<record::OutputFileState> look_at_output(const std::vector<std::string>& command,
                                                      std::filesystem::file_time_type job_start);

}  // namespace mapdiag::run
