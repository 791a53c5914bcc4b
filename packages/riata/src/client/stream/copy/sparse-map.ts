import { Buffer } from 'node:buffer';
import { numberAt, TarError } from './tar-header.js';

/** Where the data of a sparse file is, and how long the file is. */
export interface SparseMap {
  readonly size: number;
  readonly parts: readonly { readonly offset: number; readonly length: number }[];
}

/** More parts than this are refused. */
const maxParts = 1_000_000;
/** How many numbers an old header, and each block behind it, has room for. */
const [inHeader, inBlock] = [4, 21];

/** Takes the next bytes of the archive. */
export type Take = (length: number) => Promise<Buffer>;

/** The map of a sparse file in GNU tar's old form (type `S`), whose further blocks follow the header. */
export async function oldSparseMap(header: Buffer, take: Take): Promise<SparseMap> {
  const parts: { offset: number; length: number }[] = [];
  const read = (block: Buffer, from: number, count: number) => {
    for (let i = 0; i < count; i++) {
      const at = from + 24 * i;
      const [offset, length] = [numberAt(block, at, 12), numberAt(block, at + 12, 12)];
      if (length > 0) parts.push({ offset, length });
    }
    if (parts.length > maxParts) throw new TarError('the archive is malformed: a sparse file has too many parts');
  };
  read(header, 386, inHeader);
  let hasMore = header[482] !== 0;
  while (hasMore) {
    const block = await take(512);
    read(block, 0, inBlock);
    hasMore = block[504] !== 0;
  }
  return checked({ size: numberAt(header, 483, 12), parts });
}

/**
 * The map of a sparse file in one of the forms that GNU tar writes into pax headers: 0.0 and 0.1 list its parts there,
 * 1.0 before the content. Undefined for a file that is not sparse.
 */
export async function paxSparseMap(
  records: readonly (readonly [key: string, value: string])[],
  take: Take,
): Promise<{ readonly map: SparseMap; readonly taken: number } | undefined> {
  const last = (key: string) => records.findLast(([name]) => name === `GNU.sparse.${key}`)?.[1];
  const size = last('realsize') ?? last('size');
  if (size === undefined) return undefined;
  if (last('major') === '1') {
    const { numbers, taken } = await numbersBefore(take);
    return { map: checked({ size: wholeOf(size), parts: pairs(numbers) }), taken };
  }
  const listed = last('map');
  const each = (key: string) => records.flatMap(([name, value]) => (name === `GNU.sparse.${key}` ? [value] : []));
  const offsets = each('offset');
  const lengths = each('numbytes');
  const texts = listed === undefined ? offsets.flatMap((offset, i) => [offset, lengths[i] ?? '']) : listed.split(',');
  return { map: checked({ size: wholeOf(size), parts: pairs(texts.map(wholeOf)) }), taken: 0 };
}

/** The numbers at the beginning of the content, a line each: how many parts, then offset and length of each. */
async function numbersBefore(take: Take): Promise<{ readonly numbers: readonly number[]; readonly taken: number }> {
  const numbers: number[] = [];
  let [text, taken, count] = ['', 0, Number.POSITIVE_INFINITY];
  while (numbers.length < count * 2) {
    text += (await take(512)).toString('latin1');
    taken += 512;
    for (let end = text.indexOf('\n'); end >= 0 && numbers.length < count * 2; end = text.indexOf('\n')) {
      const value = wholeOf(text.slice(0, end));
      text = text.slice(end + 1);
      if (count === Number.POSITIVE_INFINITY) count = value;
      else numbers.push(value);
      if (count > maxParts) throw new TarError('the archive is malformed: a sparse file has too many parts');
    }
    if (text.length > 1024) throw new TarError('the archive is malformed: the map of a sparse file has no numbers');
  }
  return { numbers, taken };
}

function pairs(numbers: readonly number[]): SparseMap['parts'] {
  const parts: { offset: number; length: number }[] = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) {
    const [offset = 0, length = 0] = [numbers[i], numbers[i + 1]];
    if (length > 0) parts.push({ offset, length });
  }
  return parts;
}

function wholeOf(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value))
    throw new TarError('the archive is malformed: the map of a sparse file has no numbers');
  return value;
}

/** Parts must follow each other within the file: no byte is written twice, or behind the end. */
function checked(map: SparseMap): SparseMap {
  let end = 0;
  for (const { offset, length } of map.parts) {
    if (offset < end || offset + length > map.size) {
      throw new TarError('the archive is malformed: the parts of a sparse file overlap, or exceed its size');
    }
    end = offset + length;
  }
  return map;
}

const zeros = Buffer.alloc(64 * 1024);

/** Whether all bytes are zero. */
export function isZero(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes[0] !== 0) return bytes.length === 0;
  for (let at = 0; at < bytes.length; at += zeros.length) {
    const piece = bytes.subarray(at, at + zeros.length);
    if (Buffer.compare(piece, zeros.subarray(0, piece.length)) !== 0) return false;
  }
  return true;
}

/** The content of a sparse file, its holes as zeros. */
export async function* withHoles(
  { size, parts }: SparseMap,
  data: (length: number) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const { offset, length } of [...parts, { offset: size, length: 0 }]) {
    for (; at < offset; at += Math.min(zeros.length, offset - at)) yield zeros.subarray(0, offset - at);
    if (length > 0) yield* data(length);
    at = offset + length;
  }
}
