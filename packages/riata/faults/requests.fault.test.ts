import { gzipSync } from 'node:zlib';
import type { ConnectedClient } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import {
  isApiError,
  isConnectionReset,
  isForbidden,
  isProbableEof,
  isTlsError,
  isTooManyRequests,
  isTransportError,
  isUnexpectedServerError,
} from 'riata/rest';
import { describe, expect, test } from 'vitest';
import { createAuthority, issueCertificate } from '../../../tools/control-plane/x509.mjs';
import { failureOf, readAll, startFaultClient, token, withoutSecrets } from './fault-client.js';
import type { FaultReply, FaultScript } from './fault-server.js';
import { added, configMap, configMapList, failure, json, what } from './sample-objects.js';
import { SleepClock } from './sleep-clock.js';

const key = { namespace: 'shop', name: 'a' };
const object = configMap('a', 1);

/** Every way to ask, and what a good answer to it looks like. */
const calls: Readonly<Record<string, (client: ConnectedClient) => Promise<unknown>>> = {
  get: (client) => client.get(ConfigMap, key),
  list: async (client) => (await client.list(ConfigMap)).items[0],
  watch: async (client) => {
    const { all, error } = await readAll(await client.watch(ConfigMap, { resourceVersion: '1' }));
    if (error) throw error;
    return (all[0] as { object: unknown }).object;
  },
  create: (client) => client.create(ConfigMap({ metadata: key })),
  update: (client) => client.update(ConfigMap({ metadata: { ...key, resourceVersion: '1' } })),
  patch: (client) => client.patch(ConfigMap, key, { type: 'merge', body: { data: {} } }),
  delete: (client) => client.delete(ConfigMap, key),
};
const verbs = Object.keys(calls);
const reads = ['get', 'list', 'watch'];
const call = (verb: string, client: ConnectedClient) =>
  (calls[verb] as (client: ConnectedClient) => Promise<unknown>)(client);

const answer: FaultScript = (request, reply) => {
  if (request.method !== 'GET' || request.path.includes('/configmaps/')) return reply.send(200, object);
  return reply.send(200, what(request) === 'list' ? configMapList(9, [object]) : added('a', 1), json);
};

/** Fails by these, in order, then answers well. `at` holds the virtual time of each request. */
async function startFailing(...faults: readonly ((reply: FaultReply) => void)[]) {
  const clock = new SleepClock({ skips: true });
  const at: number[] = [];
  const t = await startFaultClient(
    (request, reply) => {
      at.push(clock.monotonic());
      const fault = faults[request.number - 1];
      return fault ? fault(reply) : answer(request, reply);
    },
    { clock },
  );
  return { ...t, at, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() };
}

