#!/bin/sh
# The hook of signalbox: hands what a coding agent is about to do to the listener on this machine, prints
# what that answers and exits as it says. Usage: hook.sh <client> <event>, with the client's payload on
# stdin. Whatever goes wrong, the edit goes on, with one line on stderr. Written by `signalbox install`.

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

# Runs a command on the script's own stdin, for a second at most. The shell that waits and the watch over
# it are told apart by their pids, and neither outlives the other.
exec 3<&0
bounded() {
  "$@" <&3 &
  running=$!
  (
    trap 'kill "$pause" 2>/dev/null; exit 0' TERM
    sleep 1 &
    pause=$!
    wait "$pause"
    kill -9 "$running"
  ) >/dev/null 2>&1 3<&- &
  watch=$!
  wait "$running"
  status=$?
  kill "$watch" 2>/dev/null
  return "$status"
}

let_go() {
  printf 'signalbox: not checked, the edit goes on: %s\n' "$1" >&2
  exit 0
}

payload=$(bounded cat 2>/dev/null) || let_go 'its description did not come in time'

answer=
if [ -r "$listener" ] && command -v curl >/dev/null 2>&1; then
  folder=$PWD
  project_folder=${CLAUDE_PROJECT_DIR:-${DEVIN_PROJECT_DIR:-${GEMINI_PROJECT_DIR:-}}}
  session=${CLAUDE_CODE_SESSION_ID:-${GEMINI_SESSION_ID:-}}
  case $folder$project_folder$session${SIGNALBOX_SESSION:-}${SIGNALBOX_AGENT:-}${SIGNALBOX_PROJECT:-} in
    *[[:cntrl:]]*) ;; # A line break would make headers of its own.
    *)
      answer=$(
        curl -q -K "$listener" -f \
          -H "X-Signalbox-Hook: $1 $2 $PPID" \
          -H "X-Signalbox-Folder: $folder" \
          -H "X-Signalbox-Project-Folder: $project_folder" \
          -H "X-Signalbox-Session: $session" \
          -H "X-Signalbox-Named-Session: ${SIGNALBOX_SESSION:-}" \
          -H "X-Signalbox-Agent: ${SIGNALBOX_AGENT:-}" \
          -H "X-Signalbox-Project: ${SIGNALBOX_PROJECT:-}" \
          --data-binary @- 2>/dev/null <<PAYLOAD
$payload
PAYLOAD
      )
      ;;
  esac
fi

new_line='
'
stream_break="$new_line--signalbox:stderr--"
case $answer in
  [0-9]*"$stream_break"*)
    code=${answer%%"$new_line"*}
    streams=${answer#*"$new_line"}
    out=${streams%%"$stream_break"*}
    err=${streams#*"$stream_break"}
    err=${err#"$new_line"}
    [ -n "$out" ] && printf '%s\n' "$out"
    [ -n "$err" ] && printf '%s\n' "$err" >&2
    exit "$code"
    ;;
esac

# No listener answered: the Node form looks into the database itself.
command -v node >/dev/null 2>&1 || let_go 'no listener answered, and there is no node to ask instead'
[ -r "$here/hook.cjs" ] || let_go 'no listener answered, and the hook is not installed completely'
exec 3<&-
printf '%s' "$payload" | SIGNALBOX_HOOK_ALONE=$PPID node "$here/hook.cjs" "$1" "$2"
code=$?
# Only a decision may stop an edit, never a crash; git takes 1 for "stop".
[ "$code" -eq 2 ] && exit 2
[ "$1 $2" = 'git pre-commit' ] && [ "$code" -eq 1 ] && exit 1
exit 0
