# Installs Debian and Ubuntu packages by list, and says so before it does. Sourced after common.sh.
#
# A list is a file of lib/packages/: one package a line, "a | b" where distributions name it
# differently (the first that is installed or can be had counts), "#" starts a comment.

# read_lists LIST...: the lines of the lists without comments and blanks.
read_lists() {
  local list
  for list in "$@"; do
    sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$MAPDIAG_ROOT/scripts/lib/packages/$list"
  done | sort -u
}

# installed_of NAME...: those of the packages that are installed. One call, because each call of
# dpkg-query reads the whole database.
installed_of() {
  dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
    sed -n 's/^installed //p' || true
}

# missing_lines LIST...: the lines of which no alternative is installed.
missing_lines() {
  local lines line name have
  lines=$(read_lists "$@")
  # shellcheck disable=SC2086
  have=$(installed_of ${lines//|/ })
  for line in $lines; do
    for name in ${line//|/ }; do
      grep -qxF "$name" <<<"$have" && continue 2
    done
    echo "$line"
  done
}

# can_be_had NAME: apt knows a version of it.
can_be_had() {
  # Not grep -q: it would leave early and pipefail would count apt-cache's SIGPIPE.
  apt-cache policy "$1" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null
}

# choose_names LINE...: of each line, the first name that can be had; the first of all if none can.
choose_names() {
  local line name
  for line in "$@"; do
    for name in ${line//|/ }; do
      if can_be_had "$name"; then
        echo "$name"
        continue 2
      fi
    done
    echo "${line%%|*}"
  done
}

# as_root COMMAND...: as it is for root, through sudo otherwise.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages LIST...: leaves everything on the lists installed, or ends the script with a
# line that names what is missing. Costs some milliseconds when nothing is.
install_packages() {
  [ -z "${MAPDIAG_NO_INSTALL:-}" ] || return 0
  if ! command -v dpkg-query >/dev/null; then
    die "missing: dpkg, so what is installed can't be seen; this script knows Debian 12 and Ubuntu 24.04." \
      "Install what these stand for: $(read_lists "$@" | tr '\n' ' ')" \
      "and set MAPDIAG_NO_INSTALL=1"
  fi
  local missing names
  mapfile -t missing < <(missing_lines "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0

  mapfile -t names < <(choose_names "${missing[@]}")
  if ! command -v apt-get >/dev/null; then
    die "missing: ${names[*]}; apt-get is not here to install them"
  fi
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "missing: ${names[*]}; install it with: apt-get install ${names[*]} (as root: there is no sudo here)"
  fi
  say "refreshing apt's package lists, then installing with apt-get: ${names[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq >&2 ||
    say "apt-get update failed: going on with the package lists that are here"
  # The lists may have been empty until now, as they are in a fresh container.
  mapfile -t names < <(choose_names "${missing[@]}")
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${names[@]}" </dev/null >&2 ||
    die "missing: ${names[*]}; install it with: apt-get install ${names[*]}"
}
