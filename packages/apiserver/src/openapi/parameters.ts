import type { GoField } from '../schema/built-in/go-type.js';

/** A parameter of an operation. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly type: 'string' | 'integer' | 'boolean';
}

const query = (type: Parameter['type'], ...names: string[]): Parameter[] =>
  names.map((name) => ({ name, in: 'query', type }));

const selection = [
  ...query('string', 'continue', 'fieldSelector', 'labelSelector'),
  ...query('integer', 'limit'),
  ...query('string', 'resourceVersion', 'resourceVersionMatch'),
  ...query('boolean', 'sendInitialEvents'),
  ...query('string', 'shardSelector'),
  ...query('integer', 'timeoutSeconds'),
];

export const getParameters = query('string', 'resourceVersion');
export const listParameters = [...query('boolean', 'allowWatchBookmarks'), ...selection, ...query('boolean', 'watch')];
export const writeParameters = query('string', 'dryRun', 'fieldManager', 'fieldValidation');
export const patchParameters = [...writeParameters, ...query('boolean', 'force')];
export const deleteParameters = [
  ...query('string', 'dryRun'),
  ...query('integer', 'gracePeriodSeconds'),
  ...query('boolean', 'ignoreStoreReadErrorWithClusterBreakingPotential', 'orphanDependents'),
  ...query('string', 'propagationPolicy'),
];
export const deleteCollectionParameters = [...deleteParameters, ...selection];
export const prettyParameter = query('string', 'pretty');
export const pathParameters = (...names: string[]): Parameter[] =>
  names.map((name) => ({ name, in: 'path', type: 'string' }));

/** The parameters of a Pod's log. */
export const logParameters = [
  ...query('string', 'container'),
  ...query('boolean', 'follow', 'insecureSkipTLSVerifyBackend'),
  ...query('integer', 'limitBytes'),
  ...query('boolean', 'previous'),
  ...query('integer', 'sinceSeconds'),
  ...query('string', 'stream'),
  ...query('integer', 'tailLines'),
  ...query('boolean', 'timestamps'),
];

/** The fields of an options kind, e.g. `PodExecOptions`, as parameters. */
export function optionParameters(fields: Iterable<GoField>): Parameter[] {
  return [...fields]
    .filter(({ name }) => name !== 'kind' && name !== 'apiVersion')
    .map(({ name, type }) => {
      const base = type.is === 'list' ? type.element : type;
      const kind = base.is === 'bool' ? 'boolean' : base.is === 'int' ? 'integer' : 'string';
      return { name, in: 'query', type: kind };
    });
}
