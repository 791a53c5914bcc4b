import type { JsonObject } from 'riata/object';
import { textOf } from '../../../resource/metadata.js';
import { type FieldError, invalid } from '../../../status/field-error.js';

const levels = ['privileged', 'baseline', 'restricted'] as const;
const prefix = 'pod-security.kubernetes.io/';

/** A level of the Pod Security Standards as of a version of Kubernetes. */
export interface LevelVersion {
  readonly level: (typeof levels)[number];
  /** The minor version; `Infinity` for `latest`. */
  readonly minor: number;
}

/** The policy of a namespace for its Pods. */
export interface SecurityPolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

const privileged: LevelVersion = { level: 'privileged', minor: Infinity };

/** The policy of a namespace without labels. */
export const openPolicy: SecurityPolicy = { enforce: privileged, audit: privileged, warn: privileged };

/** `restricted:latest`, `baseline:v1.25`. */
export function printLevel({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`;
}

/** Less than, equal to or more than zero as `a` allows more than, as much as, or less than `b`. */
export function compareLevels(a: LevelVersion, b: LevelVersion): number {
  return levels.indexOf(a.level) - levels.indexOf(b.level);
}

export function isSameLevel(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.minor === b.minor;
}

export function hasPolicy(labels: JsonObject): boolean {
  for (const key in labels) if (key.startsWith(prefix)) return true;
  return false;
}

/** The policy in the labels of a namespace, and errors in them (`PolicyToEvaluate`). */
export function policyOf(labels: JsonObject): { readonly policy: SecurityPolicy; readonly errors: FieldError[] } {
  if (!hasPolicy(labels)) return { policy: openPolicy, errors: [] };
  const errors: FieldError[] = [];
  const fail = (label: string, why: string) => {
    errors.push(invalid(`metadata.labels[${label}]`, textOf(labels[label]), why));
  };
  /** Undefined without a label. An invalid label is enforced as restricted, and ignored for audit and warnings. */
  const levelOf = (mode: string, fallback: LevelVersion['level']): LevelVersion['level'] | undefined => {
    const label = `${prefix}${mode}`;
    if (labels[label] === undefined) return undefined;
    const level = levels.find((one) => one === labels[label]);
    if (level === undefined) fail(label, `must be one of ${levels.join(', ')}`);
    return level ?? fallback;
  };
  const minorOf = (mode: string): number | undefined => {
    const label = `${prefix}${mode}-version`;
    if (labels[label] === undefined) return undefined;
    const text = textOf(labels[label]);
    const [, minor] = /^v1\.([0-9]|[1-9][0-9]*)$/.exec(text) ?? [];
    const isNumber = minor !== undefined && Number.isSafeInteger(Number(minor));
    if (text !== 'latest' && !isNumber) fail(label, 'must be "latest" or "v1.x"');
    return isNumber ? Number(minor) : Infinity;
  };
  const read = (mode: string, fallback: LevelVersion['level']) => {
    const level = levelOf(mode, fallback);
    return { level, minor: minorOf(mode) };
  };
  const [enforce, audit, warn] = [
    read('enforce', 'restricted'),
    read('audit', 'privileged'),
    read('warn', 'privileged'),
  ];
  const whole = ({ level = 'privileged', minor = Infinity }: Partial<LevelVersion>): LevelVersion => ({ level, minor });
  const isReadable = levels.some((one) => one === labels[`${prefix}enforce`]);
  const enforced = whole({ level: enforce.level ?? 'privileged', minor: enforce.minor ?? Infinity });
  const warned = whole({ level: warn.level ?? 'privileged', minor: warn.minor ?? Infinity });
  // The enforced level applies to warnings, too, since workloads only get warnings.
  const follows = warn.level === undefined && isReadable && compareLevels(enforced, warned) > 0;
  return {
    policy: {
      enforce: enforced,
      audit: whole({ level: audit.level ?? 'privileged', minor: audit.minor ?? Infinity }),
      warn: follows ? { level: enforced.level, minor: warn.minor ?? enforced.minor } : warned,
    },
    errors,
  };
}
