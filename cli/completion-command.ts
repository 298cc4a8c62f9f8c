import { Argument, Command } from 'commander';
import { COMPLETE, FILES, SCRIPTS, SHELLS, type Shell } from './completion/scripts.ts';
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

/** What the scripts ask: the words after the name of the program, up to the cursor. */
export function completeCommand(io: ProcessIo): Command {
  const command = new Command(COMPLETE).argument('[words...]');
  return command.action(async (words: readonly string[]) => {
    const { completionsFor } = await import('./completion/completions-for.ts');
    const completion = completionsFor(command.parent ?? command, words);
    io.print(completion.kind === 'files' ? `${FILES}\n` : completion.words.map((word) => `${word}\n`).join(''));
  });
}
