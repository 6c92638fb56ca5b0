#include "talk.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

namespace mapdiag::cli {
namespace {

spdlog::logger make_talker() {
    spdlog::logger logger("mapdiag", std::make_shared<spdlog::sinks::stderr_sink_st>());
    logger.set_pattern("mapdiag: %v");
    return logger;
}

}  // namespace

void say_error(std::string_view text) {
    make_talker().error("{}", text);
}

void say_warning(std::string_view text) {
    make_talker().warn("warning: {}", text);
}

}  // namespace mapdiag::cli
