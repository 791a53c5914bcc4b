import { Command } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { withEndpointOptions } from './endpoint-options.js';
import type { TopOptions } from './top.js';

const after = `
Rates and latencies are those of the last ten seconds. The operator must serve
metrics: { port, debug: true, protected: true }, or be reached by --url.

Example: riata top --url http://127.0.0.1:8080`;

/** `riata top`: what a running operator does, live. */
export const topCommand: CommandDefinition = (io) =>
  withEndpointOptions(
    new Command('top')
      .description('Shows what a running operator does, live: controllers, failing keys, caches, memory.')
      .option('--once', 'print one frame and exit')
      .option('--json', 'print one frame as one JSON value'),
  )
    .addHelpText('after', after)
    .action(async (options: TopOptions) => {
      const { top } = await import('./top.js');
      await top(io, options);
    });
