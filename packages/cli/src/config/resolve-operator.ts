import type { ControllerDefinition, KindRef, ManagerOptions } from 'riata';
import { isAddable } from 'riata/manager';
import type { PolicyRule } from 'riata/patterns';
import type { WebhookDefinition } from 'riata/webhook';
import { CommandError } from '../command/command-error.js';
import type { TestedRights } from '../manifests/used-rights.js';
import {
  type CrdKind,
  type OperatorConfig,
  type OperatorDefinition,
  type OperatorModule,
  type OperatorOptions,
  packageOf,
} from './operator.js';

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

/**
 * Imports the operator's main module and fills in the rest. Rejects with what is wrong with that module. A later call
 * without a package.json uses that of the last one.
 */
export async function resolveOperator(config: OperatorConfig, given?: ProjectPackage): Promise<Operator> {
  const { name, image, namespace = name, rights = [], objects } = config;
  const known = config[packageOf];
  known.current = given ?? known.current ?? {};
  const project = known.current;
  const module = await config.run();
  checkModule(name, module);
  const { definitions, options = {} } = module;
  const controllers = definitions.filter((each): each is ControllerDefinition => 'reconciler' in each);
  const webhooks = definitions.filter(isWebhook);
  return {
    ...{ name, image, namespace, rights, objects, definitions, controllers, webhooks, options },
    version: config.version ?? project.version ?? '0.0.0',
    description: config.description ?? project.description ?? `The operator ${name}`,
    kinds: config.kinds ?? ownKinds(controllers, webhooks),
  };
}

/** Whether a definition is a webhook: the API server calls it. */
export function isWebhook(definition: OperatorDefinition): definition is WebhookDefinition {
  return isAddable(definition) && Array.isArray((definition as Partial<WebhookDefinition>).targets);
}

/** Kinds made by `defineKind` that controllers are for, or that webhooks convert or check; each once. */
function ownKinds(controllers: readonly ControllerDefinition[], webhooks: readonly WebhookDefinition[]): CrdKind[] {
  const converted = webhooks.flatMap(({ targets }) =>
    targets.flatMap((target) => (target.type === 'conversion' ? [target.kind] : [])),
  );
  const kinds = new Map<string, CrdKind>();
  for (const kind of [...controllers.map((each) => each.kind), ...converted]) {
    if (hasCrd(kind)) kinds.set(`${kind.plural}.${kind.group}`, kind);
  }
  return [...kinds.values()];
}

function hasCrd(kind: KindRef): kind is CrdKind {
  return typeof (kind as Partial<CrdKind>).crd === 'function';
}

function checkModule(name: string, module: OperatorModule): void {
  const { definitions } = module;
  const remedy = `export const definitions = [control(…).reconcile(…), …] from the module that it imports`;
  if (!Array.isArray(definitions)) throw new CommandError(`operator "${name}": run() gives no definitions; ${remedy}`);
  if (definitions.length === 0) throw new CommandError(`operator "${name}": definitions is empty; ${remedy}`);
  for (const [index, each] of definitions.entries()) {
    if (typeof each === 'object' && each !== null && ('reconciler' in each || isAddable(each))) continue;
    throw new CommandError(`operator "${name}": definitions[${index}] is neither a controller nor a webhook`);
  }
}