describe('a server that asks for patience', () => {
  test.each(verbs)('%s: 429 with Retry-After is sent again after that time, not before', async (verb) => {
    const busy = (seconds: string) => (reply: FaultReply) => reply.status(429, { 'retry-after': seconds });
    await using t = await startFailing(busy('7'), busy('1'), busy('0'));
    expect(await call(verb, t.client)).toEqual(object);
    expect(t.at).toEqual([0, 7_000, 8_000, 8_000]);
    expect(new Set(t.server.requests.map(({ method, path, body }) => `${method} ${path} ${body}`)).size).toBe(1);
  });

  test.each([500, 502, 503, 504])('%i with Retry-After is sent again, whatever the verb', async (code) => {
    for (const verb of verbs) {
      await using t = await startFailing((reply) => reply.send(code, 'later', { 'retry-after': '2' }));
      expect(await call(verb, t.client)).toEqual(object);
      expect(t.at).toEqual([0, 2_000]);
    }
  });

  test.each([429, 500, 502, 503, 504])('%i without Retry-After, or with a date, is an error at once', async (code) => {
    const headers = [{}, { 'retry-after': 'Fri, 31 Dec 2099 23:59:59 GMT' }, { 'retry-after': '-1' }];
    for (const verb of verbs) {
      for (const header of headers) {
        await using t = await startFailing((reply) => reply.status(code, header as Record<string, string>, 'not now'));
        const error = await failureOf(call(verb, t.client));
        expect(isApiError(error) && [error.code, error.attempts]).toEqual([code, 1]);
        expect(isTooManyRequests(error)).toBe(code === 429);
        expect(error.message).toMatch(/\/configmaps(\/a)?: not now \(/);
        expect(t.at).toEqual([0]);
      }
    }
  });

  test('is sent to eleven times, not more', async () => {
    const clock = new SleepClock({ skips: true });
    await using t = await startFaultClient((_, reply) => reply.status(429, { 'retry-after': '1' }), { clock });
    for (const [i, verb] of verbs.entries()) {
      const error = await failureOf(call(verb, t.client));
      expect(isTooManyRequests(error)).toBe(true);
      expect(error.message).toMatch(/after 11 attempts$/);
      expect(isApiError(error) && error.retryAfterMs).toBe(1_000);
      expect(t.server.requests).toHaveLength(11 * (i + 1));
    }
    expect(clock.monotonic()).toBe(10_000 * verbs.length);
  });
});

describe('a connection that is cut before the answer', () => {
  const cuts = { reset: isConnectionReset, close: isProbableEof };

  test.each(['reset', 'close'] as const)('%s: a read is sent again after a second, a write never', async (how) => {
    for (const verb of verbs) {
      await using t = await startFailing((reply) => reply[how]());
      if (reads.includes(verb)) {
        expect(await call(verb, t.client)).toEqual(object);
        expect(t.at).toEqual([0, 1_000]);
        continue;
      }
      const error = await failureOf(call(verb, t.client));
      expect([verb, cuts[how](error), t.server.requests.length]).toEqual([verb, true, 1]);
      expect(isTransportError(error) && error.requestSent).toBe(true);
    }
  });

  test.each(['reset', 'close'] as const)(
    '%s of a kept one: a read goes out again at once, a write never',
    async (how) => {
      for (const verb of verbs) {
        await using t = await startFailing(
          (reply) => reply.send(200, object),
          (reply) => reply[how](),
        );
        await t.client.get(ConfigMap, key);
        if (reads.includes(verb)) {
          expect(await call(verb, t.client)).toEqual(object);
          expect([t.at, t.server.connections]).toEqual([[0, 0, 0], 2]);
          continue;
        }
        const error = await failureOf(call(verb, t.client));
        expect([verb, cuts[how](error), t.server.requests.length]).toEqual([verb, true, 2]);
      }
    },
  );

  test('every time: ten more tries, then an error that names the last two', async () => {
    const clock = new SleepClock({ skips: true });
    await using t = await startFaultClient(
      (request, reply) => (request.number === 10 ? reply.close() : reply.reset()),
      { clock },
    );
    const error = await failureOf(t.client.get(ConfigMap, key));
    expect(error.message).toMatch(
      /was cut before .*; the attempt before it failed: .* the server closed the connection/,
    );
    expect([t.server.requests.length, clock.monotonic()]).toEqual([11, 10_000]);
  });
});

describe('a malformed answer', () => {
  const html = `<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>h1 {color: red}</style></head>
    <body><h1>502 Bad Gateway</h1><!-- ${'padding '.repeat(300_000)} --></body></html>`;

  test.each(verbs)('%s: an HTML page of a proxy is an ApiError with a short message', async (verb) => {
    await using t = await startFailing((reply) => reply.send(502, html, { 'content-type': 'text/html' }));
    const error = await failureOf(call(verb, t.client));
    expect([isApiError(error) && error.code, isUnexpectedServerError(error)]).toEqual([502, true]);
    expect(error.message).toContain('502 Bad Gateway');
    expect(error.message).not.toMatch(/[<>{}]/);
    expect(error.message.length).toBeLessThan(300);
  });

  test('an empty body, a short text, half of a Status: errors with the code all the same', async () => {
    const half = JSON.stringify(failure(503, 'ServiceUnavailable', 'etcd is away')).slice(0, -12);
    for (const body of ['', 'upstream connect error', half]) {
      await using t = await startFailing((reply) => reply.send(503, body));
      const error = await failureOf(t.client.get(ConfigMap, key));
      expect(isApiError(error) && error.code).toBe(503);
      expect(error.message).toMatch(/^GET \/api\/v1\/namespaces\/shop\/configmaps\/a: /);
      if (body !== half) expect(error.message).toContain(body);
    }
  });

  test('a refusal that breaks off: the refusal, caused by what broke', async () => {
    await using t = await startFailing((reply) => {
      reply.head(403, { ...json, 'content-length': '500' });
      reply.chunk('{"kind":"Status"');
      reply.close();
    });
    const error = await failureOf(t.client.get(ConfigMap, key));
    expect(isForbidden(error)).toBe(true);
    expect(isProbableEof(error.cause)).toBe(true);
  });

  test('a proxy that shows the request headers does not make an error show them', async () => {
    await using t = await startFaultClient(({ headers }, reply) => {
      expect(headers.authorization).toBe(`Bearer ${token}`);
      reply.send(502, `cannot forward:\nauthorization: ${headers.authorization}\n`);
    });
    expect((await failureOf(t.client.get(ConfigMap, key))).message).toContain('Bearer REDACTED');
  });

  const wrong: readonly [string, (reply: FaultReply) => void, RegExp][] = [
    ['nothing', (reply) => reply.send(200, '', json), /expected JSON, got an empty body with status 200/],
    ['HTML', (reply) => reply.send(200, html, { 'content-type': 'text/html' }), /expected JSON, got text\/html/],
    [
      'protobuf',
      (reply) => reply.send(200, 'k8s', { 'content-type': 'application/vnd.kubernetes.protobuf' }),
      /got application\/vnd/,
    ],
    ['no JSON', (reply) => reply.send(200, 'ok', json), /the body is malformed JSON \(2 bytes\)/],
  ];
  test.each(wrong)('%s under a success: said so', async (_, fault, message) => {
    for (const verb of ['get', 'create', 'update', 'patch', 'delete']) {
      await using t = await startFailing(fault);
      const error = await failureOf(call(verb, t.client));
      expect(error.message).toMatch(message);
      expect(error.message).toMatch(/^[A-Z]+ \/api\/v1\/namespaces\/shop\/configmaps/);
      expect(t.at).toEqual([0]);
    }
  });

  test('a Status of failure under a success is the refusal that it is', async () => {
    for (const verb of ['get', 'create', 'update', 'patch', 'delete']) {
      await using t = await startFailing((reply) => reply.send(200, failure(403, 'Forbidden', 'not for you')));
      expect(isForbidden(await failureOf(call(verb, t.client)))).toBe(true);
    }
  });

  test('an object cut off at every position, plain and gzipped, is never an object', async () => {
    const plain = Buffer.from(JSON.stringify(object));
    for (const [whole, headers] of [
      [plain, json],
      [gzipSync(plain), { ...json, 'content-encoding': 'gzip' }],
    ] as const) {
      await using t = await startFaultClient(({ number }, reply) =>
        reply.send(200, whole.subarray(0, number - 1), headers),
      );
      for (let cut = 0; cut < whole.length; cut++) {
        const error = await failureOf(t.client.get(ConfigMap, key));
        expect(error.message).toMatch(
          /configmaps\/a: (expected JSON, got|the body is malformed|the gzipped response is)/,
        );
      }
      expect(await t.client.get(ConfigMap, key)).toEqual(object);
    }
  });

  test('an object split at every position is the same object', async () => {
    const plain = Buffer.from(JSON.stringify(configMap('a', 1, { text: 'ünï 😀' })));
    await using t = await startFaultClient(({ number }, reply) => {
      reply.head(200, json);
      reply.cut(plain, [number]);
      reply.end();
    });
    for (let cut = 1; cut < plain.length; cut++) {
      expect((await t.client.get(ConfigMap, key)).data).toEqual({ text: 'ünï 😀' });
    }
  });
});

describe('a certificate that does not do', () => {
  const authority = createAuthority('fault-ca');
  const issue = (options: object) => issueCertificate({ commonName: 'apiserver', issuer: authority, ...options });
  const here = { ipAddresses: ['127.0.0.1'] };
  const past = { notBefore: new Date('2020-01-01T00:00:00Z'), notAfter: new Date('2021-02-03T04:05:06Z') };
  const other = createAuthority('other-ca').cert;
  const cases: readonly [string, object, string, RegExp][] = [
    [
      'another name',
      { dnsNames: ['kubernetes'] },
      authority.cert,
      /not valid for "127\.0\.0\.1", only for DNS:kubernetes; .*set tls-server-name/,
    ],
    ['expired', { ...here, ...past }, authority.cert, /expired 2021-02-03T04:05:06\.000Z; it must be renewed/],
    [
      'an unknown authority',
      here,
      other,
      /signed by "fault-ca", which is not trusted here .*; set certificate-authority/,
    ],
  ];

  test.each(cases)(
    '%s: each call says what and how to mend it, and sends nothing',
    async (_, certificate, ca, message) => {
      const clock = new SleepClock();
      await using t = await startFaultClient(answer, { tls: issue(certificate), ca, clock });
      for (const verb of verbs) {
        const error = await failureOf(call(verb, t.client));
        expect(isTlsError(error)).toBe(true);
        expect(error.message).toMatch(message);
        expect(isTransportError(error) && error.requestSent).toBe(false);
      }
      expect([t.server.requests, clock.sleeps]).toEqual([[], []]);
    },
  );

  test('a retrying watch reports it, too, and resumes once it is fixed', async () => {
    const clock = new SleepClock();
    const script: FaultScript = (request, reply) => {
      if (what(request) === 'list') return answer(request, reply);
      reply.head(200, json);
      return reply.hang();
    };
    await using t = await startFaultClient(script, { tls: issue({ ...here, ...past }), ca: authority.cert, clock });
    const retries: Error[] = [];
    const watching = t.client.retryingWatch(ConfigMap, {
      onRetry: (error) => void retries.push(withoutSecrets(error)),
    });
    const events = watching[Symbol.asyncIterator]();
    expect((await events.next()).value).toEqual({ type: 'RESET' });
    const next = events.next();
    await clock.sleeping(1);
    expect(retries[0]?.message).toMatch(/expired 2021-02-03/);
    t.server.setTls(issue(here));
    await clock.advance(clock.sleeps[0] as number);
    expect((await next).value).toEqual({ type: 'ADDED', object });
    watching.stop();
  });
});

test('a server that does not listen is named, at once', async () => {
  // Never assigned, unlike one that was in use a moment ago.
  const port = 1;
  await using t = await startFaultClient(answer, { config: { server: `http://127.0.0.1:${port}` } });
  for (const verb of verbs) {
    const error = await failureOf(call(verb, t.client));
    expect(error.message).toContain(`connection refused by 127.0.0.1:${port}; is the API server running`);
  }
});
