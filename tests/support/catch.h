#pragma once

// One include for both Catch2 majors that the supported distributions have.
#ifdef MAPDIAG_CATCH2_3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
