import type { JsonObject } from 'riata/object';
import type { Random } from 'riata/runtime';
import { generateName } from '../../../resource/generate-name.js';
import { isGiven, metaOf, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { findObject, forbiddenRequest, synchronousPlugin } from '../synchronous-plugin.js';
import { hasSecrets, secretProblem } from './secret-references.js';

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets';
const volumePrefix = 'kube-api-access-';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Dependencies of the plugin. */
export interface ServiceAccountParts {
  readonly storage: Storage;
  readonly random: Random;
  /** Creates the `default` account of a new namespace now, if the server manages these accounts. */
  readonly prepareNamespace?: ((namespace: string) => void) | undefined;
}

/** Gives Pods their ServiceAccount and its token (`ServiceAccount`). */
export function serviceAccount({ storage, random, prepareNamespace }: ServiceAccountParts): AdmissionPlugin {
  const find = (namespace: string, name: string) => findObject(storage, '/serviceaccounts', `${namespace}/${name}`);
  const accountOf = (name: string, attributes: AdmissionAttributes): JsonObject => {
    const { namespace } = attributes;
    let found = find(namespace, name);
    if (found === undefined && name === 'default') {
      prepareNamespace?.(namespace);
      found = find(namespace, name);
    }
    if (found !== undefined) return found;
    const why = `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`;
    throw forbiddenRequest(attributes, why);
  };
  return synchronousPlugin({
    name: 'ServiceAccount',
    handles: ({ operation, resource, subresource }) =>
      resource.table === '/pods' &&
      ((operation === 'CREATE' && subresource === '') ||
        (operation === 'UPDATE' && subresource === 'ephemeralcontainers')),
    change(pod, attributes) {
      if (attributes.operation !== 'CREATE') return pod;
      if (isMirror(pod)) {
        checkMirror(pod, attributes);
        return pod;
      }
      const spec = recordOf(pod.spec);
      const name = textOf(spec.serviceAccountName) || 'default';
      const account = accountOf(name, attributes);
      const named = { ...spec, serviceAccountName: name, serviceAccount: name };
      const mounted = automounts(account, spec) ? withToken(named, random) : named;
      const made = { ...pod, spec: withPullSecrets(mounted, account) };
      checkSecrets(made, account, attributes);
      return made;
    },
    check(pod, attributes) {
      if (attributes.operation === 'CREATE' && isMirror(pod)) {
        checkMirror(pod, attributes);
        return;
      }
      const name = textOf(recordOf(pod.spec).serviceAccountName);
      if (name === '') {
        const called = `${attributes.namespace}/${textOf(metaOf(pod).name)}`;
        throw forbiddenRequest(attributes, `no service account specified for pod ${called}`);
      }
      checkSecrets(pod, accountOf(name, attributes), attributes);
    },
  });
}

function isMirror(pod: JsonObject): boolean {
  return recordOf(metaOf(pod).annotations)[mirrorAnnotation] !== undefined;
}

/** Mirror Pods must have neither account nor Secrets. */
function checkMirror(pod: JsonObject, attributes: AdmissionAttributes): void {
  const spec = recordOf(pod.spec);
  if (textOf(spec.serviceAccountName) !== '') {
    throw forbiddenRequest(attributes, 'a mirror pod may not reference service accounts');
  }
  if (hasSecrets(spec)) throw forbiddenRequest(attributes, 'a mirror pod may not reference secrets');
  const sources = recordsOf(spec.volumes).flatMap(({ projected }) => recordsOf(recordOf(projected).sources));
  if (sources.some(({ serviceAccountToken }) => isGiven(serviceAccountToken))) {
    throw forbiddenRequest(attributes, 'a mirror pod may not use ServiceAccountToken volume projections');
  }
}

function automounts(account: JsonObject, spec: JsonObject): boolean {
  return (spec.automountServiceAccountToken ?? account.automountServiceAccountToken) !== false;
}

function checkSecrets(pod: JsonObject, account: JsonObject, attributes: AdmissionAttributes): void {
  const value = textOf(recordOf(metaOf(account).annotations)[enforceAnnotation]);
  if (!['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value)) return;
  const problem = secretProblem(recordOf(pod.spec), account, attributes.subresource === 'ephemeralcontainers');
  if (problem !== undefined) throw forbiddenRequest(attributes, problem);
}

function withPullSecrets(spec: JsonObject, { imagePullSecrets }: JsonObject): JsonObject {
  const own = recordsOf(imagePullSecrets);
  if (recordsOf(spec.imagePullSecrets).length > 0 || own.length === 0) return spec;
  return { ...spec, imagePullSecrets: own.map(({ name = '' }) => ({ name })) };
}

/** The spec with a token of the account, mounted where clients expect it. */
function withToken(spec: JsonObject, random: Random): JsonObject {
  const volumes = recordsOf(spec.volumes);
  const known = volumes.find(({ name }) => textOf(name).startsWith(volumePrefix));
  const name = known === undefined ? generateName(volumePrefix, random) : textOf(known.name);
  let needed = false;
  const mount = (container: JsonObject): JsonObject => {
    const mounts = recordsOf(container.volumeMounts);
    if (mounts.some((one) => one.mountPath === mountPath)) return container;
    needed = true;
    return { ...container, volumeMounts: [...mounts, { name, readOnly: true, mountPath }] };
  };
  const containers = recordsOf(spec.containers).map(mount);
  const initContainers =
    spec.initContainers === undefined ? {} : { initContainers: recordsOf(spec.initContainers).map(mount) };
  const made = { ...spec, ...initContainers, containers };
  return known !== undefined || !needed ? made : { ...made, volumes: [...volumes, tokenVolume(name)] };
}

function tokenVolume(name: string): JsonObject {
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        {
          downwardAPI: {
            items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
          },
        },
      ],
      defaultMode: 420,
    },
  };
}
