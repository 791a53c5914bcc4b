import type { ControllerDefinition, KindRef } from 'riata';
import { isAddable } from 'riata/manager';
import type { WebhookDefinition } from 'riata/webhook';
import { CommandError } from '../command/command-error.js';
import {
  type CrdKind,
  type Operator,
  type OperatorConfig,
  type OperatorDefinition,
  type OperatorModule,
  type ProjectPackage,
  packageOf,
} from './operator.js';

export type { Operator, ProjectPackage } from './operator.js';

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

/** Names that people give to the options of the manager: taken silently, leader election and the like would be off. */
const optionsMisnamed = /^(?:manager|operator)?_?(?:opts?|options?)$/i;

function checkModule(name: string, module: OperatorModule): void {
  const { definitions } = module;
  const remedy = `export const definitions = [control(…).reconcile(…), …] from the module that it imports`;
  const misnamed = 'options' in module ? undefined : Object.keys(module).find((each) => optionsMisnamed.test(each));
  if (misnamed !== undefined) {
    throw new CommandError(
      `operator "${name}": the main module exports "${misnamed}", which is not read; did you mean "options"?`,
    );
  }
  if (!Array.isArray(definitions)) throw new CommandError(`operator "${name}": run() gives no definitions; ${remedy}`);
  if (definitions.length === 0) throw new CommandError(`operator "${name}": definitions is empty; ${remedy}`);
  for (const [index, each] of definitions.entries()) {
    if (typeof each === 'object' && each !== null && ('reconciler' in each || isAddable(each))) continue;
    throw new CommandError(`operator "${name}": definitions[${index}] is neither a controller nor a webhook`);
  }
}
