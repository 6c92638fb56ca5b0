# What the part "browser" of scripts/test takes beyond packages. Sourced after common.sh and
# packages.sh.

# speedscope_folder: prints a folder with speedscope from npm in the version of
# tests/browser/package-lock.json; the first time it installs it there.
speedscope_folder() {
  local lock=$MAPDIAG_ROOT/tests/browser/package-lock.json folder
  folder=$MAPDIAG_CACHE/speedscope-$(sha256sum "$lock" | cut -c1-16)
  if [ ! -e "$folder/ready" ]; then
    command -v npm >/dev/null || install_packages npm
    say "installing from npm into $folder (about 5 MB): speedscope"
    rm -rf "$folder"
    mkdir -p "$folder"
    cp "$lock" "${lock%-lock.json}.json" "$folder"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) ||
      die "missing: speedscope from npm; npm ci could not install it"
    touch "$folder/ready"
  fi
  echo "$folder"
}

# find_go: prints a go whose tools have pprof.
find_go() {
  local go
  command -v go >/dev/null || install_packages go
  go=$(command -v go || true)
  [ -n "$go" ] || die "missing: go; install it with: apt-get install golang-go"
  # Newer ones build pprof when it is first asked for, which takes half a minute.
  "$go" tool pprof -h >/dev/null 2>&1 || [ $? = 2 ] || die "missing: pprof among the tools of $go"
  echo "$go"
}
