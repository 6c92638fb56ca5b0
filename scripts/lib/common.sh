# What the scripts of this folder share: the project's root, its cache folder, and one way to talk.
# Sourced by bash scripts, never run.
set -euo pipefail

MAPDIAG_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# An ordinary user's PATH has no sbin on Debian; modprobe and depmod live there.
PATH=$PATH:/usr/sbin:/sbin

# Everything that may be thrown away at any time lives in this one folder.
MAPDIAG_CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/mapdiag

# say TEXT: one line of the script's own talk, on stderr.
say() { printf '== %s\n' "$*" >&2; }

# die TEXT: says what is wrong and ends the script as failed.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# The Python for the project's own scripts: the system's where there is one, because an ordinary
# user (and the test guest) can read it, which is not so for one below somebody's home.
find_python() {
  local python
  for python in /usr/bin/python3 "$(command -v python3 || true)"; do
    if [ -x "$python" ] && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
      echo "$python"
      return
    fi
  done
  die "missing: Python 3.11 or newer; install it with: apt-get install python3"
}
