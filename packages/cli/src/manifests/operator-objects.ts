import type { WriteObject } from 'riata/client';
import type { Operator } from '../config/resolve-operator.js';
import { deployment } from './deployment.js';

/** The objects of an operator in a cluster, as its config makes them; all commands use these. */
export async function operatorObjects(operator: Operator): Promise<readonly WriteObject[]> {
  const objects = await (operator.objects ?? deployment)(operator);
  const isObject = ({ apiVersion, kind, metadata }: WriteObject) =>
    typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
  const wrong = Array.isArray(objects) ? objects.findIndex((object) => !isObject(object)) : 0;
  if (!Array.isArray(objects) || wrong >= 0) {
    throw new TypeError(
      `operator "${operator.name}": objects must return a list of objects with apiVersion, kind and metadata.name${Array.isArray(objects) ? `; element ${wrong} has not all of them` : `, got ${typeof objects}`}`,
    );
  }
  return objects;
}
