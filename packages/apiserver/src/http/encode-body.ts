import { Buffer } from 'node:buffer';

/** The bytes of an answer: a line of JSON, indented JSON, or YAML with its keys in order. */
export async function encodeBody(value: unknown, mediaType: string, pretty: boolean): Promise<Buffer> {
  if (mediaType === 'application/yaml') {
    const { stringify } = await import('yaml');
    const plain: unknown = JSON.parse(JSON.stringify(value));
    return Buffer.from(stringify(plain, { sortMapEntries: true, indentSeq: false, aliasDuplicateObjects: false }));
  }
  return Buffer.from(pretty ? JSON.stringify(value, undefined, 2) : `${JSON.stringify(value)}\n`);
}
