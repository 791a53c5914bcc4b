import type { Command } from 'commander';

/** A command as completion scripts see it. */
export interface CommandNode {
  /** From the program on: `riata add kind`. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionNode[];
  /** Values of its first argument, where only some are allowed. */
  readonly choices: readonly string[];
}

/** An option of a command. */
export interface OptionNode {
  /** `--kubeconfig`, and `-n` if it has a short form. */
  readonly flags: readonly string[];
  readonly description: string;
  /** Whether a value follows. */
  readonly takesValue: boolean;
  /** Where only some values are allowed. */
  readonly choices: readonly string[];
}

/** A command and all those below it, each once; read from the program, so that scripts cannot lack any. */
export function commandTree(command: Command, above = ''): CommandNode[] {
  const path = `${above} ${command.name()}`.trimStart();
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const node: CommandNode = {
    path,
    commands: commands.map((each) => ({
      name: each.name(),
      description: firstLine(each.summary() || each.description()),
    })),
    options: help.visibleOptions(command).map(({ short, long, description, required, optional, argChoices }) => ({
      flags: [long, short].filter((flag) => flag !== undefined),
      ...{ description: firstLine(description), takesValue: required || optional, choices: argChoices ?? [] },
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
  };
  return [node, ...commands.flatMap((each) => commandTree(each, path))];
}

/** Shells show one line for each word. */
function firstLine(text: string): string {
  return text.split('\n', 1)[0] as string;
}
