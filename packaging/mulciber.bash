# Completion of mulciber and mulciberc++ for bash. Both say themselves what there is, with --completions: a line for each
# word, with what it takes and what it is for.

_mulciber_taken() {  # WORD: what it takes, of $list; - for nothing
  local word takes
  while IFS=$'\t' read -r word takes _; do
    [ "$word" != "$1" ] || { echo "$takes"; return; }
  done <<<"$list"
  echo -
}

# Which word is the program of `mulciber run`: the first that is no option, nor what one takes.
_mulciber_program() {
  local at=2
  while [[ ${COMP_WORDS[at]} == -* ]]; do
    [ "${COMP_WORDS[at]}" != -- ] || { echo $((at + 1)); return; }
    [ "$(_mulciber_taken "${COMP_WORDS[at]}")" = - ] || at=$((at + 1))
    at=$((at + 1))
  done
  echo $at
}

_mulciber() {
  local tool=${COMP_WORDS[0]##*/} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= list taken=- each
  COMPREPLY=()
  [ "$tool" != mulciber ] || [ "$COMP_CWORD" = 1 ] || command=${COMP_WORDS[1]}
  list=$("$tool" --completions ${command:+"$command"} 2>/dev/null)
  if [ "$command" = run ] && [ "$COMP_CWORD" -gt "$(_mulciber_program)" ]; then
    _command_offset "$(_mulciber_program)"  # the program's own completion
    return
  fi
  if [ "$word" = = ]; then  # bash takes --clang=PROGRAM for three words
    taken=$(_mulciber_taken "$before=") word=
  elif [ "$before" = = ]; then
    taken=$(_mulciber_taken "${COMP_WORDS[COMP_CWORD-2]}=")
  elif [ "$COMP_CWORD" != 1 ]; then
    taken=$(_mulciber_taken "$before")
  fi
  if [ "$taken" = - ] && [ "${word:0:1}" = - ]; then
    mapfile -t COMPREPLY < <(compgen -W "$(cut -f1 <<<"$list" | grep '^-')" -- "$word")
    [[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
    return
  fi
  [ "$taken" != - ] || taken=$(_mulciber_taken '*')
  if [ "$taken" = - ]; then
    [ -n "$command" ] || mapfile -t COMPREPLY < <(compgen -W "$(cut -f1 <<<"$list" | grep '^[a-z]')" -- "$word")
    return
  fi
  for each in ${taken//,/ }; do
    case $each in
      FILE) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word") ;;
      PROGRAM) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -c -- "$word"; compgen -f -- "$word") ;;
      [a-z]*) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W "$each" -- "$word") ;;
    esac
  done
}
complete -o filenames -F _mulciber mulciber mulciberc++
