import { checkDefinition } from '@riata/apiserver/policies';
import { defineKind } from 'riata';
import { concat } from 'riata/object';
import { installCrds } from 'riata/patterns';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeServers, rejection, uniqueName } from './servers.js';

describeServers('rules of kinds', (server) => {
  const group = `${uniqueName('rules')}.riata.dev`;
  const spec = z.object({
    min: z.int().default(0),
    max: z.int(),
    ratio: z.number().optional(),
    zone: z.string().max(20).optional(),
    names: z.array(z.string().max(20)).max(10).optional(),
    'dashed-name': z.string().max(20).optional(),
  });
  const Pool = defineKind({
    ...{ group, version: 'v1', kind: 'Pool', spec },
    rules: [
      { require: ({ self }) => self.min.lte(self.max), message: 'min must not exceed max', fieldPath: '.min' },
      { require: ({ self, oldSelf }) => self.zone.equals(oldSelf.zone), message: 'zone is immutable' },
      {
        require: ({ self, oldSelf }) => self.max.lt(5).or(oldSelf.max.gte(5)),
        optionalOldSelf: true,
        message: 'max starts below 5',
      },
      {
        require: ({ self }) => self.names.all((name) => name.startsWith('x')),
        messageExpression: ({ self }) => concat('names of ', self.zone.orElse('nowhere')),
      },
      { require: ({ self }) => self.ratio.orElse(0).times(2).lte(1), message: 'ratio' },
      { require: ({ self }) => self['dashed-name'].notEquals('no'), message: 'dashed' },
      { at: '.', require: ({ self }) => self.metadata.name.notEquals('taken'), message: 'the name is taken' },
    ],
  });

  test('the server accepts and enforces them', async () => {
    expect(checkDefinition(Pool.crd())).toEqual([]);
    const { client } = server();
    await installCrds(client, [Pool]);
    const namespace = await server().namespace();
    const pool = (of: object, name = 'pool') => Pool({ metadata: { namespace, name }, spec: { max: 3, ...of } });
    const denied = async (of: object, name?: string) => (await rejection(client.create(pool(of, name)))).message;
    expect(await denied({ min: 4 })).toContain('spec.min: Invalid value');
    expect(await denied({ min: 4 })).toContain('min must not exceed max');
    expect(await denied({ max: 5 })).toContain('max starts below 5');
    expect(await denied({ names: ['xa', 'b'], zone: 'here' })).toContain('names of here');
    expect(await denied({ names: ['b'] })).toContain('names of nowhere');
    expect(await denied({ ratio: 1 })).toContain('ratio');
    expect(await denied({ 'dashed-name': 'no' })).toContain('dashed');
    expect(await denied({}, 'taken')).toContain('the name is taken');
    const { metadata } = await client.create(pool({ names: ['xa'], ratio: 0.5, 'dashed-name': 'yes' }));
    const change = (body: object) => client.patch(Pool, metadata, { type: 'merge', body: { spec: body } });
    expect((await rejection(change({ zone: 'a' }))).message).toContain('zone is immutable');
    expect((await change({ max: 4 })).spec.max).toBe(4);
  });

  test('a text of unknown length in a message is too expensive, as the check says', async () => {
    const Counted = defineKind({
      ...{ group, version: 'v1', kind: 'Counted', spec },
      rules: [
        {
          require: ({ self }) => self.min.lte(self.max),
          messageExpression: ({ self }) => concat('max is ', self.max.toText()),
        },
      ],
    });
    const [problem] = checkDefinition(Counted.crd());
    const answer = await server()
      .client.create(Counted.crd() as never, { dryRun: true })
      .then(
        () => undefined,
        (error: Error) => error.message,
      );
    expect(answer === undefined).toBe(problem === undefined);
    if (problem !== undefined) expect(answer).toContain(problem.message);
  });
});
