#!/usr/bin/env bash
# Puts nats-server into node_modules/.cache without installing it, and prints its path. It is the package of the first release of Debian or
# Ubuntu with 2.10.23 or later, from the mirror in apt's configuration. The binary needs nothing but glibc 2.34, so it also runs on earlier releases.
set -euo pipefail
cache="$(cd "$(dirname "$0")/../.." && pwd)/node_modules/.cache/pino-ingest"
if [ -x "$cache/nats-server" ]; then
  echo "$cache/nats-server"
  exit 0
fi
fail() {
  echo "nats-server was not fetched: $1. Set NATS_SERVER_BIN to nats-server 2.10.23 or later (https://nats.io/download/)." >&2
  exit 1
}
command -v apt-get > /dev/null || fail 'there is no apt-get'
# Other repositories than the distribution's own have no suite of updates.
mirror=$(apt-get update --print-uris | sed -n "s#^'\(.*\)/dists/[a-z]*-updates/InRelease'.*#\1#p" | head -n 1)
[ -n "$mirror" ] || fail 'the configuration of apt names no mirror of Debian or Ubuntu'
case $(. /etc/os-release && echo "$ID") in
  debian) release=(debian trixie main) ;;
  ubuntu) release=(ubuntu resolute universe) ;;
  *) fail 'this is neither Debian nor Ubuntu' ;;
esac
echo "fetching nats-server from ${release[1]} at $mirror" >&2
mkdir -p "$cache"
apt=$(mktemp -d "$cache/apt-XXXXXX")
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/archives/partial"
touch "$apt/status"
printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: %s\nTargets: Packages\nSigned-By: %s\n' \
  "$mirror" "${release[1]}" "${release[2]}" "/usr/share/keyrings/${release[0]}-archive-keyring.gpg" > "$apt/sources/one.sources"
# Nothing of the system's apt is written. As root, apt would read the folder as a user of its own.
options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/sources" -o "Dir::State::lists=$apt/lists"
  -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt" -o APT::Sandbox::User=root)
cd "$apt"
apt-get "${options[@]}" update >&2 || fail "$mirror has no ${release[1]}"
apt-get "${options[@]}" download nats-server >&2 || fail "$mirror does not have it"
dpkg -x nats-server_*.deb .
mv usr/sbin/nats-server "$cache/nats-server"
echo "$cache/nats-server"
