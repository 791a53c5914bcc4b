import { Command, InvalidArgumentError } from 'commander';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { type ProjectOptions, withProjectOptions } from '../command/project-options.js';

/** Options of `riata image`. */
export interface ImageCommandOptions extends ProjectOptions {
  readonly base: string;
  readonly image?: string;
  readonly tag?: readonly string[];
  readonly platform?: readonly string[];
  readonly label?: readonly string[];
  readonly node?: string;
  readonly basePackages: boolean;
  readonly push?: boolean;
  readonly output?: string;
  readonly bundle?: string;
  readonly dockerfile?: boolean;
  readonly json?: boolean;
}

/** Small, without a shell, kept up to date; its Node is the oldest release that still gets fixes. */
export const defaultBase = 'gcr.io/distroless/nodejs22-debian12:nonroot';

const examples = `
Examples:
  riata image --push                                   to the repository of riata.config.ts, tagged with the version
  riata image --push --tag 1.2.0 --tag latest
  riata image --output site-operator.tar && docker load --input site-operator.tar
  riata image --output layout/ --base oci:./base --platform linux/arm64
  riata image --dockerfile > Dockerfile

Registries are asked with the credentials of docker login. SOURCE_DATE_EPOCH sets the time in the image (default: 1970).`;

/** `riata image`: bundles the operator and writes an OCI image, without Docker. */
export function imageCommand(io: CommandIo): Command {
  const command = new Command('image')
    .description('Bundles the operator and writes its container image, without Docker.')
    .option('--push', 'push the image to its registry')
    .option('--output <path>', 'write an archive for docker load (*.tar), or an OCI layout (a folder)')
    .option('--base <image>', 'a Node image in a registry, or oci:PATH of a layout on disk', defaultBase)
    .option('--image <repository>', 'repository without tag (default: image of riata.config.ts)')
    .option('--tag <tag...>', "tags of the image (default: the operator's version)")
    .option('--platform <os/arch...>', 'platforms of the base, or all (default: linux/amd64 linux/arm64)')
    .option('--label <key=value...>', 'labels beside org.opencontainers.image.*', label)
    .option('--node <path>', 'Node in the base (default: its entrypoint, or node on its PATH)')
    .option('--no-base-packages', "leave the base's packages out of the bill of materials; its layers need not be read")
    .option('--bundle <folder>', 'write the files of the image to a folder')
    .option('--dockerfile', 'print a Dockerfile that builds the same image')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', examples)
    .action(async (options: ImageCommandOptions) => {
      const { push, output, bundle, dockerfile } = options;
      if (!push && !output && !bundle && !dockerfile) {
        throw new CommandError('nothing to write; give --push, or --output image.tar', { exitCode: exitCodes.usage });
      }
      const { runImage } = await import('./run-image.js');
      await runImage(io, options);
    });
  return withProjectOptions(command);
}

function label(value: string, before: readonly string[] = []): string[] {
  if (!/^[^=\s]+=/.test(value)) throw new InvalidArgumentError('It must be key=value.');
  return [...before, value];
}
