# A Python environment with the demo's packages from PyPI, kept in the cache folder. Sourced after
# common.sh.

# demo_venv: prints the folder of an environment with linkml-map and py-spy in the versions of
# demo/constraints.txt. The first time it installs them; another Python or other versions get an
# environment of their own.
demo_venv() {
  local python constraints=$MAPDIAG_ROOT/demo/constraints.txt key venv
  python=$(find_python)
  key=$({ "$python" --version; cat "$constraints"; } | sha256sum | cut -c1-16)
  venv=$MAPDIAG_CACHE/demo-venv-$key
  if [ ! -e "$venv/ready" ]; then
    say "installing from PyPI into $venv (about 250 MB): linkml-map py-spy and what they need"
    mkdir -p "$MAPDIAG_CACHE"
    rm -rf "$venv"
    "$python" -m venv "$venv" >&2 || die "missing: python3-venv; install it with: apt-get install python3-venv"
    # pip compiles to bytecode as it installs, even where PYTHONDONTWRITEBYTECODE is set: without
    # that every start of linkml-map takes twice as long.
    "$venv/bin/pip" install --quiet --disable-pip-version-check --use-pep517 --compile -c "$constraints" \
      linkml-map py-spy >&2 || die "missing: linkml-map and py-spy from PyPI; pip could not install them"
    touch "$venv/ready"
  fi
  echo "$venv"
}

# profiler_venv: prints the folder of an environment with the py-spy and uv that the profiler's
# tests use.
profiler_venv() {
  local python venv
  python=$(find_python)
  venv=$MAPDIAG_CACHE/profiler-venv-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  if [ ! -e "$venv/ready" ]; then
    say "installing from PyPI into $venv (about 70 MB): py-spy uv"
    mkdir -p "$MAPDIAG_CACHE"
    rm -rf "$venv"
    "$python" -m venv "$venv" >&2 || die "missing: python3-venv; install it with: apt-get install python3-venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check py-spy==0.4.3 uv==0.9.5 >&2 ||
      die "missing: py-spy and uv from PyPI; pip could not install them"
    touch "$venv/ready"
  fi
  echo "$venv"
}
