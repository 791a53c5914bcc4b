import { type Json, parseQuantity } from 'riata/object';
import { rewriteMicroTime, rewriteTime } from './go-time.js';

/** Why a value could not be read: Go's words, or a type that did not fit, to which the reader adds the path. */
export type CustomRefusal = { readonly message: string } | { readonly expects: string };

/** Reads a value into a type with its own JSON and writes it back: the value, or what is wrong with it. */
type Rewrite = (value: Json) => { readonly value: Json } | CustomRefusal;

/** How the types that read their own JSON decode a value. `null` never gets here. */
export const customTypes: Readonly<Record<string, Rewrite>> = {
  'resource.Quantity': quantity,
  'intstr.IntOrString': intOrString,
  'v1.Time': (value) => time(value, rewriteTime),
  'v1.MicroTime': (value) => time(value, rewriteMicroTime),
};

/** How a type with its own JSON writes its zero value; the others write `null`. */
export const customZeros: Readonly<Record<string, Json>> = {
  'resource.Quantity': '0',
  'intstr.IntOrString': 0,
};

function time(value: Json, rewrite: (text: string) => string): { readonly value: Json } | CustomRefusal {
  if (typeof value !== 'string') return { expects: 'string' };
  try {
    return { value: rewrite(value) };
  } catch (error) {
    return { message: (error as Error).message };
  }
}

function intOrString(value: Json): { readonly value: Json } | CustomRefusal {
  if (typeof value === 'string') return { value };
  const fits = typeof value === 'number' && Number.isInteger(value) && Math.abs(value + 0.5) < 2 ** 31;
  return fits ? { value } : { expects: 'int32' };
}

function quantity(value: Json): { readonly value: Json } | CustomRefusal {
  if (typeof value === 'string' || typeof value === 'number') {
    try {
      return { value: parseQuantity(typeof value === 'string' ? value.trim() : value).toString() };
    } catch {
      const shape = /^[+-]?([0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/.exec(String(value).trim());
      if (shape?.[1]?.startsWith('.') && shape[2] === '')
        return { message: 'unable to parse numeric part of quantity' };
      if (shape) return { message: "unable to parse quantity's suffix" };
    }
  }
  return { message: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'" };
}
