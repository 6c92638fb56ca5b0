# What every target of the project shares, and the one way in which a room becomes a library.

add_library(mapdiag_build INTERFACE)
target_compile_features(mapdiag_build INTERFACE cxx_std_23)
target_include_directories(mapdiag_build INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(mapdiag_build INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Wno-missing-field-initializers  # members left out of a designated initialiser have their default
  $<$<BOOL:${MAPDIAG_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  # libstdc++ hides std::expected from clang 17 and 18, which implement what it needs but
  # announce an older __cpp_concepts.
  target_compile_options(mapdiag_build INTERFACE
    -Wno-builtin-macro-redefined -D__cpp_concepts=202002L)
endif()
if(MAPDIAG_SANITIZE)
  target_compile_options(mapdiag_build INTERFACE
    -fsanitize=${MAPDIAG_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(mapdiag_build INTERFACE -fsanitize=${MAPDIAG_SANITIZE})
elseif(MAPDIAG_STATIC_RUNTIME)
  target_link_options(mapdiag_build INTERFACE -static-libstdc++ -static-libgcc)
endif()

# mapdiag_room(NAME SOURCES file... [LINKS target...])
# A room is one static library, mapdiag_NAME. LINKS lists exactly its arrows in docs/architecture.md.
function(mapdiag_room name)
  cmake_parse_arguments(room "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(mapdiag_${name} STATIC ${room_SOURCES})
  target_link_libraries(mapdiag_${name} PUBLIC mapdiag_build ${room_LINKS}
                                        PRIVATE ${room_PRIVATE_LINKS})
endfunction()

# mapdiag_test(NAME SOURCES file... LINKS target...)
# One Catch2 program of unit tests, registered with ctest as NAME.
function(mapdiag_test name)
  cmake_parse_arguments(test "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(test_${name} ${test_SOURCES})
  target_link_libraries(test_${name} PRIVATE mapdiag_test_main ${test_LINKS})
  target_compile_definitions(test_${name} PRIVATE
    MAPDIAG_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS unit)
endfunction()
