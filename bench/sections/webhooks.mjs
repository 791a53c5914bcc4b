import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, issueCertificate } from '../../tools/control-plane/x509.mjs';
import { buildControllerRuntime, buildGo } from '../lib/build-controller-runtime.mjs';
import { headline } from '../lib/headline.mjs';
import { isAskedFor, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { reviewLines } from '../lib/reviews.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';
import { WebhookProcess } from '../lib/webhook-process.mjs';

const ours = 'riata';
const theirs = 'controller-runtime';
const bare = 'node:https alone';
/** Different reviews, which are sent again and again. */
const DISTINCT = 400;
const OBJECTS = { widgets: 'Widget', pods: 'Pod' };
const PROTOCOLS = { http1: 'HTTP/1.1', http2: 'HTTP/2' };
const CONCURRENCIES = [1, 16];

const loads = Object.keys(OBJECTS).flatMap((resource) =>
  Object.keys(PROTOCOLS).flatMap((protocol) =>
    CONCURRENCIES.map((concurrency) => ({
      ...{ resource, protocol, concurrency },
      name: `${OBJECTS[resource]}, ${PROTOCOLS[protocol]}, ${concurrency} at a time`,
    })),
  ),
);

/** Admission webhooks with the same rules, driven by one client in Go over TLS. */
export const webhooks = {
  name: 'webhooks',
  needs: ['riata'],
  async measure({ riata, node, folder, runs, log, subjects, counts: { reviews: count, reviewsWarmUp: warmUp } }) {
    const home = join(folder, 'webhooks');
    mkdirSync(home);
    const files = writeFiles(home);
    const operator = buildControllerRuntime(log);
    const client = buildGo('webhook-client', 'reviews', log);
    if (client === undefined) throw new Error('the client of the webhooks is written in Go');
    const script = (path) => ({
      command: node,
      args: [join(riata, 'subjects', path)],
      env: { NODE_ENV: 'production' },
    });
    const all = {
      [ours]: script('riata/webhook.mjs'),
      [theirs]: operator && { command: join(operator, '../webhook'), args: [] },
      [bare]: script('node-https/webhook.mjs'),
    };
    const asked = Object.entries(all).filter(([name, it]) => it !== undefined && isAskedFor(subjects, name));
    const found = await rounds(
      Object.fromEntries(asked.map(([name, it]) => [name, () => once(it, { home, client, files, count, warmUp })])),
      runs,
    );
    const rows = Object.fromEntries(
      loads.map(({ name }) => [
        name,
        rowsOf(
          Object.fromEntries(
            Object.entries(found).map(([subject, reports]) => [subject, reports.map((all) => all[name])]),
          ),
        ),
      ]),
    );
    const memory = rowsOf(
      Object.fromEntries(
        Object.entries(found).map(([subject, reports]) => [subject, reports.map(({ rssMb }) => ({ rssMb }))]),
      ),
    );
    return { count, bytes: files.bytes, rows, memory };
  },
  describe({ count, bytes, rows, memory }) {
    const parts = loads.flatMap(({ name }) => {
      const lines = Object.entries(rows[name]).map(([subject, row]) => [
        subject,
        Series.of(row, 'perCpuSecond').text(),
        Series.of(row, 'cpuUs').text(),
        Series.ratio(row, rows[name][theirs], 'cpuUs').text(2),
        Series.of(row, 'p50').text(2),
        Series.of(row, 'p99').text(2),
        Series.ratio(row, rows[name][theirs], 'p99').text(2),
      ]);
      const head = ['', 'reviews per CPU s', 'CPU µs/review', `÷ ${theirs}`, 'p50 ms', 'p99 ms', `p99 ÷ ${theirs}`];
      return [`**${name}**`, table(head, lines)];
    });
    const rss = Object.entries(memory).map(([subject, row]) => `${subject} ${Series.of(row, 'rssMb').text()} MB`);
    const sizes = Object.entries(bytes).map(([resource, size]) => `${OBJECTS[resource]} ${number(size / 1000, 1)} KB`);
    const ratios = loads.map(({ name }) => Series.ratio(rows[name][ours], rows[name][theirs], 'cpuUs'));
    const shown = (resource) => rows[`${OBJECTS[resource]}, HTTP/1.1, 16 at a time`];
    return {
      title: `Admission webhooks, ${number(count)} reviews each`,
      parts: [`Mean size of a review: ${sizes.join(', ')}. RSS after all loads: ${rss.join(', ')}.`, ...parts],
      charts: [
        {
          name: 'webhooks',
          title: 'Admission reviews over TLS, HTTP/1.1, 16 at a time',
          columns: 2,
          panels: Object.keys(OBJECTS).flatMap((resource) => [
            panel(`${OBJECTS[resource]}: CPU per review, µs`, shown(resource), 'cpuUs'),
            panel(`${OBJECTS[resource]}: p99, ms`, shown(resource), 'p99', { digits: 2 }),
          ]),
        },
      ],
      headlines: headline('admission review of a Pod, CPU', shown('pods'), 'cpuUs', {
        ...{ others: { [theirs]: theirs }, unit: ' µs' },
      }),
      goals: [
        goal({
          what: `webhook, CPU per review beside ${theirs}, the worst of ${loads.length} loads`,
          ...{ got: Series.worst(ratios), most: 1, unit: '×', digits: 2 },
        }),
      ].filter(({ got }) => got !== '–'),
    };
  },
};

/** A server of its own for all loads, one after the other. */
async function once(subject, { home, client, files, count, warmUp }) {
  const server = await WebhookProcess.start(subject, home);
  const found = {};
  try {
    for (const { name, resource, protocol, concurrency } of loads) {
      const sent = await server.review(client, {
        ca: files.ca,
        reviews: files[resource],
        protocol,
        concurrency,
        warmUp,
        count,
      });
      found[name] = { ...sent, cpuUs: (sent.cpuMs * 1000) / count, perCpuSecond: (count * 1000) / sent.cpuMs };
    }
    found.rssMb = server.rssMb();
  } finally {
    await server.stop();
  }
  return found;
}

function writeFiles(home) {
  const issuer = createAuthority('bench');
  const leaf = issueCertificate({ commonName: 'webhook', ipAddresses: ['127.0.0.1'], usages: ['server'], issuer });
  const file = (name, text) => {
    writeFileSync(join(home, name), text);
    return join(home, name);
  };
  file('tls.crt', leaf.cert);
  file('tls.key', leaf.key);
  const bytes = {};
  const files = { ca: file('ca.crt', issuer.cert), bytes };
  for (const resource of Object.keys(OBJECTS)) {
    const lines = reviewLines(resource, DISTINCT);
    bytes[resource] = Math.round(Buffer.byteLength(lines) / DISTINCT);
    files[resource] = file(`${resource}.tsv`, lines);
  }
  return files;
}
