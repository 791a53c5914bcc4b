import { Command } from 'commander';
import type { CommandDefinition } from '../command/command-definition.js';
import { type EndpointOptions, withEndpointOptions } from './endpoint-options.js';

const after = `
Reads what the operator remembers: the last 256 reconciles of each controller, and its webhook calls.
It must serve metrics: { port, debug: true, protected: true }, or be reached by --url.

Example: riata explain Site/web -n shop`;

/** `riata explain`: why an object was reconciled, and what was written, from a running operator. */
export const explainCommand: CommandDefinition = (io) =>
  withEndpointOptions(
    new Command('explain')
      .description('Explains why an object was reconciled and what was written, from a running operator.')
      .argument('<kind/name>', 'the object, of a kind that the operator reconciles, watches or writes')
      .option('-n, --namespace <name>', 'the namespace of the object (default: any)')
      .option('--last <count>', 'how many reconciles to show', '20')
      .option('--json', 'print one JSON value'),
  )
    .addHelpText('after', after)
    .action(async (object: string, options: EndpointOptions & { namespace?: string; last: string; json?: boolean }) => {
      const { explain } = await import('./explain.js');
      await explain(io, object, options);
    });
