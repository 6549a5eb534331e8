# Completion of the mulciber command for bash. Options are those that each command's help names.

# Which word is the program of `mulciber run`: the first that is no option, nor the file of one.
_mulciber_program() {
  local at=2
  while [[ ${COMP_WORDS[at]} == -* ]]; do
    [ "${COMP_WORDS[at]}" != -- ] || { echo $((at + 1)); return; }
    [ "${COMP_WORDS[at]}" != --trace ] || at=$((at + 1))
    at=$((at + 1))
  done
  echo $at
}

_mulciber() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options program
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "$(mulciber --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p')" -- "$word"))
    [ "${word:0:1}" != - ] || COMPREPLY=($(compgen -W '--help --version' -- "$word"))
  elif [ "$command" = run ] && program=$(_mulciber_program) && [ "$COMP_CWORD" -gt "$program" ]; then
    _command_offset "$program"  # the program's own completion
  elif [ "$command" = run ] && [ "${COMP_WORDS[COMP_CWORD-1]}" = --trace ]; then
    COMPREPLY=($(compgen -f -- "$word"))
  elif [ "${word:0:1}" = - ]; then
    options=$(mulciber "$command" --help 2>/dev/null | grep -oE '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,')
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [ "$command" = run ]; then
    COMPREPLY=($(compgen -c -- "$word") $(compgen -f -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _mulciber mulciber
