# Builds by the presets of CMakePresets.json. Sourced after common.sh and packages.sh.

# find_clang: sets the variables that the clang preset reads.
find_clang() {
  local version
  for version in -19 -18 -17 ""; do
    if command -v "clang++$version" >/dev/null && command -v "clang$version" >/dev/null; then
      export MAPDIAG_CLANG=clang$version MAPDIAG_CLANGXX=clang++$version
      return
    fi
  done
  die "missing: clang 17 or newer; install it with: apt-get install clang-19"
}

# configure_preset PRESET [CMAKE_ARGUMENT...]: into build/PRESET; quiet unless it fails.
configure_preset() {
  local preset=$1 log=$MAPDIAG_ROOT/build/$1.configure.log
  shift
  [ "$preset" != clang ] || find_clang
  mkdir -p "$MAPDIAG_ROOT/build"
  if command -v ccache >/dev/null; then
    # Paths relative to the clone, so that a clone elsewhere finds what this one compiled.
    export CCACHE_BASEDIR=$MAPDIAG_ROOT CCACHE_NOHASHDIR=1
    set -- "$@" -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache
  fi
  (cd "$MAPDIAG_ROOT" && cmake --preset "$preset" "$@") >"$log" 2>&1 || {
    cat "$log" >&2
    die "cmake --preset $preset failed"
  }
}

# build_preset PRESET [TARGET...]: builds all of build/PRESET, or the targets.
build_preset() {
  local preset=$1
  shift
  if [ $# -gt 0 ]; then set -- --target "$@"; fi
  cmake --build "$MAPDIAG_ROOT/build/$preset" "$@" >&2 || die "the build of $preset failed"
}
