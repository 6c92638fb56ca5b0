#pragma once

#include "mapdiag/stacks/profile.h"

namespace mapdiag::stacks {

/// Gives the frames their final shape: frames that hold a `;` of their own (thread names, file
/// names) are joined again, and command lines are reduced to the program's name unless they are
/// kept. Costs nothing where no frame asks for it.
void normalise_frames(Profile& profile, bool keep_command_lines);

}  // namespace mapdiag::stacks
