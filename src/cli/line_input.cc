#include "line_input.h"

#include <histedit.h>

#include <cstdio>
#include <iostream>

#include "mapdiag/support/terminal.h"

namespace mapdiag::cli {
namespace {

constexpr int kHistorySize = 1000;

class PlainInput : public LineInput {
  public:
    std::optional<std::string> next(const std::string&) override {
        std::string line;
        return std::getline(std::cin, line) ? std::optional(std::move(line)) : std::nullopt;
    }
};

class EditedInput : public LineInput {
  public:
    EditedInput() : editor_(el_init("mapdiag", stdin, stdout, stderr)), history_(history_init()) {
        HistEvent event = {};
        history(history_, &event, H_SETSIZE, kHistorySize);
        el_set(editor_, EL_CLIENTDATA, this);
        el_set(editor_, EL_PROMPT, &EditedInput::prompt_of);
        el_set(editor_, EL_EDITOR, "emacs");
        el_set(editor_, EL_HIST, history, history_);
        el_set(editor_, EL_SIGNAL, 1);
    }
    ~EditedInput() override {
        history_end(history_);
        el_end(editor_);
    }

    std::optional<std::string> next(const std::string& prompt) override {
        prompt_ = prompt;
        int size = 0;
        const char* const typed = el_gets(editor_, &size);
        if (typed == nullptr || size <= 0) {
            std::fputc('\n', stdout);
            return std::nullopt;
        }
        std::string line(typed, static_cast<std::size_t>(size));
        while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) {
            line.pop_back();
        }
        if (!line.empty()) {
            HistEvent event = {};
            history(history_, &event, H_ENTER, line.c_str());
        }
        return line;
    }

  private:
    static char* prompt_of(EditLine* editor) {
        void* self = nullptr;
        el_get(editor, EL_CLIENTDATA, &self);
        return static_cast<EditedInput*>(self)->prompt_.data();
    }

    EditLine* editor_;
    History* history_;
    std::string prompt_;
};

}  // namespace

std::unique_ptr<LineInput> LineInput::open() {
    if (stdin_is_terminal() && stdout_is_terminal()) {
        return std::make_unique<EditedInput>();
    }
    return std::make_unique<PlainInput>();
}

}  // namespace mapdiag::cli
