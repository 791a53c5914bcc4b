import { resolve } from 'node:path';
import { type OwnOption, type ServerCommand, serverOptions } from '@riata/apiserver/server-command';
import { Command } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** A command of `riata` that serves a Kubernetes API until Ctrl-C; the options are those of the server's own command. */
export function serveCommand<Own extends Readonly<Record<string, OwnOption>>>(
  name: string,
  server: ServerCommand<Own>,
  summary: string,
  example: string,
): CommandDefinition {
  return (io) => {
    const command = new Command(name)
      .summary(summary)
      .description(server.about.replaceAll('\n', ' '))
      .addHelpText('after', example);
    for (const { written, help } of serverOptions(server)) {
      command.option(
        written.replace(/ ([A-Z]+)$/, (_, value: string) => ` <${value.toLowerCase()}>`),
        help,
      );
    }
    return command.action(async () => {
      const { serve, serverSettings } = await import('@riata/apiserver/server-command');
      let settings: ReturnType<typeof serverSettings<Own>>;
      try {
        settings = serverSettings(server, givenFlags(command, io));
      } catch (error) {
        throw new CommandError((error as Error).message, { exitCode: exitCodes.usage, cause: error });
      }
      const { kubeconfig } = settings;
      await serve(server, settings, {
        signal: io.signal,
        ready: (url) => {
          io.out(`riata ${name} is ready at ${url}`);
          if (kubeconfig !== undefined) io.note(`kubectl --kubeconfig ${kubeconfig} get all -A`);
          io.note('Ctrl-C stops it');
        },
      });
    });
  };
}

/** The values of a command's flags, by their names; commander turns `--no-x` into false for x. */
function givenFlags(command: Command, io: CommandIo): Flags {
  return Object.fromEntries(
    command.options.map((option) => {
      const value: unknown = command.getOptionValue(option.attributeName());
      const flag = (option.long ?? '').slice(2);
      if (option.negate) return [flag, value === false];
      const isPath = /<(?:file|dir)>/.test(option.flags) && typeof value === 'string' && !['', '-'].includes(value);
      return [flag, isPath ? resolve(io.cwd, value) : (value as string | undefined)];
    }),
  );
}
