#!/bin/sh
# The hook of signalbox: hands what a coding agent is about to do to the listener on this machine, prints
# what that answers and exits as it says. Usage: hook.sh <client> <event>, with the client's payload on
# stdin. Whatever goes wrong, the edit goes on, with one line on stderr. Written by `signalbox install`.

# Nothing that a project brings along, such as its node_modules/.bin, may stand in for a program.
PATH=/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin
export PATH
unset NODE_OPTIONS
unset -f command

# bash speaks to a socket by itself, which takes half the time of starting curl. With -p it takes no function
# from the environment and reads no file that BASH_ENV names; /bin/sh may be a bash, too.
case ${BASH_VERSION:+$-} in
  *p*) speaks=socket ;;
  *)
    speaks=curl
    case ${SIGNALBOX_HOOK_BASH:-} in
      no) ;;
      *) if command -v bash >/dev/null 2>&1; then exec bash -p "$0" "$@"; fi ;;
    esac
    ;;
esac

# In hundredths of a second, where the system tells.
clock() {
  now=
  [ -r /proc/uptime ] || return
  read -r now _ </proc/uptime
  now=${now%.*}${now#*.}
}
clock
begun=$now

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
pass=${database%.db}.hook.curl

let_go() {
  printf 'signalbox: not checked, the edit goes on: %s\n' "$1" >&2
  exit 0
}

# A command in a client's settings names a code that no failing shell ends with.
block() {
  exit "${SIGNALBOX_HOOK_BLOCK:-$1}"
}

{ command exec 3<&0; } 2>/dev/null || let_go 'there is nothing to read its description from'

# Runs a command on the script's own stdin, for so many seconds at most. The shell that waits and the watch
# over it are told apart by their pids, and neither outlives the other.
bounded() {
  seconds=$1
  shift
  "$@" <&3 &
  running=$!
  (
    # A child that was just forked still has this trap, and only the signal that has none surely ends it.
    trap 'kill -9 "$!"; exit 0' TERM
    sleep "$seconds" &
    wait "$!"
    kill -9 "$running"
  ) >/dev/null 2>&1 3<&- &
  watch=$!
  wait "$running"
  status=$?
  kill "$watch" 2>/dev/null
  return "$status"
}

# Reads where the listener is and what both sides prove themselves with; fails when the file holds anything else,
# or its process has ended: whoever has seen a call and binds the port then knows both.
read_pass() {
  # A relative one would be looked for in the project.
  case $pass in /*) ;; *) return 1 ;; esac
  [ -f "$pass" ] && [ -r "$pass" ] || return
  port= token= proof= pid= more=
  { IFS= read -r port; IFS= read -r token; IFS= read -r proof; IFS= read -r pid; IFS= read -r more; } <"$pass" && return 1
  case $port/$token/$proof/$pid/$more in
    'url = "http://127.0.0.1:'*'"/token = "'*'"/proof = "'*'"/pid = "'*'"/') ;;
    *) return 1 ;;
  esac
  port=${port#*0.0.1:} port=${port%?} token=${token#*\"} token=${token%?}
  proof=${proof#*\"} proof=${proof%?} pid=${pid#*\"} pid=${pid%?}
  case $port in '' | *[!0-9]*) return 1 ;; esac
  case $pid in '' | 0* | *[!0-9]*) return 1 ;; esac
  case $token in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
  case $proof in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
  kill -0 "$pid" 2>/dev/null
}

# The ways to ask print nothing when there is no good answer. What is sent first holds the token alone; the
# rest is sent on the same connection once the proof has come, before which a listener is told to go on.

ask_by_socket() {
  exec 4<>"/dev/tcp/127.0.0.1/$port" || exit
  printf '%s\r\n' 'POST /api/coordination/hook HTTP/1.1' "Host: 127.0.0.1:$port" "Authorization: Bearer $token" \
    'Content-Type: application/json' "Content-Length: $((${#tell} + 1))" 'Expect: 100-continue' 'Connection: close' '' >&4
  hear_and_tell <&4
}

# curl writes what it hears to a pipe at once, and reads what to tell from another. A shell that calls a function
# keeps what it redirects for it, and who writes would wait for ever with a reader of its own: hence exec.
ask_by_curl() {
  pipe=$here/pipe.$$
  mkfifo -m 600 "$pipe" || exit
  # Opened for both at first: a pipe that is opened for one waits for the other.
  exec 5<>"$pipe" 6<"$pipe" 4>"$pipe" 5>&-
  rm "$pipe"
  curl -q -s --noproxy '*' --max-time "$ask_seconds" -X POST -T - -D - -H @/dev/fd/7 \
    "http://127.0.0.1:$port/api/coordination/hook" <&6 4>&- 6<&- 7<<HEADERS | { exec 6<&-; hear_and_tell; } &
Authorization: Bearer $token
Content-Type: application/json
Expect: 100-continue
HEADERS
  exec 4>&- 6<&-
  wait
}

hear_and_tell() {
  case $speaks in
    socket) return=$'\r' ;;
    curl) return=$(printf '\r') ;;
  esac
  for expected in 'HTTP/1.1 100 Continue' "x-signalbox-proof: $proof" ''; do
    IFS= read -r line
    [ "$line" = "$expected$return" ] || exit
  done
  if [ "${#tell}" -lt 4096 ]; then
    printf '%s\n' "$tell" >&4
  else
    # In one piece: a shell writes several, and the kernel keeps those back until the first is acknowledged.
    cat <<TELL >&4
$tell
TELL
  fi
  exec 4>&-
  case $speaks in
    socket) IFS= read -r -d '' reply ;;
    curl) reply=$(cat) ;;
  esac
  head_end=$return$new_line$return$new_line
  case $reply in
    'HTTP/1.1 200 '*"$head_end"*) printf '%s' "${reply#*"$head_end"}" ;;
  esac
}

# The outer braces silence bash, which warns of NUL bytes itself.
{ payload=$(bounded 1 cat); } 2>/dev/null || let_go 'its description did not come in time'

# Codex asks before every command of its shell, of which hardly any applies a patch. A quote within a text has a
# backslash before it, so this is the tool's own name.
case $1:$2:$payload in
  codex:pre-edit:*'*** Begin Patch'*) ;;
  codex:pre-edit:*'"tool_name":"Bash"'*) exit 0 ;;
esac

new_line='
'
# A stranger on the listener's port may take so much of the two seconds.
ask_seconds=0.4
tab='	'
answer=
# All that a client starts inherits its variable, another client too. Git runs below any of them.
session='' client=''
case $1 in
  claude-code | git) session=${CLAUDE_CODE_SESSION_ID:-} client=claude-code ;;
esac
case $1:$session in
  gemini: | git:) session=${GEMINI_SESSION_ID:-} client=gemini ;;
esac
set -- "$1" "$2" \
  "X-Signalbox-Hook: $1 $2 $PPID $client" \
  "X-Signalbox-Folder: $PWD" \
  "X-Signalbox-Project-Folder: ${CLAUDE_PROJECT_DIR:-${DEVIN_PROJECT_DIR:-${GEMINI_PROJECT_DIR:-}}}" \
  "X-Signalbox-Session: $session" \
  "X-Signalbox-Named-Session: ${SIGNALBOX_SESSION:-}" \
  "X-Signalbox-Agent: ${SIGNALBOX_AGENT:-}" \
  "X-Signalbox-Project: ${SIGNALBOX_PROJECT:-}"
LC_ALL=C
case $* in
  *[[:cntrl:]]*) ;; # A tab would make lines of its own.
  *)
    if read_pass && { [ "$speaks" = socket ] || command -v curl >/dev/null 2>&1; }; then
      answer=$(shift 2; IFS=$tab; tell=$*$tab$tab$payload; bounded "$ask_seconds" "ask_by_$speaks" 2>/dev/null)
    fi
    ;;
esac

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

# No listener answered: the Node form looks into the database itself, in the time that is left.
node=
[ -r "$here/node" ] && IFS= read -r node <"$here/node"
case $node in
  /*) [ -x "$node" ] || node= ;;
  *) node= ;;
esac
[ -n "$node" ] || node=$(command -v node) || let_go 'no listener answered, and there is no node to ask instead'
[ -r "$here/hook.cjs" ] || let_go 'no listener answered, and the hook is not installed completely'
seconds=0.9
clock
if [ -n "$begun" ]; then
  left=$((190 - now + begun))
  [ "$left" -gt 20 ] || left=20
  seconds=$((left / 100)).$((left / 10 % 10))
fi
SIGNALBOX_HOOK_ALONE=$PPID
export SIGNALBOX_HOOK_ALONE
run_node() {
  exec "$node" "$here/hook.cjs" "$1" "$2" 2>&5 5>&-
}
# A shell has a word of its own about what was ended in time.
{ printf '%s' "$payload" | { exec 3<&0; bounded "$seconds" run_node "$1" "$2"; }; } 5>&2 2>/dev/null 3<&-
code=$?
# Only a decision may stop an edit, never a crash, which Node ends with 1; git takes that for "stop".
case "$1 $2 $code" in
  *' 0') exit 0 ;;
  'git pre-commit 2') block 1 ;;
  *' 2') block 2 ;;
  *' 137') let_go 'there was no time to' ;;
  *) let_go 'no listener answered, and node failed' ;;
esac
