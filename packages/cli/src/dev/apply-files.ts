import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createClient, type RestConfig } from 'riata';
import { objectsFromYaml } from 'riata/patterns';
import { describeError } from 'riata/runtime';
import type { CommandIo } from '../command/command-io.js';

/** A server calls a webhook a moment after it is installed, and serves a kind a moment after its definition. */
const attempts = 20;
const pauseMs = 500;

/** Applies the objects of YAML files. Reports failures, and never rejects: the operator runs on. */
export async function applyFiles(io: CommandIo, config: RestConfig, paths: readonly string[]): Promise<void> {
  const { signal, runtime } = io;
  await using client = createClient(config, { runtime });
  for (const path of paths) {
    try {
      for (const object of await objectsFromYaml(await readFile(resolve(io.cwd, path), 'utf8'))) {
        const { name, namespace } = object.metadata;
        await retried(() => client.apply(object as never, { fieldManager: 'riata-dev', force: true, signal }));
        io.out(`applied ${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name} of ${path}`);
      }
    } catch (error) {
      if (!signal.aborted) io.note(`${path}: cannot be applied: ${describeError(error)}`);
    }
  }

  async function retried(write: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await write();
        return;
      } catch (error) {
        if (attempt === attempts || signal.aborted) throw error;
        await runtime.clock.sleep(pauseMs, { signal });
      }
    }
  }
}
