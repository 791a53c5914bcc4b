import { basename, resolve } from 'node:path';
import { confirm, intro, select, text } from '@clack/prompts';
import { CreateError } from './create-error.js';
import type { CreateIo } from './create-io.js';
import { kindRefusal } from './kind-names.js';
import { groupProblem, projectNameProblem } from './name-problems.js';
import type { CreateFlags } from './parse-flags.js';
import { ciServices, templates } from './project-files.js';

/** Asks for everything that the flags leave open. Rejects if the user cancels. */
export async function askOptions(
  flags: CreateFlags,
  terminal: NonNullable<CreateIo['terminal']>,
  cwd: string,
): Promise<CreateFlags> {
  const { input, output } = terminal;
  intro('Create a Kubernetes operator in TypeScript', { input, output });
  const ask = async <T extends string | boolean>(
    given: T | undefined,
    question: () => Promise<T | symbol>,
  ): Promise<T> => {
    if (given !== undefined) return given;
    const answer = await question();
    if (typeof answer === 'symbol') throw new CreateError('cancelled; nothing was written', { exitCode: 130 });
    return answer;
  };
  const line = (message: string, initial: string, problem: (answer: string) => string | undefined) => () =>
    text({
      ...{ message, input, output, placeholder: initial, defaultValue: initial },
      validate: (answer) => problem(answer || initial),
    });
  const choice = <T extends string>(message: string, choices: Readonly<Record<T, string>>, initialValue: T) => {
    const all = Object.entries<string>(choices).map(([value, hint]) => ({ value, label: value, hint }));
    return () => select<string>({ message, options: all, initialValue, input, output }) as Promise<T | symbol>;
  };
  return {
    ...flags,
    folder: await ask<string>(
      flags.folder,
      line('Name of the project, and its folder', 'my-operator', (answer) =>
        projectNameProblem(basename(resolve(cwd, answer))),
      ),
    ),
    template: await ask(flags.template, choice('Template', templates, 'minimal')),
    kind: await ask<string>(flags.kind, line('Kind that the operator is for', 'Site', kindRefusal)),
    group: await ask<string>(
      flags.group,
      line('API group of the kind: a domain of yours', 'example.com', groupProblem),
    ),
    ci: await ask(flags.ci, choice('Workflow for CI', ciServices, 'none')),
    install: await ask<boolean>(flags.install, () =>
      confirm({ message: 'Install the dependencies now?', input, output }),
    ),
  };
}
