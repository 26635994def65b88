#!/bin/sh
# The hook of signalbox: hands what a coding agent is about to do to the listener on this machine, prints
# what that answers and exits as it says. Usage: hook.sh <client> <event>, with the client's payload on
# stdin. Whatever goes wrong, the edit goes on, with one line on stderr. Written by `signalbox install`.

# bash speaks to a socket by itself, which takes half the time of starting curl. With -p it reads no file
# that BASH_ENV names.
if [ -z "${BASH_VERSION:-}${SIGNALBOX_HOOK_BASH:-}" ] && command -v bash >/dev/null 2>&1; then
  SIGNALBOX_HOOK_BASH=no
  export SIGNALBOX_HOOK_BASH
  exec bash -p "$0" "$@"
fi

here=${0%/*}
database=${SIGNALBOX_DB:-}
if [ -z "$database" ]; then
  name=signalbox
  [ "${SIGNALBOX_ENV:-}" = test ] && name=signalbox.test
  case ${SIGNALBOX_API_KEY:-} in
    signalbox_test_sk_*) name=signalbox.test ;;
    signalbox_live_sk_*) name=signalbox ;;
  esac
  database=$here/../$name.db
fi
listener=${database%.db}.hook.curl

let_go() {
  printf 'signalbox: not checked, the edit goes on: %s\n' "$1" >&2
  exit 0
}

# Whoever starts the hook from a client's settings names a code that no failing shell ends with.
block() {
  exit "${SIGNALBOX_HOOK_BLOCK:-$1}"
}

{ command exec 3<&0; } 2>/dev/null || let_go 'there is nothing to read its description from'

# Runs a command on the script's own stdin, for a second at most. The shell that waits and the watch over
# it are told apart by their pids, and neither outlives the other.
bounded() {
  "$@" <&3 &
  running=$!
  (
    # A child that was just forked still has this trap, and only the signal that has none surely ends it.
    trap 'kill -9 "$!"; exit 0' TERM
    sleep 1 &
    wait "$!"
    kill -9 "$running"
  ) >/dev/null 2>&1 3<&- &
  watch=$!
  wait "$running"
  status=$?
  kill "$watch" 2>/dev/null
  return "$status"
}

# Asks over bash's own socket; prints nothing when there is no good answer. What is longer than a socket
# holds could stop it for ever, so that is left to curl.
ask_by_socket() {
  trap '' PIPE
  case $BASH_VERSION in
    [123].*) patience=1 ;;
    *) patience=0.7 ;;
  esac
  while IFS= read -r line; do
    case $line in
      'url = "http://127.0.0.1:'*) port=${line#*127.0.0.1:} port=${port%%/*} ;;
      'header = "Authorization: '*) key=${line#*Authorization: } key=${key%?} ;;
    esac
  done <"$listener"
  exec 4<>"/dev/tcp/127.0.0.1/$port" || exit
  printf '%s\r\n' 'POST /api/coordination/hook HTTP/1.0' "Host: 127.0.0.1:$port" "Authorization: $key" \
    'Content-Type: application/json' "Content-Length: ${#payload}" "$@" '' >&4
  printf '%s' "$payload" >&4
  IFS= read -r -d '' -t "$patience" reply <&4
  [ $? -gt 128 ] && exit
  head_end=$'\r\n\r\n'
  case $reply in
    HTTP/1.?' 200 '*) printf '%s' "${reply#*"$head_end"}" ;;
  esac
}

ask_by_curl() {
  for header; do
    shift
    set -- "$@" -H "$header"
  done
  curl -q -K "$listener" -f "$@" --data-binary @- <<PAYLOAD
$payload
PAYLOAD
}

# The outer braces silence bash, which warns of NUL bytes itself.
{ payload=$(bounded cat); } 2>/dev/null || let_go 'its description did not come in time'

answer=
session=${CLAUDE_CODE_SESSION_ID:-${GEMINI_SESSION_ID:-}}
set -- "$1" "$2" \
  "X-Signalbox-Hook: $1 $2 $PPID" \
  "X-Signalbox-Folder: $PWD" \
  "X-Signalbox-Project-Folder: ${CLAUDE_PROJECT_DIR:-${DEVIN_PROJECT_DIR:-${GEMINI_PROJECT_DIR:-}}}" \
  "X-Signalbox-Session: $session" \
  "X-Signalbox-Named-Session: ${SIGNALBOX_SESSION:-}" \
  "X-Signalbox-Agent: ${SIGNALBOX_AGENT:-}" \
  "X-Signalbox-Project: ${SIGNALBOX_PROJECT:-}"
LC_ALL=C
case $* in
  *[[:cntrl:]]*) ;; # A line break would make headers of its own.
  *)
    if [ ! -r "$listener" ]; then
      :
    elif [ -n "${BASH_VERSION:-}" ] && [ "${#payload}" -le 65536 ]; then
      answer=$(shift 2; ask_by_socket "$@" 2>/dev/null)
    elif command -v curl >/dev/null 2>&1; then
      answer=$(shift 2; ask_by_curl "$@" 2>/dev/null)
    fi
    ;;
esac

new_line='
'
stream_break="$new_line--signalbox:stderr--"
case $answer in
  [012]"$new_line"*"$stream_break"*)
    code=${answer%%"$new_line"*}
    streams=${answer#*"$new_line"}
    out=${streams%%"$stream_break"*}
    err=${streams#*"$stream_break"}
    err=${err#"$new_line"}
    [ -n "$out" ] && printf '%s\n' "$out"
    [ -n "$err" ] && printf '%s\n' "$err" >&2
    case $code in
      0) exit 0 ;;
      *) block "$code" ;;
    esac
    ;;
esac

# No listener answered: the Node form looks into the database itself.
command -v node >/dev/null 2>&1 || let_go 'no listener answered, and there is no node to ask instead'
[ -r "$here/hook.cjs" ] || let_go 'no listener answered, and the hook is not installed completely'
exec 3<&-
printf '%s' "$payload" | SIGNALBOX_HOOK_ALONE=$PPID node "$here/hook.cjs" "$1" "$2"
code=$?
# Only a decision may stop an edit, never a crash; git takes 1 for "stop".
case "$1 $2 $code" in
  *' 0') exit 0 ;;
  *' 2' | 'git pre-commit 1') block "$code" ;;
  *) let_go 'no listener answered, and node failed' ;;
esac
