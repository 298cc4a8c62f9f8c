import { Argument, Command } from 'commander';
import type { ProcessIo } from './process-io.ts';

const HELP = `
Examples:
  # bash, in ~/.bashrc
  source <(plimsoll completion bash)

  # zsh, in ~/.zshrc, after compinit
  source <(plimsoll completion zsh)

  # fish
  plimsoll completion fish > ~/.config/fish/completions/plimsoll.fish

  # PowerShell, in $PROFILE
  plimsoll completion powershell | Out-String | Invoke-Expression

  # kubectl plimsoll, where kubectl is completed
  plimsoll completion kubectl > ~/bin/kubectl_complete-plimsoll
  chmod +x ~/bin/kubectl_complete-plimsoll
`;

/** `plimsoll completion`: a script that completes commands and flags in a shell. */
export function completionCommand(io: ProcessIo): Command {
  return new Command('completion')
    .summary('print a script that completes commands in a shell')
    .description('Print a script that completes commands and flags in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: Shell) => {
      io.print(SCRIPTS[shell]);
    });
}

/** The command that the scripts call, with the words after the name of the program, up to the cursor. */
export function completeCommand(io: ProcessIo): Command {
  const command = new Command(COMPLETE).argument('[words...]');
  return command.action(async (words: readonly string[]) => {
    const { completionsFor } = await import('./completion/completions-for.ts');
    const completion = completionsFor(command.parent ?? command, words);
    io.print(completion.kind === 'files' ? `${FILES}\n` : completion.words.map((word) => `${word}\n`).join(''));
  });
}

/** What the hidden command prints where a file name is possible. */
const FILES = ':files';
const COMPLETE = '__complete';

const SHELLS = ['bash', 'zsh', 'fish', 'powershell', 'kubectl'] as const;
export type Shell = (typeof SHELLS)[number];

/** By shell: a script that asks `plimsoll` itself for completions, so that it never becomes outdated. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
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
  // kubectl reads one word a line, and last whether files may be completed: 0, or 4 if not.
  kubectl: `#!/bin/sh
# completion of kubectl plimsoll: an executable file of the PATH with the name kubectl_complete-plimsoll
answer=$(kubectl-plimsoll ${COMPLETE} -- "$@" 2>/dev/null)
if [ "$answer" = ${FILES} ]; then
  echo :0
else
  printf '%s\\n' "$answer" :4
fi
`,
  // An empty answer would let PowerShell complete files, so files are listed only where they are expected.
  powershell: `# powershell completion for plimsoll
Register-ArgumentCompleter -Native -CommandName plimsoll -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $cursorPosition } |
    Select-Object -Skip 1 | ForEach-Object { $_.Extent.Text })
  if ($wordToComplete -eq '') { $words += '""' }
  $answer = @(plimsoll ${COMPLETE} -- @words 2>$null)
  if ($answer[0] -eq '${FILES}') {
    return Get-ChildItem -Name -Path "$wordToComplete*" | ForEach-Object {
      [System.Management.Automation.CompletionResult]::new($_, $_, 'ProviderItem', $_)
    }
  }
  $answer | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
    [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
  }
}
`,
};
