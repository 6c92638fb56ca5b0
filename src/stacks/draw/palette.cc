#include "palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "mapdiag/stacks/frame_parts.h"

namespace mapdiag::stacks {
namespace {

constexpr unsigned kColours = 16;
constexpr int kLevels = 10;

struct Tone {
    double hue = 0;         // degrees
    double saturation = 0;  // 0 to 1
    double lightness = 0;   // 0 to 1
};

// CSS Color Module Level 3, section 4.2.4.
std::string hex_colour(const Tone& tone) {
    const auto channel = [&](double offset) {
        const auto k = std::fmod(offset + tone.hue / 30, 12);
        const auto a = tone.saturation * std::min(tone.lightness, 1 - tone.lightness);
        const auto value = tone.lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
        return static_cast<int>(std::lround(value * 255));
    };
    return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

Tone light_tone(Palette palette, unsigned index) {
    const auto part = static_cast<double>(index) / kColours;
    const auto uneven = (index % 3) * 0.04;
    switch (palette) {
        case Palette::warm:
            return {8 + part * 46, 0.88, 0.62 + uneven};
        case Palette::cool:
            return {165 + part * 95, 0.55, 0.66 + uneven};
        case Palette::module:
            return {part * 360, 0.58, 0.68 + uneven};
        case Palette::grey:
            return {0, 0, 0.66 + part * 0.2};
    }
    return {};
}

Tone dark_tone(Palette palette, unsigned index) {
    auto tone = light_tone(palette, index);
    // As light as a contrast of 4.5 to the letters allows (WCAG 2.2, 1.4.3).
    tone.lightness -= palette == Palette::warm || palette == Palette::cool ? 0.42 : 0.45;
    tone.saturation *= 0.75;
    return tone;
}

// Less is blue, more is red, the same is nearly white, or nearly black in the dark.
Tone change_tone(int level, bool dark) {
    const auto strength = std::abs(level) / static_cast<double>(kLevels);
    const auto lightness = dark ? 0.24 + strength * 0.16 : 0.92 - strength * 0.30;
    return {level < 0 ? 215.0 : 8.0, level == 0 ? 0 : 0.25 + 0.6 * strength, lightness};
}

struct NamedTone {
    std::string_view name;
    Tone light;
    Tone dark;
};
constexpr std::array<NamedTone, 3> kKinds = {{
    {"ck", {28, 0.9, 0.66}, {28, 0.6, 0.3}},
    {"cj", {110, 0.5, 0.66}, {110, 0.4, 0.28}},
    {"ci", {180, 0.5, 0.66}, {180, 0.4, 0.28}},
}};

// FNV-1a, so that colours don't depend on how frames are numbered or stored.
std::uint32_t hash(std::string_view text) {
    std::uint32_t state = 2166136261U;
    for (const char c : text) {
        state = (state ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    return state ^ (state >> 16U);
}

constexpr auto kClasses =
    std::to_array<std::string_view>({"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9",
                                     "c10", "c11", "c12", "c13", "c14", "c15"});
constexpr auto kChanges = std::to_array<std::string_view>(
    {"d0",  "d1",  "d2",  "d3",  "d4",  "d5",  "d6",  "d7",  "d8",  "d9", "d10",
     "d11", "d12", "d13", "d14", "d15", "d16", "d17", "d18", "d19", "d20"});

std::string rules(Palette palette, bool changes, bool dark) {
    std::string out;
    if (changes) {
        for (int level = -kLevels; level <= kLevels; ++level) {
            out += fmt::format(".{}{{fill:{}}}", change_class(level),
                               hex_colour(change_tone(level, dark)));
        }
        return out;
    }
    for (unsigned index = 0; index < kColours; ++index) {
        const auto tone = dark ? dark_tone(palette, index) : light_tone(palette, index);
        out += fmt::format(".{}{{fill:{}}}", kClasses[index], hex_colour(tone));
    }
    for (const auto& kind : kKinds) {
        out += fmt::format(".{}{{fill:{}}}", kind.name, hex_colour(dark ? kind.dark : kind.light));
    }
    return out;
}

}  // namespace

std::string_view colour_class(std::string_view frame, Palette palette) {
    const auto kind = frame_kind(frame);
    if (!kind.empty()) {
        return kind == "kernel" ? "ck" : kind == "inlined" ? "ci" : "cj";
    }
    if (palette == Palette::module) {
        return kClasses[hash(frame_module(frame)) % kColours];
    }
    return kClasses[hash(frame_parts(frame).function) % kColours];
}

std::string_view change_class(int level) {
    return kChanges[static_cast<std::size_t>(std::clamp(level, -kLevels, kLevels) + kLevels)];
}

std::string palette_styles(Palette palette, bool changes) {
    return rules(palette, changes, false) + "\n@media (prefers-color-scheme:dark){" +
           rules(palette, changes, true) + "}";
}

}  // namespace mapdiag::stacks
