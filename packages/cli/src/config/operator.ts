import type { ControllerDefinition, KindRef, ManagerOptions } from 'riata';
import type { WriteObject } from 'riata/client';
import type { Addable } from 'riata/manager';
import { type CrdManifest, dns1123LabelProblems } from 'riata/object';
import type { PolicyRule } from 'riata/patterns';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import type { WebhookDefinition } from 'riata/webhook';
import type { TestedRights } from '../manifests/used-rights.js';

/** A controller, a webhook, or whatever else `run` takes. */
export type OperatorDefinition = ControllerDefinition | Addable;

/** What the operator's main module exports, for its own start and for the commands of `riata`. */
export interface OperatorModule {
  /** Its controllers and webhooks, as `run` takes them. */
  readonly definitions: readonly OperatorDefinition[];
  /** Of its `Manager`. @default none */
  readonly options?: ManagerOptions;
}

/** A kind that brings its CustomResourceDefinition, as `defineKind` makes them. */
export type CrdKind = KindRef & { crd(): CrdManifest };

/** What {@link operator} takes. */
export interface OperatorOptions {
  /** Names the Deployment, the ServiceAccount, the chart and the rest: a DNS label. */
  readonly name: string;
  /** The repository of its image, without tag: `registry.example.com/site-operator`. */
  readonly image: string;
  /** Imports the main module: `() => import('./src/main.js')`. Commands that need no definitions don't call it. */
  readonly run: () => Promise<OperatorModule>;
  /** The version of the operator, and the tag of its image. @default the version in package.json */
  readonly version?: string;
  /** Where it is deployed. @default its name */
  readonly namespace?: string;
  /** One sentence, for the chart, the bundle and the image. @default the description in package.json */
  readonly description?: string;
  /**
   * The kinds whose CustomResourceDefinitions it installs. @default those that its controllers are for, and its webhooks
   * check or convert, if they were made by `defineKind`
   */
  readonly kinds?: readonly CrdKind[];
  /** Rights beyond those that its definitions imply. @default none */
  readonly rights?: readonly PolicyRule[];
  /**
   * Its objects in a cluster, for all commands. Change what `deployment` gives, or add to it.
   * @default `(operator) => deployment(operator)`
   */
  readonly objects?: (operator: Operator) => Promise<readonly WriteObject[]> | readonly WriteObject[];
}

/** An operator with everything that its config leaves out, and with its definitions. */
export interface Operator {
  readonly name: string;
  /** The repository of its image. */
  readonly image: string;
  readonly version: string;
  readonly namespace: string;
  readonly description: string;
  /** As the main module lists them. */
  readonly definitions: readonly OperatorDefinition[];
  readonly controllers: readonly ControllerDefinition[];
  readonly webhooks: readonly WebhookDefinition[];
  /** Of its `Manager`. */
  readonly options: ManagerOptions;
  /** Those whose CustomResourceDefinitions it installs. */
  readonly kinds: readonly CrdKind[];
  /** Beyond what its definitions imply. */
  readonly rights: readonly PolicyRule[];
  /** See `OperatorOptions.objects`. */
  readonly objects: OperatorOptions['objects'];
  /** The rights that its tests used, in place of those that its definitions imply. @default none */
  readonly testedRights?: TestedRights;
}

/** The parts of a project's package.json that an operator takes. */
export interface ProjectPackage {
  readonly version?: string;
  readonly description?: string;
}

export const operatorOptionNames = optionNames<OperatorOptions>({
  name: true,
  image: true,
  run: true,
  version: true,
  namespace: true,
  description: true,
  kinds: true,
  rights: true,
  objects: true,
});

const brand = Symbol.for('riata.dev/operator');

export const packageOf: unique symbol = Symbol.for('riata.dev/operator-package') as never;

/** An operator as `riata.config.ts` describes it; made by {@link operator}. */
export interface OperatorConfig extends OperatorOptions {
  readonly [brand]: true;
  /** The package.json beside the config, once it was read: for code in the config that asks for the whole operator. */
  readonly [packageOf]: { current?: ProjectPackage };
}

/**
 * Describes an operator to the `riata` command; the default export of `riata.config.ts`. Everything else is derived from
 * its definitions.
 *
 * @example
 * export default operator({
 *   name: 'site-operator',
 *   image: 'registry.example.com/site-operator',
 *   run: () => import('./src/main.js'),
 * });
 */
export function operator(options: OperatorOptions): OperatorConfig {
  refuseUnknownOptions('operator', options, operatorOptionNames);
  const { name, image, run } = options;
  if (typeof name !== 'string') throw new TypeError(`operator: name must be a string, got ${typeof name}`);
  const [problem] = dns1123LabelProblems(name);
  if (problem !== undefined) throw new TypeError(`operator: name "${name}" is invalid: ${problem}`);
  const subject = `operator "${name}"`;
  if (typeof run !== 'function') {
    throw new TypeError(`${subject}: run must be a function, e.g. () => import('./src/main.js'), got ${typeof run}`);
  }
  const { objects } = options;
  if (objects !== undefined && typeof objects !== 'function') {
    throw new TypeError(
      `${subject}: objects must be a function, e.g. (operator) => deployment(operator), got ${typeof objects}`,
    );
  }
  const imageProblem = repositoryProblem(image);
  if (imageProblem !== undefined) throw new TypeError(`${subject}: image ${imageProblem}`);
  const [namespaceProblem] = options.namespace === undefined ? [] : dns1123LabelProblems(options.namespace);
  if (namespaceProblem !== undefined) {
    throw new TypeError(`${subject}: namespace "${options.namespace}" is invalid: ${namespaceProblem}`);
  }
  return Object.freeze({ ...options, [brand]: true as const, [packageOf]: {} });
}

/** Whether a value was made by {@link operator}, of whichever copy of this package. */
export function isOperatorConfig(value: unknown): value is OperatorConfig {
  return typeof value === 'object' && value !== null && (value as Partial<OperatorConfig>)[brand] === true;
}

const repositoryPart = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const host = /^(?:[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*|\[[0-9a-fA-F:]+\])(?::\d+)?$/;

/** Why an image name is no repository. */
function repositoryProblem(image: unknown): string | undefined {
  if (typeof image !== 'string' || image === '') return 'must be a repository, e.g. registry.example.com/site-operator';
  if (image.includes('@')) return `"${image}" has a digest; omit it, riata sets it`;
  const parts = image.split('/');
  if (/:[\w.-]+$/.test(parts.at(-1) as string) && !(parts.length === 1 && host.test(image) && /:\d+$/.test(image))) {
    return `"${image}" has a tag; give it as version`;
  }
  const path = parts.length > 1 && host.test(parts[0] as string) ? parts.slice(1) : parts;
  return path.every((part) => repositoryPart.test(part)) ? undefined : `"${image}" is not a valid repository name`;
}
