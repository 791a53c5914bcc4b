import { CustomResourceDefinition } from 'riata/kinds';
import type { CrdManifest } from 'riata/object';
import { crdManifests } from '../../manifests/crd-manifests.js';
import { diffWithCluster } from '../../manifests/diff-with-cluster.js';
import { type CheckedCluster, type Finding, ok, problem, warning } from './finding.js';

const apply = 'apply what riata manifests writes, or run riata deploy';

/** Whether CustomResourceDefinitions are there, served, and as the code defines them. */
export async function checkCrds(cluster: CheckedCluster): Promise<readonly Finding[]> {
  const { operator, client, signal } = cluster;
  const { items } = await client.list(CustomResourceDefinition, { signal });
  const general = items.flatMap(conditionFindings);
  const defined = await crdManifests(operator?.kinds ?? []);
  const own = await Promise.all(
    defined.map((crd) =>
      ownFindings(
        cluster,
        crd,
        items.find(({ metadata }) => metadata.name === crd.metadata.name),
      ),
    ),
  );
  const findings = [...general, ...own.flat()];
  return findings.length > 0 ? findings : [ok(`${items.length} CustomResourceDefinitions are served`)];
}

function conditionFindings({ metadata: { name, deletionTimestamp }, status }: CustomResourceDefinition): Finding[] {
  if (deletionTimestamp !== undefined) {
    return [problem(`${name} is being deleted`, `remove the finalizers of its objects: kubectl get ${name} -A`)];
  }
  return (status?.conditions ?? []).flatMap(({ type, status: state, message = '' }) => {
    if (type === 'Established' && state !== 'True') return [problem(`${name} is not served: ${message}`)];
    if (type === 'NamesAccepted' && state !== 'True') {
      return [problem(`${name}: its names are taken: ${message}`, 'rename the kind, or remove the other definition')];
    }
    if (type === 'NonStructuralSchema' && state === 'True') return [warning(`${name}: ${message}`)];
    return [];
  });
}

async function ownFindings(
  { client, signal }: CheckedCluster,
  crd: CrdManifest,
  current: CustomResourceDefinition | undefined,
): Promise<Finding[]> {
  const { name } = crd.metadata;
  if (current === undefined) return [problem(`${name} is missing`, apply)];
  const defined = new Set(crd.spec.versions.map((version) => version.name));
  const lost = (current.status?.storedVersions ?? []).filter((version) => !defined.has(version));
  const findings: Finding[] = [];
  if (lost.length > 0) {
    findings.push(
      problem(
        `${name}: objects are stored as ${lost.join(', ')}, which the code no longer defines`,
        'keep the version, served or not, until migration() of riata/webhook has rewritten all objects',
      ),
    );
  }
  findings.push(...conversionFindings(crd, current));
  // The server would refuse the rest for the lost version, which is named already.
  if (lost.length > 0) return findings;
  const [difference] = await diffWithCluster(client, [crd as never], { signal });
  if (difference?.state === 'different') {
    const lines = difference.lines.length;
    findings.push(
      warning(
        `${name} differs from the code in ${lines} ${lines === 1 ? 'field' : 'fields'}; see riata manifests --diff`,
        apply,
      ),
    );
  } else if (difference?.state === 'unknown') {
    findings.push(warning(`${name} cannot be compared: ${difference.reason}`));
  }
  return findings.length > 0 ? findings : [ok(`${name} is as the code defines it`)];
}

function conversionFindings(crd: CrdManifest, current: CustomResourceDefinition): Finding[] {
  const { name } = crd.metadata;
  const served = crd.spec.versions.filter((version) => version.served);
  const schemas = new Set(served.map(({ schema }) => JSON.stringify(schema?.openAPIV3Schema)));
  const strategy = current.spec.conversion?.strategy ?? 'None';
  if (strategy === 'None' && served.length > 1 && schemas.size > 1) {
    return [
      problem(
        `${name} serves ${served.map((version) => version.name).join(', ')} with different schemas and no conversion webhook: fields are lost`,
        'add the conversion webhook to the definitions, and deploy it',
      ),
    ];
  }
  return [];
}
