#!/usr/bin/env bash
# The loop of field reports, over SSH: every 15 s, `is-active`; if failed, say so with the log's last lines; else one
# real chat completion. Usage: loop.sh UNIT FIRST_PAUSE SSH...
set -u
unit=$1 pause=$2
shift 2
sleep "$pause"
while true; do
  state=$("$@" systemctl is-active "$unit")
  if [ "$state" = failed ]; then
    "$@" "journalctl -u $unit -n 25 --no-pager | grep -iE 'error|assert|traceback|fatal'" >/dev/null
    echo FAILED
    exit
  fi
  body='{"model":"tiny-gpt2","messages":[{"role":"user","content":"Say OK"}],"temperature":0,"max_tokens":4}'
  answer=$("$@" "curl -sS -m 10 -H 'Content-Type: application/json' -d '$body' http://127.0.0.1:30001/v1/chat/completions" 2>/dev/null)
  case $answer in *'"content"'*)
    echo READY
    exit
    ;;
  esac
  sleep 15
done
