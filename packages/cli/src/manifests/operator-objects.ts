import type { WriteObject } from 'riata/client';
import { CommandError } from '../command/command-error.js';
import type { Operator } from '../config/resolve-operator.js';
import { deployment } from './deployment.js';

/** The objects of an operator in a cluster, as its config makes them; all commands use these. */
export async function operatorObjects(operator: Operator): Promise<readonly WriteObject[]> {
  const objects = await made(operator);
  const subject = `operator "${operator.name}": objects must return a list of objects`;
  if (!Array.isArray(objects)) throw new CommandError(`${subject}, got ${typeof objects}`);
  const wrong = objects.findIndex((object) => !isObject(object));
  if (wrong < 0) return objects;
  throw new CommandError(`${subject} with apiVersion, kind and metadata.name; element ${wrong} has not all of them`);
}

/** An option that was refused is reported as the user's mistake, without the name of its class. */
async function made(operator: Operator): Promise<readonly WriteObject[]> {
  try {
    return await (operator.objects ?? deployment)(operator);
  } catch (error) {
    if (!(error instanceof TypeError) || !error.message.startsWith(`deployment "${operator.name}"`)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}

function isObject(object: Partial<WriteObject> | undefined): boolean {
  const { apiVersion, kind, metadata } = object ?? {};
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
