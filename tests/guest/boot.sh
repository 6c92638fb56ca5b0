# Boots the cgroup v2 guest: QEMU without hardware virtualisation, its root the host's own root,
# read-only over 9p, so there is no image to build. Sourced after scripts/lib/common.sh.

# modules_for KERNEL VERSION: the files of the modules that reaching the host's root takes, in
# the order of loading.
modules_for() {
  local module
  for module in virtio_pci 9pnet_virtio 9p; do
    modprobe -d "$1" -S "$2" --show-depends "$module" 2>/dev/null || true
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# plain_module FILE: the module's content, however the distribution compresses it.
plain_module() {
  case $1 in
    *.xz) xz -dc "$1" ;;
    *.zst) zstd -dcq "$1" ;;
    *.gz) gzip -dc "$1" ;;
    *) cat "$1" ;;
  esac
}

# make_initramfs KERNEL VERSION FILE
make_initramfs() {
  local tree file name
  tree=$(mktemp -d)
  mkdir -p "$tree"/{bin,dev,proc,sys,host,modules}
  cp "$(command -v busybox)" "$tree/bin/busybox"
  install -m 755 "$MAPDIAG_ROOT/tests/guest/init" "$tree/init"
  touch "$tree/modules/order"
  while read -r file; do
    name=$(basename "$file")
    name=${name%%.ko*}.ko
    plain_module "$file" >"$tree/modules/$name"
    echo "$name" >>"$tree/modules/order"
  done < <(modules_for "$1" "$2")
  (cd "$tree" && find . | cpio --quiet -o -H newc | gzip -1) >"$3"
  rm -r "$tree"
}

# boot_guest KERNEL PAYLOAD RESULTS SECONDS: runs PAYLOAD/script in the guest; what it prints goes
# to the file RESULTS, the kernel's words to RESULTS.console. Gives the script's status; 124 where
# the guest did not end in time, 125 where it ended without the script's status.
boot_guest() {
  local kernel=$1 payload=$2 results=$3 seconds=$4 version status=0 said
  version=$(ls "$kernel/lib/modules")
  cp "$MAPDIAG_ROOT/tests/guest/start" "$payload/start"
  chmod -R a+rX "$payload"
  make_initramfs "$kernel" "$version" "$results.initramfs"
  # no_timer_check: on a busy machine the kernel's trial of the emulated timer fails by chance, and
  # the boot hangs there.
  timeout --kill-after=10 "$seconds" qemu-system-x86_64 \
    -accel tcg,thread=multi -cpu max -smp 2 -m 2048 \
    -kernel "$kernel/boot/vmlinuz-$version" -initrd "$results.initramfs" \
    -append "console=ttyS0 quiet panic=-1 no_timer_check" -no-reboot -display none -monitor none \
    -chardev "file,id=console,path=$results.console" -serial chardev:console \
    -chardev "file,id=results,path=$results" -serial chardev:results \
    -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
    -virtfs "local,path=$payload,mount_tag=payload,security_model=none,readonly=on,multidevs=remap" \
    -nic none </dev/null >&2 || status=$?
  rm -f "$results.initramfs"
  if [ "$status" = 124 ]; then return 124; fi
  said=$(sed -n 's/^guest-status \([0-9]*\)$/\1/p' "$results" | tail -n 1)
  return "${said:-125}"
}
