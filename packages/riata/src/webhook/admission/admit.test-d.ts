import { expectTypeOf, test } from 'vitest';
import type { Client } from '../../client/interfaces.js';
import type { Scale } from '../../kinds/generated/types/autoscaling-v1.js';
import { ConfigMap, Deployment, Pod, Secret } from '../../kinds/index.js';
import type { KindOf } from '../../object/kind.js';
import type { Mutable } from '../../object/value/mutable.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import { Site as SiteKind } from './admission.fixture.js';
import type { AdmissionUser } from './admission-context.js';
import { admit } from './admit.js';
import type { PodExecOptions } from './connect-options.js';
import type { FieldPath } from './field-path.js';
import { allowed } from './responses.js';

type Site = KindOf<typeof SiteKind>;

test('the types of the example', () => {
  const rules = admit(SiteKind)
    .mutates((site, context) => {
      expectTypeOf(site).toEqualTypeOf<Mutable<Site>>();
      expectTypeOf(context.old).toEqualTypeOf<Site | undefined>();
      site.spec.zone ??= 'a';
    })
    .validates(({ object, old, operation, deny, warn, audit, path, user, client, signal, dryRun }) => {
      expectTypeOf(object).toEqualTypeOf<Site>();
      expectTypeOf(old).toEqualTypeOf<Site | undefined>();
      expectTypeOf(operation).toEqualTypeOf<'create' | 'update'>();
      expectTypeOf(user).toEqualTypeOf<AdmissionUser>();
      expectTypeOf(client).toEqualTypeOf<Client>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(dryRun).toEqualTypeOf<boolean>();
      if (operation === 'update') expectTypeOf(old).toEqualTypeOf<Site>();
      deny(path.spec.zone, 'no');
      deny(path.spec.ports.index(0).name, 'no', { reason: 'duplicate' });
      deny('spec.zone', 'no');
      deny('no');
      warn('careful');
      audit('key', 'value');
    })
    .validates({ on: ['delete'], timeout: '5s', failurePolicy: 'fail' }, ({ object, old, operation }) => {
      expectTypeOf(object).toEqualTypeOf<undefined>();
      expectTypeOf(old).toEqualTypeOf<Site>();
      expectTypeOf(operation).toEqualTypeOf<'delete'>();
    })
    .reads(Secret);
  expectTypeOf(rules).toMatchTypeOf<WebhookDefinition>();
});

test('the operations decide what there is', () => {
  const rules = admit(SiteKind);
  rules.validates({ on: ['create'] }, ({ object, old }) => {
    expectTypeOf(object).toEqualTypeOf<Site>();
    expectTypeOf(old).toEqualTypeOf<undefined>();
  });
  rules.validates({ on: ['update'] }, ({ object, old }) => {
    expectTypeOf(object).toEqualTypeOf<Site>();
    expectTypeOf(old).toEqualTypeOf<Site>();
  });
  rules.validates({ on: ['update', 'delete'] }, ({ object, old, operation }) => {
    expectTypeOf(object).toEqualTypeOf<Site | undefined>();
    expectTypeOf(old).toEqualTypeOf<Site>();
    if (operation === 'update') expectTypeOf(object).toEqualTypeOf<Site>();
  });
  rules.validates({ timeout: '3s' }, ({ object, old }) => {
    expectTypeOf(object).toEqualTypeOf<Site>();
    expectTypeOf(old).toEqualTypeOf<Site | undefined>();
  });
});

test('subresources have objects of their own', () => {
  admit(Pod).validates({ on: ['connect'], subresource: 'exec' }, ({ object, old, path }) => {
    expectTypeOf(object).toEqualTypeOf<PodExecOptions>();
    expectTypeOf(old).toEqualTypeOf<undefined>();
    expectTypeOf(path.command).toMatchTypeOf<FieldPath>();
  });
  admit(Deployment).validates({ on: ['update'], subresource: 'scale' }, ({ object }) => {
    expectTypeOf(object).toEqualTypeOf<Scale>();
  });
  admit(SiteKind).mutates({ on: ['update'], subresource: 'status' }, (draft) => {
    expectTypeOf(draft).toEqualTypeOf<Mutable<Site>>();
  });
});

test('several kinds are a union, and any kind is loose', () => {
  admit([ConfigMap, Secret]).validates(({ object }) => {
    expectTypeOf(object).toEqualTypeOf<KindOf<typeof ConfigMap> | KindOf<typeof Secret>>();
    if (object.kind === 'Secret') expectTypeOf(object).toEqualTypeOf<KindOf<typeof Secret>>();
  });
  admit.any({ resources: ['*'] }).validates(({ object, deny }) => {
    expectTypeOf(object.metadata.name).toEqualTypeOf<string>();
    expectTypeOf(object.spec).toEqualTypeOf<unknown>();
    deny('metadata.name', 'no');
  });
});

test('raw handlers', () => {
  const rules = admit(Pod).handles(
    { type: 'validating', on: ['connect'], subresource: '*' },
    ({ object, operation }) => {
      expectTypeOf(object).toEqualTypeOf<unknown>();
      return allowed(operation);
    },
  );
  expectTypeOf(rules).toMatchTypeOf<WebhookDefinition>();
});

test('what makes no sense does not compile', () => {
  admit(SiteKind).validates(({ object, old, deny, path, operation }) => {
    // @ts-expect-error there is no old object on a create
    void old.spec;
    // @ts-expect-error objects are read-only
    object.spec.replicas = 3;
    // @ts-expect-error the kind has no such field
    deny(path.spec.nothing, 'no');
    // @ts-expect-error a path needs a message
    deny(path.spec.zone);
    // @ts-expect-error there is no such reason
    deny(path.spec.zone, 'no', { reason: 'wrong' });
    // @ts-expect-error it is create or update
    if (operation === 'delete') deny('no');
  });
  // @ts-expect-error there is no object on a delete
  admit(SiteKind).validates({ on: ['delete'] }, ({ object }) => object.spec);
  // @ts-expect-error there is nothing to change in a delete
  admit(SiteKind).mutates({ on: ['delete'] }, () => {});
  // @ts-expect-error there is no such operation
  admit(SiteKind).validates({ on: ['patch'] }, () => {});
  // @ts-expect-error a duration has a unit
  admit(SiteKind, { timeout: '5' });
  // @ts-expect-error there is no such policy
  admit(SiteKind, { failurePolicy: 'Fail' });
  // @ts-expect-error an option that does not exist
  admit(SiteKind, { failurepolicy: 'fail' });
  // @ts-expect-error a definition needs a handler
  expectTypeOf(admit(SiteKind)).toMatchTypeOf<WebhookDefinition>();
  // @ts-expect-error a raw handler answers
  admit(SiteKind).handles({ type: 'validating' }, () => {});
  // @ts-expect-error a raw handler says whether it patches
  admit(SiteKind).handles({}, () => allowed());
  expectTypeOf(admit(SiteKind, { schema: true })).toMatchTypeOf<WebhookDefinition>();
});
