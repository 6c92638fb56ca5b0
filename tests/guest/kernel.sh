# Gets the guest's kernel: the distribution's own package, unpacked into the cache folder and never
# installed. Sourced after scripts/lib/common.sh and packages.sh.

# kernel_packages: the packages that hold the kernel image and its modules, named by the
# distribution's newest meta package (Debian's image has the modules in it, Ubuntu's has not).
kernel_packages() {
  local meta=linux-image-amd64
  can_be_had "$meta" || meta=linux-image-generic
  apt-cache depends "$meta" | sed -n 's/^ *Depends: \(linux-\(image\|modules\)-[0-9].*\)/\1/p' |
    while read -r image; do
      echo "$image"
      apt-cache depends "$image" | sed -n 's/^ *Depends: \(linux-modules-[0-9].*\)/\1/p'
    done | sort -u
}

# unpack_kernel FOLDER PACKAGE...: downloads and unpacks the packages into FOLDER.
unpack_kernel() {
  local folder=$1 deb
  shift
  mkdir -p "$folder/debs"
  (cd "$folder/debs" && apt-get download -qq "$@" >&2) || return 1
  for deb in "$folder"/debs/*.deb; do
    dpkg -x "$deb" "$folder"
  done
  rm -r "$folder/debs"
  # Newer distributions unpack to usr/lib, where depmod and modprobe do not look below another root.
  if [ ! -e "$folder/lib" ]; then ln -s usr/lib "$folder/lib"; fi
}

# find_kernel: prints the folder of an unpacked kernel; the first time, it downloads one.
find_kernel() {
  local cache=$MAPDIAG_CACHE/guest-kernel fresh
  if [ ! -e "$cache/ready" ]; then
    [ "$(dpkg --print-architecture)" = amd64 ] || die "the guest needs an x86-64 machine"
    local packages
    mapfile -t packages < <(kernel_packages)
    if [ "${#packages[@]}" = 0 ]; then
      as_root apt-get update -qq >&2 || true
      mapfile -t packages < <(kernel_packages)
    fi
    [ "${#packages[@]}" -gt 0 ] || die "missing: a kernel package for the guest; apt knows none"

    say "downloading a kernel for the test guest (not installed, kept in $cache): ${packages[*]}"
    mkdir -p "$MAPDIAG_CACHE"
    fresh=$(mktemp -d "$MAPDIAG_CACHE/guest-kernel.XXXXXX")
    # A list older than the archive names files that are gone: once more with a fresh one.
    unpack_kernel "$fresh" "${packages[@]}" || {
      as_root apt-get update -qq >&2 || true
      mapfile -t packages < <(kernel_packages)
      unpack_kernel "$fresh" "${packages[@]}" || die "missing: ${packages[*]}; apt-get download failed"
    }
    depmod -b "$fresh" "$(ls "$fresh/lib/modules")"
    touch "$fresh/ready"
    rm -rf "$cache"
    mv "$fresh" "$cache"
  fi
  echo "$cache"
}
