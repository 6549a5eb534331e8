# Completion of the mulciber command for bash. Options are those that each command's help names.
_mulciber() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W "$(mulciber --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z]\+\) .*/\1/p')" -- "$word"))
    [ "${word:0:1}" != - ] || COMPREPLY=($(compgen -W '--help --version' -- "$word"))
  elif [ "$command" = run ] && [ "$COMP_CWORD" -gt 2 ]; then
    _command_offset 2  # the program's own completion
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
