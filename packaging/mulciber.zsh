#compdef mulciber mulciberc++
# Completion of mulciber and mulciberc++ for zsh. Both say themselves what there is, with --completions: a line for each
# word, with what it takes and what it is for.

_mulciber_offer() {  # WHAT: what a word takes, apart by commas
  local offered=1
  local -a named=(${(M)${(s:,:)1}:#[a-z]*})
  (( ! $#named )) || { compadd -a named && offered=0 }
  [[ $1 != *PROGRAM* ]] || { _command_names -e && offered=0 }
  [[ $1 != *(FILE|PROGRAM)* ]] || { _files && offered=0 }
  return offered
}

_mulciber_program() {  # the program's own completion
  [[ $words[1] != -- ]] || { shift words; (( CURRENT-- )) }
  _normal
}

_mulciber() {
  local word takes text
  local -a command subcommands specifications
  if [[ $service = mulciber ]] && (( CURRENT > 2 )); then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  $service --completions $command 2>/dev/null | while IFS=$'\t' read -r word takes text; do
    case $word in
      [a-z]*) subcommands+=("$word:$text") ;;
      \*)
        if [[ $takes = PROGRAM ]]; then specifications+=("(-)1:program: _mulciber_offer $takes" "*::arguments: _mulciber_program")
        else specifications+=("*:file: _mulciber_offer $takes")
        fi ;;
      *)
        text=${text//(#m)[\[\]\\]/\\$MATCH}
        case $word$takes in
          *=false-) specifications+=("$word""[$text]") ;;
          *=*) specifications+=("$word-[$text]:${(L)takes}: _mulciber_offer $takes") ;;
          *-) specifications+=("$word""[$text]") ;;
          *) specifications+=("*$word""[$text]:${(L)takes%%,*}: _mulciber_offer $takes") ;;
        esac ;;
    esac
  done
  if (( $#subcommands )) && [[ $PREFIX != -* ]]; then _describe command subcommands; else _arguments -S $specifications; fi
}

_mulciber "$@"
