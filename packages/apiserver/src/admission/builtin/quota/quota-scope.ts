import { type JsonObject, selectorFrom } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';

/** One condition of a quota's scope (`ScopedResourceSelectorRequirement`). */
export interface QuotaScope {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** All conditions of a quota's scope: the quota counts an object only if each of them holds. */
export function scopesOf(quota: JsonObject): readonly QuotaScope[] {
  const { scopes, scopeSelector } = recordOf(quota.spec);
  return [
    ...stringsOf(scopes).map((scopeName) => ({ scopeName, operator: 'Exists', values: [] })),
    ...recordsOf(recordOf(scopeSelector).matchExpressions).map(({ scopeName, operator, values }) => ({
      ...{ scopeName: textOf(scopeName), operator: textOf(operator), values: stringsOf(values) },
    })),
  ];
}

/** Whether a scope selects one of the names that an object refers to. */
export function isNameInScope(names: readonly string[], { scopeName: key, operator, values }: QuotaScope): boolean {
  if (operator === 'Exists') return names.length > 0;
  const selector = selectorFrom({ matchExpressions: [{ key, operator: operator as 'In', values }] });
  return names.length === 0 ? selector.matches({}) : names.some((name) => selector.matches({ [key]: name }));
}
