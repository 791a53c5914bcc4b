import { Argument, Command } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { type Shell, shells } from './completion-scripts.js';

const after = `
Examples: source <(riata completion bash)      # in ~/.bashrc
          source <(riata completion zsh)       # in ~/.zshrc
          riata completion fish | source       # in ~/.config/fish/config.fish`;

/** `riata completion`: completion of commands, options and their choices, for shells. */
export const completionCommand: CommandDefinition = (io) =>
  new Command('completion')
    .description('Prints a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', after)
    .action(async (shell: Shell, _, command: Command) => {
      const [{ commandTree }, { completionScript }] = await Promise.all([
        import('./command-tree.js'),
        import('./completion-scripts.js'),
      ]);
      io.out(completionScript(shell, commandTree(command.parent ?? command)));
    });
