// @ts-check
// What tests ask of etcd, over its HTTP gateway. Keys and values travel as base64, 64-bit numbers as strings.

/**
 * Throws away the history before `revision`, as an API server does every five minutes, and leaves the note in etcd by
 * which API servers learn of it.
 *
 * Afterwards etcd answers older revisions with "compacted". The API server may still answer them from its watch cache:
 * list snapshots for up to 15 s, watches for as long as its window reaches back. Restarted, it answers 410 at once.
 * @param {string} etcdUrl
 * @param {number} [revision] Default: the newest.
 * @returns {Promise<number>} the revision compacted to
 */
export async function compactEtcd(etcdUrl, revision) {
  const target = revision ?? (await currentRevision(etcdUrl));
  await call(etcdUrl, '/v3/kv/put', { key: base64('compact_rev_key'), value: base64(String(target)) });
  await call(etcdUrl, '/v3/kv/compaction', { revision: String(target), physical: true });
  return target;
}

/**
 * The names of the cluster's members, none if nobody answers.
 * @param {string} etcdUrl
 * @returns {Promise<string[]>}
 */
export async function etcdMemberNames(etcdUrl) {
  try {
    const { members } = await call(etcdUrl, '/v3/cluster/member/list', {});
    return members.map((/** @type {{ name?: string }} */ member) => member.name);
  } catch {
    return [];
  }
}

/** @param {string} etcdUrl */
async function currentRevision(etcdUrl) {
  const answer = await call(etcdUrl, '/v3/kv/range', { key: base64('compact_rev_key') });
  return Number(answer.header.revision);
}

/** @param {string} etcdUrl @param {string} path @param {object} body */
async function call(etcdUrl, path, body) {
  const response = await fetch(etcdUrl + path, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`etcd answered POST ${path} with ${response.status}: ${text.trim()}`);
  return JSON.parse(text);
}

/** @param {string} text */
const base64 = (text) => Buffer.from(text).toString('base64');
