# Completion of mulciberc++ for bash: its own options, a Clang after --clang=, sources and other files.
_mulciber_compiler() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options
  COMPREPLY=()
  if [ "$before" = -arch ]; then
    COMPREPLY=($(compgen -W 'sm_70 sm_75 sm_80 sm_86' -- "$word"))
  elif [ "$before" = -x ]; then
    COMPREPLY=($(compgen -W 'cu c++' -- "$word"))
  elif [ "$before" = = ] || [ "$word" = = ]; then  # bash takes --clang=PROGRAM for three words
    COMPREPLY=($(compgen -c -- "${word#=}"))
  elif [ "${word:0:1}" = - ]; then
    options=$(mulciberc++ --help 2>/dev/null | grep -oE '^  --?[a-zA-Z_][a-zA-Z_-]*(=false)?')
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _mulciber_compiler mulciberc++
