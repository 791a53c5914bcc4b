import { existsSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CrdManifest } from 'riata/object';
import { crdsFromYaml, objectsFromYaml, type PolicyRule } from 'riata/patterns';
import { describeError } from 'riata/runtime';
import { CommandError } from '../../command/command-error.js';
import { type GoController, type GoWebhook, goFacts } from './go-source.js';

/** A CustomResourceDefinition, and the file that it is in. */
export interface FoundCrd {
  readonly crd: CrdManifest;
  readonly path: string;
}

/** An operator in Go, as its files describe it. */
export interface GoOperator {
  /** The name of its folder. */
  readonly name: string;
  /** Each kind once, sorted by name. */
  readonly crds: readonly FoundCrd[];
  readonly controllers: readonly GoController[];
  readonly webhooks: readonly GoWebhook[];
  /** Of its role and its markers. */
  readonly rules: readonly PolicyRule[];
  /** What could not be read, with the reason. */
  readonly skipped: readonly string[];
}

const skippedFolders = /^(?:\..*|vendor|node_modules|testdata|test|tests|e2e|bin|dist|hack|examples?|samples)$/;
/** Longer ones are data, or generated. */
const maxBytes = 2_000_000;

/** Reads CRDs, roles, controllers and webhooks of an operator in Go. Nothing in it is run. */
export async function readGoOperator(folder: string): Promise<GoOperator> {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) {
    throw new CommandError(`${folder}: not found; give the folder of the Go operator, with its go.mod`);
  }
  const [crds, controllers, webhooks, rules, skipped] = [
    ...[new Map<string, FoundCrd>(), [] as GoController[], [] as GoWebhook[]],
    ...[[] as PolicyRule[], [] as string[]],
  ] as const;
  // Those of kubebuilder first: a chart may hold older ones.
  const paths = (await filesIn(folder)).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  for (const path of paths) {
    if (statSync(join(folder, path)).size > maxBytes) continue;
    const text = await readFile(join(folder, path), 'utf8');
    if (path.endsWith('.go')) {
      const facts = goFacts(path, text);
      controllers.push(...facts.controllers);
      webhooks.push(...facts.webhooks);
      rules.push(...facts.rules);
    } else if (/^kind:\s*["']?CustomResourceDefinition\b/m.test(text)) {
      for (const crd of await readCrds(path, text, skipped)) {
        if (!crds.has(crd.metadata.name)) crds.set(crd.metadata.name, { crd, path });
      }
    } else if (/(?:^|\/)config\/rbac\/role\.ya?ml$/.test(path)) rules.push(...(await readRules(text)));
  }
  if (crds.size === 0 && controllers.length === 0) {
    const where = 'in config/crd, charts and the rest of the folder, and NewControllerManagedBy in Go files';
    throw new CommandError(`${folder}: has neither CustomResourceDefinitions nor controllers; looked ${where}`);
  }
  const sorted = [...crds.values()].sort((a, b) => (a.crd.metadata.name < b.crd.metadata.name ? -1 : 1));
  return { name: basename(folder), crds: sorted, controllers, webhooks, rules, skipped };
}

const rank = (path: string) => (path.startsWith('config/crd/bases/') ? 0 : path.startsWith('config/') ? 1 : 2);

async function filesIn(root: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return skippedFolders.test(entry.name) ? [] : filesIn(root, path);
      const isSource = /\.(?:ya?ml|go)$/.test(entry.name) && !/_test\.go$|^zz_generated/.test(entry.name);
      return entry.isFile() && isSource ? [path] : [];
    }),
  );
  return found.flat();
}

async function readCrds(path: string, text: string, skipped: string[]): Promise<CrdManifest[]> {
  if (text.includes('{{')) {
    skipped.push(`${path}: is a template of a chart; render it with helm template, and give its output to riata types`);
    return [];
  }
  try {
    return await crdsFromYaml(text);
  } catch (error) {
    skipped.push(`${path}: ${describeError(error)}`);
    return [];
  }
}

async function readRules(text: string): Promise<PolicyRule[]> {
  const objects = text.includes('{{') ? [] : await objectsFromYaml(text);
  return objects
    .filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
    .flatMap((role) => (role as { readonly rules?: readonly Partial<PolicyRule>[] }).rules ?? [])
    .map(({ apiGroups = [], resources = [], verbs = [] }) => ({ apiGroups, resources, verbs }))
    .filter(({ resources }) => resources.length > 0);
}
