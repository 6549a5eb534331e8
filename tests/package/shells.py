"""What the shells offer for the last word of a command line in the folder of an installation, with its completions."""
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile

LOADER = "/usr/share/bash-completion/bash_completion"  # has what completes a program behind others
ZSH = r"""
PROMPT= LISTMAX=100000
setopt no_auto_list no_auto_menu no_beep
fpath=($PLACE/share/zsh/site-functions $fpath)
autoload -Uz compinit && compinit -D -u
compadd() {
  if (( ${@[(I)-[OAD]]} )); then builtin compadd "$@"; return; fi
  local -a found
  builtin compadd -O found "$@"
  (( ! $#found )) || print -rl -- $found >>$OFFERED
  builtin compadd "$@"
}
finish() { exit }
zle -N finish
bindkey '^I' complete-word '^X' finish
"""


def by_bash(place, words, environment):
    script = place / "share/bash-completion/completions" / words[0]
    line = " ".join(f"'{word}'" for word in words).replace("=", "' = '")  # as bash's editor would part it
    show = f"""[ ! -f {LOADER} ] || source {LOADER}
        source '{script}'
        COMP_WORDS=({line}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMP_LINE="${{COMP_WORDS[*]}}" COMP_POINT=${{#COMP_LINE}}
        _mulciber
        printf '%s\\n' "${{COMPREPLY[@]}}\""""
    return subprocess.run(["bash", "-c", show], cwd=place, env=environment, capture_output=True, text=True).stdout


def by_fish(place, words, environment):
    environment = {**environment, "XDG_DATA_DIRS": f"{place}/share:/usr/share", "LINE": " ".join(words)}
    return subprocess.run(["fish", "-c", 'complete -C "$LINE"'], cwd=place, env=environment, capture_output=True, text=True).stdout


def by_zsh(place, words, environment):
    """In a terminal, because zsh completes in its editor alone."""
    folder = pathlib.Path(environment["HOME"])
    (folder / ".zshrc").write_text(ZSH)
    offered = folder / "offered"
    offered.write_text("")
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(place)
        os.execvpe("zsh", ["zsh", "-i"], {**environment, "PLACE": str(place), "OFFERED": str(offered), "ZDOTDIR": str(folder), "TERM": "dumb"})
    os.write(terminal, (" ".join(words) + "\t\x18").encode())
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:  # the terminal's other end is closed
        pass
    os.waitpid(process, 0)
    os.close(terminal)
    return offered.read_text()


SHELLS = {"bash": by_bash, "zsh": by_zsh, "fish": by_fish}


def shells():
    return [shell for shell in SHELLS if shutil.which(shell)]


def offers(shell, place, *words):
    """Files without their folders, which zsh leaves out, and options without what parts them from a value."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "PATH": f"{place}/bin:{os.environ['PATH']}"}
        text = SHELLS[shell](place, words, environment)
    offered = {line.split("\t")[0].rstrip("=") for line in text.splitlines()} - {""}
    return {os.path.basename(word.removeprefix("--clang=")) for word in offered}
