# Completion of mulciber and mulciberc++ for fish. Both say themselves what there is, with --completions: a line for each
# word, with what it takes and what it is for.

function __mulciber_taken --argument-names wanted  # WORD LINE...: what it takes; nothing for nothing
    for line in $argv[2..]
        set -l fields (string split \t -- $line)
        test "$fields[1]" = "$wanted"; and string split , -- $fields[2] | string match --invert -- -
    end
end

function __mulciber_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l tool (path basename -- $words[1])
    set -l command
    test $tool = mulciber; and set command $words[2]
    set -l list ($tool --completions $command 2>/dev/null)
    set -l prefix
    set -l taken
    set -l at (math 2 + (count $command))
    while test $at -le (count $words)
        set taken
        switch $words[$at]
            case --
                set at (math $at + 1)
            case '-*'
                set taken (__mulciber_taken $words[$at] $list)
                set at (math $at + 1 + (count $taken[1]))
                continue
        end
        if test "$command" = run  # the program's own completion
            set -l program $words[$at..]
            test $at -le (count $words); or set program
            complete -C (string join ' ' -- (string escape -- $program) $word)
            return
        end
        set at (math $at + 1)
    end
    # Behind the loop `at` is beyond the word that is completed where an option takes that.
    if test $at = (math (count $words) + 1)
        set taken (__mulciber_taken '*' $list)
        if string match -q -- '-*=*' $word
            set prefix (string match -r -- '^[^=]*=' $word)
            set taken (__mulciber_taken $prefix $list)
        else if string match -q -- '-*' $word
            string match -- '-*' $list | string replace -r '\t[^\t]*\t' \t
            return
        else if test -z "$command$taken"
            string match -r -- '^[a-z].*' $list | string replace -r '\t[^\t]*\t' \t
            return
        end
    end
    for each in $taken
        switch $each
            case FILE
                __fish_complete_path (string replace -- "$prefix" '' $word)
            case PROGRAM
                printf '%s\n' "$prefix"(complete -C (string replace -- "$prefix" '' $word))
            case '*'
                string match -r -- '^[a-z].*' $each
        end
    end
end

complete -c mulciber -f -a '(__mulciber_complete)'
complete -c mulciberc++ -f -a '(__mulciber_complete)'
