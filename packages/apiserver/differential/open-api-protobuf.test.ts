import type { Buffer } from 'node:buffer';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { encodeVersion3 } from '../src/openapi/encode-version3.js';
import { WireReader } from '../src/protobuf/wire-reader.js';

const protobuf = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';

function fromRealServer(path: string, accept: string): Promise<Buffer> {
  const { url, ca, token } = controlPlaneFromEnv();
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept };
    const sent = request(`${url}/openapi/v3/${path}`, { ca, headers, agent: false }, (answer) =>
      buffer(answer).then(resolve, reject),
    );
    sent.on('error', reject).end();
  });
}

interface Field {
  readonly number: number;
  readonly bytes: Buffer | undefined;
}

/** Undefined for a malformed message. */
function fieldsOf(bytes: Buffer): readonly Field[] | undefined {
  try {
    return readFields(bytes);
  } catch {
    return undefined;
  }
}

function readFields(bytes: Buffer): readonly Field[] {
  const reader = new WireReader(bytes);
  const found: Field[] = [];
  while (reader.next()) {
    const { number, isDelimited } = reader;
    found.push({ number, bytes: isDelimited ? reader.bytes() : undefined });
    if (!isDelimited) reader.skip();
  }
  return found;
}

/**
 * Where two messages differ, as paths of field numbers. Values of any type are texts of YAML, which may be written in more
 * ways than one.
 */
function differences(real: Buffer, ours: Buffer, at = ''): string[] {
  if (real.equals(ours) || sameYaml(real, ours)) return [];
  const [theirs, own] = [fieldsOf(real), fieldsOf(ours)];
  if (theirs === undefined || own === undefined) return [`${at}: ${real} / ${ours}`];
  const numbers = (fields: readonly Field[]) => fields.map(({ number }) => number).join();
  if (numbers(theirs) !== numbers(own)) return [`${at}: ${numbers(theirs)} / ${numbers(own)}`];
  const inner = theirs.flatMap(({ number, bytes }, i) => {
    const other = own[i]?.bytes;
    return bytes === undefined || other === undefined ? [] : differences(bytes, other, `${at}.${number}[${i}]`);
  });
  const plain = theirs.some(({ bytes }) => bytes === undefined) && inner.length === 0 && real.length === ours.length;
  return plain ? [`${at}: a number or a truth`] : inner;
}

function sameYaml(real: Buffer, ours: Buffer): boolean {
  if (real.length > 2000) return false;
  try {
    return isDeepStrictEqual(parse(real.toString()), parse(ours.toString()));
  } catch {
    return false;
  }
}

test.each(['apis/apiextensions.k8s.io/v1', 'apis/networking.k8s.io/v1', 'version'])(
  'what the real server says of %s, it says in Protobuf as we would',
  async (path) => {
    const [json, real] = await Promise.all([fromRealServer(path, 'application/json'), fromRealServer(path, protobuf)]);
    const document = JSON.parse(json.toString());
    expect(differences(real, encodeVersion3(document)).slice(0, 5)).toEqual([]);
    expect(differences(real, encodeVersion3({ ...document, openapi: '3.0.1' }))).not.toEqual([]);
  },
);
