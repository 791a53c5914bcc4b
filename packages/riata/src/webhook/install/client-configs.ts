import { Buffer } from 'node:buffer';
import type { WebhookClientConfig } from '../../kinds/generated/types/admissionregistration-v1.js';
import type { KubeObject } from '../../object/meta.js';

/** How API servers reach one webhook. */
export interface NamedClientConfig {
  /** Of the entry; empty for the conversion of a CRD. */
  readonly name: string;
  readonly config: WebhookClientConfig;
}

/** Those of a webhook configuration, or of the conversion of a CRD. */
export function clientConfigsOf(object: KubeObject): readonly NamedClientConfig[] {
  const { webhooks = [], spec } = object as {
    readonly webhooks?: readonly { readonly name: string; readonly clientConfig?: WebhookClientConfig }[];
    readonly spec?: { readonly conversion?: { readonly webhook?: { readonly clientConfig?: WebhookClientConfig } } };
  };
  const conversion = spec?.conversion?.webhook?.clientConfig;
  if (conversion !== undefined) return [{ name: '', config: conversion }];
  return webhooks.flatMap(({ name, clientConfig }) => (clientConfig ? [{ name, config: clientConfig }] : []));
}

/** Whether both lead to the same server, whatever the path. */
export function isSameAddress(a: WebhookClientConfig, b: WebhookClientConfig): boolean {
  if (a.service !== undefined && b.service !== undefined) {
    return a.service.namespace === b.service.namespace && a.service.name === b.service.name;
  }
  return a.url !== undefined && b.url !== undefined && originOf(a.url) === originOf(b.url);
}

/** The form of address that `before` has and `after` has not: an object may have one of them. */
export function otherAddress(
  before: WebhookClientConfig | undefined,
  after: WebhookClientConfig,
): 'url' | 'service' | undefined {
  if (before?.url !== undefined && after.service !== undefined) return 'url';
  return before?.service !== undefined && after.url !== undefined ? 'service' : undefined;
}

/** Whether the authority, in PEM, is among those of the bundle. */
export function hasAuthority({ caBundle = '' }: WebhookClientConfig, authority: string): boolean {
  return Buffer.from(caBundle, 'base64').toString().includes(authority.trim());
}

/** The same with these authorities, in PEM. */
export function withBundle(config: WebhookClientConfig, authorities: string): WebhookClientConfig {
  return { ...config, caBundle: Buffer.from(authorities).toString('base64') };
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
