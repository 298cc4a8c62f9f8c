/** What the hidden command prints where the name of a file may stand. */
export const FILES = ':files';
export const COMPLETE = '__complete';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** By shell: a script that asks `plimsoll` itself what may stand next, so it never gets old. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for plimsoll
_plimsoll() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]}" answer
  answer=$(plimsoll ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ $answer == ${FILES} ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$answer" -- "$current"))
  fi
}
complete -F _plimsoll plimsoll
`,
  zsh: `# zsh completion for plimsoll
_plimsoll() {
  local -a answer
  answer=("\${(@f)$(plimsoll ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ $answer[1] == ${FILES} ]]; then
    _files
  else
    compadd -- $answer
  fi
}
compdef _plimsoll plimsoll
`,
  fish: `# fish completion for plimsoll
function __plimsoll_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer (plimsoll ${COMPLETE} -- $words[2..-1] 2>/dev/null)
    if test "$answer" = ${FILES}
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $answer
    end
end
complete -c plimsoll -f -a '(__plimsoll_complete)'
`,
};
